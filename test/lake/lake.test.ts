import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { runBuild } from '../../src/aggregate/build-run.js';
import type { Day } from '../../src/day.js';
import { CANONICAL } from '../../src/ingest/source.js';
import { Lake, LakeFailed } from '../../src/lake/data-lake.js';
import { keepRows } from '../../src/lake/kept-rows.js';
import {
  fileOf,
  filesOf,
  folderOf,
  LAKE_TABLES,
  lakeSql,
  orderOf,
  quietFileOf,
} from '../../src/lake/lake-paths.js';
import type { Row } from '../../src/store/store.js';
import { temporaryFolder, World } from '../world.js';

/** Ids that would lead elsewhere, end a text, or stand for many. */
const HOSTILE = ['../../x', "ä %'", '*', '__HIVE_DEFAULT_PARTITION__'];

const day = (text: string) => text as Day;

let number = 0;
function event(day: string, user_id: string, more: object = {}) {
  number += 1;
  return {
    event_id: `e${number}`,
    type: 'tool_call',
    tool_name: 'Read',
    timestamp: `${day}T10:00:00Z`,
    user_id,
    session_id: 's',
    ...more,
  };
}

/** Builds what is stale and publishes it, as the service does. */
async function build(world: World, lake: Lake, retentionDays?: number): Promise<void> {
  const publish = (days: Parameters<Lake['publish']>[1]) => lake.publish(world.store, days);
  await runBuild(world.store, 'command', {}, world.clock, { publish, retentionDays });
}

async function worldWithLake(): Promise<{ world: World; lake: Lake }> {
  const world = await World.create();
  return { world, lake: new Lake(world.config.data) };
}

