import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { runBuild } from '../../src/aggregate/build-run.js';
import { addDays, type Day, MS_PER_DAY } from '../../src/day.js';
import { CANONICAL } from '../../src/ingest/source.js';
import { Lake, LakeFailed } from '../../src/lake/data-lake.js';
import { EARLIER, earlierInstants, snapshotAt } from '../../src/lake/earlier-snapshot.js';
import { folderOf, type LakeTable, orderOf } from '../../src/lake/lake-paths.js';
import { lakeSql } from '../../src/lake/lake-sql.js';
import {
  NEXT,
  organizationsIn,
  readSnapshot,
  SNAPSHOT,
  seenOf,
  snapshotText,
} from '../../src/lake/snapshot.js';
import { isTurn } from '../../src/lake/table-plan.js';
import type { Row } from '../../src/store/store.js';
import { columnsOf } from '../../src/store/tables.js';
import { playsSlow } from '../slow.js';
import { World } from '../world.js';
import {
  ask,
  build,
  event,
  expectLogs,
  expectWhole,
  lakeRows,
  snapshotOf,
  worldWithLake,
  writtenFiles,
} from './lake-world.js';
import { snapshotsIn } from './snapshots.js';

/** Ids that would lead elsewhere, end a text, or stand for many. */
const HOSTILE = ['../../x', "ä %'", '*', '_delta_log', 'users'];

const day = (text: string) => text as Day;

describe('the folder of an organization', () => {
  test('is one folder inside the lake, whatever the id is, and no other id has it', () => {
    const long = ['x'.repeat(300), 'x'.repeat(301), 'ä'.repeat(200), '/'.repeat(200), '𝒳'.repeat(70)];
    const more = ['..', 'a/b', '$org_id', '[a]', 'ä %', 'acme', 'a~2Fb', '_', 'x~y', 'a\0b', 'a\nb'];
    // The same names on file systems that ignore case, or drop a full stop at the end.
    const alike = ['ACME', 'Acme', 'acme.', 'Ä %', 'A~2fb', 'a~2fb', '~41cme', '~61cme', 'X'.repeat(300)];
    const ids = [...HOSTILE, ...long, ...more, ...alike];
    const names = ids.map(folderOf);
    expect(new Set(names.map((name) => name.toLowerCase().replace(/\.+$/, ''))).size).toBe(ids.length);
    for (const name of names) {
      expect(basename(join('/lake', name, 'users'))).toBe('users');
      expect(dirname(join('/lake', name))).toBe('/lake');
      expect(name.length).toBeLessThanOrEqual(255);
      expect(name).toMatch(/^[\w~-][\w.~-]*$/);
      expect(name).not.toMatch(/^_/);
    }
    expect(folderOf('a/b')).toBe('a~2Fb');
    expect(folderOf('ä %')).toBe('~C3~A4~20~25');
  });

  test('cannot be taken by an id that looks as a long one was cut', () => {
    const cut = folderOf('x'.repeat(300));
    expect(folderOf(cut)).not.toBe(cut);
  });
});

