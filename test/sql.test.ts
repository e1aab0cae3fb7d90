import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { Lake } from '../src/lake/data-lake.js';
import { LAKE_TABLES } from '../src/lake/lake-paths.js';
import { readSnapshot } from '../src/lake/snapshot.js';
import { replacePeople } from '../src/people/people-change.js';
import { buildApp } from '../src/service/app.js';
import { FIRST_DAY, LAST_DAY } from '../src/store/state/person.js';
import { World } from './world.js';

const ARROW = 'application/vnd.apache.arrow.stream';
const PARQUET = 'application/vnd.apache.parquet';
const SECRET = 'the name of another organization’s user';

let world: World;
/** Where queries may take long, and where they may not. */
let url: string;
let strictUrl: string;
const keys = new Map<string, string>();

/** Asks for the answer of a query over a real connection. */
async function run(
  body: object | string,
  {
    accept = 'application/json',
    org = 'acme',
    to = url,
    signal,
  }: { accept?: string; org?: string; to?: string; signal?: AbortSignal } = {},
) {
  const given = await fetch(`${to}/api/v1/sql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.get(org)}`, 'content-type': 'application/json', accept },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
  const bytes = Buffer.from(await given.arrayBuffer());
  const json = () => JSON.parse(bytes.toString());
  return { status: given.status, headers: given.headers, bytes, text: bytes.toString(), json };
}

const select = async (sql: string, params?: object) => {
  const { status, text, json } = await run({ sql, params });
  expect(status, text).toBe(200);
  return json().data;
};

beforeAll(async () => {
  world = await World.create(
    {
      DAYBOOK_SQL_TIME_S: '120',
      DAYBOOK_SQL_MEMORY_MB: '128',
      DAYBOOK_SQL_ROWS: '200000',
      DAYBOOK_SQL_ANSWER_MB: '8',
      DAYBOOK_SQL_PARAMS: '3',
    },
    afterAll,
  );
  const event = (user_id: string, day: number) => ({
    event_id: `e${day}`,
    type: 'tool_call',
    timestamp: `2026-06-0${day}T09:00:00Z`,
    session_id: 's1',
    user_id,
    tool_name: 'Edit',
  });
  const rejected = (user_id: string) => ({ ...event(user_id, 1), event_id: 7 });
  await world.send([...[1, 2, 3].map((day) => event('ada', day)), rejected('ada')]);
  await world.send([event(SECRET, 1), rejected(SECRET), rejected(SECRET)], { orgId: 'globex' });
  const people = (userId: string, alias: string) => [
    {
      ...{ userId, name: '', emails: [], aliases: [alias] },
      memberships: [
        { kind: 'team', name: 'Compilers', firstDay: FIRST_DAY, lastDay: LAST_DAY, isLead: true } as const,
      ],
    },
  ];
  for (const [orgId, userId, alias] of [
    ['acme', 'ada', 'ada-laptop'],
    ['globex', SECRET, `${SECRET}, too`],
  ] as const)
    await replacePeople(world.store, orgId, () => people(userId, alias), { author: 'test' }, world.now);
  await world.build();
  await new Lake(world.config, world.clock).publish(world.store, []);
  const { config, clock } = world;
  const strict = { ...config, sql: { ...config.sql, timeSeconds: 0.5, rows: 100_000, textKb: 512 } };
  const apps: FastifyInstance[] = [buildApp(world), buildApp({ ...world, clock, config: strict })];
  [url = '', strictUrl = ''] = await Promise.all(
    apps.map((app) => app.listen({ port: 0, host: '127.0.0.1' })),
  );
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.close()));
  });
  for (const orgId of ['acme', 'globex', 'empty'])
    keys.set(orgId, (await createKey(world.store, { orgId, role: 'manager' }, world.now)).key);
});

/** The processes of this one that run queries, or wait for one. */
function queryProcesses(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [, parent] = /PPid:\t(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      return (
        Number(parent) === process.pid &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join('sql', 'query-process.js'))
      );
    } catch {
      return false;
    }
  });
}

/** Those of services of other tests that this process has played. They may end meanwhile. */
const others = queryProcesses();

/** How many belong to the services of these tests. */
const processes = (): number => queryProcesses().filter((pid) => !others.includes(pid)).length;