/** Asks a DuckDB of its own, as a data engineer's. */
async function ask(sql: string): Promise<Row[]> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  try {
    return (await (await connection.run(sql)).getRowObjectsJson()) as Row[];
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** The files of the lake, each with what tells whether it was written again. */
function writtenFiles(lake: Lake): Map<string, number> {
  const paths = readdirSync(lake.folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    paths
      .filter((path) => path.endsWith('.parquet'))
      .map((path) => [path, statSync(join(lake.folder, path)).ino]),
  );
}

describe('the folder of an organization', () => {
  test('is one folder inside its table, whatever the id is, and no other id has it', () => {
    const long = ['x'.repeat(300), 'x'.repeat(301), 'ä'.repeat(200), '/'.repeat(200), '𝒳'.repeat(70)];
    const ids = [
      ...HOSTILE,
      ...long,
      '..',
      'a/b',
      '$org_id',
      '[a]',
      'day=1',
      'ä %',
      'acme',
      'ACME',
      'a%2Fb',
      '_',
      'x~y',
      'a\0b',
      'a\nb',
    ];
    const names = ids.map(folderOf);
    expect(new Set(names).size).toBe(ids.length);
    for (const name of names) {
      expect(basename(join('/lake/users', name, 'day=2026-06-01'))).toBe('day=2026-06-01');
      expect(dirname(join('/lake/users', name))).toBe('/lake/users');
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      expect(Buffer.from(name).toString()).toBe(name);
      expect(name).not.toContain('�');
    }
    expect(folderOf('a/b')).toBe('org_id=a%2Fb');
    expect(folderOf('ä %')).toBe('org_id=ä %25');
  });

  test('cannot be taken by an id that looks as a long one was cut', () => {
    const cut = folderOf('x'.repeat(300)).replace('org_id=', '');
    expect(folderOf(cut)).not.toBe(`org_id=${cut}`);
    expect(folderOf(decodeURIComponent(cut))).not.toBe(`org_id=${cut}`);
  });
});

describe('the lake', () => {
  test('has the rows of every table of every organization, with the types and order of docs/tables.md', async () => {
    const { world, lake } = await worldWithLake();
    const ids = [...HOSTILE, 'x'.repeat(300), 'acme'];
    for (const [index, orgId] of ids.entries()) {
      const lines = ['2026-06-01', '2026-06-03'].map((on) => JSON.stringify(event(on, `user-${index}`)));
      const path = world.file(`${index}.ndjson`, `${lines.join('\n')}\n`);
      const file = { path, name: path, orgId, receivedAt: world.now };
      await world.store.settle({ source: CANONICAL, files: [file], settledAt: world.now });
    }
    world.now = Date.parse('2026-06-04T12:00:00Z');
    await build(world, lake);
    const instance = await DuckDBInstance.create();
    const connection = await instance.connect();
    let total = 0;
    for (const table of LAKE_TABLES) {
      const stored = (await world.store.select(`SELECT count(*) AS n FROM ${table}`))[0]?.n;
      const [all] = await (
        await connection.run(`SELECT count(*)::INT AS n FROM (${lakeSql(lake.folder, table)})`)
      ).getRowObjectsJson();
      expect(all?.n, table).toBe(stored);
      total += Number(stored);
    }
    for (const orgId of ids) {
      const rows = await (await connection.run(lakeSql(lake.folder, 'users', orgId))).getRowObjectsJson();
      expect(rows.map((row) => row.org_id)).toEqual([orgId, orgId]);
      expect(new Set(rows.map((row) => row.user_id))).toEqual(new Set([`user-${ids.indexOf(orgId)}`]));
      const catalog = JSON.parse(
        readFileSync(join(lake.folder, '_catalog', folderOf(orgId), 'days.json'), 'utf8'),
      );
      expect(catalog.org_id).toBe(orgId);
      expect(Object.keys(catalog.days)).toEqual(['2026-06-01', '2026-06-02', '2026-06-03']);
      expect(Object.keys(catalog.days['2026-06-02'].tables).sort()).toEqual([...LAKE_TABLES].sort());
      expect(catalog.days['2026-06-02'].tables.users.rows).toBe(0);
      expect(catalog.days['2026-06-03'].tables.users).toEqual({
        rows: 1,
        bytes: statSync(fileOf(lake.folder, 'users', { orgId, day: day('2026-06-03') })).size,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
    }
    // What a reader makes of the names by itself; an id that was too long is the one that it can't.
    const found = await (
      await connection.run(
        `SELECT DISTINCT org_id FROM read_parquet('${filesOf(lake.folder, 'users')}', hive_types = {'org_id': 'VARCHAR'})`,
      )
    ).getRowObjectsJson();
    expect(found.map((row) => row.org_id)).toEqual(expect.arrayContaining([...HOSTILE, 'acme']));
    connection.closeSync();
    const files = [...writtenFiles(lake).keys()];
    expect(await lake.verify(world.store)).toEqual({
      differences: [],
      organizations: ids.length,
      tables: LAKE_TABLES.length,
      days: ids.length * 3,
      files: files.length,
      rows: total,
      waiting: 0,
    });
    // A pattern finds a file of each table, and a day that has no rows has none.
    for (const orgId of ids)
      for (const table of LAKE_TABLES)
        expect(files, table).toContain(`${table}/${folderOf(orgId)}/day=2026-06-01/data.parquet`);
    expect(existsSync(fileOf(lake.folder, 'users', { orgId: 'acme', day: day('2026-06-02') }))).toBe(false);
    expect(existsSync(fileOf(lake.folder, 'activity', { orgId: 'acme', day: day('2026-06-02') }))).toBe(true);
  });

  test('writes again only what a build has changed, and tells so in the catalog', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-07', 'ada'), event('2026-07-08', 'ada'), event('2026-07-09', 'grace')]);
    await build(world, lake);
    const before = writtenFiles(lake);
    const catalog = () => readFileSync(join(lake.folder, '_catalog', 'org_id=acme', 'days.json'), 'utf8');
    const first = JSON.parse(catalog());
    world.now += 1000;
    await runBuild(world.store, 'command', { all: true }, world.clock, {
      publish: (days) => lake.publish(world.store, days),
    });
    expect(writtenFiles(lake)).toEqual(before);
    expect(JSON.parse(catalog()).days['2026-07-08'].built_at).toBe(first.days['2026-07-08'].built_at + 1000);
    await world.send([event('2026-07-08', 'ada', { type: 'user_message', tool_name: undefined })]);
    await build(world, lake);
    const after = writtenFiles(lake);
    const changed = [...after.keys()].filter((path) => before.get(path) !== after.get(path));
    expect(changed).toContain('events/org_id=acme/day=2026-07-08/data.parquet');
    expect(changed).toContain('users/org_id=acme/day=2026-07-08/data.parquet');
    expect(changed.filter((path) => /user_(tools|models)|day=2026-07-0[79]/.test(path))).toEqual([]);
    expect((await lake.verify(world.store)).differences).toEqual([]);
    // Another process finds the same, and writes nothing.
    await new Lake(world.config.data).publish(world.store, []);
    expect(writtenFiles(lake)).toEqual(after);
  });

  test('gets what an earlier process did not publish, and a day whose events came late waits for its build', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-08', 'ada'), event('2026-07-09', 'ada')]);
    await world.build();
    await world.send([event('2026-07-09', 'grace')]);
    await lake.publish(world.store, []);
    expect(existsSync(fileOf(lake.folder, 'events', { orgId: 'acme', day: day('2026-07-08') }))).toBe(true);
    expect(existsSync(fileOf(lake.folder, 'events', { orgId: 'acme', day: day('2026-07-09') }))).toBe(false);
    expect((await lake.verify(world.store)).differences).toEqual([]);
    await build(world, lake);
    expect(
      await ask(
        `SELECT user_id FROM (${lakeSql(lake.folder, 'events', 'acme')}) WHERE day = '2026-07-09' ORDER BY ALL`,
      ),
    ).toEqual([{ user_id: 'ada' }, { user_id: 'grace' }]);
  });

  test('has rows in the order of their keys, and many days are written as one is', async () => {
    const { world, lake } = await worldWithLake();
    const days = Array.from({ length: 9 }, (_, index) => `2026-07-0${index + 1}`);
    const types = ['user_message', 'assistant_message', 'tool_call'];
    await world.send(
      days.flatMap((on) =>
        Array.from({ length: 60 }, (_, index) =>
          event(on, `user-${(index * 7) % 20}`, { type: types[index % 3], session_id: `s-${index % 4}` }),
        ),
      ),
    );
    await build(world, lake);
    for (const table of LAKE_TABLES) {
      const order = orderOf(table);
      if (order.length === 0) continue;
      const rows = await ask(
        `SELECT filename, row(${order.join(', ')})::VARCHAR AS key FROM read_parquet('${filesOf(lake.folder, table)}', filename = true, file_row_number = true) ORDER BY filename, file_row_number`,
      );
      const ordered = await ask(
        `SELECT filename, row(${order.join(', ')})::VARCHAR AS key FROM read_parquet('${filesOf(lake.folder, table)}', filename = true) ORDER BY filename, ${order.join(', ')}`,
      );
      expect(rows, table).toEqual(ordered);
    }
    const one = new Lake(join(world.folder, 'other'));
    await one.publish(world.store, []);
    rmSync(dirname(fileOf(one.folder, 'users', { orgId: 'acme', day: day('2026-07-03') })), {
      recursive: true,
    });
    await one.repair(world.store);
    const bytes = (lake: Lake) =>
      readFileSync(fileOf(lake.folder, 'users', { orgId: 'acme', day: day('2026-07-03') }));
    expect(bytes(one).equals(bytes(lake))).toBe(true);
  });

  test('compares all files when the list of those that were being replaced is damaged, and says so', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-06-01', 'ada'), event('2026-06-02', 'ada')]);
    await build(world, lake);
    const before = writtenFiles(lake);
    // The files of a day that was being replaced are not what the catalog says.
    const target = { orgId: 'acme', day: day('2026-06-02') };
    rmSync(fileOf(lake.folder, 'users', target));
    writeFileSync(join(lake.folder, '_intent'), '[{"orgId": "ac');
    const notes: string[] = [];
    const next = new Lake(world.config.data, (sentence) => notes.push(sentence));
    await next.publish(world.store, []);
    expect(notes).toEqual([
      expect.stringMatching(
        /^The file .*_intent is damaged: .* and those that differ \(1\) are rewritten\.$/,
      ),
    ]);
    expect(existsSync(join(lake.folder, '_intent'))).toBe(false);
    expect((await next.verify(world.store)).differences).toEqual([]);
    const kept = (files: Map<string, number>) => [...files].filter(([path]) => path.includes('2026-06-01'));
    expect(kept(writtenFiles(lake))).toEqual(kept(before));
  });

  test('says in one sentence what keeps it from being written, and goes on with it the next time', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-09', 'ada')]);
    writeFileSync(lake.folder, 'in the way');
    await expect(build(world, lake)).rejects.toThrow(LakeFailed);
    const [run] = await world.store.select('SELECT days_built, error FROM runs');
    expect(run).toEqual({
      days_built: 1,
      error: expect.stringMatching(/^The days are built, .*\n?.*"daybook lake publish"\.$/),
    });
    rmSync(lake.folder);
    await build(world, lake);
    expect((await lake.verify(world.store)).files).toBe(LAKE_TABLES.length);
  });
});

