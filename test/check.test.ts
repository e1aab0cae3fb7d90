import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { type Built, build } from '../src/aggregate/build-days.js';
import { addDays, type Day } from '../src/day.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { BUILT_TABLES, type BuiltTable, dailySql } from '../src/store/day-builder.js';
import { sentenceOf } from '../src/store/day-checks.js';
import { readSql, readSqlFolder } from '../src/store/sql-text.js';
import type { Row } from '../src/store/store.js';
import { expectFile } from './page.js';
import { playsSlow } from './slow.js';
import { type AtEnd, World } from './world.js';

/** A change of one daily query: a text that it has, and another for it. */
interface Change {
  readonly table: BuiltTable;
  readonly from: string;
  readonly to: string;
}

/** A store at noon of 10 June 2026 whose daily queries can be changed, and be mended again. */
class Breakable {
  private changes: readonly Change[] = [];

  private constructor(readonly world: World) {}

  static async create(atEnd: AtEnd = onTestFinished): Promise<Breakable> {
    let breakable: Breakable | undefined;
    const daily = (table: BuiltTable) => breakable?.query(table) ?? dailySql(table);
    breakable = new Breakable(await World.create({}, atEnd, daily));
    breakable.world.now = Date.parse('2026-06-10T12:00:00.000Z');
    return breakable;
  }

  change(...changes: Change[]): void {
    for (const { table, from } of changes) expect(dailySql(table)).toContain(from);
    this.changes = changes;
  }

  private query(table: BuiltTable): string {
    return this.changes
      .filter((change) => change.table === table)
      .reduce((text, { from, to }) => text.replace(from, to), dailySql(table));
  }

  build(range: Parameters<typeof build>[1] = {}): Promise<Built> {
    return build(this.world.store, range, this.world.clock);
  }

  /** All that builds write, in an order of its own. */
  async tables(): Promise<Record<string, Row[]>> {
    const tables: Record<string, Row[]> = {};
    for (const table of [...BUILT_TABLES, 'digests', 'restatements', 'days', 'day_inputs', 'touches'])
      tables[table] = await this.world.store.select(`SELECT * FROM ${table} ORDER BY ALL`);
    return tables;
  }

  /** The same without when and from what they were built. */
  async rows(): Promise<Record<string, Row[]>> {
    const { restatements, days, day_inputs, ...tables } = await this.tables();
    return tables;
  }
}

let number = 0;
function event(type: string, day: string, user_id: string, more: object = {}) {
  number += 1;
  const timestamp = `${day}T09:00:00Z`;
  return { event_id: `c${number}`, timestamp, user_id, session_id: `${user_id}1`, type, ...more };
}

/** A day's work in which every kind of event happens. */
function work(day: string, user: string): object[] {
  return [
    event('user_message', day, user, { client: 'web', autonomy_mode: 'auto-high' }),
    event('assistant_message', day, user),
    event('tool_call', day, user, { tool_name: 'Read', autonomy_mode: 'auto-high' }),
    event('tool_call', day, user, { tool_name: 'mcp__github__search', autonomy_mode: 'manual' }),
    event('tool_call', day, user, { tool_name: '<invoke>' }),
    event('model_usage', day, user, { model: 'swift', input_tokens: 10, output_tokens: 3 }),
    event('file_change', day, user, { path: 'src/app.ts', operation: 'create' }),
    event('git_commit', day, user, { commit_sha: '5c07c91' }),
    event('skill_use', day, user, { skill_name: 'review' }),
    event('slash_command', day, user, { command_name: 'help' }),
    event('hook_run', day, user, { hook_event: 'Stop', command: 'lint' }),
  ];
}

/** A day that is sound, after one for each that a check keeps out. */
const LAST_DAY = '2026-06-09';

/** What is wrong on the one day. */
const onlyOn = (day: string, wrong: string, right: string) =>
  `CASE WHEN day = DATE '${day}' THEN ${wrong} ELSE ${right} END`;