describe('the lake', () => {
  test('has the rows of every table of every organization, with the types of docs/tables.md', async () => {
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
    await expectWhole(world, lake);
    for (const [index, orgId] of ids.entries()) {
      const rows = await ask(`${lakeSql(lake.folder, 'users', [snapshotOf(lake, orgId)])}`);
      expect(rows.map((row) => [row.org_id, row.user_id])).toEqual([
        [orgId, `user-${index}`],
        [orgId, `user-${index}`],
      ]);
      const { days, newest_day, tables } = snapshotOf(lake, orgId);
      expect([days, newest_day]).toEqual([['2026-06-01', '2026-06-02', '2026-06-03'], '2026-06-03']);
      // A table without rows has no files.
      expect(tables.user_skills).toBeUndefined();
      expect(existsSync(join(lake.folder, folderOf(orgId), 'user_skills'))).toBe(false);
      expect(tables.users?.files).toHaveLength(1);
      expect(Object.keys(tables.users?.files[0]?.days ?? {})).toEqual(['2026-06-01', '2026-06-03']);
    }
    const total = await lake.verify(world.store);
    expect(total).toMatchObject({ organizations: ids.length, days: ids.length * 3, waiting: 0 });
    expect(total.files).toBe(writtenFiles(lake).size);
    // Whoever reads a file by itself finds instants in UTC, and when the rows were published.
    const [events] = snapshotOf(lake).tables.events?.files ?? [];
    const [row] = await ask(
      `SELECT typeof(occurred_at) AS type, epoch_ms(published_at)::BIGINT AS published_at, epoch_ms(occurred_at)::BIGINT AS occurred_at FROM '${join(lake.folder, 'acme/events', String(events?.path))}' LIMIT 1`,
    );
    expect(row).toEqual({
      type: 'TIMESTAMP WITH TIME ZONE',
      published_at: String(world.now),
      occurred_at: String(Date.parse('2026-06-01T10:00:00Z')),
    });
    const typed = await ask(
      `SELECT column_name AS name, column_type AS type FROM (DESCRIBE ${lakeSql(lake.folder, 'events', [snapshotOf(lake)])})`,
    );
    expect(typed).toEqual(columnsOf('events').map(({ name, type }) => ({ name, type })));
  });

  test('writes again only what a build has changed', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-07', 'ada'), event('2026-07-08', 'ada'), event('2026-07-09', 'grace')]);
    await build(world, lake);
    // When a day was built is in day_quality.
    const others = () =>
      new Map([...writtenFiles(lake, '')].filter(([path]) => !/day_quality|_snapshot/.test(path)));
    const before = others();
    world.now += 1000;
    const publish = (days: Parameters<Lake['publish']>[1]) => lake.publish(world.store, days);
    await (await runBuild(world.store, 'command', { all: true }, world.clock, { publish })).finished;
    expect(others()).toEqual(before);
    const first = snapshotOf(lake);
    await world.send([event('2026-07-08', 'ada', { type: 'user_message', tool_name: undefined })]);
    await build(world, lake);
    const { tables } = snapshotOf(lake);
    expect(tables.user_tools).toEqual(first.tables.user_tools);
    expect([tables.users?.version, tables.events?.version]).toEqual([1, 1]);
    await expectWhole(world, lake);
    // Another process finds the same, and writes nothing.
    const after = writtenFiles(lake, '');
    await new Lake(world.config, world.clock).publish(world.store, []);
    expect(writtenFiles(lake, '')).toEqual(after);
  });

  test('has what builds and arrivals recorded, without the text of rejected lines', async () => {
    const { world, lake } = await worldWithLake();
    const rejected = event('2026-07-08', 'ada', { event_id: 7, repo: 'words-of-a-prompt' });
    await world.send([event('2026-07-08', 'ada'), rejected]);
    await world.send([event('2026-07-08', 'grace'), rejected, rejected], { orgId: 'globex' });
    await build(world, lake);
    const count =
      'SELECT org_id, CAST(day AS VARCHAR) AS day, count(*)::INT AS n FROM rows_of GROUP BY ALL ORDER BY ALL';
    const rejects = (acme: number) => [
      { org_id: 'acme', day: '2026-07-08', n: acme },
      { org_id: 'globex', day: '2026-07-08', n: 2 },
    ];
    expect(await lakeRows(lake, 'rejects', count)).toEqual(rejects(1));
    expect(await lakeRows(lake, 'restatements', count)).toEqual([]);
    await expectWhole(world, lake);
    world.now += 1000;
    await world.send([event('2026-07-08', 'ada'), rejected, rejected]);
    await build(world, lake);
    expect(await lakeRows(lake, 'rejects', count)).toEqual(rejects(3));
    const restated = "SELECT reason, new_digest FROM rows_of WHERE table_name = 'users'";
    const digest =
      "SELECT digest FROM rows_of WHERE table_name = 'users' AND org_id = 'acme' AND day = '2026-07-08'";
    const [current] = await lakeRows(lake, 'digests', digest);
    expect(await lakeRows(lake, 'restatements', restated)).toEqual([
      { reason: 'late events', new_digest: current?.digest },
    ]);
    await expectWhole(world, lake);
    for (const path of writtenFiles(lake, '').keys())
      expect(readFileSync(join(lake.folder, path), 'latin1'), path).not.toContain('words-of-a-prompt');
  });

  test('gets what an earlier process did not publish, and a day whose events came late waits for its build', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-08', 'ada'), event('2026-07-09', 'ada')]);
    await world.build();
    await world.send([event('2026-07-09', 'grace')]);
    await lake.publish(world.store, []);
    expect(snapshotOf(lake).days).toEqual(['2026-07-08']);
    expect((await lake.verify(world.store)).differences).toEqual([]);
    await build(world, lake);
    const users = "SELECT user_id FROM rows_of WHERE day = '2026-07-09' ORDER BY ALL";
    expect(await lakeRows(lake, 'events', users)).toEqual([{ user_id: 'ada' }, { user_id: 'grace' }]);
    // What is published already stays while it waits.
    await world.send([event('2026-07-09', 'linus'), event('2026-07-08', 'linus')]);
    await new Lake(world.config, world.clock).publish(world.store, []);
    expect(await lakeRows(lake, 'events', users)).toEqual([{ user_id: 'ada' }, { user_id: 'grace' }]);
  });

  test('waits for the build of a day whose events come while it is published', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-08', 'ada'), event('2026-07-09', 'ada')]);
    await world.build();
    const copy = world.store.copy.bind(world.store);
    vi.spyOn(world.store, 'copy').mockImplementationOnce(async (...asked) => {
      await world.send([event('2026-07-09', 'grace')]);
      return copy(...asked);
    });
    await lake.publish(world.store, []);
    expect(snapshotsIn(lake.folder)).toEqual([]);
    await build(world, lake);
    await expectWhole(world, lake);
  });

  test('has rows in the order of their days and keys', async () => {
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
    for (const [table, { files }] of Object.entries(snapshotOf(lake).tables)) {
      const order = orderOf(table as LakeTable).join(', ');
      for (const { path } of files) {
        const rows = `SELECT row(${order})::VARCHAR AS key FROM read_parquet('${join(lake.folder, 'acme', table, path)}', file_row_number = true)`;
        expect(await ask(`${rows} ORDER BY file_row_number`), table).toEqual(
          await ask(`${rows} ORDER BY ${order}`),
        );
      }
    }
  });

  test('says in one sentence what keeps it from being written, and goes on with it the next time', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-09', 'ada')]);
    writeFileSync(lake.folder, 'in the way');
    const failed = build(world, lake);
    await expect(failed).rejects.toThrow(LakeFailed);
    await expect(failed).rejects.toThrow(/^The days are built, .*"daybook lake publish"\.$/);
    // The build is well all the same.
    const [run] = await world.store.select('SELECT days_built, error FROM runs');
    expect(run).toEqual({ days_built: 1, error: null });
    rmSync(lake.folder);
    await build(world, lake);
    await expectWhole(world, lake);
  });

  test('has ended all it was writing before it says that an organization could not be published', async () => {
    const { world, lake } = await worldWithLake();
    const organizations = ['acme', 'bolt', 'crane', 'delta'];
    const sendToAll = (on: string) =>
      world.sendTogether(organizations.map((orgId) => [orgId, [event(on, 'ada')]]));
    await sendToAll('2026-07-08');
    await build(world, lake);
    const instants = () =>
      organizations.map((orgId) => Number(readSnapshot(lake.folder, orgId)?.published_at));
    const before = instants();
    // The first file of acme can't be put in place.
    const at = Math.max(world.clock(), ...before.map((instant) => instant + 1));
    mkdirSync(join(lake.folder, `acme/events/part-${at}-0.parquet`));
    await sendToAll('2026-07-09');
    await expect(build(world, lake)).rejects.toThrow(LakeFailed);
    expect(instants().map((instant, index) => instant > (before[index] ?? 0))).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  test('writes the checkpoints of many organizations within the memory of a few', async () => {
    const world = await World.create({ DAYBOOK_MEMORY_MB: '256' });
    const lake = new Lake(world.config, world.clock);
    const organizations = Array.from({ length: 100 }, (_, index) => `org-${index}`);
    const sendToAll = (on: string) =>
      world.sendTogether(organizations.map((orgId) => [orgId, [event(on, 'ada')]]));
    await sendToAll('2026-07-08');
    await build(world, lake);
    // As if there had been more commits of each table, and it were the turn of all.
    for (const orgId of organizations) {
      const { tables, ...rest } = snapshotOf(lake, orgId);
      const later = Object.entries(tables).map(([table, state]) => {
        let version = 10;
        while (!isTurn(orgId, table as LakeTable, version)) version += 1;
        return [table, { ...state, version }];
      });
      const path = join(lake.folder, orgId, SNAPSHOT);
      writeFileSync(path, snapshotText({ ...rest, tables: Object.fromEntries(later) }));
    }
    await sendToAll('2026-07-09');
    await build(world, lake);
    const snapshot = snapshotOf(lake, 'org-99');
    const another = Object.entries(snapshot.tables).filter(([, { checkpoints }]) => checkpoints.length > 0);
    expect(another.length).toBeGreaterThan(10);
    expect(writtenFiles(lake, '.checkpoint.parquet').size).toBe(organizations.length * another.length);
    await expectLogs(lake, snapshot, another);
  });

  test('ends a publication that was cut off before or between its commits', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-08', 'ada')]);
    await build(world, lake);
    const folder = join(lake.folder, 'acme');
    const before = readFileSync(join(folder, SNAPSHOT), 'utf8');
    await world.send([event('2026-07-08', 'ada'), event('2026-07-09', 'grace')]);
    await build(world, lake);
    const after = snapshotOf(lake);
    // As if the process had ended after some of the commits.
    renameSync(join(folder, SNAPSHOT), join(folder, NEXT));
    writeFileSync(join(folder, SNAPSHOT), before);
    rmSync(join(folder, 'users/_delta_log/00000000000000000001.json'));
    rmSync(join(folder, EARLIER), { recursive: true });
    expect(await lakeRows(lake, 'users', 'SELECT DISTINCT user_id FROM rows_of')).toEqual([
      { user_id: 'ada' },
    ]);
    await new Lake(world.config, world.clock).publish(world.store, []);
    expect(snapshotOf(lake)).toEqual(after);
    expect(existsSync(join(folder, NEXT))).toBe(false);
    expect(earlierInstants(lake.folder, 'acme')).toEqual([JSON.parse(before).published_at]);
    await expectWhole(world, lake);
    // A list that was cut off itself says nothing.
    writeFileSync(join(folder, NEXT), snapshotText(after).slice(0, 100));
    await new Lake(world.config, world.clock).publish(world.store, []);
    expect(snapshotOf(lake)).toEqual(after);
  });

  test('begins again if the snapshot of an organization is gone or damaged', async () => {
    const { world, lake } = await worldWithLake();
    await world.send([event('2026-07-08', 'ada'), event('2026-07-09', 'ada')]);
    await build(world, lake);
    writeFileSync(join(lake.folder, 'acme', SNAPSHOT), '{"format": 1');
    await new Lake(world.config, world.clock).publish(world.store, []);
    await expectWhole(world, lake);
    expect(writtenFiles(lake).size).toBe((await lake.verify(world.store)).files);
  });

  test('reads no snapshot of another organization, and publishes anew where one is', async () => {
    const { world, lake } = await worldWithLake();
    for (const orgId of ['acme', 'globex']) await world.send([event('2026-07-09', orgId)], { orgId });
    await build(world, lake);
    const [own, foreign] = ['acme', 'globex'].map((name) => join(lake.folder, name));
    rmSync(foreign ?? '', { recursive: true });
    cpSync(own ?? '', foreign ?? '', { recursive: true });
    expect(readSnapshot(lake.folder, 'globex')).toBeUndefined();
    expect(organizationsIn(lake.folder)).toEqual(['acme']);
    await new Lake(world.config, world.clock).publish(world.store, []);
    await expectWhole(world, lake);
    expect(readSnapshot(lake.folder, 'globex')?.org_id).toBe('globex');
  });
});