describe('a SELECT', () => {
  test('is answered from the tables and views of the organization', async () => {
    expect(await select('SELECT org_id, day, user_id, tool_calls FROM users ORDER BY day;')).toEqual(
      ['01', '02', '03'].map((day) => ({
        org_id: 'acme',
        day: `2026-06-${day}`,
        user_id: 'ada',
        tool_calls: 1,
      })),
    );
    expect(await select('SELECT count(*) AS n FROM tool_calls')).toEqual([{ n: 3 }]);
  });

  test('is answered from the records of the builds and arrivals of the organization, without the text of a line', async () => {
    const rejects = await select('SELECT * EXCLUDE (batch, source) FROM rejects');
    expect(rejects).toEqual([
      {
        org_id: 'acme',
        day: '2026-06-01',
        line_no: 4,
        reason: 'wrong_type',
        detail: 'event_id must be a string.',
      },
    ]);
    expect((await run({ sql: 'SELECT line FROM rejects' })).json().detail).toContain('"line" not found');
    expect(
      await select("SELECT org_id, day, row_count FROM digests WHERE table_name = 'users' AND row_count > 0"),
    ).toEqual(['01', '02', '03'].map((day) => ({ org_id: 'acme', day: `2026-06-${day}`, row_count: 1 })));
    expect(await select('SELECT * FROM restatements')).toEqual([]);
    const { json } = await run(
      { sql: 'SELECT org_id, count(*) AS n FROM rejects GROUP BY ALL' },
      { org: 'globex' },
    );
    expect(json().data).toEqual([{ org_id: 'globex', n: 2 }]);
  });

  test('is answered from the people of the organization, whoever asks for those of another', async () => {
    const team = `SELECT people.org_id, people.user_id, alias, memberships.name AS team, is_lead
      FROM people JOIN aliases USING (org_id, user_id) JOIN memberships USING (org_id, user_id)`;
    expect(await select(team)).toEqual([
      { org_id: 'acme', user_id: 'ada', alias: 'ada-laptop', team: 'Compilers', is_lead: true },
    ]);
    for (const table of ['people', 'aliases', 'memberships']) {
      expect(await select(`SELECT * FROM ${table} WHERE org_id <> 'acme'`)).toEqual([]);
      const { json } = await run({ sql: `SELECT DISTINCT org_id FROM ${table}` }, { org: 'globex' });
      expect(json().data).toEqual([{ org_id: 'globex' }]);
    }
    // A member may not ask at all.
    const { key } = await createKey(world.store, { orgId: 'acme', role: 'member', userId: 'ada' }, world.now);
    keys.set('member', key);
    expect((await run({ sql: 'SELECT * FROM people' }, { org: 'member' })).status).toBe(403);
  });

  test('takes parameters by name and by place', async () => {
    const sql = 'SELECT user_id FROM users WHERE day = $day AND tool_calls >= $n';
    expect(await select(sql, { day: '2026-06-02', n: 1 })).toEqual([{ user_id: 'ada' }]);
    expect(await select('SELECT ? AS a, ? AS b, ? AS c', [1.5, null, true])).toEqual([
      { a: 1.5, b: null, c: true },
    ]);
  });

  test('waits for the first publication', async () => {
    const { status, headers, json } = await run({ sql: 'SELECT day FROM users' }, { org: 'empty' });
    expect([status, headers.get('retry-after')]).toEqual([503, '30']);
    expect(json().detail).toMatch(/^No day of your organization is published yet: /);
  });

  test('says what was published when it read that', async () => {
    const { headers, json } = await run({ sql: 'SELECT 1 AS one' });
    const snapshot = { newest_day: '2026-07-09', published_at: new Date(world.now).toISOString() };
    expect(json().meta.snapshot).toEqual(snapshot);
    const csv = await run({ sql: 'SELECT 1 AS one WHERE 1 = 0' }, { accept: 'text/csv' });
    for (const given of [headers, csv.headers])
      expect([given.get('x-daybook-newest-day'), given.get('x-daybook-published-at')]).toEqual([
        snapshot.newest_day,
        snapshot.published_at,
      ]);
  });

  test('can ask what was published at an instant, as long as that is kept', async () => {
    const asked = async (as_of: string) => {
      const { status, json } = await run({ sql: 'SELECT count(*) AS n FROM users', as_of });
      return status === 200 ? json().data : [status, json().detail];
    };
    expect(await asked(new Date(world.now).toISOString())).toEqual([{ n: 3 }]);
    expect(await asked(new Date(world.now - 1).toISOString())).toEqual([
      400,
      `Nothing that was published before ${new Date(world.now).toISOString()} is in the lake: ask for that instant or a later one.`,
    ]);
    expect(await asked('2026-01-01T00:00:00Z')).toEqual([
      400,
      'The member as_of must be in the last 30 days, for which replaced rows are kept, and not in the future.',
    ]);
    expect(await asked('yesterday')).toEqual([400, expect.stringContaining('as_of must be an instant')]);
  });

  test('has at most as many rows as are wanted', async () => {
    const sql = 'SELECT i FROM range(300000) AS r (i) ORDER BY i';
    const { json } = await run({ sql, limit: 2 });
    expect(json()).toMatchObject({ data: [{ i: 0 }, { i: 1 }], meta: { row_count: 2 } });
    expect((await run({ sql, limit: 2 }, { accept: 'text/csv' })).text).toBe('i\r\n0\r\n1\r\n');
    // It doesn't lift the limit of the service.
    expect((await run({ sql, limit: 250_000 }, { accept: PARQUET })).json().detail).toMatch(
      /more than 200000/,
    );
    expect((await run({ sql, limit: 0 })).json().detail).toMatch(/limit must be a whole number/);
  });

  test('has sums of integers as BIGINT, and says which are too large', async () => {
    const { json } = await run({ sql: 'SELECT sum(tool_calls) AS calls FROM users' });
    expect(json()).toMatchObject({
      data: [{ calls: 3 }],
      meta: { columns: [{ name: 'calls', type: 'BIGINT' }] },
    });
    const { status, text } = await run({ sql: 'SELECT sum(9000000000000000000) AS n FROM users' });
    expect([status, text]).toEqual([400, expect.stringContaining('cast it to DOUBLE or VARCHAR')]);
  });

  test('reads the files of its tables only', async () => {
    // A file that is none fails whoever opens it.
    const path = fileOf('tools', 'globex');
    const bytes = readFileSync(path);
    writeFileSync(path, 'no Parquet');
    const asked = await run({ sql: 'SELECT count(*) AS n FROM users' }, { org: 'globex' });
    expect(asked.json().data).toEqual([{ n: 1 }]);
    const failed = await run({ sql: 'SELECT day FROM tools' }, { org: 'globex' });
    expect(failed.status).not.toBe(200);
    expect(failed.text).not.toContain('part-');
    writeFileSync(path, bytes);
  });
});

