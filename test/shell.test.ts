import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { Lake } from '../src/lake/data-lake.js';
import { SHOWN_ROWS } from '../src/sql/shown-rows.js';
import { completions } from '../src/sql/sql-prompt.js';
import { Shell, type ShellOptions } from '../src/sql/sql-shell.js';
import { allStatementsIn, faultOf, statementsIn } from '../src/sql/sql-statements.js';
import { CLI, daybook, hasTerminal, start, startInTerminal, typing } from './program.js';
import { World } from './world.js';

const event = (id: string, more: object = {}) => ({
  event_id: id,
  type: 'model_usage',
  timestamp: '2026-06-10T10:00:00.250Z',
  user_id: 'ada',
  session_id: 's',
  model: 'gpt-5',
  input_tokens: 5,
  output_tokens: 7,
  ...more,
});

/** A lake with two organizations. Its store stays open, as that of a service does. */
const world = await World.create({}, afterAll, undefined, 'DuckDB');
await world.send([event('a'), event('b', { repo: 'say "hi", and\nbye' })], { orgId: 'acme' });
await world.send([event('c', { user_id: 'grace' })], { orgId: 'globex' });
await world.build();
const lake = new Lake(world.config, world.clock);
await lake.repair(world.store);
await lake.close();

const PUBLISHED_AT = new Date(world.now).toISOString();
const SNAPSHOTS = `Snapshots of 2 organizations: newest day 2026-07-09, published ${PUBLISHED_AT}`;

async function said(sql: string, options: Partial<ShellOptions> = {}): Promise<string> {
  const out = new PassThrough();
  const all = text(out);
  const shell = await Shell.open(world.config, { format: 'table', isWriting: false, ...options }, out);
  await shell.run(sql).finally(() => out.end());
  // How long it took is never the same.
  return (await all).replaceAll(/\d+\.\d{3} s/g, 'T');
}

describe('a text of SQL', () => {
  test('is cut at semicolons that are not in texts, names or comments, and knows its lines', () => {
    const sql = `-- first; of all
select ';' as "a;b", $$;$$, $x$ ; $x$ /* ; */ ;

  ;select e'it\\'s;' -- ;
  , 'it''s;' ; select 3 as "three`;
    expect(statementsIn(sql)).toEqual({
      ended: [
        { sql: `select ';' as "a;b", $$;$$, $x$ ; $x$ /* ; */`, line: 2 },
        { sql: `select e'it\\'s;' -- ;\n  , 'it''s;'`, line: 4 },
      ],
      rest: { sql: 'select 3 as "three', line: 5 },
    });
    expect(allStatementsIn(' ; -- nothing\n')).toEqual([]);
  });

  test('has the place of its fault, also where only a part of the line is shown', () => {
    const statement = { sql: `select 1,\n  ${'1 + '.repeat(40)}foo ${'+ 1'.repeat(40)}`, line: 3 };
    const error = new Error(
      `Binder Error: no column\n"foo"\n\nLINE 2: ...1 + 1 + 1 + foo + 1+ 1+ 1...\n${' '.repeat(8 + 3 + 16)}^`,
    );
    expect(faultOf(error, statement)).toMatch(/^Binder Error: no column "foo" \(line 4, column \d+\)$/);
    expect(faultOf(new Error('Out of Memory Error: full'), statement)).toBe('Out of Memory Error: full');
  });

  test('is completed by words in the letters that were begun, tables and columns', () => {
    const names = { words: ['SELECT', 'SET'], columns: new Map([['sessions', ['session_id', 'org_id']]]) };
    expect(completions('se', names)).toEqual([['select', 'session_id', 'sessions', 'set'], 'se']);
    expect(completions('SELECT SE', names)).toEqual([['SELECT', 'SET'], 'SE']);
    expect(completions('select sessions.o', names)).toEqual([['sessions.org_id'], 'sessions.o']);
    expect(completions('.s', names)).toEqual([['.schema'], '.s']);
    expect(completions('select ', names)).toEqual([[], '']);
  });
});

