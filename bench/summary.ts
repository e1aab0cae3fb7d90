import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { DuckDBInstance } from '@duckdb/node-api';
import { build } from '../src/aggregate/build-days.js';
import { createKey } from '../src/api/api-keys.js';
import { readConfig } from '../src/config.js';
import type { Day } from '../src/day.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { BUILT_TABLES } from '../src/store/day-builder.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { dayAt, FIRST_DAY, NOW, percentile } from './serve.js';
import { startServer } from './service.js';

const PEOPLE = 10_000;
const DAYS = 365;
/** How many days are written, taken in and built; the others are copies of them. */
const DAYS_BUILT = 30;

/**
 * Writes events of some days: of each person a user turn, two calls of models, a call of a tool and a changed file, in one of two
 * repositories. Everybody works every day.
 */
async function writeEvents(path: string, first: number, last: number): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const of = (type: string, value: string) => `CASE WHEN type = '${type}' THEN ${value} END`;
  await connection.run(`COPY (
    SELECT regexp_replace(CAST(to_json(event) AS VARCHAR), ',"[a-z_]+":null', '', 'g') AS line
    FROM (
      SELECT
        concat('e', day, '_', person, '_', kind) AS event_id,
        type,
        strftime(DATE '${FIRST_DAY}' + CAST(day AS INTEGER) + to_milliseconds(CAST(hash(person, day, kind) % 86400000 AS BIGINT)), '%Y-%m-%dT%H:%M:%S.%gZ') AS timestamp,
        'user_' || lpad(CAST(person AS VARCHAR), 5, '0') AS user_id,
        'ses_' || day AS session_id,
        'terminal-ui' AS client,
        'claude-code' AS agent,
        'https://github.com/acme/repo' || (person + day % 2) % 200 AS repo,
        ${of('model_usage', "['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-5', 'gpt-5'][1 + CAST((person + kind) % 4 AS BIGINT)]")} AS model,
        ${of('model_usage', 'CAST(hash(person, day, kind, 1) % 100000 AS BIGINT)')} AS input_tokens,
        ${of('model_usage', 'CAST(hash(person, day, kind, 2) % 100000 AS BIGINT)')} AS output_tokens,
        ${of('model_usage', 'CAST(hash(person, day, kind, 3) % 1000000 AS BIGINT)')} AS cache_read_tokens,
        ${of('tool_call', "'Edit'")} AS tool_name,
        ${of('file_change', `'/src/module' || day || '.ts'`)} AS path,
        ${of('file_change', "'edit'")} AS operation
      FROM (
        SELECT
          day,
          person,
          kind,
          CASE kind WHEN 0 THEN 'user_message' WHEN 1 THEN 'tool_call' WHEN 2 THEN 'file_change' ELSE 'model_usage' END AS type
        FROM range(${first}, ${last}) AS days(day), range(${PEOPLE}) AS people(person), range(5) AS kinds(kind)
      )
    ) AS event
  ) TO '${path}' (FORMAT csv, QUOTE '', ESCAPE '', DELIMITER '\x01', HEADER false)`);
  connection.closeSync();
  instance.closeSync();
}

/** The tables that the answers of built days are read from, and what says that they are built. */
const COPIED = [...BUILT_TABLES, 'days', 'digests'];

/** Takes in and builds the first days of an organization, and copies their rows until they are a year. */
async function fill(store: DuckDbStore, folder: string): Promise<void> {
  const daysBuilt = async () => Number((await store.select('SELECT count(*) AS days FROM days'))[0]?.days);
  if ((await daysBuilt()) === 0) {
    const path = join(folder, 'events.ndjson');
    await writeEvents(path, 0, DAYS_BUILT);
    await ingest(
      store,
      { orgId: 'acme', source: CANONICAL, files: inputFiles([path], CANONICAL) },
      () => NOW,
    );
    rmSync(path);
    await build(store, { to: dayAt(DAYS_BUILT - 1) as Day }, () => NOW);
  }
  for (let days = await daysBuilt(); days < DAYS; days = await daysBuilt()) {
    const copied = Math.min(days, DAYS - days);
    // All tables at once: what is cut off goes on from here.
    await store.run(
      COPIED.map((table) => ({
        sql: `INSERT INTO ${table} SELECT * REPLACE (day + ${days} AS day) FROM ${table} WHERE day < DATE '${dayAt(copied)}' ORDER BY org_id, day`,
      })),
    );
    console.log(`${days + copied} of ${DAYS} days are there`);
  }
}

/** Asks for pages that nobody has asked for before, one after the other: each of another range of so many days. */
async function times(
  url: string,
  key: string,
  days: number,
  query: string,
  requests: number,
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const found: number[] = [];
  for (let request = 0; request < requests; request += 1) {
    // Every range is another: the first day moves, and where there is no room the limit does.
    const first = days === DAYS ? 0 : request % (DAYS - days);
    const path = `/api/v1/analytics/summary?startDate=${dayAt(first)}&endDate=${dayAt(first + days - 1)}&${query}${days === DAYS ? `&limit=${50 + request}` : '&limit=50'}`;
    const started = performance.now();
    const [answer] = (await once(
      get(url + path, { agent, headers: { authorization: `Bearer ${key}` } }),
      'response',
    )) as [IncomingMessage];
    const body = await buffer(answer);
    found.push(performance.now() - started);
    const { data } = JSON.parse(body.toString()) as { data: unknown[] };
    if (answer.statusCode !== 200 || data.length === 0)
      throw new Error(`no rows: ${body.toString().slice(0, 200)}`);
  }
  agent.destroy();
  return found;
}

/** Totals of a range in an organization of 10,000 users who work each day of a year, uncached. */
export async function summary(root: string): Promise<void> {
  const folder = join(root, 'bench', 'out', 'data', 'summary');
  const isFilled = existsSync(join(folder, 'filled'));
  mkdirSync(folder, { recursive: true });
  const config = readConfig({ DAYBOOK_DATA: folder });
  const store = await DuckDbStore.open(folder, { ...config, memoryMb: 1024, now: NOW });
  if (!isFilled) await fill(store, folder);
  writeFileSync(join(folder, 'filled'), '');
  const { key } = await createKey(store, { orgId: 'acme', role: 'manager' }, NOW);
  await store.close();
  const ours = await startServer(
    [join(root, 'dist', 'cli.js'), '--data', folder, 'serve', '--port', '0'],
    { DAYBOOK_BUILD_AT: 'off', DAYBOOK_HISTORY_START: FIRST_DAY, DAYBOOK_RATE_LIMIT: '1000000000' },
    'ignore',
  );
  try {
    for (const [days, query, requests, bar] of [
      [30, 'group_by=user', 200, ' (bar: at most 60)'],
      [DAYS, 'group_by=user', 100, ' (bar: at most 250)'],
      [DAYS, 'interval=month', 20, ''],
      [30, 'group_by=repo', 20, ''],
      [30, 'group_by=model&compare=previous', 20, ''],
    ] as const) {
      const found = await times(ours.url, key, days, query, requests);
      const [median, slow] = [0.5, 0.99].map((share) => percentile(found, share).toFixed(0));
      console.log(`${days} days, ${query}: median ${median} ms, p99 of ${requests} ${slow} ms${bar}`);
    }
  } finally {
    await ours.stop();
  }
}
