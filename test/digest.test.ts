import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { build } from '../src/aggregate/build-days.js';
import type { Day } from '../src/day.js';
import { replacePeople } from '../src/people/people-change.js';
import { BUILT_TABLES, type BuiltTable, dailySql } from '../src/store/day-builder.js';
import { rowText } from '../src/store/row-digest.js';
import type { Row } from '../src/store/store.js';
import { columnsOf } from '../src/store/tables.js';
import { temporaryFolder, World } from './world.js';

const EMPTY = createHash('sha256').digest('hex');

let number = 0;
function event(type: string, at: string, user_id: string, more: object = {}) {
  number += 1;
  const timestamp = at.includes('T') ? at : `${at}T09:00:00Z`;
  return { event_id: `d${number}`, timestamp, user_id, session_id: 's1', type, ...more };
}

async function worldOn(
  day: string,
  environment: Record<string, string> = {},
  daily: (table: BuiltTable) => string = dailySql,
): Promise<World> {
  const world = await World.create(environment, undefined, daily);
  world.now = Date.parse(`${day}T12:00:00.000Z`);
  return world;
}

/** The digests of all days, as `day table` -> digest. */
async function digestsOf(world: World, orgId = 'acme'): Promise<Record<string, unknown>> {
  const rows = await world.store.select(
    'SELECT day, table_name, digest FROM digests WHERE org_id = $orgId ORDER BY ALL',
    { orgId },
  );
  return Object.fromEntries(rows.map((row) => [`${row.day} ${row.table_name}`, row.digest]));
}

/** What was restated, as `day table: reason`. */
async function restated(world: World): Promise<string[]> {
  const rows = await world.store.select('SELECT * FROM restatements ORDER BY day, table_name, built_at');
  return rows.map((row) => `${row.day} ${row.table_name}: ${row.reason}`);
}

/** A row's text, as docs/quality.md says, of columns in the table's order. */
function textOf(row: Row, types: Record<string, string>): string {
  return Object.entries(types)
    .map(([column, type]) => {
      const value = row[column];
      if (value === null || value === undefined) return '';
      if (type === 'VARCHAR') return `"${String(value).replaceAll('"', '""')}"`;
      if (type !== 'DOUBLE') return String(value);
      const bits = Buffer.alloc(8);
      bits.writeDoubleBE(Number(value));
      return String(bits.readBigInt64BE());
    })
    .join(',');
}

/** The number whose SHA-256 is the digest of a table that can be very large. */
function combined(texts: readonly Buffer[]): string {
  const numbers = texts.map((text) => createHash('md5').update(text).digest().readBigUInt64LE(8));
  return String(numbers.reduce((all, one) => all ^ one, 0n));
}

