import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { lastingProgram } from '../src/command/lasting-program.js';
import { temporaryFolder } from './world.js';

const AGAIN = 'daybook collect install';

/** A program at a path of an empty folder. */
function programAt(path: string): { folder: string; program: string } {
  const folder = temporaryFolder();
  const program = join(folder, path);
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, '');
  return { folder, program };
}

test.each([
  '.npm/_npx/4059c4bb36741ea9/node_modules/daybook/dist/cli.js',
  '.cache/pnpm/dlx/x/node_modules/daybook/dist/cli.js',
  'xfs-1/dlx-4321/node_modules/daybook/dist/cli.js',
  'bunx-1000-daybook@latest/node_modules/daybook/dist/cli.js',
])('a program in a cache of packages is not to be run later: %s', (path) => {
  expect(() => lastingProgram(AGAIN, programAt(path).program)).toThrow(
    /run "npm install --global daybook", and then "daybook collect install" again\.$/,
  );
});

test('the packages that npm was asked to run are named as they were', () => {
  const { folder, program } = programAt('_npx/4059/node_modules/.bin/daybook');
  const packages = ['https://files.acme.example/daybook-collector-0.2.0.tgz'];
  writeFileSync(join(folder, '_npx/4059/package.json'), JSON.stringify({ _npx: { packages } }));
  expect(() => lastingProgram(AGAIN, program)).toThrow(`"npm install --global ${packages[0]}"`);
});

test('a program elsewhere is run as it was, and through a link in a cache where it is', () => {
  const { folder, program } = programAt('lib/daybook/dist/cli.js');
  expect(lastingProgram(AGAIN, program)).toEqual([process.execPath, program]);
  const link = join(folder, '_npx/4059/node_modules/.bin/daybook');
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(program, link);
  expect(lastingProgram(AGAIN, link)).toEqual([process.execPath, program]);
});
