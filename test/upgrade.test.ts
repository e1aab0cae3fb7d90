import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { DATABASE } from '../src/disk/data-files.js';
import { readConfig } from '../src/settings/config.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { readSqlFolder } from '../src/store/sql-text.js';
import { answersOf, RATE_CARD } from './laws/law.js';
import type { SentEvent } from './oracle/event.js';
import { organization } from './oracle/generate.js';
import { temporaryFolder, World } from './world.js';

const CHANGES = readSqlFolder('change').map(({ name, text }) => ({
  number: Number(name.slice(0, 4)),
  name,
  text,
}));
const NEWEST = CHANGES.at(-1)?.number ?? 0;
/** The change before, and as names of copies have it. */
const EARLIER = CHANGES.at(-2)?.number ?? 0;
const BEFORE = String(EARLIER).padStart(4, '0');
/** Undo the newest change, which makes tables or adds columns. */
const UNDO = [
  ...(CHANGES.at(-1)?.text ?? '').matchAll(/CREATE TABLE (\w+)|ALTER TABLE (\w+) ADD COLUMN (\w+)/g),
].map(([, made, table, column]) =>
  made === undefined ? `ALTER TABLE ${table} DROP COLUMN ${column}` : `DROP TABLE ${made}`,
);

/** Without what only the newest change has a column for. */
const ORGANIZATIONS: SentEvent[][] = fc
  .sample(organization, { seed: 7, numRuns: 8 })
  .map((events) => events.filter(({ type }) => type !== 'retention_sweep'));

async function answers(world: World): Promise<unknown[]> {
  await world.build();
  return Promise.all(ORGANIZATIONS.map((_, index) => answersOf(world, `org-${index}`)));
}

/** A database of today, and what it answers. */
const fresh = await World.create({ DAYBOOK_RATE_CARD: RATE_CARD }, afterAll, undefined, 'DuckDB');
await fresh.sendTogether(ORGANIZATIONS.map((events, index) => [`org-${index}`, events]));
const expected = await answers(fresh);
await fresh.store.close();

/** Makes a data folder with the database of the version before: without the newest change, and with tables and days of other definitions. */
async function oldData(...more: string[]): Promise<string> {
  const data = join(temporaryFolder(), 'data');
  mkdirSync(data);
  copyFileSync(join(fresh.config.data, DATABASE), join(data, DATABASE));
  const instance = await DuckDBInstance.create(join(data, DATABASE));
  const old = await instance.connect();
  for (const sql of [
    ...UNDO,
    `DELETE FROM changes WHERE number = ${NEWEST}`,
    "DELETE FROM facts WHERE name IN ('definitions', 'schema') OR name LIKE 'table %'",
    "UPDATE day_inputs SET definitions = 'of then'",
    ...more,
  ])
    await old.run(sql);
  old.closeSync();
  instance.closeSync();
  return data;
}

/** The newest change of a database file that nobody has open, and how many events it has. */
async function contentsOf(path: string): Promise<unknown[]> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const rows = await connection.runAndReadAll(
    'SELECT (SELECT max(number) FROM changes)::INTEGER, (SELECT count(*) FROM events)::INTEGER',
  );
  connection.closeSync();
  instance.closeSync();
  return rows.getRows()[0] as unknown[];
}

const copiesIn = (data: string) => readdirSync(join(data, 'backups')).sort();