describe('a digest', () => {
  test('is the SHA-256 of the rows as docs/quality.md says, whatever their values are', async () => {
    const world = await worldOn('2026-06-10');
    const users = ['ada', 'Ö,"x"', '"', 'b\nc', "it's", '\\', ',', '日本'];
    await world.send(
      users.flatMap((user, index) => [
        event('user_message', '2026-06-08', user, { autonomy_mode: 'auto-low', client: 'web', team: user }),
        ...Array.from({ length: index + 1 }, () =>
          event('tool_call', '2026-06-08', user, { tool_name: 'Read', autonomy_mode: 'manual' }),
        ),
        event('model_usage', '2026-06-08', user, { model: user, input_tokens: 1, output_tokens: index }),
        event('file_change', '2026-06-08', user, { path: 'a,"b".ts', operation: 'edit' }),
        event('hook_run', '2026-06-08', user, { hook_event: 'Stop', command: 'echo "a,b"\n' }),
        ...['log', 'hook'].map((channel) => event('assistant_message', '2026-06-08', user, { channel })),
        event('other_usage', '2026-06-08', user, {
          channel: 'log',
          session_id: 's2',
          model: user,
          input_tokens: 2,
          output_tokens: 1,
        }),
        event('user_message', '2026-06-08', user, { channel: 'otlp_log', is_installation: true }),
      ]),
    );
    await replacePeople(
      world.store,
      'acme',
      () => [{ userId: 'it', name: '', emails: [], aliases: ["it's", '日本'], memberships: [] }],
      { author: 'root' },
      world.now,
    );
    await world.build();
    const stored = await digestsOf(world);
    for (const table of BUILT_TABLES) {
      const columns = await world.store.select(
        'SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $table ORDER BY ordinal_position',
        { table },
      );
      const types = Object.fromEntries(
        columns.map((row) => [String(row.column_name), String(row.data_type)]),
      );
      const rows = await world.store.select(`SELECT * FROM ${table} WHERE day = DATE '2026-06-08'`);
      const texts = rows.map((row) => Buffer.from(textOf(row, types))).sort(Buffer.compare);
      const expected = createHash('sha256')
        .update(
          /^(shadowed_events|decided_users|user_sessions|session_\w+)$/.test(table)
            ? combined(texts)
            : texts.map(String).join('\n'),
        )
        .digest('hex');
      expect(stored[`2026-06-08 ${table}`], table).toBe(expected);
      if (!/skill|slash|vendor/.test(table)) expect(rows.length, table).toBeGreaterThan(0);
    }
  });

  test('is there for every table of every built day, with the number of its rows; of no rows it is that of nothing', async () => {
    const world = await worldOn('2026-06-10');
    await world.send([event('user_message', '2026-06-08', 'ada')]);
    await world.build();
    const rows = await world.store.select(
      'SELECT day, table_name, row_count, digest FROM digests ORDER BY day',
    );
    expect(rows.map(({ day, table_name }) => `${day} ${table_name}`).sort()).toEqual(
      ['2026-06-08', '2026-06-09'].flatMap((day) => BUILT_TABLES.map((table) => `${day} ${table}`)).sort(),
    );
    for (const { day, table_name, row_count, digest } of rows) {
      const [counted] = await world.store.select(
        `SELECT count(*) AS rows FROM ${table_name} WHERE day = $day`,
        {
          day: { day: day as Day },
        },
      );
      expect(row_count).toBe(counted?.rows);
      expect(digest === EMPTY).toBe(row_count === 0);
    }
  });

  test('tells nothing from the empty text, and one value from two', async () => {
    const world = await worldOn('2026-06-10');
    const columns = [
      { name: 'one', type: 'VARCHAR' },
      { name: 'other', type: 'VARCHAR' },
      { name: 'n', type: 'BIGINT' },
      { name: 'x', type: 'DOUBLE' },
    ];
    const values = [
      "'a', 'b', 1, 0.1",
      '\'a","b\', NULL, 1, 0.1',
      "NULL, '', 1, 0.1",
      "'', NULL, 1, 0.1",
      "'', '', 1, 0.1",
      "'', '', NULL, 0.1",
      "'', '', 0, 0.1",
      "'', '', 0, NULL",
      "'', '', 0, 0.1 + 2e-17",
    ];
    const texts = await world.store.select(
      `SELECT ${rowText(columns)} AS text FROM (VALUES (${values.join('), (')})) AS t (one, other, n, x)`,
    );
    expect(new Set(texts.map(({ text }) => text)).size).toBe(values.length);
    const [zero] = await world.store.select(
      "SELECT double_field(CAST('-0.0' AS DOUBLE)) = double_field(CAST(0 AS DOUBLE)) AS same",
    );
    expect(zero).toEqual({ same: true });
  });

  test('has every column, and takes no column of a type that it has no text for', async () => {
    const world = await worldOn('2026-06-10');
    for (const table of BUILT_TABLES) {
      const columns = await world.store.select(
        'SELECT column_name FROM information_schema.columns WHERE table_name = $table ORDER BY ordinal_position',
        { table },
      );
      const inText = [...rowText(columnsOf(table)).matchAll(/_field\((\w+)\)/g)];
      expect(inText.map(([, column]) => column)).toEqual(columns.map(({ column_name }) => column_name));
    }
    expect(() => rowText([{ name: 'seen_at', type: 'HUGEINT' }])).toThrow(
      'digests have no text for seen_at of type HUGEINT',
    );
  });
});

const WEEKS = ['2026-05-20', '2026-05-25', '2026-06-08'];

function mixed(day: string, user: string): object[] {
  return [
    event('user_message', day, user),
    event('tool_call', day, user, { tool_name: 'Read' }),
    event('model_usage', day, user, { model: 'swift', input_tokens: 100, output_tokens: 0 }),
    event('file_change', day, user, { path: 'app.ts', operation: 'edit' }),
  ];
}

function card(name: string, multiplier: number, later = multiplier): string {
  const path = join(temporaryFolder(), name);
  const rates = [
    { valid_from: '2026-01-01', multiplier },
    { valid_from: '2026-06-01', multiplier: later },
  ];
  writeFileSync(path, JSON.stringify({ models: [{ id: 'swift', tier: 'standard', rates }] }));
  return path;
}

