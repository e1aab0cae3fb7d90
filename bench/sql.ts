import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from '../src/aggregate/build-days.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { readConfig } from '../src/settings/config.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { percentile } from './asking.js';
import { dayAt, NOW, SMALL, writeEvents } from './generate-organization.js';
import { median } from './run-process.js';
import { serveFilled } from './service.js';

const ROUNDS = 11;
/** A process that waits for a query and has done nothing for so long has nothing more to do. */
const IDLE_MS = 3000;
const ASK_MS = 10_000;

const QUERIES = {
  'three numbers': 'SELECT i AS a, i * 3 AS b, i % 1000 AS c FROM range(1000000) AS numbers (i)',
  'a text and two numbers':
    "SELECT concat('user-', i % 10000) AS user_id, i AS a, i % 1000 AS b FROM range(1000000) AS numbers (i)",
};
/** What DuckDB works at for as long as it may. */
const HEAVY =
  'SELECT count(*) AS n FROM range(1000000) a, range(1000000) b, range(1000000) c WHERE a.range + b.range = c.range * 7';

/** What a process has in memory now, in MiB; 0 when it has ended. */
function memoryOf(pid: number | string | undefined): number {
  try {
    const [, resident = 0] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(resident) / 1024);
  } catch {
    return 0;
  }
}

/** The processes that a process has started. */
function childrenOf(pid: number | undefined): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

/** Waits until the process that the service has for the next query has started, on a machine that is as busy as may be. */
async function idle(pid: number | undefined): Promise<void> {
  for (let before = '', since = performance.now(); performance.now() - since < IDLE_MS; await sleep(100)) {
    const used = childrenOf(pid).map((child) => {
      const fields = readFileSync(`/proc/${child}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return `${child} ${fields[11]} ${fields[12]}`;
    });
    if (used.join() === before) continue;
    before = used.join();
    since = performance.now();
  }
}

/** How long a million rows take over HTTP, how soon the first answer comes, and what a query does to the others. */
export async function sql(root: string): Promise<void> {
  const folder = join(root, 'bench', 'out', 'data', 'sql');
  if (!existsSync(join(folder, 'filled'))) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const config = readConfig({ DAYBOOK_DATA: folder });
  const store = await DuckDbStore.open(folder, {
    data: folder,
    memoryMb: 1024,
    rateCard: config.rateCard,
    prices: config.prices,
    now: NOW,
  });
  if (!existsSync(join(folder, 'filled'))) {
    const path = join(folder, 'events.ndjson');
    await writeEvents(path, SMALL, [0, 30]);
    const files = inputFiles([path], CANONICAL);
    await ingest(store, { orgId: 'small', source: CANONICAL, files }, () => NOW);
    rmSync(path);
    await build(store, {}, () => NOW);
    writeFileSync(join(folder, 'filled'), '');
  }
  await store.close();
  const service = await serveFilled(root, folder, ['small'], {
    DAYBOOK_SQL_TIME_S: '600',
    DAYBOOK_SQL_ROWS: '20000000',
  });
  const [key = ''] = service.keys;
  try {
    await streams(service.url, key, service.child.pid);
    await others(service.url, key);
  } finally {
    await service.stop();
  }
}

/** Asks for an answer as Arrow, and counts its bytes, by the lightest client that there is: Node's own takes as long as the service. */
async function ask(url: string, key: string, text: string): Promise<{ ms: number; bytes: number }> {
  const started = performance.now();
  const body = JSON.stringify({ sql: text });
  let bytes = 0;
  let status = '';
  const socket = connect({
    port: Number(new URL(url).port),
    host: '127.0.0.1',
    onread: {
      buffer: Buffer.alloc(1 << 20),
      callback: (count, buffer) => {
        if (bytes === 0) status = Buffer.from(buffer).toString('latin1', 0, 'HTTP/1.1 200'.length);
        bytes += count;
        return true;
      },
    },
  });
  socket.write(
    `POST /api/v1/sql HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      `Accept: application/vnd.apache.arrow.stream\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, 'close');
  if (status !== 'HTTP/1.1 200') throw new Error(`a query is answered with ${status}`);
  return { ms: performance.now() - started, bytes };
}

/** How long answers take; and what both processes take of memory, which is looked at apart. */
async function streams(url: string, key: string, pid: number | undefined): Promise<void> {
  const first: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await idle(pid);
    first.push((await ask(url, key, 'SELECT 1 AS one')).ms);
  }
  console.log(`the first answer: median ${median(first).toFixed(0)} ms`);
  for (const [what, text] of Object.entries(QUERIES)) {
    const times: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      await idle(pid);
      const { ms, bytes } = await ask(url, key, text);
      // The first one is for the cold start.
      if (round === 0) continue;
      times.push(ms);
      console.log(
        `${what}, round ${round}: 1 million rows in ${ms.toFixed(0)} ms, ${bytes} bytes, load ${loadavg()[0]?.toFixed(1)}`,
      );
    }
    console.log(`${what}: 1 million rows in ${median(times).toFixed(0)} ms`);
    for (const [rows, all] of [
      ['1 million', text],
      ['20 million', `${text}, range(20)`],
    ] as const) {
      await idle(pid);
      const { bytes, service, query } = await peaksOf(pid, () => ask(url, key, all));
      console.log(
        `${what}, ${rows} rows, ${bytes} bytes: ${service} MiB of the service and ${query} of the query`,
      );
    }
  }
}

/** What work answers, and the most memory that a process and those it has started took meanwhile, in MiB. */
async function peaksOf<T extends object>(
  pid: number | undefined,
  work: () => Promise<T>,
): Promise<T & { service: number; query: number }> {
  const peaks = { service: 0, query: 0 };
  const watch = setInterval(() => {
    peaks.service = Math.max(peaks.service, memoryOf(pid));
    for (const child of childrenOf(pid)) peaks.query = Math.max(peaks.query, memoryOf(child));
  }, 10);
  try {
    const done = await work();
    return { ...done, ...peaks };
  } finally {
    clearInterval(watch);
  }
}

/** What one asks of the API takes, with and without a query that works as hard as it may. */
async function others(url: string, key: string): Promise<void> {
  const path = `/api/v1/analytics/tokens?startDate=${dayAt(0)}&endDate=${dayAt(29)}`;
  const times = async () => {
    const all: number[] = [];
    const until = performance.now() + ASK_MS;
    while (performance.now() < until) {
      const started = performance.now();
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      all.push(performance.now() - started);
      await sleep(5);
    }
    return percentile(all, 0.99);
  };
  await times();
  const ratios: number[] = [];
  for (let round = 1; round <= 5; round += 1) {
    const alone = await times();
    const gone = new AbortController();
    const heavy = fetch(`${url}/api/v1/sql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ sql: HEAVY }),
      signal: gone.signal,
    }).catch(() => undefined);
    await sleep(1000);
    const beside = await times();
    gone.abort();
    await heavy;
    ratios.push(beside / alone);
    console.log(
      `round ${round}: p99 of /tokens of 30 days ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside a query, load ${loadavg()[0]?.toFixed(1)}`,
    );
    await sleep(1000);
  }
  console.log(`p99 beside a query / alone: ${median(ratios).toFixed(2)} (bar: at most 2)`);
}
