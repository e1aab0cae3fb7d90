import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { confine, NAMES, openLake, organizationFolder } from '../src/sql/lake-database.js';
import { checkQuery } from '../src/sql/query-check.js';
import { withoutShow } from '../src/sql/show-tables.js';
import { FUNCTION_GROUPS, FUNCTIONS_LEFT_OUT } from '../src/sql/sql-functions.js';
import { SQL_TABLES } from '../src/sql/sql-tables.js';
import { readSqlFolder } from '../src/store/sql-text.js';
import { expectPage } from './page.js';
import { temporaryFolder } from './world.js';

let connection: DuckDBConnection;

beforeAll(async () => {
  connection = await openLake({ memoryMb: 128, threads: 1, data: tmpdir(), prices: undefined });
});
afterAll(() => connection.closeSync());

/** Every name is a table: what is read is what isn't a common table expression. */
const ANY = { has: () => true } as unknown as ReadonlySet<string>;

const refusal = (sql: string, tables = NAMES) =>
  checkQuery(connection, sql, tables).then(
    (read) => `reads ${[...read].join(', ')}`,
    (error: Error) => error.message,
  );

test('a name in quotes is one part, whatever is in it', async () => {
  for (const [alias, name] of [
    ['pg_catalog.pg_settings', 'pg_catalog.pg_settings'],
    ['information_schema.tables', 'information_schema.tables'],
    ['INFORMATION_SCHEMA.TABLES', 'information_schema.tables'],
    ['memory.main.users', 'memory.main.users'],
    ['main.sqlite_master', 'main.sqlite_master'],
    ['empty.users', 'empty.users'],
    ['x.parquet', 'x.parquet'],
    ['lake/users.csv', 'main."lake/users.csv"'],
  ])
    expect(await refusal(`WITH "${alias}" AS (SELECT 1) SELECT * FROM ${name}`), name).toBe(
      `There is no table ${name?.replaceAll('"', '').replace('INFORMATION', 'information')}: SHOW TABLES lists the tables.`,
    );
  expect(await refusal('WITH "x.parquet" AS (SELECT 1) SELECT * FROM "X.parquet"')).toBe('reads ');
});