/** What makes a check find a breach on a day: of the other checks, and on the other days, none does. */
const BREAKS: (Change & { day: string; check: string; difference: string })[] = [
  {
    day: '2026-05-31',
    check: 'users_add_up',
    table: 'productivity',
    from: 'CAST(coalesce(person.git_commits, 0)',
    to: `CAST(${onlyOn('2026-05-31', '1', '0')} + coalesce(person.git_commits, 0)`,
    difference: 'git_commits of the users add up to 2 where the day has 3',
  },
  {
    day: '2026-06-01',
    check: 'grouped_is_ungrouped',
    table: 'user_tools',
    from: 'sum(tool_calls) AS BIGINT',
    to: `sum(${onlyOn('2026-06-01', "CASE WHEN tool_key = 'Read' THEN 2 ELSE 1 END", 'tool_calls')}) AS BIGINT`,
    difference: 'tool_calls by tool adds up to 6 where the day has 4',
  },
  {
    day: '2026-06-02',
    check: 'active_users_are_nested',
    table: 'activity',
    from: 'FILTER (WHERE days_back < 7)',
    to: "FILTER (WHERE days_back < 7 AND day <> DATE '2026-06-02')",
    difference: 'active users of the day, week and month: 2, 0, 2',
  },
  {
    day: '2026-06-03',
    check: 'shares_sum_to_one',
    table: 'tools',
    from: 'ratio(level.manual',
    to: `ratio(${onlyOn('2026-06-03', '0', 'level.manual')}`,
    difference: 'of 4 tool calls of a known level',
  },
  {
    day: '2026-06-04',
    check: 'counts_are_not_negative',
    table: 'quality',
    from: 'coalesce(counted.events_without_autonomy_mode, 0)',
    to: onlyOn('2026-06-04', '-1', 'coalesce(counted.events_without_autonomy_mode, 0)'),
    difference: 'a number of quality',
  },
  {
    day: '2026-06-05',
    check: 'counts_are_not_negative',
    table: 'users',
    from: 'ratio(active.tool_calls, active.user_messages)',
    to: onlyOn('2026-06-05', "'nan'", 'ratio(active.tool_calls, active.user_messages)'),
    difference: 'a number of users',
  },
  {
    day: '2026-06-06',
    check: 'counts_are_not_negative',
    table: 'users',
    // What the one before has left of it.
    from: 'ratio(active.tool_calls, active.user_messages)',
    to: onlyOn('2026-06-06', "'inf'", 'ratio(active.tool_calls, active.user_messages)'),
    difference: 'a number of users',
  },
  {
    day: '2026-06-07',
    check: 'days_have_one_row',
    table: 'productivity',
    from: 'LEFT JOIN person USING (org_id, day)',
    to: `LEFT JOIN person USING (org_id, day)
      CROSS JOIN (SELECT 1 AS copy UNION ALL SELECT 2 AS copy) AS copies
      WHERE copy = 1 OR day = DATE '2026-06-07'`,
    difference: 'productivity has 2 rows',
  },
  {
    day: '2026-06-08',
    check: 'events_are_counted',
    table: 'user_skills',
    from: 'count(*)',
    to: onlyOn('2026-06-08', '3', 'count(*)'),
    difference: 'uses of skills among the events are 2 where the day has 6',
  },
];

/** This is found on all days that are built together, whichever it is. */
const OF_ANOTHER_DAY: Change & { check: string; difference: string } = {
  check: 'rows_stay_in_their_day',
  table: 'user_clients',
  from: 'WHERE (org_id, day) IN (SELECT org_id, day FROM due)\n  AND client IS NOT NULL',
  to: "WHERE day BETWEEN DATE '2026-06-08' AND DATE '2026-06-09'\n  AND client IS NOT NULL",
  difference: 'that 2 rows of user_clients belong to other days',
};