describe('retention', () => {
  test('takes the events out of the lake, byte by byte, and leaves the day tables', async () => {
    const { world, lake } = await worldWithLake();
    world.now = Date.parse('2026-06-02T12:00:00Z');
    await world.send([event('2026-06-01', 'ada', { repo: 'a-name-to-forget' })]);
    await build(world, lake);
    // A second version keeps the first for those who read it.
    await world.send([event('2026-06-01', 'ada', { repo: 'another-to-forget' })]);
    await build(world, lake);
    const at = { orgId: 'acme', day: day('2026-06-01') };
    const file = fileOf(lake.folder, 'events', at);
    const users = readFileSync(fileOf(lake.folder, 'users', at));
    expect(readFileSync(file, 'latin1')).toMatch(/a-name-to-forget.*another-to-forget/s);
    world.now = Date.parse('2026-06-25T12:00:00Z');
    await build(world, lake, 14);
    expect(readFileSync(file, 'latin1')).not.toContain('to-forget');
    expect(await ask(`SELECT count(*)::INT AS n FROM '${file}'`)).toEqual([{ n: 0 }]);
    expect(readFileSync(fileOf(lake.folder, 'users', at)).equals(users)).toBe(true);
    expect((await lake.verify(world.store)).differences).toEqual([]);
    const catalog = JSON.parse(readFileSync(join(lake.folder, '_catalog/org_id=acme/days.json'), 'utf8'));
    expect(catalog.days['2026-06-01']).toMatchObject({ is_removed: true, tables: { events: { rows: 0 } } });
  });
});