/** The file of a table. */
function fileOf(table: (typeof LAKE_TABLES)[number], orgId: string): string {
  const lake = join(world.config.data, 'lake');
  return join(lake, orgId, table, String(readSnapshot(lake, orgId)?.tables[table]?.files[0]?.path));
}

describe('an answer in each form', () => {
  const sql = `SELECT * FROM (VALUES
    (1, 'plain', [1.5, NULL], {'a': 'x', 'b': 2}, DATE '2026-06-01', TIMESTAMP '2026-06-01 10:00:00.5', true),
    (9007199254740993, 'with, "quotes"' || chr(10) || 'and lines, 🦊', [], NULL, NULL, NULL, NULL)
  ) AS t (n, text, list, struct, day, instant, is_so)`;

  test('has all of its rows', async () => {
    const { data } = (await run({ sql })).json();
    expect(data[0]).toEqual({
      n: 1,
      text: 'plain',
      list: [1.5, null],
      struct: { a: 'x', b: 2 },
      day: '2026-06-01',
      instant: '2026-06-01T10:00:00.5Z',
      is_so: true,
    });
    const lines = (await run({ sql }, { accept: 'application/x-ndjson' })).text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(data);
    // All digits are there, also of what JavaScript has no number for.
    expect(lines[1]).toContain('"n":9007199254740993,');
    const csv = await run({ sql }, { accept: 'text/csv' });
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.text).toBe(
      [
        'n,text,list,struct,day,instant,is_so',
        '1,plain,"[1.5,null]","{""a"":""x"",""b"":2}",2026-06-01,2026-06-01T10:00:00.5Z,true',
        '9007199254740993,"with, ""quotes""\nand lines, 🦊","[]",,,,',
        '',
      ].join('\r\n'),
    );
    const rows = tableFromIPC((await run({ sql }, { accept: ARROW })).bytes).toArray();
    expect(rows.map((row) => [row.n, row.text])).toEqual([
      [1n, data[0].text],
      [9007199254740993n, data[1].text],
    ]);
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const path = world.file('answer.parquet', (await run({ sql }, { accept: PARQUET })).bytes);
    const read = await connection.runAndReadAll(`SELECT n, text FROM '${path}'`);
    expect(read.getRows()).toEqual(rows.map((row) => [row.n, row.text]));
    connection.closeSync();
  });

  test('has the types that the form has no name for as another that has all of the value', async () => {
    const sql = `SELECT 'nan'::DOUBLE AS nan, 123::HUGEINT AS huge, 12345.5::DECIMAL(19, 2) AS wide,
      1.25::DECIMAL(4, 2) AS narrow, '0f8b6c1e-0000-4000-8000-000000000000'::UUID AS id, INTERVAL '1 day' AS span, 'b'::ENUM('a', 'b') AS letter,
      'x'::BLOB AS bytes, TIME '10:00:00' AS clock, [1, 2]::INTEGER[2] AS pair, '101'::BIT AS bits, MAP {'k': 1::HUGEINT} AS map,
      [{'d': 1.5::DECIMAL(3, 1)}] AS nested, TIMESTAMPTZ '2026-06-01 10:00:00+02' AS zoned, 1 AS same, 2 AS same`;
    const [row] = (await run({ sql })).json().data;
    expect(row).toEqual({
      nan: null,
      huge: 123,
      wide: 12345.5,
      narrow: 1.25,
      id: '0f8b6c1e-0000-4000-8000-000000000000',
      span: '1 day',
      letter: 'b',
      bytes: 'x',
      clock: '10:00:00',
      pair: [1, 2],
      bits: '101',
      map: { k: 1 },
      nested: [{ d: 1.5 }],
      zoned: '2026-06-01T08:00:00Z',
      same: 1,
      same_1: 2,
    });
    const { status, bytes, text } = await run({ sql }, { accept: ARROW });
    expect(status, text.slice(0, 300)).toBe(200);
    const table = tableFromIPC(bytes);
    const types = Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]));
    expect(types).toMatchObject({
      nan: 'Float64',
      huge: 'Int64',
      narrow: 'Decimal[38e+2]',
      id: 'Utf8',
      span: 'Utf8',
      bytes: 'Binary',
      clock: 'Time64<MICROSECOND>',
      pair: 'List<Int32>',
      zoned: 'Timestamp<MICROSECOND, UTC>',
    });
    expect([...new Uint32Array(table.get(0)?.wide as ArrayLike<number>)]).toEqual([
      ...new Uint32Array(new BigInt64Array([1234550n, 0n]).buffer),
    ]);
  });

  test('that fails after its first bytes breaks off, and before them is an error', async () => {
    const late =
      "SELECT i, CASE WHEN i = 100000 THEN error('too far') ELSE 'a text of some length' END AS t FROM range(120000) AS r (i)";
    for (const accept of ['application/json', ARROW])
      await expect(run({ sql: late }, { accept }), accept).rejects.toThrow(/terminated|aborted/);
    expect(await run({ sql: late }, { accept: PARQUET }).then(({ json }) => json())).toMatchObject({
      status: 400,
      detail: 'Invalid Input Error: too far.',
    });
    const early = "SELECT CASE WHEN i = 6000 THEN error('too far') END AS t FROM range(7000) AS r (i)";
    for (const accept of ['application/json', ARROW])
      expect(await run({ sql: early }, { accept }).then(({ json }) => json())).toMatchObject({
        status: 400,
        detail: 'Invalid Input Error: too far.',
      });
  });
});

