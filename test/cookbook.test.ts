import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Day } from '../src/day.js';
import { Lake } from '../src/lake/data-lake.js';
import { isRecord, LAKE_TABLES, tableFolder } from '../src/lake/lake-paths.js';
import { loadDemo } from '../src/service/demo.js';
import { Shell } from '../src/sql/sql-shell.js';
import { TABLES } from '../src/store/catalog.js';
import { readViews } from '../src/store/definition.js';
import { readSqlFolder } from '../src/store/sql-text.js';
import type { Row, Store, Value } from '../src/store/store.js';
import { tablesOf } from '../src/store/tables.js';
import { expectPage } from './page.js';
import { ending, storeName, World } from './world.js';

const atEnd = ending();

/**
 * Plays sql/cookbook on the sample. test/cookbook has the answer to each question as a CSV file, which is written where it is
 * missing; to take over another answer, delete it and look at what comes.
 */
const ANSWERS = fileURLToPath(new URL('cookbook/', import.meta.url));

/** The days of the sample. */
const RANGE = { from: '2026-01-28', to: '2026-07-15' } as { from: Day; to: Day };

const questions = readSqlFolder('cookbook').map(({ name, text }) => {
  const [, title = '', about = '', sql = ''] =
    /^-- (.*\?)\n--\n((?:-- .*\n)+)-- Grain: .*\n([\s\S]*)$/.exec(text) ?? [];
  return { name, title, about: about.replaceAll(/^-- /gm, '').trim(), sql, text };
});

async function answer(store: Store, sql: string): Promise<string[][]> {
  const asked = Object.entries(RANGE).filter(([name]) => sql.includes(`$${name}`));
  const rows = await store.select(sql, Object.fromEntries(asked.map(([name, day]) => [name, { day }])));
  return rows.map((row: Row) => Object.entries(row).map(([column, value]) => shown(column, value)));
}

function shown(column: string, value: Value | undefined): string {
  if (value === null || value === undefined) return '';
  return column.endsWith('_at') ? new Date(Number(value)).toISOString() : String(value);
}

/** The names of a query's columns: those of its last SELECT, as they stand there. */
function columnsOf(sql: string): string[] {
  const last = sql.slice(`\n${sql}`.lastIndexOf('\nSELECT\n')).split('\nFROM ')[0] ?? '';
  return [...last.matchAll(/ AS (\w+),?$/gm)].map(([, name]) => String(name));
}

function csv(lines: readonly (readonly string[])[]): string {
  const field = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return lines.map((line) => `${line.map(field).join(',')}\n`).join('');
}