describe('a year of nights', () => {
  const NIGHTS = playsSlow() ? 365 : 15;
  const FIRST = day('2026-01-20');

  test(
    `leaves few files: ${NIGHTS} of them, each with a day and late events of the day before`,
    async () => {
      const { world, lake } = await worldWithLake({ lakeKeepDays: 10 });
      const asked: { at: number; rows: Row[] }[] = [];
      const select = 'SELECT day, user_id, tool_calls FROM rows_of ORDER BY ALL';
      let most = 0;
      for (let night = 0; night < NIGHTS; night += 1) {
        const on = addDays(FIRST, night);
        world.now = Date.parse(`${addDays(on, 1)}T00:15:00Z`);
        const late = night % 3 === 0 ? [event(addDays(on, -1), `late-${night}`)] : [];
        await world.send([event(on, 'ada', { mcp_server: 'github' }), event(on, 'grace'), ...late]);
        await build(world, lake);
        most = Math.max(most, writtenFiles(lake, '').size);
        asked.push({ at: world.now, rows: await lakeRows(lake, 'users', select) });
        if (night % 10 === 9) await expectWhole(world, lake);
      }
      console.log(`at most ${most} files in ${NIGHTS} nights`);
      expect(most).toBeLessThan(450);
      const snapshot = snapshotOf(lake);
      for (const { version, files, checkpoints } of Object.values(snapshot.tables)) {
        expect(files.length).toBeLessThanOrEqual(14);
        if (version > 25) expect(checkpoints.length).toBeGreaterThan(0);
      }
      // The rows of the last ten days, as they were when they were asked for.
      const kept = asked.filter(({ at }) => at > world.now - 10 * MS_PER_DAY);
      expect(kept.length).toBeGreaterThan(8);
      for (const { at, rows } of kept) {
        expect(await lakeRows(lake, 'users', select, at), new Date(at).toISOString()).toEqual(rows);
        const [newest] = rows.map((row) => row.day as Day).reverse();
        expect(seenOf(snapshotAt(lake.folder, snapshot, at) ?? snapshot)).toEqual({
          newest_day: newest,
          published_at: new Date(at).toISOString(),
        });
      }
      expect(snapshotAt(lake.folder, snapshot, Date.parse('2026-01-01'))).toBeUndefined();
      // Nothing is kept for longer than it can be asked for.
      const [oldest = 0] = earlierInstants(lake.folder, 'acme');
      expect(oldest).toBeGreaterThan(world.now - 12 * MS_PER_DAY);
      for (const { removed } of Object.values(snapshot.tables))
        for (const { at } of removed) expect(at).toBeGreaterThan(world.now - 12 * MS_PER_DAY);
    },
    NIGHTS * 30_000,
  );
});