describe('lake verify', () => {
  test('names every file that is missing, too many, damaged or of other rows, and publish puts it right', async () => {
    const { world, lake } = await worldWithLake();
    await world.send(['2026-07-07', '2026-07-08', '2026-07-09'].map((on) => event(on, `user-of-${on}`)));
    await build(world, lake);
    await world.send([event('2026-07-09', 'grace')], { orgId: 'other' });
    await build(world, lake);
    const path = (table: (typeof LAKE_TABLES)[number], on: string, orgId = 'acme') =>
      fileOf(lake.folder, table, { orgId, day: day(on) });
    rmSync(path('users', '2026-07-07'));
    copyFileSync(path('events', '2026-07-07'), path('events', '2026-07-08'));
    copyFileSync(path('user_tools', '2026-07-08'), path('user_tools', '2026-07-09'));
    copyFileSync(path('user_skills', '2026-07-07'), path('users', '2026-07-09', 'other'));
    truncateSync(path('tools', '2026-07-08'), 100);
    appendFileSync(path('quality', '2026-07-08'), 'x');
    mkdirSync(dirname(path('users', '2019-01-01')), { recursive: true });
    copyFileSync(path('users', '2026-07-08'), path('users', '2019-01-01'));
    mkdirSync(dirname(path('users', '2026-07-08', 'nobody')), { recursive: true });
    copyFileSync(path('users', '2026-07-08'), path('users', '2026-07-08', 'nobody'));
    const told = ({ differences }: Awaited<ReturnType<Lake['verify']>>) =>
      differences.map(({ path, detail }) => `${path} ${detail}`.replace(/(read: ).*/, '$1...'));
    const expected = [
      `events/org_id=acme/day=2026-07-08/data.parquet has other rows than the store`,
      `quality/org_id=acme/day=2026-07-08/data.parquet can't be read: ...`,
      `tools/org_id=acme/day=2026-07-08/data.parquet can't be read: ...`,
      `user_tools/org_id=acme/day=2026-07-09/data.parquet has other rows than the store`,
      `users/org_id=acme/day=2019-01-01/data.parquet is of a day that the store does not have`,
      `users/org_id=acme/day=2026-07-07/data.parquet is missing`,
    ];
    const ofNobody = `users/org_id=nobody/day=2026-07-08/data.parquet is of a day that the store does not have`;
    const ofOther = expect.stringMatching(/^users\/org_id=other\/day=2026-07-09\/data.parquet /);
    expect(told(await lake.verify(world.store, 'acme')).sort()).toEqual(expected);
    expect(told(await lake.verify(world.store)).sort()).toEqual([...expected, ofNobody, ofOther]);
    expect(told(await lake.repair(world.store)).sort()).toEqual([...expected, ofNobody, ofOther]);
    expect((await lake.verify(world.store)).differences).toEqual([]);
    expect(existsSync(path('users', '2019-01-01'))).toBe(false);
  });
});

