// Makes the package daybook-collector in a folder: `daybook collect` with the files and packages that it needs, and no others.
//
//     npm run collector [FOLDER]       (default: dist-collector)

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
/** What is started: the program, and the thread that reads databases of agents. */
const ENTRIES = ['collector-cli.js', 'store/sqlite-worker.js'];

/** The files below dist that some files import, and the packages. */
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

const folder = resolve(process.argv[2] ?? join(ROOT, 'dist-collector'));
const { files, packages } = needed(ENTRIES);
const { version, license, type, engines, dependencies } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const file of files) cpSync(file, join(folder, relative(ROOT, file)));
for (const part of ['sql', 'LICENSE']) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
cpSync(join(ROOT, 'docs', 'collect.md'), join(folder, 'README.md'));
const missing = packages.filter((name) => dependencies[name] === undefined);
if (missing.length > 0) throw new Error(`package.json has no ${missing.join(', ')}.`);
writeFileSync(
  join(folder, 'package.json'),
  `${JSON.stringify(
    {
      name: 'daybook-collector',
      version,
      description: 'Sends the events of coding agents on a laptop or CI runner to a Daybook service.',
      license,
      type,
      bin: { daybook: 'dist/collector-cli.js' },
      engines,
      dependencies: Object.fromEntries(packages.map((name) => [name, dependencies[name]])),
    },
    null,
    2,
  )}\n`,
);
console.log(`${relative(process.cwd(), folder) || '.'}: ${files.length} files, ${packages.join(', ')}`);
