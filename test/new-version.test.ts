import { cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { addDays, type Day, dayOf } from '../src/day.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { Lake } from '../src/lake/data-lake.js';
import { edit, otherVersion } from './other-version.js';
import { daybook } from './program.js';
import { playsSlow } from './slow.js';
import { temporaryFolder, World } from './world.js';

/** Of this file: a run of all tests can begin on the day before. */
const TODAY = dayOf(Date.now());
const DAYS: readonly Day[] = [addDays(TODAY, -3), addDays(TODAY, -2), addDays(TODAY, -1)];
const EVENTS = DAYS.map((day) => ({
  event_id: day,
  type: 'tool_call',
  tool_name: 'Read',
  timestamp: `${day}T10:00:00Z`,
  user_id: 'ada',
  session_id: 's',
}));
const REPORT = [
  'report',
  'users',
  '--wide',
  '--org',
  'acme',
  '--from',
  String(DAYS[0]),
  '--to',
  String(DAYS[2]),
];

/** A data folder as a killed process leaves it: what was written last is in the log of the database. */
async function builtData(): Promise<string> {
  const world = await World.create({}, undefined, undefined, 'DuckDB');
  world.now = Date.now();
  await world.send(EVENTS);
  await world.build();
  const lake = new Lake(world.config, world.clock);
  await lake.publish(world.store, []);
  await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
  const data = join(temporaryFolder(), 'data');
  for (const part of ['daybook.duckdb', 'daybook.duckdb.wal', 'lake'])
    cpSync(join(world.config.data, part), join(data, part), { recursive: true });
  return data;
}

/** All files of a folder, with what tells whether they were written. */
function filesIn(folder: string): unknown[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { size, mtimeMs, ino } = statSync(join(folder, name));
      return [name, size, mtimeMs, ino];
    });
}

