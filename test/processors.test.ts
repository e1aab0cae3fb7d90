import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { connect } from '../src/store/duckdb-session.js';
import { Processors } from '../src/store/processors.js';
import { temporaryFolder } from './world.js';

const MIB = 1 << 20;

test.each([
  ['as many as it may', 3],
  ['all', undefined],
])('a small database uses one processor, a large one and a large batch use %s', async (_, most) => {
  const folder = temporaryFolder();
  const session = await connect(await DuckDBInstance.create(':memory:'));
  const threads = async () =>
    Number((await session.select("SELECT current_setting('threads') AS threads"))[0]?.threads);
  const all = most ?? (await threads());
  const processors = new Processors(session, folder, most);
  const used = async (...paths: string[]) => {
    await processors.choose(paths.map((path) => ({ path })));
    return threads();
  };
  /** A file of so many bytes, which take no room on the disk. */
  const fileOf = (name: string, bytes: number) => {
    const path = join(folder, name);
    writeFileSync(path, '');
    truncateSync(path, bytes);
    return path;
  };
  const [small, large] = [fileOf('small', 20 * MIB), fileOf('large', 33 * MIB)];
  expect(await used()).toBe(1);
  expect(await used(small)).toBe(1);
  expect(await used(large)).toBe(all);
  expect(await used()).toBe(1);
  expect(await used(small, small)).toBe(all);
  expect(await used('gone')).toBe(1);
  fileOf('daybook.duckdb', 9 * MIB);
  expect(await used()).toBe(1);
  fileOf('daybook.duckdb.wal', 9 * MIB);
  expect(await used()).toBe(all);
});
