import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { TABLES } from '../src/store/catalog.js';
import { isState, PUBLISHED_TABLES, STATE_TABLES } from '../src/store/state/homes.js';
import { foreignWord, homelessness } from './statement-homes.js';
import { World } from './world.js';

/** What a settling and a build do in the engine itself, and ClickHouse's own tables. */
const OF_ENGINE = ['answer', 'change', 'clickhouse', 'cookbook', 'engine', 'function', 'ingest', 'source'];

test('tables of state are tables, and those that are published are of state', () => {
  expect(STATE_TABLES.filter((name) => TABLES[name] === undefined)).toEqual([]);
  expect(new Set(STATE_TABLES).size).toBe(STATE_TABLES.length);
  expect(PUBLISHED_TABLES.filter((name) => !isState(name))).toEqual([]);
});

describe('no text has state and data, or words that PostgreSQL does not read of state', () => {
  const folders = readdirSync(join(PACKAGE_ROOT, 'sql')).filter((name) => !OF_ENGINE.includes(name));
  test.each(folders)('in sql/%s', (folder) => {
    const texts = readdirSync(join(PACKAGE_ROOT, 'sql', folder)).map((file) =>
      readFileSync(join(PACKAGE_ROOT, 'sql', folder, file), 'utf8'),
    );
    const reasons = texts.flatMap((text) => [homelessness(text), foreignWord(text)]);
    expect(reasons.filter((reason) => reason !== undefined)).toEqual([]);
  });

  test('in src', () => {
    const files = readdirSync(join(PACKAGE_ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      // What settles, builds and changes the schema is in one engine.
      .filter(
        (path) =>
          path.endsWith('.ts') && !/^store\/(?:clickhouse|settler|remapper|repo-names|catalog)/.test(path),
      )
      .map((path) => readFileSync(join(PACKAGE_ROOT, 'src', path), 'utf8'));
    const texts = files.flatMap((file) =>
      [...file.matchAll(/`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/g)]
        .map(([, template, single, double]) => template ?? single ?? double ?? '')
        .filter((text) => /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM) /.test(text)),
    );
    expect(texts.length).toBeGreaterThan(100);
    const reasons = texts
      .map((text) => text.replaceAll("'", ''))
      .flatMap((text) => [homelessness(text), foreignWord(text)]);
    expect(reasons.filter((reason) => reason !== undefined)).toEqual([]);
  });
});

test('what has both is found', async () => {
  const wrong = [
    'SELECT 1 FROM keys JOIN events ON true',
    'SELECT 1 FROM erasures WHERE org_id IN (SELECT org_id FROM sessions)',
    'INSERT INTO renamed_days SELECT org_id, day, 1 FROM coverage',
    'DELETE FROM events WHERE user_id IN (SELECT alias FROM aliases)',
    'WITH days AS (SELECT org_id FROM runs) SELECT 1 FROM days JOIN arrivals ON true',
  ];
  const right = [
    "SELECT 'FROM keys' FROM events JOIN aliases ON true",
    'SELECT 1 FROM keys JOIN people ON true',
    'WITH days AS (SELECT org_id FROM batches) SELECT 1 FROM days',
    'INSERT INTO aliases SELECT org_id, user_id, name FROM people',
  ];
  expect(wrong.map((sql) => homelessness(sql) === undefined)).toEqual(wrong.map(() => false));
  expect(right.map(homelessness)).toEqual(right.map(() => undefined));
  expect(
    ['SELECT argMax(name, created_at) FROM keys', 'SELECT * FROM runs QUALIFY true'].map(foreignWord),
  ).toEqual([expect.stringMatching('argMax'), expect.stringMatching('QUALIFY')]);
  expect(right.map(foreignWord)).toEqual(right.map(() => undefined));
  const { store } = await World.create();
  expect(() => store.select(String(wrong[0]))).toThrow('keys with events');
  await expect(store.run([{ sql: String(wrong[2]) }])).rejects.toThrow('renamed_days with coverage');
});