describe('the limits', () => {
  test('of what is sent are refused with a sentence', async () => {
    const refused = async (body: object, status: number, detail: RegExp) => {
      const given = await run(body);
      expect(given.status, given.text).toBe(status);
      expect(given.json().detail).toMatch(detail);
    };
    await refused({ sql: 'SELECT $a', params: {} }, 400, /params.*\$a/);
    await refused({ sql: 'SELECT 1', params: { a: 1 } }, 400, /params.*\$a/);
    await refused({ sql: 'SELECT $a', params: { a: [1] } }, 400, /params/);
    await refused(
      { sql: 'SELECT 1', params: [1, 2, 3, 4] },
      400,
      /params must be a list or an object of at most 3/,
    );
    await refused({ sql: `SELECT '${'x'.repeat(1 << 16)}'` }, 413, /65536 bytes/);
    await refused({ sql: '' }, 400, /sql/);
    await refused({ sql: 'SELECT nothing FROM users' }, 400, /nothing/);
    await refused({ sql: 'SELECT FROM WHERE' }, 400, /WHERE.*at character/);
  });

  test('of how many run at a time say when to come back, and who goes away makes room', async () => {
    const gone = new AbortController();
    const long = () =>
      run({ sql: 'SELECT count(*) FROM range(1000000) a, range(1000000) b' }, { signal: gone.signal }).catch(
        (error) => error,
      );
    const running = [long(), long()];
    await expect.poll(processes).toBeGreaterThanOrEqual(2);
    const third = await run({ sql: 'SELECT 1' });
    expect(third.status).toBe(429);
    expect(third.headers.get('retry-after')).toMatch(/^[1-9]/);
    // Another organization has room.
    expect((await run({ sql: 'SELECT 1 AS one' }, { org: 'globex' })).status).toBe(200);
    gone.abort();
    await Promise.all(running);
    await expect.poll(async () => (await run({ sql: 'SELECT 1 AS one' })).status).toBe(200);
  });
});