describe('daybook sql', () => {
  test('shows rows as a table, with NULL, numbers to the right and what a terminal would obey spelt out', async () => {
    expect(
      await said(
        `select event_id, input_tokens * 1000 as tokens, repo, [1, 2] as list, chr(27) || '[2J' as odd
        from events where org_id = 'acme' order by event_id; select 1 where false`,
      ),
    ).toBe(
      [
        'event_id  tokens  repo                list    odd',
        'a          5,000  NULL                [1, 2]  \\u{1b}[2J',
        'b          5,000  say "hi", and\\nbye  [1, 2]  \\u{1b}[2J',
        '(2 rows, T)',
        SNAPSHOTS,
        '(0 rows, T)',
        SNAPSHOTS,
        '',
      ].join('\n'),
    );
    expect(
      await said(
        "select 1234567.5 as credits, -9876 as difference, 2026 as first_year, 20260610 as run_id, '12345' as text, null::int as no_tokens",
        { orgId: 'globex', width: 80 },
      ),
    ).toBe(
      [
        '    credits  difference  first_year    run_id  text   no_tokens',
        '1,234,567.5      -9,876        2026  20260610  12345       NULL',
        '(1 row, T)',
        `Snapshot: newest day 2026-07-09, published ${PUBLISHED_AT}`,
        '',
      ].join('\n'),
    );
    expect(await said("select 12345 as n, 'a' as text", { format: 'csv' })).toBe('n,text\r\n12345,a\r\n');
    expect(await said('select 1 as one', { orgId: 'globex' })).toBe(
      `one\n  1\n(1 row, T)\nSnapshot: newest day 2026-07-09, published ${PUBLISHED_AT}\n`,
    );
    const many = await said(`select range from range(${SHOWN_ROWS + 500})`);
    expect(many.split('\n').length).toBe(1 + SHOWN_ROWS + 3);
    expect(many).toContain(`\n(1500 rows, the first 1000 are shown, T)\n${SNAPSHOTS}\n`);
  });

  test('writes CSV and JSON that have every value', async () => {
    const sql = `select event_id, day, occurred_at, repo, null as nothing, {'a': [1]} as nested from events where org_id = 'acme' order by event_id;`;
    expect(await said(sql, { format: 'csv' })).toBe(
      'event_id,day,occurred_at,repo,nothing,nested\r\n' +
        'a,2026-06-10,2026-06-10T10:00:00.250Z,,,"{""a"":[1]}"\r\n' +
        'b,2026-06-10,2026-06-10T10:00:00.250Z,"say ""hi"", and\nbye",,"{""a"":[1]}"\r\n',
    );
    expect(JSON.parse(await said(sql, { format: 'json' }))).toEqual([
      {
        event_id: 'a',
        day: '2026-06-10',
        occurred_at: '2026-06-10T10:00:00.250Z',
        repo: null,
        nothing: null,
        nested: { a: [1] },
      },
      {
        event_id: 'b',
        day: '2026-06-10',
        occurred_at: '2026-06-10T10:00:00.250Z',
        repo: 'say "hi", and\nbye',
        nothing: null,
        nested: { a: [1] },
      },
    ]);
    expect(await said('select 1 where false', { format: 'json' })).toBe('[]\n');
  });

  test('sees all organizations, or one', async () => {
    const sql = 'select org_id, sum(input_tokens) as tokens from model_usage group by all order by all';
    expect(await said(sql, { format: 'csv' })).toBe('org_id,tokens\r\nacme,10\r\nglobex,5\r\n');
    expect(await said(sql, { format: 'csv', orgId: 'globex' })).toBe('org_id,tokens\r\nglobex,5\r\n');
    await expect(said(sql, { orgId: 'nobody' })).rejects.toThrow('has no days of an organization nobody');
    await expect(said(sql, { asOf: world.now - 1 })).rejects.toThrow('Nothing that was published before ');
  });

  test('says why a query fails, also one that has given rows', async () => {
    await expect(said('select 1;\nselect foo\nfrom events')).rejects.toThrow(
      /^Binder Error: .*"foo".* \(line 2, column 8\)$/,
    );
    await expect(said('from userz')).rejects.toThrow(
      /^There is no table userz: did you mean users\? SHOW TABLES lists the tables \(line 1, column 6\)$/,
    );
    // DuckDB would suggest pg_settings.
    await expect(said('from setings')).rejects.toThrow(
      /^There is no table setings: SHOW TABLES lists the tables \(line 1, column 6\)$/,
    );
    await expect(said('from mine_', { isWriting: true })).rejects.toThrow(/^There is no table mine_: SHOW/);
    await expect(said('create table mine as select 1 as a; from mine_', { isWriting: true })).rejects.toThrow(
      /^There is no table mine_: did you mean mine\?/,
    );
    await expect(
      said(`select case when range < 100000 then 1 else error('too far') end from range(200000)`, {
        format: 'csv',
      }),
    ).rejects.toThrow(/too far/);
    await expect(said(' -- nothing')).rejects.toThrow('There is no SQL to run');
  });

  const file = join(world.folder, 'file.csv');
  const inLake = join(world.config.data, 'lake', 'mine.csv');
  const database = join(world.config.data, 'daybook.duckdb');
  for (const sql of [
    `copy (select 1) to '${file}'`,
    `copy (select 1) to '${inLake}'`,
    `explain analyze copy (select 1) to '${inLake}'`,
    `explain (analyze) copy (select 1) to '${inLake}'`,
    `select * from read_text('${database}')`,
    `attach '${database}' as store (read_only)`,
    'create table t as select 1',
    'install httpfs',
    'load icu',
    'set enable_external_access = true',
    'pragma database_list',
    "call query('select 1')",
    'begin',
    `export database '${file}'`,
  ])
    test(`refuses ${sql.replaceAll(world.folder, '')}`, async () => {
      await expect(said(sql)).rejects.toThrow(/can't be used|Permission Error|can only be used/);
      expect(existsSync(file) || existsSync(inLake)).toBe(false);
    });

  test('has tables in memory and files with --write, and even then nothing of Daybook is written', async () => {
    const write = (sql: string) => said(sql, { isWriting: true, format: 'csv' });
    const mine = join(world.folder, 'mine.csv');
    expect(
      await write(
        `create table t as select 1 as a; insert into t values (2); copy t to '${mine}' (header); select count(*) as n from '${mine}'`,
      ),
    ).toBe('Done, T.\nDone, T.\nDone, T.\nn\r\n2\r\n');
    expect(readFileSync(mine, 'utf8')).toBe('a\n1\n2\n');
    for (const sql of [
      `copy (select 1) to '${inLake}'`,
      `copy (select 1) to '${world.config.data}/lake/../it''s.csv' (header)`,
      `copy (select 1) to ('${world.config.data}' || '/mine.csv')`,
      `attach '${database}' as store`,
      `explain analyze copy (select 1) to '${inLake}'`,
      'install httpfs',
    ])
      await expect(write(sql)).rejects.toThrow(/can't be used|COPY must end in|can only be used/);
  });

  test('works beside a store that is open, writes Parquet whole, and ends with 2 for what is wrong', async () => {
    const output = join(world.folder, 'rows.parquet');
    const data = ['--data', world.config.data];
    const sql =
      'select org_id, input_tokens, occurred_at as instant, sum(1) as n from model_usage group by all order by all';
    const written = await daybook([...data, 'sql', sql, '--format', 'parquet', '-o', output]);
    expect(written).toEqual({ code: 0, stdout: '', stderr: '' });
    const types = `select org_id, n, typeof(instant) as instant, typeof(n) as type from '${output}'`;
    expect(await said(types, { isWriting: true, format: 'csv' })).toBe(
      'org_id,n,instant,type\r\nacme,2,TIMESTAMP WITH TIME ZONE,BIGINT\r\nglobex,1,TIMESTAMP WITH TIME ZONE,BIGINT\r\n',
    );
    writeFileSync(output, 'old');
    const failed = await daybook([...data, 'sql', '--format', 'csv', '-o', output], {
      input: 'select 1 from nowhere',
    });
    expect(failed).toMatchObject({ code: 2, stdout: '' });
    expect(failed.stderr).toBe(
      'There is no table nowhere: SHOW TABLES lists the tables (line 1, column 15)\n',
    );
    expect(readFileSync(output, 'utf8')).toBe('old');
    expect(existsSync(`${output}.unfinished`)).toBe(false);
  });

  test('ends quietly when the reader of a pipe has enough', async () => {
    const child = start([
      '--data',
      world.config.data,
      'sql',
      '--format',
      'csv',
      'select * from range(10000000)',
    ]);
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      stderr += part;
    });
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
    expect(stderr).toBe('');
  });

  test.skipIf(!hasTerminal)(
    'asks at a terminal, completes, ends a query by Ctrl-C, and remembers',
    async () => {
      const state = mkdtempSync(join(world.folder, 'state-'));
      const child = startInTerminal(`node ${CLI} --data ${world.config.data} sql`, { XDG_STATE_HOME: state });
      const type = typing(child);
      await type('', /daybook> /);
      await type('select count(*) as n from model_us', /model_us$/);
      await type('\t', /age/);
      await type('\n', /\.\.\.> /);
      await type(';\n', /\n3\r\n.*\(1 row, .*daybook> /s);
      await type('.tables\n', /One row is one call of a model.*daybook> /s);
      await type('.schema model_usage\n', /input_tokens +BIGINT.*daybook> /s);
      await type('select nothing;\n', /Binder Error: .*daybook> /s);
      await type('select sum(a.range * b.range) from range(10000000) a, range(10000000) b;\n', /b;\r+\n/);
      // One that comes before the query has begun ends nothing.
      const again = setInterval(() => child.stdin?.write('\u0003'), 300);
      await type('', /The query was interrupted\..*daybook> /s).finally(() => clearInterval(again));
      await type('select 1', /select 1$/);
      await type('\u0003', /daybook> [^s]*$/);
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.stdin?.write('.quit\n');
      expect(await ended).toBe(0);
      const history = join(state, 'daybook', 'sql-history');
      expect(statSync(history).mode & 0o777).toBe(0o600);
      expect(readFileSync(history, 'utf8').split('\n').slice(0, 4)).toEqual([
        '.quit',
        'select sum(a.range * b.range) from range(10000000) a, range(10000000) b;',
        'select nothing;',
        '.schema model_usage',
      ]);
    },
  );
});