/** The same database, opened again with another rate card. */
async function reopened(world: World, environment: Record<string, string> = {}): Promise<World> {
  await world.store.close();
  const again = await World.create({ DAYBOOK_DATA: world.config.data, ...environment });
  again.now = world.now;
  return again;
}

describe('a restatement', () => {
  test('is not made by a build that changes nothing, however it is asked for', async () => {
    const world = await worldOn('2026-06-10');
    await world.send(WEEKS.flatMap((day) => mixed(day, 'ada')));
    await world.build();
    const digests = await digestsOf(world);
    await build(world.store, { all: true }, world.clock);
    await build(world.store, { from: '2026-05-20' as Day }, world.clock);
    const again = await reopened(world);
    await build(again.store, { all: true }, again.clock);
    expect(await digestsOf(again)).toEqual(digests);
    expect(await restated(again)).toEqual([]);
  });

  test('is made by late events, for the tables that they change and the windows that they reach, and for nothing else', async () => {
    const world = await worldOn('2026-06-10');
    await world.send(WEEKS.flatMap((day) => mixed(day, 'ada')));
    await world.build();
    const before = await digestsOf(world);
    world.now += 1000;
    await world.send([event('skill_use', '2026-06-08', 'grace', { skill_name: 'review' })]);
    await world.build();
    const after = await digestsOf(world);
    const tables = [
      'activity',
      'coverage',
      'quality',
      'session_parts',
      'tools',
      'user_agents',
      'user_sessions',
      'user_skills',
      'users',
    ];
    expect(await restated(world)).toEqual([
      ...tables.map((table) => `2026-06-08 ${table}: late events`),
      '2026-06-09 activity: late events',
    ]);
    const rows = await world.store.select('SELECT * FROM restatements');
    for (const { org_id, day, table_name, old_digest, new_digest, built_at } of rows) {
      expect(org_id).toBe('acme');
      expect(old_digest).toBe(before[`${day} ${table_name}`]);
      expect(new_digest).toBe(after[`${day} ${table_name}`]);
      expect(built_at).toBe(world.now);
    }
    expect(Object.keys(after).filter((key) => after[key] !== before[key])).toHaveLength(rows.length);
  });

  test('is made by the start of a session that late events have moved, in whatever build it goes in', async () => {
    for (const range of [{}, { all: true }]) {
      const world = await worldOn('2026-06-10');
      await world.send([event('user_message', '2026-04-01', 'grace'), ...mixed('2026-06-08', 'ada')]);
      await world.build();
      await world.send([event('user_message', '2026-04-02', 'ada')]);
      await build(world.store, range, world.clock);
      const all = await restated(world);
      expect(all.filter((line) => line > '2026-06')).toEqual([
        '2026-06-08 activity: late events',
        '2026-06-08 session_parts: late events',
        '2026-06-08 user_agents: late events',
        '2026-06-08 users: late events',
      ]);
      expect(new Set(all.map((line) => line.split(': ')[1]))).toEqual(new Set(['late events']));
    }
  });

  test('is made by a rate card only for days that are built again, and whose rates it changes', async () => {
    const first = await worldOn('2026-06-10', { DAYBOOK_RATE_CARD: card('one.json', 1) });
    await first.send(WEEKS.flatMap((day) => mixed(day, 'ada')));
    await first.build();
    const world = await reopened(first, { DAYBOOK_RATE_CARD: card('two.json', 1, 2) });
    expect(await world.build()).toEqual([]);
    expect(await restated(world)).toEqual([]);
    await build(world.store, { all: true }, world.clock);
    expect(await restated(world)).toEqual([
      '2026-06-08 session_models: rate card',
      '2026-06-08 user_agents: rate card',
      '2026-06-08 user_models: rate card',
      '2026-06-08 users: rate card',
    ]);
    await build(world.store, { all: true }, world.clock);
    expect(await restated(world)).toHaveLength(4);
  });

  test('is made by late events that tell better what another day tells, in whatever build it goes in', async () => {
    for (const range of [{}, { all: true }]) {
      const world = await worldOn('2026-06-10');
      const usage = { agent: 'droid', model: 'sonnet', input_tokens: 1, output_tokens: 1 };
      const total = event('model_usage', '2026-05-20', 'ada', { ...usage, channel: 'log' });
      await world.send([total, ...mixed('2026-06-08', 'grace')]);
      await world.build();
      await world.send([event('model_usage', '2026-06-01', 'ada', { ...usage, channel: 'otlp_span' })]);
      await build(world.store, range, world.clock);
      const all = await restated(world);
      expect(all).toContain('2026-05-20 user_models: late events');
      expect(new Set(all.map((line) => line.split(': ')[1]))).toEqual(new Set(['late events']));
    }
  });

  test('names all that has changed of what a table depends on', async () => {
    const first = await worldOn('2026-06-10', { DAYBOOK_RATE_CARD: card('one.json', 1) });
    await first.send(mixed('2026-06-09', 'ada'));
    await first.build();
    const world = await reopened(first, { DAYBOOK_RATE_CARD: card('two.json', 3) });
    await world.send(mixed('2026-06-09', 'grace'));
    await world.build();
    expect(await restated(world)).toEqual([
      '2026-06-09 activity: late events',
      '2026-06-09 coverage: late events',
      '2026-06-09 productivity: late events',
      '2026-06-09 quality: late events, rate card',
      '2026-06-09 session_models: late events, rate card',
      '2026-06-09 session_parts: late events',
      '2026-06-09 session_tools: late events',
      '2026-06-09 tools: late events',
      '2026-06-09 user_agents: late events, rate card',
      '2026-06-09 user_extensions: late events',
      '2026-06-09 user_models: late events, rate card',
      '2026-06-09 user_modes: late events',
      '2026-06-09 user_sessions: late events',
      '2026-06-09 user_tools: late events',
      '2026-06-09 users: late events, rate card',
    ]);
  });

  test('is made by the language table', async () => {
    const world = await worldOn('2026-06-10');
    await world.send(mixed('2026-06-09', 'ada'));
    await world.build();
    await world.store.run([
      { sql: "UPDATE languages SET language = 'Tea' WHERE pattern = '.ts'" },
      { sql: "UPDATE facts SET value = 'another' WHERE name = 'language_table'" },
    ]);
    expect(await world.build()).toEqual([]);
    await build(world.store, { all: true }, world.clock);
    expect(await restated(world)).toEqual(['2026-06-09 user_extensions: language table']);
  });

  test('is made by another definition, also when the tables were made anew for it', async () => {
    for (const areTablesNew of [false, true]) {
      let text = (table: BuiltTable): string =>
        dailySql(table)
          .replace('sum(file.is_created)', '0 * sum(file.is_created)')
          .replace('sum(is_created) AS files_created', '0 * sum(is_created) AS files_created');
      const first = await worldOn('2026-06-10', {}, (table) => text(table));
      await first.send([event('file_change', '2026-06-08', 'ada', { path: 'a.ts', operation: 'edit' })]);
      await first.send([event('file_change', '2026-06-09', 'ada', { path: 'a.ts', operation: 'create' })]);
      await first.build();
      text = dailySql;
      if (areTablesNew) await first.age();
      await first.store.run([
        {
          sql: "UPDATE day_inputs SET definitions = 'of an older version', first_built_at = TIMESTAMP '2026-06-10 01:00:00'",
        },
        { sql: "UPDATE days SET first_built_at = TIMESTAMP '2026-06-10 01:00:00'" },
      ]);
      const world = await reopened(first);
      // What comes for a day that was built once is late, also while its tables are made anew.
      await world.send([event('user_message', '2026-06-08', 'ada')]);
      expect(await world.build()).toEqual(['2026-06-08', '2026-06-09']);
      expect((await restated(world)).filter((line) => line.startsWith('2026-06-09'))).toEqual([
        '2026-06-09 productivity: definition',
        '2026-06-09 session_parts: definition',
        '2026-06-09 user_agents: definition',
        '2026-06-09 user_extensions: definition',
        '2026-06-09 users: definition',
      ]);
      expect(await world.store.select('SELECT day, late FROM arrivals WHERE late > 0')).toEqual([
        { day: '2026-06-08', late: 1 },
      ]);
      expect(await world.store.select('SELECT DISTINCT first_built_at FROM days')).toEqual([
        { first_built_at: Date.parse('2026-06-10T01:00:00Z') },
      ]);
    }
  });

  test('that nothing explains says so', async () => {
    const world = await worldOn('2026-06-10');
    await world.send(mixed('2026-06-09', 'ada'));
    await world.build();
    await world.store.run([{ sql: "UPDATE events SET tool_name = 'Edit' WHERE type = 'tool_call'" }]);
    await build(world.store, { all: true }, world.clock);
    expect(await restated(world)).toEqual([
      '2026-06-09 session_tools: unexplained',
      '2026-06-09 user_tools: unexplained',
    ]);
  });
});