describe('quiet days', () => {
  const TABLES = ['tools', 'activity', 'productivity', 'quality'] as const;
  const quietFile = (lake: Lake, table: (typeof LAKE_TABLES)[number]) =>
    quietFileOf(lake.folder, table, 'acme');
  const daysWithFile = (lake: Lake, table: (typeof LAKE_TABLES)[number]) =>
    [...writtenFiles(lake).keys()].filter((path) => path.startsWith(`${table}/`) && path.includes('day='));

  /** Fails unless SQL finds in the lake the rows that the store has, each once. */
  async function expectWhole(world: World, lake: Lake): Promise<void> {
    expect((await lake.verify(world.store)).differences).toEqual([]);
    const counts = (count: string, rowsOf: (table: (typeof LAKE_TABLES)[number]) => string) =>
      LAKE_TABLES.map(
        (table) =>
          `SELECT '${table}' AS name, ${count} AS n, min(day) AS first, max(day) AS last FROM (${rowsOf(table)}) AS rows_of_table`,
      ).join(' UNION ALL ');
    const byName = (rows: Row[]) => rows.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
    const stored = await world.store.select(counts('count(*)', (table) => `SELECT day FROM ${table}`));
    for (const orgId of ['acme', undefined]) {
      const found = await ask(counts('count(*)::INT', (table) => lakeSql(lake.folder, table, orgId)));
      expect(byName(found)).toEqual(byName(stored));
    }
  }

  /** Half a year between two events. */
  async function halfAYear() {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-01-05', 'ada'), event('2026-07-08', 'ada')]);
    await build(world, lake);
    return { world, lake };
  }

  test('share a file for each table, which SQL reads with the others', async () => {
    const { world, lake } = await halfAYear();
    await expectWhole(world, lake);
    // The day, the 29 days whose windows reach it, and the same of the other until yesterday.
    for (const table of TABLES) expect(daysWithFile(lake, table), table).toHaveLength(30 + 2);
    expect(daysWithFile(lake, 'users')).toHaveLength(2);
    expect(writtenFiles(lake).size).toBeLessThan(200);
    expect(existsSync(quietFile(lake, 'users'))).toBe(false);
    const [quiet] = await ask(
      `SELECT count(*)::INT AS n, min(day) AS first, max(day) AS last, sum(monthly_active_users)::INT AS users FROM '${quietFile(lake, 'activity')}'`,
    );
    expect(quiet).toEqual({ n: 154, first: '2026-02-04', last: '2026-07-07', users: 0 });
    for (const table of TABLES) {
      const [zeros, ...others] = await ask(
        `SELECT DISTINCT * EXCLUDE (org_id, day) FROM '${quietFile(lake, table)}'`,
      );
      expect(others, table).toEqual([]);
      expect(new Set(Object.values(zeros ?? {}).map(Number)), table).toEqual(new Set([0]));
    }
    // It takes no part in what a pattern for days finds, whose readers take the day from the path.
    const named = await ask(
      `SELECT count(*)::INT AS n, count(day)::INT AS days FROM read_parquet('${lake.folder}/activity/*/*/*.parquet')`,
    );
    expect(named).toEqual([{ n: 32, days: 32 }]);
  });

  test('come to the file one by one, and leave it when they get events or come into reach of some', async () => {
    const { world, lake } = await worldWithLake();
    const quietDays = async () => {
      const rows = await ask(
        `SELECT CAST(day AS VARCHAR) AS day FROM '${quietFile(lake, 'activity')}' ORDER BY day`,
      );
      return rows.map((row) => row.day);
    };
    await world.send([event('2026-01-05', 'ada')]);
    world.now = Date.parse('2026-02-06T12:00:00Z');
    await build(world, lake);
    expect(await quietDays()).toEqual(['2026-02-04', '2026-02-05']);
    const before = writtenFiles(lake);
    world.now = Date.parse('2026-02-09T12:00:00Z');
    await build(world, lake);
    expect(await quietDays()).toEqual(['2026-02-04', '2026-02-05', '2026-02-06', '2026-02-07', '2026-02-08']);
    for (const [path, written] of before)
      if (path.includes('day=')) expect(writtenFiles(lake).get(path), path).toBe(written);
    await world.send([event('2026-02-07', 'grace')]);
    await build(world, lake);
    expect(await quietDays()).toEqual(['2026-02-04', '2026-02-05', '2026-02-06']);
    for (const table of TABLES) expect(daysWithFile(lake, table), table).toHaveLength(30 + 2);
    await expectWhole(world, lake);
    // Another process finds nothing to do.
    const after = writtenFiles(lake);
    await new Lake(world.config.data).publish(world.store, []);
    expect(writtenFiles(lake)).toEqual(after);
  });

  test('that earlier versions gave files of their own keep them, until lake publish removes what nobody needs', async () => {
    const { world, lake } = await halfAYear();
    const path = join(lake.folder, '_catalog/org_id=acme/days.json');
    const catalog = JSON.parse(readFileSync(path, 'utf8'));
    const connection = await (await DuckDBInstance.create()).connect();
    const old: string[] = [];
    for (const on of Object.keys(catalog.days)) {
      if (on < '2026-02-04' || on > '2026-02-06') continue;
      for (const table of LAKE_TABLES) {
        const file = fileOf(lake.folder, table, { orgId: 'acme', day: day(on) });
        mkdirSync(dirname(file), { recursive: true });
        await connection.run(
          `COPY (SELECT * EXCLUDE (org_id, day) FROM (${lakeSql(lake.folder, table, 'acme')}) WHERE day = '${on}') TO '${file}'`,
        );
        catalog.days[on].tables[table].bytes = statSync(file).size;
        old.push(file);
      }
    }
    connection.closeSync();
    // As the earlier version left it, with days that it hasn't come to publish.
    for (const table of TABLES) rmSync(quietFile(lake, table));
    for (const [on, { tables }] of Object.entries<{ tables: Record<string, { bytes?: number }> }>(
      catalog.days,
    ))
      if (tables.activity?.bytes === undefined) delete catalog.days[on];
    writeFileSync(path, JSON.stringify(catalog));
    const other = new Lake(world.config.data);
    await other.publish(world.store, []);
    await expectWhole(world, other);
    expect(old.filter((file) => !existsSync(file))).toEqual([]);
    expect(await other.repair(world.store)).toMatchObject({ differences: [], unneeded: old.length });
    expect(old.filter((file) => existsSync(file))).toEqual([]);
    await expectWhole(world, other);
    expect(await other.repair(world.store)).toMatchObject({ differences: [], unneeded: 0 });
  });

  test('are verified and put right as the others are', async () => {
    const { world, lake } = await halfAYear();
    rmSync(quietFile(lake, 'tools'));
    truncateSync(quietFile(lake, 'quality'), 100);
    const connection = await (await DuckDBInstance.create()).connect();
    const change = async (table: (typeof TABLES)[number], select: string) => {
      const path = quietFile(lake, table);
      await connection.run(`COPY (${select} FROM '${path}') TO '${path}.new' (FORMAT parquet)`);
      renameSync(`${path}.new`, path);
    };
    await change(
      'activity',
      "SELECT * REPLACE (CASE WHEN day = '2026-05-05' THEN 1 ELSE messages END AS messages)",
    );
    await change(
      'productivity',
      "SELECT * REPLACE (CASE WHEN day = '2026-05-05' THEN DATE '2026-07-08' ELSE day END AS day)",
    );
    connection.closeSync();
    const told = async () =>
      (await lake.verify(world.store)).differences
        .map(({ path, detail }) => `${path} ${detail}`.replace(/(read: ).*/, '$1...'))
        .sort();
    expect(await told()).toEqual([
      'activity/org_id=acme/_quiet.parquet has other rows than the store of 2026-05-05',
      'productivity/org_id=acme/_quiet.parquet has other rows than the store of 2026-05-05',
      "quality/org_id=acme/_quiet.parquet can't be read: ...",
      'tools/org_id=acme/_quiet.parquet is missing',
    ]);
    expect((await lake.repair(world.store)).differences).toHaveLength(4);
    await expectWhole(world, lake);
  });
});