describe('a day that breaks a check stays as it was', () => {
  test('every check of sql/check has a test here, and says its claim in a sentence', () => {
    const names = readdirSync(join(PACKAGE_ROOT, 'sql', 'check')).map((file) => file.replace('.sql', ''));
    expect(names).toEqual([...new Set([...BREAKS, OF_ANOTHER_DAY].map(({ check }) => check))].sort());
    for (const { text } of readSqlFolder('check')) expect(text).toMatch(/^-- [A-Z].*[.]\n/);
  });

  describe('whichever check it is', () => {
    const undo: (() => void | Promise<void>)[] = [];
    let store: Breakable;
    let before: Record<string, Row[]>;
    let after: Record<string, Row[]>;
    let built: Built;
    // One build has them all.
    beforeAll(async () => {
      store = await Breakable.create((work) => undo.unshift(work));
      const days = [...BREAKS.map(({ day }) => day), LAST_DAY];
      await store.world.send(days.flatMap((day) => work(day, 'ada')));
      await store.world.build();
      before = await store.tables();
      await store.world.send(days.flatMap((day) => work(day, 'grace')));
      store.change(...BREAKS);
      built = await store.build();
      after = await store.tables();
    });
    afterAll(async () => {
      for (const work of undo) await work();
    });

    /** What there is of a day. */
    const only = (of: string, tables: Record<string, Row[]>) =>
      Object.entries(tables).map(([table, rows]) => [table, rows.filter(({ day }) => day === of)]);

    test.each(BREAKS)('$check, $day', ({ day, check, difference }) => {
      expect(built.breaches.filter((breach) => breach.day === day)).toEqual([
        { orgId: 'acme', day, check, difference: expect.stringContaining(difference) },
      ]);
      expect(only(day, after)).toEqual(only(day, before));
    });

    test('while a sound one goes in', () => {
      expect(built.days).toEqual([{ orgId: 'acme', day: LAST_DAY, cause: 'events' }]);
      expect(only(LAST_DAY, after)).not.toEqual(only(LAST_DAY, before));
    });

    test('until it breaks none', async () => {
      store.change();
      // The sound one looks back on them.
      expect(await store.world.build()).toEqual([...BREAKS.map(({ day }) => day), LAST_DAY]);
      const now = await store.tables();
      for (const { day } of BREAKS) expect(only(day, now)).not.toEqual(only(day, before));
    });

    test('rows_stay_in_their_day', async () => {
      const { check, difference, ...change } = OF_ANOTHER_DAY;
      await store.world.send(work(LAST_DAY, 'linus'));
      const here = await store.tables();
      store.change(change);
      expect(await store.build()).toEqual({
        days: [],
        breaches: [{ orgId: 'acme', day: LAST_DAY, check, difference: expect.stringContaining(difference) }],
      });
      expect(await store.tables()).toEqual(here);
    });
  });

  // ClickHouse shows events by a view, which can't be broken that way.
  test.runIf(inject('store') === 'DuckDB')(
    'an event on a day that is not that of its time breaks a check too',
    async () => {
      const store = await Breakable.create();
      await store.world.send(work('2026-06-09', 'ada'));
      await store.world.store.run([
        { sql: "UPDATE events SET occurred_at = TIMESTAMP '2026-06-10 00:00:00' WHERE type = 'skill_use'" },
      ]);
      expect((await store.build()).breaches).toMatchObject([
        { check: 'rows_stay_in_their_day', difference: '1 events of another day' },
      ]);
      expect(await store.world.store.select('SELECT * FROM days')).toEqual([]);
    },
  );

  test('it is told of in one sentence with the check, the organization, the day and what to do', () => {
    const sentence = sentenceOf({
      check: 'users_add_up',
      orgId: 'acme',
      day: LAST_DAY as Day,
      difference: 'hooks of the users add up to 2 where the day has 3',
    });
    for (const part of ['acme', LAST_DAY, 'users_add_up', '2 where the day has 3', 'daybook build'])
      expect(sentence).toContain(part);
    expect(sentence).toMatch(/^[A-Z][^.]*\.$/);
  });
});

test('that no number is negative is said of all numbers of the tables that docs/tables.md has', async () => {
  const selects = BUILT_TABLES.flatMap((table) => {
    const numbers = readSql(`schema/${table}.sql`).matchAll(/^ {2}(\w+) +(BIGINT|DOUBLE)/gm);
    const claims = [...numbers].map(([, column, type]) =>
      type === 'BIGINT' ? `${column} >= 0` : `${column} BETWEEN 0 AND 1e18`,
    );
    if (claims.length === 0) return [];
    return `SELECT DISTINCT
  org_id,
  day,
  'a number of ${table}' AS difference
FROM ${table}
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    ${claims.join('\n    AND ')}
  )
`;
  });
  await expectFile(
    'sql/check/counts_are_not_negative.sql',
    `-- No count, ratio or average is below 0, infinite or not a number.
-- A double must lie between two numbers. NaN doesn't in any engine, wherever the engine sorts it.
-- "npm run docs" writes this file from sql/schema.
${selects.join('UNION ALL\n')}`,
  );
});