describe('a database of the version before', () => {
  test('answers as a new one, and is copied before', async () => {
    const data = await oldData();
    const before = await contentsOf(join(data, DATABASE));
    const settings = { DAYBOOK_DATA: data, DAYBOOK_RATE_CARD: RATE_CARD };
    const world = await World.create(settings, undefined, undefined, 'DuckDB');
    expect(await answers(world)).toEqual(expected);
    const copies = copiesIn(data);
    expect(copies).toEqual([`daybook-${BEFORE}-20260710T120000Z.duckdb`]);
    expect(before[0]).toBe(EARLIER);
    expect(await contentsOf(join(data, 'backups', String(copies[0])))).toEqual(before);
    await world.store.close();
    // It is one of today now.
    await World.create(settings, undefined, undefined, 'DuckDB');
    expect(copiesIn(data)).toEqual(copies);
  });

  test('of DuckDB alone is copied too', async () => {
    const data = await oldData();
    const settings = { DAYBOOK_DATA: data, DAYBOOK_RATE_CARD: RATE_CARD };
    const world = await World.create(settings, undefined, undefined, 'DuckDB');
    const rows = await world.store.select("SELECT value FROM facts WHERE name = 'engine'");
    expect(rows).toEqual([{ value: expect.stringMatching(/^v\d+\.\d+\.\d+/) }]);
    await world.store.run([{ sql: "UPDATE facts SET value = 'v1.5.0' WHERE name = 'engine'" }]);
    await world.store.close();
    rmSync(join(data, 'backups'), { recursive: true });
    await (await World.create(settings, undefined, undefined, 'DuckDB')).store.close();
    expect(copiesIn(data)).toHaveLength(1);
    await (await World.create(settings, undefined, undefined, 'DuckDB')).store.close();
    expect(copiesIn(data)).toHaveLength(1);
  });

  test('of a later DuckDB is refused in a sentence, and stays as it was', async () => {
    const data = await oldData();
    const path = join(data, DATABASE);
    const bytes = readFileSync(path);
    // The head of the file has the version of its format, and a checksum.
    bytes.writeBigUInt64LE(99n, 12);
    let sum = 5381n;
    for (let at = 8; at < 4096; at += 8)
      sum ^= BigInt.asUintN(64, bytes.readBigUInt64LE(at) * 0xbf58476d1ce4e5b9n);
    bytes.writeBigUInt64LE(sum, 0);
    writeFileSync(path, bytes);
    await expect(World.create({ DAYBOOK_DATA: data }, undefined, undefined, 'DuckDB')).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(
        /^The database in \S+ has the format 99 of another DuckDB than [^\n]*\.$/,
      ),
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test('before 0.2 is refused in a sentence, and stays as it was', async () => {
    const data = await oldData('UPDATE changes SET number = number - (SELECT max(number) - 29 FROM changes)');
    const before = await contentsOf(join(data, DATABASE));
    const world = World.create({ DAYBOOK_DATA: data }, undefined, undefined, 'DuckDB');
    await expect(world).rejects.toThrow(/^A Daybook before 0\.2 made the database: /);
    expect(await contentsOf(join(data, DATABASE))).toEqual(before);
    expect(existsSync(join(data, 'backups'))).toBe(false);
  });

  test('stays as it was when it can not be brought up to date, and of its copies the newest two are kept', async () => {
    const data = await oldData();
    const before = await contentsOf(join(data, DATABASE));
    const card = join(temporaryFolder(), 'card.json');
    writeFileSync(card, '{');
    for (const second of [1, 2, 3]) {
      const opening = DuckDbStore.open(data, {
        data,
        memoryMb: 256,
        rateCard: card,
        prices: readConfig({}).prices,
        now: Date.UTC(2026, 6, 1, 0, 0, second),
      });
      await expect(opening).rejects.toThrow('does not match docs/rate-card.md');
    }
    expect(copiesIn(data)).toEqual([
      `daybook-${BEFORE}-20260701T000002Z.duckdb`,
      `daybook-${BEFORE}-20260701T000003Z.duckdb`,
    ]);
    expect(await contentsOf(join(data, DATABASE))).toEqual(before);
  });

  test('keeps the copy before its upgrade also if the clock was set back', async () => {
    const data = await oldData();
    const { rateCard, prices } = readConfig({});
    mkdirSync(join(data, 'backups'));
    for (const second of [2, 3])
      writeFileSync(join(data, 'backups', `daybook-${BEFORE}-20270101T00000${second}Z.duckdb`), '');
    const now = Date.UTC(2026, 6, 1);
    await (await DuckDbStore.open(data, { data, memoryMb: 256, rateCard, prices, now })).close();
    expect(copiesIn(data)).toEqual([
      `daybook-${BEFORE}-20260701T000000Z.duckdb`,
      `daybook-${BEFORE}-20270101T000003Z.duckdb`,
    ]);
  });
});