describe('a file that takes the place of another', () => {
  /** Makes Parquet files of any size, and answers their rows as a reader who has nothing but the bytes. */
  async function files() {
    const folder = temporaryFolder();
    const connection = await (await DuckDBInstance.create()).connect();
    const make = async (name: string, rows: number) => {
      const path = join(folder, name);
      await connection.run(
        `COPY (SELECT '${name}' AS version, i, hash(i)::VARCHAR AS text, CASE WHEN i % 2 = 0 THEN 'even' END AS parity FROM range(${rows}) AS t (i)) TO '${path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)`,
      );
      return path;
    };
    const read = async (bytes: Buffer) => {
      const path = join(folder, 'read.parquet');
      writeFileSync(path, bytes);
      const result = await connection.run(
        `SELECT min(version) AS first, max(version) AS last, count(*)::INT AS n, sum(i)::INT AS sum, count(DISTINCT text)::INT AS texts, count(parity)::INT AS even, (SELECT count(*)::INT FROM '${path}' WHERE text = hash(7)::VARCHAR) AS found FROM '${path}'`,
      );
      return (await result.getRowObjectsJson())[0];
    };
    return { folder, make, read };
  }

  const content = (name: string, n: number) => ({
    ...{ first: name, last: name, n, sum: (n * (n - 1)) / 2, texts: n, even: Math.ceil(n / 2), found: 1 },
  });

  test('begins with all bytes of the other, so that who has read its footer finds its rows', async () => {
    const { make, read } = await files();
    const path = await make('a', 5000);
    const versions = [{ name: 'a', rows: 5000, bytes: readFileSync(path) }];
    for (const [name, rows] of [
      ['b', 9000],
      ['c', 100],
      ['d', 20_000],
    ] as const) {
      const next = await make(name, rows);
      await keepRows(next, path);
      copyFileSync(next, path);
      versions.push({ name, rows, bytes: readFileSync(path) });
    }
    const newest = readFileSync(path);
    for (const { name, rows, bytes } of versions) {
      expect(newest.subarray(0, bytes.length).equals(bytes)).toBe(true);
      expect(await read(bytes)).toEqual(content(name, rows));
    }
  });

  test('takes the room of rows that nobody can be reading any more, and only that', async () => {
    const { make, read } = await files();
    const path = await make('v0', 5000);
    let before = { name: 'v0', rows: 5000, bytes: readFileSync(path) };
    const sizes: number[] = [];
    for (let version = 1; version <= 12; version += 1) {
      const [name, rows] = [`v${version}`, 4000 + ((version * 777) % 2000)];
      const next = await make(name, rows);
      utimesSync(path, 1, 1);
      await keepRows(next, path);
      copyFileSync(next, path);
      const bytes = readFileSync(path);
      expect(await read(bytes)).toEqual(content(name, rows));
      // Who has read the footer before reads on in the new file.
      const mixed = Buffer.from(bytes.subarray(0, before.bytes.length));
      expect(await read(mixed)).toEqual(content(before.name, before.rows));
      before = { name, rows, bytes };
      sizes.push(bytes.length);
    }
    expect(Math.max(...sizes)).toBeLessThan(4 * readFileSync(await make('plain', 6000)).length);
  });

  test('is left as it is where the other has no rows, and is refused where the other is no Parquet', async () => {
    const { folder, make } = await files();
    const [next, empty] = [await make('next', 10), await make('empty', 0)];
    const bytes = readFileSync(next);
    await keepRows(next, empty);
    expect(readFileSync(next).equals(bytes)).toBe(true);
    writeFileSync(join(folder, 'text'), 'no Parquet');
    await expect(keepRows(next, join(folder, 'text'))).rejects.toThrow(TypeError);
    expect(
      readdirSync(folder)
        .map((path) => relative(folder, path))
        .some((path) => path.includes('joined')),
    ).toBe(false);
  });
});