test('the tables are listed with their columns, types and comments', async () => {
  const given = await fetch(`${url}/api/v1/sql/tables`, {
    headers: { authorization: `Bearer ${keys.get('acme')}` },
  });
  const { data } = (await given.json()) as { data: { name: string; columns: object[] }[] };
  const names = data.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...LAKE_TABLES, 'tool_calls', 'model_usage']));
  expect(data.find(({ name }) => name === 'activity')).toMatchObject({
    kind: 'day table',
    about: 'One row is one day of one organization.',
    grain: ['org_id', 'day'],
  });
  expect(data.find(({ name }) => name === 'tool_calls')?.columns).toContainEqual({
    name: 'server_key',
    type: 'VARCHAR',
    comment: 'null if it is not an MCP call',
  });
  // All of them can be read.
  const counts = names.map((name) => `(SELECT count(*) FROM ${name}) AS ${name}`);
  expect(await select(`SELECT ${counts.join(', ')}`)).toHaveLength(1);
});

/** Attempts to get out, to see more than the own tables, or to take more than is allowed: each is refused. */
const ATTEMPTS: [string, string][] = [
  ['no SELECT', 'DELETE FROM events'],
  ['an INSERT', 'INSERT INTO users SELECT * FROM users'],
  ['two statements', 'SELECT 1; SELECT 2'],
  ['a second statement behind a comment', 'SELECT 1 --\n; DROP VIEW users'],
  ['a second statement in a comment that isn’t one', 'SELECT 1 /* /* */ */; SET threads = 64'],
  ['a parenthesis that closes the query’s own', 'SELECT 1) AS answer; DROP VIEW users; SELECT (2'],
  ['nothing', ' ; -- nothing'],
  ['a setting', 'SET lock_configuration = false'],
  ['a reset', 'RESET enable_external_access'],
  ['a pragma', 'PRAGMA database_list'],
  ['a pragma that enables something', 'PRAGMA enable_logging'],
  ['a call', 'CALL pragma_version()'],
  ['an attached file', "ATTACH '/etc/passwd' AS other"],
  ['another database', 'USE system'],
  ['a copy to a file', "COPY (SELECT 1) TO '/tmp/out.csv'"],
  ['a copy from a file', "COPY users FROM '/etc/passwd'"],
  ['an export', "EXPORT DATABASE '/tmp/out'"],
  ['an import', "IMPORT DATABASE '/tmp/out'"],
  ['an extension', 'INSTALL httpfs'],
  ['an extension that is loaded', "LOAD '/tmp/evil.duckdb_extension'"],
  ['a checkpoint', 'CHECKPOINT'],
  ['a table', 'CREATE TABLE mine AS SELECT 1'],
  ['a macro', 'CREATE MACRO ratio(n, d) AS 1'],
  ['a view in the place of one', 'CREATE OR REPLACE VIEW users AS SELECT 1'],
  ['a secret', "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')"],
  ['a prepared statement', 'PREPARE p AS SELECT 1'],
  ['one that is executed', 'EXECUTE p'],
  ['a transaction', 'BEGIN'],
  ['a pivot that makes a type', 'PIVOT users ON user_id'],
  ['a plan', 'EXPLAIN ANALYZE SELECT * FROM users'],
  [
    'a change in a common table expression',
    'WITH gone AS (DELETE FROM users RETURNING *) SELECT * FROM gone',
  ],
  ['a file', "SELECT * FROM '/etc/passwd'"],
  ['a text file', "SELECT * FROM read_text('/etc/passwd')"],
  ['a file of bytes', "SELECT * FROM read_blob('/proc/self/environ')"],
  ['a CSV file', "SELECT * FROM read_csv('/etc/passwd', sep = ':')"],
  ['a JSON file', "SELECT * FROM read_json('../../package.json')"],
  ['a sniffed file', "SELECT * FROM sniff_csv('/etc/passwd')"],
  ['the database', "SELECT * FROM read_duckdb('daybook.duckdb')"],
  ['a list of files', "SELECT * FROM glob('/**')"],
  ['an address', "SELECT * FROM 'https://127.0.0.1/x.parquet'"],
  ['another organization by its path', "SELECT * FROM 'lake/globex/users/_delta_log/x.parquet'"],
  ['another organization by a pattern', "SELECT * FROM read_parquet('lake/*/users/*.parquet')"],
  [
    'another organization by a path out of the own',
    "SELECT * FROM read_parquet('lake/acme/../globex/users/x.parquet')",
  ],
  [
    'a file that a common table expression has the name of',
    `WITH "lake/globex/users/_delta_log/x.parquet" AS (SELECT 1) SELECT * FROM (SELECT 1), main."lake/globex/users/_delta_log/x.parquet"`,
  ],
  [
    'such a file beyond the scope of the name',
    `SELECT * FROM (WITH "lake/globex/users/_delta_log/x.parquet" AS (SELECT 1) SELECT 1), "lake/globex/users/_delta_log/x.parquet"`,
  ],
  ['what Parquet says of itself', "SELECT * FROM parquet_metadata('lake/acme/users/x.parquet')"],
  ['a query in a text', "SELECT * FROM query('SELECT * FROM duckdb_settings()')"],
  ['a table in a text', "SELECT * FROM query_table('sqlite_master')"],
  ['the settings', 'SELECT * FROM duckdb_settings()'],
  ['a setting in a SELECT', "SELECT current_setting('allowed_directories')"],
  [
    'such a setting, called another way',
    "SELECT list_transform(['secret_directory'], lambda name: Current_Setting(name))",
  ],
  ['the settings as another database has them', 'SELECT * FROM pg_catalog.pg_settings'],
  ['the secrets', 'SELECT * FROM duckdb_secrets()'],
  ['the texts of views', 'SELECT sql FROM sqlite_master'],
  [
    'the texts of views beyond the scope of a name',
    'SELECT * FROM (WITH sqlite_master AS (SELECT 1) SELECT 1), sqlite_master',
  ],
  ['the texts of views by another name', 'SELECT view_definition FROM information_schema.views'],
  [
    'the settings behind a name in quotes',
    'WITH "pg_catalog.pg_settings" AS (SELECT 1) SELECT name, setting FROM pg_catalog.pg_settings',
  ],
  [
    'the tables behind a name in quotes',
    'WITH "information_schema.tables" AS (SELECT 1) SELECT * FROM information_schema.tables',
  ],
  [
    'the texts of views behind their own name',
    'WITH sqlite_master AS (SELECT sql FROM sqlite_master) SELECT * FROM sqlite_master',
  ],
  [
    'a setting that is folded into a plan',
    "SELECT json_serialize_plan('SELECT current_setting(''allowed_directories'')', optimize := true)",
  ],
  ['the extensions', 'SELECT * FROM duckdb_extensions()'],
  ['the databases', 'SHOW DATABASES'],
  ['what is described', "DESCRIBE '/etc/passwd'"],
  ['the environment', "SELECT getenv('HOME')"],
  ['the query that it is put into', 'SELECT current_query()'],
  ['a scan of memory', 'SELECT * FROM arrow_scan(1, 2, 3)'],
  ['a table without rows', 'SELECT * FROM empty.users'],
  ['the log', "SELECT write_log('x')"],
  ['a zero byte', 'SELECT 1\u0000; DROP VIEW users'],
  ['half a letter', 'SELECT "\ud800" FROM users'],
  ['a table that there is not', 'SELECT * FROM keys'],
  ['parentheses without an end', `SELECT ${'('.repeat(20_000)}1${')'.repeat(20_000)}`],
  ['operators without an end', `SELECT ${'- '.repeat(50_000)}1`],
  ['a list without an end', `SELECT 1 FROM users WHERE tool_calls IN (${'1,'.repeat(100_000)}`],
  ['subqueries in each other', `SELECT * FROM ${'(SELECT * FROM '.repeat(2000)}users${')'.repeat(2000)}`],
  [
    'a recursion without an end',
    'WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t) SELECT max(x) FROM t',
  ],
  [
    'a product of all with all',
    'SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c WHERE a.range + b.range = c.range * 7',
  ],
  [
    'a text that fills the memory',
    "SELECT length(repeat(repeat('x', 1000000), 100000 + length(user_id)::INT)) FROM users",
  ],
  ['a list that fills the memory', 'SELECT list_sum(list_transform(range(500000000), lambda x: x * 2))'],
  ['texts that are put together', "SELECT length(string_agg(repeat('x', 1000), ',')) FROM range(2000000)"],
  [
    'an order that fills the memory',
    "SELECT hash(i)::VARCHAR || repeat('x', 100) AS t FROM range(20000000) r(i) ORDER BY t",
  ],
  ['more rows than there may be', 'SELECT i FROM range(100000000) r(i)'],
  ['more bytes than there may be', "SELECT repeat('x', 10000) FROM range(10000)"],
  [
    'an expression for a long search',
    "SELECT sum(length(regexp_replace(repeat('ab', 100000) || i, '(a|b|ab)*?c', 'x'))) FROM range(1000000) r(i)",
  ],
];

