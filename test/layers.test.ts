import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/package-root.js';

/** The floors of src, the lowest first. A file is in the room that names it best: its own path, its folder, or src. */
const FLOORS: readonly (readonly string[])[] = [
  ['src'],
  ['src/arrow'],
  ['src/store'],
  ['src/api', 'src/lake'],
  ['src/ingest', 'src/readiness', 'src/sql'],
  ['src/hooks', 'src/mcp', 'src/otlp'],
  ['src/collect', 'src/computers', 'src/controls'],
  ['src/aggregate', 'src/backup', 'src/page'],
  ['src/sign-in'],
  ['src/api/prometheus.ts'],
  ['src/api/app.ts'],
  ['src/socket'],
  ['src/demo.ts', 'src/server.ts'],
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

/** The room that a file is in. */
function roomOf(file: string): string {
  const rooms = FLOORS.flat().filter(
    (room) => file === room || dirname(file) === room || (room !== 'src' && file.startsWith(`${room}/`)),
  );
  return rooms.sort((one, other) => other.length - one.length)[0] ?? '';
}

const floorOf = (room: string) => FLOORS.findIndex((floor) => floor.includes(room));

test('every file is on a floor', () => {
  expect(FILES.filter((file) => roomOf(file) === '')).toEqual([]);
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