describe('retention', () => {
  test('takes the events out of the lake at once, out of every file, and leaves the day tables, also those of earlier instants', async () => {
    const { world, lake } = await worldWithLake();
    world.now = Date.parse('2026-06-02T12:00:00Z');
    await world.send([event('2026-06-01', 'ada', { repo: 'a-name-to-forget' })]);
    await build(world, lake);
    // The version before is kept for those who ask what was published then.
    world.now += 60_000;
    await world.send([event('2026-06-01', 'ada', { repo: 'another-to-forget' })]);
    await build(world, lake);
    const bytes = () =>
      [...writtenFiles(lake, '').keys()]
        .filter((path) => path.startsWith('acme/events/'))
        .map((path) => readFileSync(join(lake.folder, path), 'latin1'));
    expect(bytes().filter((text) => text.includes('to-forget')).length).toBeGreaterThan(1);
    const users = snapshotOf(lake).tables.users;
    const publishedAt = world.now;
    // A clock that goes two weeks ahead at once is believed from the next day on.
    world.now = Date.parse('2026-06-15T12:00:00Z');
    await build(world, lake, 14);
    world.now = Date.parse('2026-06-16T12:00:00Z');
    await world.send([event('2026-06-15', 'ada', { repo: 'a-name-to-keep' })]);
    await build(world, lake, 14);
    expect(bytes().filter((text) => text.includes('to-forget'))).toEqual([]);
    expect(bytes().join('')).toContain('a-name-to-keep');
    const count = 'SELECT count(*)::INT AS n FROM rows_of';
    expect(await lakeRows(lake, 'events', count)).toEqual([{ n: 1 }]);
    expect(await lakeRows(lake, 'users', `${count} WHERE day = '2026-06-01'`)).toEqual([{ n: 1 }]);
    expect(await lakeRows(lake, 'users', count, publishedAt)).toEqual([{ n: 1 }]);
    await expect(lakeRows(lake, 'events', count, publishedAt)).rejects.toThrow(
      `What was published of events before ${new Date(world.now).toISOString()} is gone`,
    );
    expect(users?.files[0]?.days[day('2026-06-01')]).toEqual(
      snapshotOf(lake).tables.users?.files[0]?.days[day('2026-06-01')],
    );
    await expectWhole(world, lake);
  });
});