/** Runs a command of a version, which must succeed. */
async function run(version: string, data: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await daybook(['--data', data, ...args], {
    cli: join(version, 'dist', 'cli.js'),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function staleIn(version: string, data: string): Promise<number> {
  const { organizations } = JSON.parse(await run(version, data, 'status', '--json'));
  return organizations[0].days_stale;
}

describe('a version', () => {
  test('with other comments in every file of sql/ reads a database as it is, and has nothing to build', async () => {
    const data = await builtData();
    const version = otherVersion();
    const sql = join(version, 'sql');
    for (const name of readdirSync(sql, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.sql'))
        edit(
          join(sql, name),
          (text) => `-- It's new.\n${text.replaceAll(/^( *)-- .*$/gm, '$1-- Says "so", once more')}\n`,
        );
    const before = filesIn(data);
    expect(await staleIn(version, data)).toBe(0);
    expect(filesIn(data)).toEqual(before);
    expect(await run(version, data, 'build')).toBe('Every closed day is up to date.\n');
  });

  test('that computes a column otherwise serves days until they are built again, and them alone', async () => {
    const data = await builtData();
    const version = otherVersion();
    edit(join(version, 'sql', 'daily', 'users.sql'), (text) =>
      text.replace(
        "coalesce(delegation.autonomy_mode, 'manual')",
        "coalesce(delegation.autonomy_mode, 'spec')",
      ),
    );
    const before = filesIn(data);
    expect(await staleIn(version, data)).toBe(DAYS.length);
    expect((await run(version, data, ...REPORT)).match(/ manual/g)).toHaveLength(DAYS.length);
    expect(filesIn(data)).toEqual(before);
    // What is built by this version again isn't stale, and the version before it finds its days as it knows them.
    expect(await run(version, data, 'build')).toMatch(`${DAYS.length} days, ${DAYS[0]} to ${DAYS[2]}, built`);
    expect((await run(version, data, ...REPORT)).match(/ spec/g)).toHaveLength(DAYS.length);
    expect(await staleIn(version, data)).toBe(0);
  });

  test('with another column of one table reads no older database, and brings it up to date when it builds', async () => {
    const data = await builtData();
    const version = otherVersion();
    edit(join(version, 'sql', 'schema', 'users.sql'), (text) =>
      text.replace('  tool_calls ', '  seats BIGINT NOT NULL,\n  tool_calls '),
    );
    edit(join(version, 'sql', 'daily', 'users.sql'), (text) =>
      text.replace(
        '  CAST(active.tool_calls AS',
        '  CAST(1 AS BIGINT) AS seats,\n  CAST(active.tool_calls AS',
      ),
    );
    edit(join(version, 'dist', 'store', 'catalog.js'), (text) =>
      text.replace(
        /(?<=\n {4}users: \{\n(?: {8}.*\n)+?)(?= +\{ name: "tool_calls")/,
        '{ name: "seats", type: "BIGINT", isNullable: false },\n',
      ),
    );
    const before = filesIn(data);
    const refused = await daybook(['--data', data, ...REPORT], { cli: join(version, 'dist', 'cli.js') });
    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^The database was last written by another version .* run "daybook build" first\.\n$/,
      ),
    });
    expect(filesIn(data)).toEqual(before);
    expect(await run(version, data, 'build')).toMatch(`${DAYS.length} days, ${DAYS[0]} to ${DAYS[2]}, built`);
    expect(await staleIn(version, data)).toBe(0);
  });
});

test.runIf(playsSlow())(
  'a version with another mapping of files leaves a store as a new one would be',
  async () => {
    const former = otherVersion();
    for (const [source, text, changed] of [
      ['opencode', "'usage:' || message.id", "'usage:' || message.id || ':former'"],
      ['codex', '(is_fork AND NOT has_base) OR (has_parent AND has_lines_of_parent)', 'false'],
      ['cline', 'coalesce(tokens.tokensIn, 0) - CASE', 'coalesce(tokens.tokensIn, 0) - 0 * CASE'],
    ] as const)
      edit(join(former, 'sql', 'source', source, 'events.sql'), (sql) => sql.replace(text, changed));
    const [old, fresh] = [join(temporaryFolder(), 'old'), join(temporaryFolder(), 'fresh')];
    const ingest = async (version: string, data: string) => {
      for (const source of ['opencode', 'codex', 'cline']) {
        const files = join(PACKAGE_ROOT, 'test', 'agents', source);
        await daybook(
          ['--data', data, 'ingest', '--org', 'acme', '--user', 'ada', '--source', source, files],
          {
            cli: join(version, 'dist', 'cli.js'),
          },
        );
      }
      await run(version, data, 'build');
    };
    const tables = [
      'SELECT * EXCLUDE (batch) FROM events ORDER BY event_id, day',
      'SELECT * FROM users ORDER BY ALL',
      'SELECT * FROM user_models ORDER BY ALL',
      'SELECT * FROM user_tools ORDER BY ALL',
      'SELECT * FROM user_sessions ORDER BY ALL',
      'SELECT * FROM activity ORDER BY ALL',
      'SELECT day, events, shadowed, parse_artifacts, incomplete_sessions FROM day_quality ORDER BY ALL',
    ];
    const rowsIn = (data: string) =>
      Promise.all(tables.map((sql) => run(PACKAGE_ROOT, data, 'sql', sql, '--format', 'json')));
    await ingest(former, old);
    const before = await rowsIn(old);
    await ingest(PACKAGE_ROOT, old);
    await ingest(PACKAGE_ROOT, fresh);
    expect(await rowsIn(old)).toEqual(await rowsIn(fresh));
    expect(before).not.toEqual(await rowsIn(old));
  },
);

test('commands that read change nothing in the data folder', async () => {
  const data = await builtData();
  const before = filesIn(data);
  for (const args of [
    ['status'],
    REPORT,
    ['keys', 'list'],
    ['controls', 'get', '--org', 'acme'],
    ['controls', 'history', '--org', 'acme'],
    ['controls', 'diff', '--org', 'acme'],
    ['lake', 'verify'],
    ['sql', 'SELECT count(*) FROM users'],
  ])
    await run(PACKAGE_ROOT, data, ...args);
  expect(filesIn(data)).toEqual(before);
});
