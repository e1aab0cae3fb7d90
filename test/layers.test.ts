import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';

/** The floors of src, the lowest first. A loose file is a room of its own. */
const FLOORS: readonly (readonly string[])[] = [
  ['src/exit.ts', 'src/ulid.ts'],
  ['src/day.ts'],
  ['src/arrow', 'src/input'],
  ['src/network'],
  ['src/disk'],
  ['src/settings'],
  ['src/objects', 'src/store', 'src/terminal'],
  ['src/money'],
  ['src/api', 'src/lake'],
  ['src/computers', 'src/ingest', 'src/page', 'src/people', 'src/readiness'],
  ['src/backup', 'src/hooks', 'src/otlp', 'src/sql'],
  ['src/collect', 'src/controls', 'src/mcp', 'src/scim'],
  ['src/aggregate', 'src/alerts', 'src/sign-in', 'src/vendors'],
  ['src/socket'],
  ['src/service'],
  ['src/command'],
  ['src/cli.ts', 'src/collector-cli.ts'],
];

const FILES = readdirSync(join(PACKAGE_ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => join('src', path));

/** The files that a file imports, types included. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(PACKAGE_ROOT, file), 'utf8');
  return [...text.matchAll(/(?:\bfrom |\bimport\(|^import )'(\.[^']+)\.js'/gm)].map(([, path = '']) =>
    normalize(join(dirname(file), `${path}.ts`)),
  );
}

/** The room that a file is in: its folder below src, or the file itself. */
function roomOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

const floorOf = (room: string) => FLOORS.findIndex((floor) => floor.includes(room));

test('every file is on a floor', () => {
  expect(FILES.filter((file) => floorOf(roomOf(file)) < 0)).toEqual([]);
});

test('a file imports from its own room and from lower floors only', () => {
  const wrong = FILES.flatMap((file) =>
    importsOf(file)
      .filter((target) => roomOf(target) !== roomOf(file) && floorOf(roomOf(target)) >= floorOf(roomOf(file)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('a file has a name that no other has', () => {
  const names = FILES.map((file) => basename(file));
  expect(FILES.filter((file) => names.indexOf(basename(file)) !== names.lastIndexOf(basename(file)))).toEqual(
    [],
  );
});