test('every attempt to break out is refused with a sentence, and the service goes on', async () => {
  const before = readdirSync(world.config.data).sort();
  const outside = ['/tmp/out.csv', '/tmp/out'].filter(existsSync);
  const waiting = [...ATTEMPTS];
  const attempt = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, sql] = next;
      const given = await run({ sql }, { to: strictUrl }).catch((error) => error as Error);
      // An answer that is too large has begun already: it has no end.
      if (given instanceof Error) {
        expect(name).toMatch(/^more /);
        continue;
      }
      const { status, text } = given;
      expect([400, 413, 422], `${name}: ${text.slice(0, 500)}`).toContain(status);
      expect(JSON.parse(text).detail, name).toMatch(/^[A-Z].*\.$/);
      expect(text, name).not.toMatch(/dbk_|node_modules|\.ts\b|stack|secret_directory=|\/root|\/home/i);
      expect(text, name).not.toContain(world.folder);
      expect(text, name).not.toContain(SECRET);
    }
  };
  await Promise.all([attempt(), attempt()]);
  expect(ATTEMPTS.length).toBeGreaterThanOrEqual(60);
  const after = await run({ sql: 'SELECT count(*) AS n FROM users' });
  expect(after.json().data).toEqual([{ n: 3 }]);
  expect(readdirSync(world.config.data).sort()).toEqual(before);
  expect(['/tmp/out.csv', '/tmp/out'].filter(existsSync)).toEqual(outside);
  // One process of each service waits for the next query, and no other is left.
  await expect.poll(processes).toBeLessThanOrEqual(2);
});
