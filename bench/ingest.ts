import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { build } from '../src/aggregate/build-days.js';
import { readConfig } from '../src/config.js';
import { ingest as ingestFiles } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { DAY, generateEvents } from './generate-events.js';
import { median } from './run-process.js';

const EVENTS = 2_000_000;
const ROUNDS = 3;

const MEMBERS =
  "event_id: 'VARCHAR', type: 'VARCHAR', timestamp: 'TIMESTAMP', user_id: 'VARCHAR', user_email: 'VARCHAR', session_id: 'VARCHAR', client: 'VARCHAR', autonomy_mode: 'VARCHAR', agent: 'VARCHAR', agent_version: 'VARCHAR', repo: 'VARCHAR', git_branch: 'VARCHAR', cwd: 'VARCHAR', reason: 'VARCHAR', model: 'VARCHAR', input_tokens: 'BIGINT', output_tokens: 'BIGINT', cache_read_tokens: 'BIGINT', cache_write_tokens: 'BIGINT', tool_name: 'VARCHAR', mcp_server: 'VARCHAR', success: 'BOOLEAN', duration_ms: 'BIGINT', path: 'VARCHAR', operation: 'VARCHAR', lines_added: 'BIGINT', lines_removed: 'BIGINT', commit_sha: 'VARCHAR', url: 'VARCHAR', skill_name: 'VARCHAR', command_name: 'VARCHAR', hook_event: 'VARCHAR', matcher: 'VARCHAR', command: 'VARCHAR', exit_code: 'BIGINT', timed_out: 'BOOLEAN'";

/** The bare queries that a day can't be cheaper than: tokens, users, autonomy percentiles, active users, tools. */
const BARE = [
  'SELECT user_id, model, sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens) FROM day WHERE model IS NOT NULL GROUP BY ALL',
  `SELECT user_id, count(*) FILTER (WHERE type = 'tool_call'), count(*) FILTER (WHERE type = 'user_message'), count(*) FILTER (WHERE type = 'assistant_message'),
    count(DISTINCT session_id), count(DISTINCT path), count(DISTINCT commit_sha), mode(autonomy_mode), mode(model), sum(input_tokens + output_tokens) FROM day GROUP BY ALL`,
  `SELECT quantile_cont(ratio, 0.5), quantile_cont(ratio, 0.9) FROM (SELECT user_id, session_id,
    count(*) FILTER (WHERE type = 'tool_call') / count(*) FILTER (WHERE type = 'user_message') AS ratio FROM day GROUP BY ALL)`,
  'SELECT client, count(DISTINCT user_id) FROM day GROUP BY ALL',
  "SELECT tool_name, count(*), count(DISTINCT user_id) FROM day WHERE type = 'tool_call' GROUP BY ALL",
];

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

interface Round {
  plain: number;
  load: number;
  bare: number;
  build: number;
}

async function round(path: string): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    const instance = await DuckDBInstance.create(join(folder, 'plain.duckdb'));
    const connection = await instance.connect();
    const plain = await timed(() =>
      connection.run(
        `CREATE TABLE day AS SELECT * FROM read_json('${path}', format = 'newline_delimited', columns = {${MEMBERS}})`,
      ),
    );
    const bare = await timed(async () => {
      for (const query of BARE) await connection.runAndReadAll(query);
    });
    connection.closeSync();
    instance.closeSync();
    const clock = () => Date.parse('2026-06-11T00:15:00.000Z');
    const config = readConfig({ DAYBOOK_DATA: join(folder, 'data') });
    const store = await DuckDbStore.open(config.data, {
      ...config,
      memoryMb: 2048,
      now: clock(),
    });
    const load = await timed(() =>
      ingestFiles(store, { orgId: 'acme', source: CANONICAL, files: inputFiles([path], CANONICAL) }, clock),
    );
    const seconds = await timed(() => build(store, {}, clock));
    const [users] = await store.select('SELECT count(*) AS users FROM users WHERE day = $day', {
      day: { day: DAY as never },
    });
    if (users?.users !== 10_000) throw new Error(`the day has ${users?.users} users`);
    await store.close();
    return { plain, load, bare, build: seconds };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Loading 2 million canonical events, against plain read_json into a typed table; and building their day, against bare queries. */
export async function ingest(root: string): Promise<void> {
  const path = await generateEvents(join(root, 'bench', 'out', 'data', `events-${EVENTS}.ndjson`), EVENTS);
  const rounds: Round[] = [];
  for (let number = 1; number <= ROUNDS; number += 1) {
    const taken = await round(path);
    rounds.push(taken);
    console.log(
      `round ${number}: read_json ${taken.plain.toFixed(2)}, ingest ${taken.load.toFixed(2)} s; bare queries ${taken.bare.toFixed(2)}, build ${taken.build.toFixed(2)} s`,
    );
  }
  console.log(
    `rate of ingest / rate of read_json: ${median(rounds.map(({ plain, load }) => plain / load)).toFixed(2)} (bar: at least 0.5)`,
  );
  console.log(
    `time of build / time of the bare queries: ${median(rounds.map(({ bare, build: seconds }) => seconds / bare)).toFixed(2)} (bar: at most 3)`,
  );
  console.log(
    `peak memory, both databases: ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB (bar: below 4096)`,
  );
}