// That is decided above the stores, in one way for both.
describe.runIf(inject('store') === 'DuckDB')('the other days of a build', () => {
  const BROKEN = '2026-05-08';
  /** Commits of one day are one too many. */
  const oneDay: Change = {
    table: 'productivity',
    from: 'CAST(coalesce(person.git_commits, 0) AS BIGINT)',
    to: `CAST(CASE WHEN day = DATE '${BROKEN}' THEN 99 ELSE coalesce(person.git_commits, 0) END AS BIGINT)`,
  };
  /** People who come and go over five weeks, so that windows and starts of sessions reach over the broken day. */
  const events = Array.from({ length: 37 }, (_, index) =>
    work(addDays('2026-05-03' as Day, (index * 7) % 37), `user${(index * 3) % 8}`),
  ).flat();
  events.push(...work(BROKEN, 'only on that day'));

  test('go in, and are built again with what looks back on it once it goes in too', async () => {
    const store = await Breakable.create();
    await store.world.send(events);
    store.change(oneDay);
    const { days, breaches } = await store.build();
    expect(breaches).toMatchObject([{ orgId: 'acme', day: BROKEN, check: 'users_add_up' }]);
    expect(days).toHaveLength(37);
    expect(days.map(({ day }) => day)).not.toContain(BROKEN);
    expect(await store.world.store.select('SELECT day FROM days ORDER BY day')).toEqual(
      days.map(({ day }) => ({ day })),
    );
    // It is still to be built, and nothing else is.
    expect(await store.build()).toMatchObject({ days: [], breaches: [{ day: BROKEN }] });
    store.change();
    expect((await store.world.build()).at(0)).toBe(BROKEN);
    const sound = await Breakable.create();
    await sound.world.send(events);
    await sound.world.build();
    expect(await store.rows()).toEqual(await sound.rows());
    expect(await store.world.build()).toEqual([]);
  });

  test('are of other organizations too', async () => {
    const store = await Breakable.create();
    await store.world.send(work('2026-06-09', 'ada'), { orgId: 'acme' });
    await store.world.send(work('2026-06-09', 'ada'), { orgId: 'globex' });
    store.change({
      table: 'quality',
      from: 'coalesce(counted.parse_artifacts, 0)',
      to: "CASE WHEN org_id = 'acme' THEN -1 ELSE coalesce(counted.parse_artifacts, 0) END",
    });
    const { days, breaches } = await store.build();
    expect(days).toEqual([{ orgId: 'globex', day: '2026-06-09', cause: 'new' }]);
    expect(breaches.map(({ orgId, day }) => [orgId, day])).toEqual([
      ['acme', '2026-06-09'],
      ['acme', '2026-06-09'],
    ]);
  });

  test('are told apart too when the database can’t compute them', async () => {
    const store = await Breakable.create();
    for (const orgId of ['acme', 'globex']) await store.world.send(events, { orgId });
    const failing = (days: string) => ({
      ...oneDay,
      to: `CAST(CASE WHEN org_id = 'acme' AND ${days} THEN 'No such number' ELSE CAST(coalesce(person.git_commits, 0) AS VARCHAR) END AS BIGINT)`,
    });
    store.change(failing(`day = DATE '${BROKEN}'`));
    const { days, breaches } = await store.build();
    expect(breaches).toEqual([
      { orgId: 'acme', day: BROKEN, check: null, difference: expect.stringContaining('No such number') },
    ]);
    expect(breaches.map(sentenceOf)[0]).toMatch(
      /^The day .* of acme stays as it was, because the database can't compute it \(/,
    );
    expect(days).toHaveLength(2 * 38 - 1);
    if (!playsSlow()) return;
    // Where all fail it isn't tried a day at a time without end.
    store.change(failing('true'));
    await store.world.send([{ ...work('2025-12-01' as Day, 'ada')[0], event_id: 'long ago' }]);
    await expect(store.build()).rejects.toThrow('No such number');
  });

  test('are told apart one by one when a check can’t say which day is broken', async () => {
    const store = await Breakable.create();
    await store.world.send(events);
    await store.world.build();
    const before = await store.rows();
    // The broken day's query answers a row of a day long gone.
    store.change({
      table: 'user_skills',
      from: 'CAST(day AS DATE)',
      to: `CAST(CASE WHEN day = DATE '${BROKEN}' THEN day - 1000 ELSE day END AS DATE)`,
    });
    const { days, breaches } = await store.build({ from: '2026-05-07' as Day, to: '2026-05-09' as Day });
    expect(days).toHaveLength(2);
    expect(new Set(breaches.map(({ day }) => day))).toEqual(new Set([BROKEN]));
    expect(breaches.map(({ check }) => check)).toContain('rows_stay_in_their_day');
    expect(await store.rows()).toEqual(before);
  });
});