describe('a common table expression', () => {
  const cases: [about: string, sql: string, read: string[]][] = [
    ['hides a table', 'WITH users AS (SELECT 1) FROM Users', []],
    ['hides no table of a schema', 'WITH users AS (SELECT 1) FROM main.users', ['users']],
    ['reads the table that it hides', 'WITH users AS (FROM users) FROM users', ['users']],
    ['sees those before it only', 'WITH a AS (FROM b), b AS (FROM a) FROM b', ['b']],
    ['is seen in subqueries', 'WITH a AS (SELECT 1 AS x) SELECT (SELECT x FROM a) FROM (FROM a) b', []],
    ['is seen in EXISTS', 'WITH a AS (SELECT 1) SELECT 1 WHERE EXISTS (FROM A)', []],
    ['is seen in each half', 'WITH a AS (SELECT 1) FROM a UNION ALL FROM a', []],
    ['is seen by its half only', '(WITH a AS (SELECT 1) FROM a) UNION ALL FROM a', ['a']],
    [
      'is seen in ORDER BY and LIMIT',
      'WITH a AS (SELECT 1) SELECT 1 ORDER BY (FROM a) LIMIT (SELECT 1 FROM a)',
      [],
    ],
    ['is not seen outside', 'SELECT 1 FROM (WITH a AS (SELECT 1) FROM a) b, a', ['a']],
    ['is not seen beside a subquery', 'SELECT (WITH a AS (SELECT 1) FROM a), (SELECT 1 FROM a)', ['a']],
    ['hides an outer one', 'WITH a AS (FROM t) SELECT 1 FROM (WITH a AS (FROM a) FROM a) b', ['t']],
    [
      'reads itself in the second half if it is recursive',
      'WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM a WHERE x < 5) FROM a',
      [],
    ],
    ['and not in the first', 'WITH RECURSIVE a AS (FROM a UNION ALL SELECT 1 FROM a) FROM a', ['a']],
    ['and not without halves', 'WITH RECURSIVE a AS (FROM a) FROM a', ['a']],
    [
      'may have MATERIALIZED',
      'WITH a AS MATERIALIZED (FROM b), c AS NOT MATERIALIZED (FROM a) FROM c',
      ['b'],
    ],
    ['is described', 'WITH a AS (SELECT 1) SELECT * FROM (DESCRIBE FROM a)', []],
    // U+212A, the sign of the kelvin, is k in lower case.
    ['has another name with another letter', 'WITH "\u212ainds" AS (SELECT 1) FROM kinds', ['kinds']],
  ];
  test.each(cases)('%s', async (_, sql, read) => {
    expect([...(await checkQuery(connection, sql, ANY))]).toEqual(read);
    // DuckDB itself takes the same names for tables.
    expect(connection.getTableNames(sql, false)).toEqual(read);
  });

  test('is resolved as DuckDB does in queries made at random', async () => {
    let seed = 1;
    const below = (n: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % n;
    };
    const pick = (...texts: string[]) => String(texts[below(texts.length)]);
    const name = () => pick('a', 'b', 'c', 'd', 'e', 'f', 'A', 'B', '"a.b"');
    const source = (depth: number): string =>
      depth === 0 || below(3) > 0
        ? pick(name(), name(), name(), name(), name(), 'main.a')
        : `(${query(depth - 1)})`;
    const body = (depth: number) =>
      `SELECT 1 AS x FROM ${source(depth)} AS s${below(2) === 0 ? `, ${source(depth)} AS r` : ''}` +
      (depth > 0 && below(3) === 0 ? ` WHERE EXISTS (${query(depth - 1)})` : '');
    const query = (depth: number): string => {
      const names = [
        ...new Set(
          Array.from({ length: depth === 0 ? 0 : below(4) }, () =>
            pick('a', 'b', 'c', 'd', 'e', 'f', '"a.b"'),
          ),
        ),
      ];
      const isRecursive = below(2) === 0;
      const one = () =>
        isRecursive && below(2) === 0 ? `${body(depth)} UNION ALL ${body(depth)}` : query(depth - 1);
      const list = names.map((each) => `${each} AS (${one()})`).join(', ');
      const start = list === '' ? '' : `WITH ${isRecursive ? 'RECURSIVE ' : ''}${list} `;
      const end = depth > 0 && below(4) === 0 ? ` ORDER BY (${body(depth - 1)})` : '';
      return `${start}${body(depth)}${below(4) === 0 ? ` UNION ALL ${body(depth)}` : ''}${end}`;
    };
    let compared = 0;
    for (let i = 0; i < 300; i += 1) {
      const sql = query(2);
      // Empty for what DuckDB can't bind.
      const tables = connection.getTableNames(sql, true).map((table) => table.replace(/ AS [rs]$/, ''));
      if (tables.length === 0) continue;
      compared += 1;
      const message = await refusal(sql, ANY);
      // DuckDB leaves out what nobody reads, so it can know of fewer tables.
      for (const table of tables)
        expect(message.slice('reads '.length).split(', '), sql).toContain(
          table.replace(/^main\.|"/g, '').toLowerCase(),
        );
    }
    expect(compared).toBeGreaterThan(150);
  });
});

/** Every place of a query that can hold an expression or a query: ? stands for it. */
const PLACES = [
  'SELECT ?',
  'SELECT 1 WHERE ?',
  'SELECT 1 FROM users GROUP BY ?',
  'SELECT 1 FROM users GROUP BY GROUPING SETS ((?), ())',
  'SELECT 1 FROM users GROUP BY ALL HAVING ?',
  'SELECT 1 FROM users QUALIFY ?',
  'SELECT 1 FROM users ORDER BY ?',
  'SELECT 1 FROM users LIMIT ?',
  'SELECT 1 FROM users LIMIT (?) %',
  'SELECT 1 FROM users LIMIT 1 OFFSET ?',
  'SELECT DISTINCT ON (?) 1 FROM users',
  'SELECT 1 FROM users JOIN users AS u ON ?',
  'SELECT 1 FROM users, LATERAL (SELECT ?)',
  'SELECT 1 FROM range(?)',
  'SELECT 1 FROM unnest([?])',
  'FROM (VALUES (1), (?))',
  'VALUES (?)',
  'SELECT CASE WHEN ? THEN 1 END',
  'SELECT CASE 1 WHEN 1 THEN ? ELSE 1 END',
  'SELECT CASE WHEN true THEN 1 ELSE ? END',
  'SELECT ? BETWEEN 1 AND 2',
  'SELECT 1 BETWEEN ? AND 2',
  'SELECT 1 BETWEEN 1 AND ?',
  'SELECT 1 IN (1, ?)',
  'SELECT ? IN (SELECT 1)',
  'SELECT 1 = ANY (SELECT ?)',
  'SELECT EXISTS (SELECT ?)',
  'SELECT ARRAY(SELECT ?)',
  'SELECT CAST(? AS INTEGER)',
  'SELECT TRY(?)',
  'SELECT (?) COLLATE de',
  'SELECT (?)[1]',
  'SELECT [1][?:]',
  'SELECT (?).a',
  "SELECT {'a': ?}",
  'SELECT MAP {1: ?}',
  'SELECT [?]',
  'SELECT ? IS NULL',
  'SELECT ? AND true',
  'SELECT - ?',
  'SELECT coalesce(NULL, ?)',
  'SELECT upper(?)',
  'SELECT 1 AT TIME ZONE ?',
  "SELECT 'a' LIKE ? ESCAPE '!'",
  'SELECT list_transform([1], lambda x: ?)',
  'SELECT list_transform([1], x -> ?)',
  'SELECT [? for x in [1]]',
  'SELECT [x for x in [1] if ?]',
  'SELECT sum(?) FROM users',
  'SELECT sum(1 ORDER BY ?) FROM users',
  'SELECT sum(1) FILTER (WHERE ?) FROM users',
  'SELECT sum(?) OVER () FROM users',
  'SELECT sum(1) OVER (PARTITION BY ?) FROM users',
  'SELECT sum(1) OVER (ORDER BY ?) FROM users',
  'SELECT sum(1) OVER (ORDER BY 1 ROWS ? PRECEDING) FROM users',
  'SELECT sum(1) OVER (ORDER BY 1 ROWS BETWEEN ? PRECEDING AND ? FOLLOWING) FROM users',
  'SELECT sum(1) FILTER (WHERE ?) OVER () FROM users',
  'SELECT first_value(1 ORDER BY ?) OVER () FROM users',
  'SELECT lag(1, 1, ?) OVER () FROM users',
  'SELECT lag(1, ?) OVER () FROM users',
  'SELECT sum(1) OVER w FROM users WINDOW w AS (PARTITION BY ?)',
  'SELECT * REPLACE (? AS day) FROM users',
  'SELECT COLUMNS(lambda c: ?) FROM users',
  'FROM users PIVOT (sum(?) FOR user_id IN (1))',
  'PIVOT users ON upper(user_id) IN (1) USING sum(?)',
  'WITH a AS (SELECT ?) FROM a',
  'WITH a AS (SELECT ?) SELECT 1',
  'WITH RECURSIVE a AS (SELECT ? AS x UNION ALL FROM a) FROM a',
  'WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT ? FROM a) FROM a',
  'SELECT 1 UNION SELECT ?',
  'SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT ?',
  'SELECT * FROM (SELECT ?)',
  'DESCRIBE SELECT ?',
  'SUMMARIZE SELECT ?',
];

test.each(PLACES)('nothing is overlooked in %s', async (place) => {
  const put = (text: string) => place.replaceAll('?', text);
  expect(await refusal(put("length(current_setting('a'))"))).toMatch(
    /^The function current_setting can't|^SQL can't/,
  );
  expect(await refusal(put('(SELECT 1 FROM sqlite_master)'))).toMatch(
    /^There is no table sqlite_master|^SQL can't/,
  );
  // It is what stands there that is refused.
  expect(await refusal(put('1'))).toMatch(/^reads /);
});

test.each([
  ['a version of a table', 'FROM users AT (VERSION => 1)'],
  ['the state of an aggregate', 'SELECT sum(1) EXPORT_STATE FROM users'],
  ['a type as the values of a pivot', 'FROM users PIVOT (sum(1) FOR user_id IN letters)'],
  ['a value that a table would have', 'SELECT DEFAULT'],
  ['the tables', 'SHOW TABLES'],
  ['the tables of a schema', 'SHOW TABLES FROM main'],
  ['all tables', 'SHOW ALL TABLES'],
  ['a function of a schema in FROM', 'FROM main.range(1)'],
  ['a table of a database', 'FROM memory.main.users'],
  ['a name that only looks like main', 'FROM "main.users"'],
  ['a query by its text', "FROM query('SELECT 1')"],
  ['a table by its text', "FROM query_table('users')"],
  ['a plan of a text', "SELECT json_serialize_plan('SELECT 1', optimize := true)"],
  ['a text that is run', "FROM json_execute_serialized_sql('{}')"],
  ['a function of pg_catalog', 'SELECT pg_catalog.pg_get_viewdef(1)'],
  ['a function of a schema', "SELECT system.main.current_setting('a')"],
  ['a function after a point', "SELECT 'a'.current_setting()"],
  ['a function after a column', 'SELECT user_id.current_setting() FROM users'],
  ['a function in capitals and quotes', `SELECT "Current_Setting"('a')`],
  ['a window of it', "SELECT current_setting('a') OVER ()"],
  ['a sequence', "SELECT nextval('a')"],
  ['a wait', 'SELECT sleep_ms(1000)'],
])('%s is refused', async (_, sql) => {
  expect(await refusal(sql)).toMatch(
    /^(The function|There is no table|SQL can't|Syntax error|The member sql)/,
  );
});

test('a function that nobody has looked at is refused by its name', async () => {
  expect(await refusal('SELECT no_such(1)')).toBe(
    "The function no_such can't be used here: docs/sql.md lists the functions that can.",
  );
});

describe('the list of functions', () => {
  const allowed = [...FUNCTION_GROUPS.values()].flat();

  test('has every function of this DuckDB, as allowed or as left out', async () => {
    const result = await connection.runAndReadAll(
      "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE internal AND function_type IN ('scalar', 'aggregate', 'macro') ORDER BY ALL",
    );
    const known = result.getRows().map(([name]) => String(name));
    const isLeftOut = (name: string) =>
      FUNCTIONS_LEFT_OUT.some((one) =>
        one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one,
      );
    // Whoever puts a new one into src/sql/sql-functions.ts has read what it does: what it reads, and what it tells.
    expect(known.filter((name) => !allowed.includes(name) && !isLeftOut(name))).toEqual([]);
    // A part of SQL that looks like a function.
    expect(allowed.filter((name) => !known.includes(name))).toEqual(['unnest']);
    expect(new Set(allowed).size).toBe(allowed.length);
    expect(FUNCTIONS_LEFT_OUT.filter((name) => allowed.includes(name))).toEqual([]);
  });

  test('has all aggregates, since list_aggregate calls them by a text', async () => {
    const result = await connection.runAndReadAll(
      "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'",
    );
    expect(result.getRows().filter(([name]) => !allowed.includes(String(name)))).toEqual([]);
  });

  test('has what the cookbook, the reports and the docs use', async () => {
    const docs = readFileSync(join(PACKAGE_ROOT, 'docs', 'sql.md'), 'utf8');
    const queries = [
      ...['cookbook', 'report', 'check', 'daily'].flatMap((folder) =>
        readSqlFolder(folder).map(({ name, text }) => [`${folder}/${name}`, text]),
      ),
      ...[...docs.matchAll(/"(?:sql": ")?(SELECT [^"]+)"/g)].map(([, text]) => ['docs/sql.md', text]),
    ];
    expect(queries.length).toBeGreaterThan(30);
    for (const [name, text] of queries) expect(await refusal(String(text), ANY), name).toMatch(/^reads /);
  });

  test('is in docs/sql.md', async () => {
    const path = join(PACKAGE_ROOT, 'docs', 'sql.md');
    const rows = [...FUNCTION_GROUPS].map(
      ([group, names]) =>
        `| ${group} | ${names.map((name) => `\`${name.replaceAll('|', '\\|')}\``).join(' ')} |`,
    );
    const list = ['| | |', '|---|---|', ...rows].join('\n');
    const text = readFileSync(path, 'utf8').replace(
      /(?<=^## Functions\n[\s\S]*?\n)\| \| \|\n(?:\|.*\n)+/m,
      () => `${list}\n`,
    );
    await expectPage('sql.md', text);
    expect(text).toContain(list);
  });
});

test('the engine itself reads nothing outside of the folder of the organization', async () => {
  const lake = temporaryFolder();
  for (const orgId of ['acme', 'globex']) {
    mkdirSync(organizationFolder(lake, orgId));
    writeFileSync(join(organizationFolder(lake, orgId), 'users.csv'), `org_id\n${orgId}\n`);
  }
  const folder = organizationFolder(lake, 'acme');
  const closed = await openLake({ memoryMb: 128, threads: 1, data: tmpdir(), prices: undefined });
  await confine(closed, { folders: [folder] });
  const rows = async (sql: string) => (await closed.runAndReadAll(sql)).getRows();
  expect(await rows(`FROM read_csv('${folder}users.csv')`)).toEqual([['acme']]);
  for (const sql of [
    `FROM read_csv('${folder}../globex/users.csv')`,
    `FROM read_csv('${lake}/*/users.csv')`,
    `FROM read_text('/etc/hostname')`,
    `FROM glob('${lake}/**')`,
    `COPY (SELECT 1) TO '${lake}/out.csv'`,
    `ATTACH '${lake}/other.duckdb' AS other`,
    'INSTALL httpfs',
    'SET enable_external_access = true',
    `SET allowed_directories = ['/']`,
  ])
    await expect(rows(sql), sql).rejects.toThrow(/Permission Error|locked/);
  closed.closeSync();
});

test('an unknown table is answered with the nearest name, and only with one of Daybook', async () => {
  for (const [name, nearest] of [
    ['user', 'users'],
    ['Actvity', 'activity'],
    ['sesions', 'sessions'],
    ['call_cost', 'call_costs'],
  ])
    expect(await refusal(`FROM ${name}`)).toBe(
      `There is no table ${name?.toLowerCase()}: did you mean ${nearest}? SHOW TABLES lists the tables.`,
    );
  for (const name of ['pg_class', 'duckdb_tables', 'x', 'nothing_like_it', 'a'.repeat(200)])
    expect(await refusal(`FROM ${name}`)).toBe(`There is no table ${name}: SHOW TABLES lists the tables.`);
});

test('SHOW TABLES is a SELECT of the tables of Daybook, and nothing else is changed', async () => {
  for (const text of ['SHOW TABLES', ' show  all tables ; ']) {
    const sql = withoutShow(text);
    expect(await refusal(sql)).toBe('reads ');
    const { columnNames, getRows } = await connection.runAndReadAll(sql).then((read) => ({
      columnNames: read.columnNames(),
      getRows: read.getRows(),
    }));
    expect(columnNames).toEqual(['name', 'kind', 'about']);
    expect(getRows.map(([name]) => name)).toEqual(SQL_TABLES.map(({ name }) => name));
  }
  for (const text of ['SHOW TABLES FROM main', 'SELECT 1', "SELECT 'SHOW TABLES'", 'SHOW DATABASES'])
    expect(withoutShow(text)).toBe(text);
});
