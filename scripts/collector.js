// Makes the package daybook-collector: the commands for machines that run no service, with only the files and packages that they need.
//
//     npm run collector [FILE.tgz|FOLDER] [PLATFORM]...       (default: dist/collector.tgz, and all platforms, such as darwin-arm64)
//
// Bundles the files that packages need to run, if they are JavaScript or include their binaries.

import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
/** The entry points: the program, and the process that reads databases of agents. */
const ENTRIES = ['collector-cli.js', 'store/sqlite-process.js'];

/** Packages that are only needed to build others. */
const NOT_TO_RUN = new Set(['node-addon-api']);

/** The files below dist that the entries import, and the packages. */
function needed(entries) {
  const files = new Set();
  const packages = new Set();
  const add = (file) => {
    if (files.has(file)) return;
    files.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, name] of text.matchAll(/(?:\bfrom |\bimport |\bimport\(|\)\()'([^']+)'/g)) {
      if (name.startsWith('.')) add(join(dirname(file), name));
      else if (!name.startsWith('node:') && !builtinModules.includes(name))
        packages.add(name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
    }
  };
  for (const entry of entries) add(join(DIST, entry));
  return { files: [...files], packages: [...packages].sort() };
}

/** Packages with all their dependencies, according to package-lock.json. */
function withDependencies(names) {
  const { packages } = readJson(join(ROOT, 'package-lock.json'));
  const found = new Set();
  const add = (name) => {
    if (found.has(name) || NOT_TO_RUN.has(name)) return;
    found.add(name);
    for (const other of Object.keys(packages[`node_modules/${name}`].dependencies ?? {})) add(other);
  };
  for (const name of names) add(name);
  return [...found].sort();
}

/** Copies the files of a package that it needs to run, so that nothing is left to do when it is installed. */
function bundle(name, target, platforms) {
  const from = join(ROOT, 'node_modules', name);
  for (const file of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = relative(from, join(file.parentPath, file.name));
    const [, platform] = /^prebuilds\/([^/]+)\//.exec(path) ?? [];
    const isNeeded =
      platform === undefined
        ? /^licen[cs]e/i.test(path) || (/\.(js|cjs|mjs)$/.test(path) && !/^(src|scripts)\//.test(path))
        : platforms.length === 0 || platforms.includes(platform);
    if (isNeeded) cpSync(join(from, path), join(target, path));
  }
  const { scripts: _, gypfile: __, ...manifest } = readJson(join(from, 'package.json'));
  writeJson(join(target, 'package.json'), manifest);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function writeJson(path, document) {
  writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`);
}

const [path = join(DIST, 'collector.tgz'), ...platforms] = process.argv.slice(2);
const wanted = resolve(path);
mkdirSync(dirname(wanted), { recursive: true });
// Beside it, so that the finished file takes its place at once.
const work = wanted.endsWith('.tgz') ? mkdtempSync(`${wanted}-`) : undefined;
const target = work === undefined ? wanted : join(work, 'package');
const { files, packages } = needed(ENTRIES);
const { version, license, type, engines, dependencies } = readJson(join(ROOT, 'package.json'));
const missing = packages.filter((name) => dependencies[name] === undefined);
if (missing.length > 0) throw new Error(`package.json has no ${missing.join(', ')}.`);
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const file of files) cpSync(file, join(target, relative(ROOT, file)));
// The store that counts a run reads the data.
const DATA = ['readiness', 'rate-card.json', 'base-prices.json', 'prices.json', 'languages.json'];
for (const part of ['sql', 'LICENSE', ...DATA.map((name) => `data/${name}`)])
  cpSync(join(ROOT, part), join(target, part), { recursive: true });
cpSync(join(ROOT, 'docs', 'collect.md'), join(target, 'README.md'));
const bundled = withDependencies(packages.filter((name) => !name.startsWith('@duckdb/')));
for (const name of bundled) bundle(name, join(target, 'node_modules', name), platforms);
writeJson(join(target, 'package.json'), {
  name: 'daybook-collector',
  version,
  description: 'Daybook on laptops and CI runners: sends the events of coding agents to a service.',
  license,
  type,
  bin: { daybook: 'dist/collector-cli.js' },
  engines,
  dependencies: Object.fromEntries(
    [...packages.filter((name) => !bundled.includes(name)), ...bundled].map((name) => [
      name,
      readJson(join(ROOT, 'node_modules', name, 'package.json')).version,
    ]),
  ),
  bundleDependencies: bundled,
});
if (work !== undefined) {
  // A dry run of whatever packs Daybook itself is none of this package.
  const env = { ...process.env, npm_config_dry_run: 'false' };
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', work], {
    cwd: target,
    shell: process.platform === 'win32',
    env,
  });
  renameSync(join(work, packed.toString().trim()), wanted);
  rmSync(work, { recursive: true, force: true });
}
