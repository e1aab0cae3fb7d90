import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { CLI } from './program.js';
import { temporaryFolder } from './world.js';

const SCRIPT = 'scripts/checkout.cjs';
const COLLECTOR = join(PACKAGE_ROOT, 'dist', 'collector-cli.js');

/** A checkout that has these files besides the script. */
function checkout(...files: string[]): string {
  const folder = temporaryFolder();
  for (const path of ['package.json', SCRIPT]) cpSync(join(PACKAGE_ROOT, path), join(folder, path));
  for (const path of files) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), 'process.stdout.write("started\\n");');
  }
  return folder;
}

function run(folder: string, ...args: string[]): string {
  const { stdout, stderr, status } = spawnSync('node', args, { cwd: folder, encoding: 'utf8' });
  return `${stdout}${stderr}${status}`;
}

test('npm ci without the packages of the build, and npm start before it, say what to do', () => {
  const [PREPARE, START] = [[SCRIPT], ['-r', `./${SCRIPT}`, 'dist/cli.js']];
  const { scripts } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  expect(scripts.prepare).toMatch(`node ${PREPARE.join(' ')} && `);
  expect(scripts.start).toMatch(`node ${START.join(' ')} `);
  expect(run(checkout(), ...PREPARE)).toBe(
    'The packages that build Daybook were left out (NODE_ENV=production, --omit=dev): run "npm ci --include=dev".\n2',
  );
  expect(run(checkout('node_modules/typescript/package.json'), ...PREPARE)).toBe('0');
  expect(run(checkout(), ...START)).toBe(
    'Daybook is not built: run "npm ci --include=dev && npm run build".\n2',
  );
  expect(run(checkout('dist/cli.js'), ...START)).toBe('started\n0');
});

test('an older Node.js is told in a sentence which one is needed', () => {
  const older = join(temporaryFolder(), 'older.cjs');
  const say = (version: string, program: string) => {
    writeFileSync(
      older,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
    );
    return run(PACKAGE_ROOT, '-r', older, program, '--version');
  };
  for (const program of [CLI, COLLECTOR, SCRIPT]) {
    for (const version of ['18.20.8', '20.18.3'])
      expect(say(version, program)).toBe(
        `Daybook needs Node.js 20.19 or later, and this is ${version}: install Node.js 24.\n2`,
      );
    expect(say('20.19.0', program)).toMatch(/0$/);
  }
});

test('every package that npm ci installs fits Node.js 20', () => {
  const { packages } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { engines?: { node?: string }; optional?: boolean }>;
  };
  const unfit = Object.entries(packages).filter(
    // npm leaves out an optional package that doesn't fit.
    ([, { engines, optional }]) => optional !== true && /^>= ?2[1-9]/.test(engines?.node ?? ''),
  );
  expect(unfit.map(([path]) => path)).toEqual([]);
});