function table([head = [], ...lines]: readonly (readonly string[])[]): string {
  const line = (fields: readonly string[]) =>
    `| ${fields.map((field) => field.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...lines.map(line)].join('\n');
}

/** A world that has the sample. */
async function withSample(world: World): Promise<World> {
  world.now = Date.parse('2026-07-20T12:00:00.000Z');
  await loadDemo(world.store, RANGE.from, world.clock);
  return world;
}

let sample: World;
const answers = new Map<string, string[][]>();

beforeAll(async () => {
  sample = await withSample(await World.create({}, atEnd));
  for (const { name, sql } of questions)
    answers.set(name, [columnsOf(sql), ...(await answer(sample.store, sql))]);
});

test('there are eighteen questions, each with what to know of its answer', () => {
  expect(questions.length).toBe(18);
  for (const { name, title, about } of questions) {
    expect(title, name).not.toBe('');
    expect(about, name).toMatch(/^One row is one .*[.]\n.*[.]$/);
  }
});

test.each(questions)('$name: $title', ({ name }) => {
  const path = join(ANSWERS, `${name}.csv`);
  const actual = csv(answers.get(name) ?? []);
  if (process.env.CI === undefined && !existsSync(path)) {
    mkdirSync(ANSWERS, { recursive: true });
    writeFileSync(path, actual);
  }
  expect(actual).toBe(readFileSync(path, 'utf8'));
});

test('the lake answers the same, in the terminal and in ClickHouse', async () => {
  const world = await withSample(await World.create({}, undefined, undefined, 'DuckDB'));
  const lake = new Lake(world.config, world.clock);
  await lake.repair(world.store);
  await lake.close();
  const { store } = await World.create({}, undefined, undefined, storeName());
  if (storeName() === 'ClickHouse') {
    const here = process.cwd();
    onTestFinished(async () => {
      process.chdir(here);
      // No other test gets this database: its tables are none.
      await store.run([{ sql: 'DROP TABLE facts SYNC' }]);
    });
    // It reads files below the folder in which it runs.
    process.chdir('/');
    for (const table of LAKE_TABLES.filter((name) => !isRecord(name))) {
      const folder = tableFolder(lake.folder, 'demo', table);
      const rows = existsSync(folder) ? `deltaLakeLocal('${folder}')` : `${table}_rows WHERE 1 = 0`;
      await store.run([{ sql: `CREATE OR REPLACE VIEW ${table} AS SELECT * FROM ${rows}` }]);
    }
    // The lake's columns are nullable, and a view with a join keeps what its columns were.
    await store.run(readViews().map(({ text }) => ({ sql: text })));
  }
  for (const { name, sql } of questions) {
    const inLake =
      storeName() === 'ClickHouse'
        ? csv([columnsOf(sql), ...(await answer(store, sql))])
        : await saidInTerminal(world, sql);
    expect(inLake, name).toBe(readFileSync(join(ANSWERS, `${name}.csv`), 'utf8'));
  }
});

/** What `daybook sql` prints as CSV. */
async function saidInTerminal({ config }: World, sql: string): Promise<string> {
  const out = new PassThrough();
  const said = text(out);
  const shell = await Shell.open(config, { format: 'csv', isWriting: false, parameters: RANGE }, out);
  await shell.run(sql).finally(() => out.end());
  return (await said).replaceAll('\r\n', '\n');
}

test('every answer is one to a question', () => {
  expect(readdirSync(ANSWERS).sort()).toEqual(questions.map(({ name }) => `${name}.csv`));
});

test('the questions ask nothing but events, day tables, views of these, and the price list', () => {
  const kinds = ['events', 'day table', 'reference'];
  const published = new Set(
    Object.entries(TABLES).flatMap(([name, { kind = '' }]) => (kinds.includes(kind) ? [name] : [])),
  );
  const views = new Map(readSqlFolder('schema').map(({ name, text }) => [name, text]));
  const sourcesOf = (text: string): string[] => {
    const own = new Set([...text.matchAll(/^(\w+) AS \($/gm)].map(([, name]) => String(name)));
    return tablesOf(text)
      .filter((name) => !own.has(name))
      .flatMap((name) =>
        published.has(name) ? [name] : sourcesOf(views.get(name) ?? `FROM no_view_${name}`),
      );
  };
  for (const { name, sql } of questions) {
    const sources = sourcesOf(sql);
    expect(sources.length, name).toBeGreaterThan(0);
    expect(published, name).toEqual(new Set([...published, ...sources]));
  }
});

test('costs add up to the same by user, call and session', async () => {
  const [sums] = await sample.store.select(`SELECT
    CAST((SELECT sum(cost_usd) FROM user_costs) AS DOUBLE) AS by_user,
    CAST((SELECT sum(cost_usd) FROM call_costs) AS DOUBLE) AS by_call,
    CAST((SELECT sum(cost_usd) FROM session_facts) AS DOUBLE) AS by_session`);
  expect(sums?.by_user).toBeGreaterThan(20);
  expect(sums).toMatchObject({ by_call: sums?.by_user, by_session: sums?.by_user });
});

test('an MCP server grows by users before it grows by calls', async () => {
  const world = await World.create();
  world.now = sample.now;
  const call = (id: string, day: string, user_id: string, tool_name: string) => ({
    event_id: id,
    type: 'tool_call',
    timestamp: `${day}T12:00:00Z`,
    user_id,
    session_id: user_id,
    tool_name,
  });
  await world.send([
    ...[1, 2, 3].map((n) => call(`a${n}`, '2026-07-15', 'ada', 'mcp__linear__search')),
    call('b1', '2026-06-16', 'ada', 'mcp__GitHub__search'),
    call('b2', '2026-06-16', 'bob', 'mcp__github__search'),
    call('b3', '2026-06-15', 'ada', 'mcp__github__search'),
    call('c1', '2026-05-17', 'bob', 'mcp__figma__export'),
    call('d1', '2026-05-16', 'bob', 'mcp__too_early__export'),
  ]);
  await world.build();
  const query = questions.find(({ name }) => name === 'mcp_growth');
  expect(await answer(world.store, query?.sql ?? '')).toEqual([
    ['linear', '1', '0', '3', '0'],
    ['github', '2', '1', '2', '1'],
    ['figma', '0', '1', '0', '1'],
  ]);
});

test('docs/cookbook.md has every question with its SQL and its answer', async () => {
  const text = `# Cookbook

For engineering leads and platform teams: questions about agents, each with its SQL and the answer for the sample. Run a query with your own
days, or send it [over HTTP](sql.md):

    daybook sql --org acme -f sql/cookbook/adoption.sql --param from=2026-06-01 --param to=2026-06-30

The queries read [tables and views](tables.md) of one organization. \`$from\` and \`$to\` are days, both included; here they are ${RANGE.from} and
${RANGE.to}. The queries are the files in \`sql/cookbook\`, and run on DuckDB and ClickHouse. Dollars are from the [price list](prices.md).

${questions.map(({ name, title }) => `- [${title}](#${name})`).join('\n')}

${questions
  .map(
    ({ name, title, about, sql }) =>
      `## <a id="${name}"></a>${title}\n\n${about}\n\n\`\`\`sql\n${sql.trim()}\n\`\`\`\n\n${table(answers.get(name) ?? [])}\n`,
  )
  .join('\n')}`;
  await expectPage('cookbook.md', text);
});
