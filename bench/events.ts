import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { readConfig } from '../src/settings/config.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { generateEvents } from './generate-events.js';
import { median } from './run-process.js';
import { Service } from './service.js';

const CONNECTIONS = 8;
const EVENTS_PER_BODY = 1000;
const BODIES = 2000;
const STORED = 20_000_000;
const ROUNDS = 3;
const SINGLES = 2000;
const SINGLES_PER_SECOND = 100;

/** Bodies of some lines each, read from a file of generated events when they are sent: the client does little else. */
class Bodies {
  private constructor(
    private readonly file: FileHandle,
    private readonly ends: readonly number[],
  ) {}

  static async open(path: string, lines: number, bodies: number): Promise<Bodies> {
    const ends: number[] = [];
    let position = 0;
    let seen = 0;
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
      const bytes = chunk as Buffer;
      for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
        seen += 1;
        if (seen % lines === 0) ends.push(position + at + 1);
      }
      position += bytes.length;
      if (ends.length >= bodies) break;
    }
    return new Bodies(await open(path), ends.slice(0, bodies));
  }

  get count(): number {
    return this.ends.length;
  }

  async read(index: number): Promise<Buffer> {
    const start = index === 0 ? 0 : (this.ends[index - 1] as number);
    const { buffer } = await this.file.read({
      buffer: Buffer.allocUnsafe((this.ends[index] as number) - start),
      position: start,
    });
    return buffer;
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

/** Sends a body, and answers how many events were acknowledged. */
function send(service: Service, agent: Agent, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${service.url}/api/v1/events`,
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${service.key}`,
          'content-type': 'application/x-ndjson',
          'content-length': body.length,
        },
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () =>
          answer.statusCode === 200
            ? resolve((JSON.parse(text) as { accepted: number }).accepted)
            : reject(new Error(`${answer.statusCode}: ${text}`)),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends all bodies from some connections at once, and answers the rate of acknowledged events in events/s. */
async function rateOf(service: Service, bodies: Bodies): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = 0;
  let accepted = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (next < bodies.count) {
        const body = await bodies.read(next++);
        const taken = await send(service, agent, body);
        accepted += taken;
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  agent.destroy();
  if (accepted !== bodies.count * EVENTS_PER_BODY) throw new Error(`${accepted} events were acknowledged`);
  return accepted / seconds;
}

/** Waits until all that was acknowledged is settled, and answers how many seconds that took. */
export async function settled(data: string): Promise<number> {
  const started = performance.now();
  for (;;) {
    const files = await readdir(join(data, 'inbox'), { recursive: true, withFileTypes: true });
    if (!files.some((file) => file.isFile())) return (performance.now() - started) / 1000;
    await wait(100);
  }
}

/** Sends single events at a steady pace, whether answers come or not, and answers how long each took in ms, sorted. */
async function timesOf(service: Service, bodies: Bodies): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const all: Promise<void>[] = [];
  const started = performance.now();
  for (let index = 0; index < bodies.count; index += 1) {
    const body = await bodies.read(index);
    const due = started + (index * 1000) / SINGLES_PER_SECOND;
    await wait(Math.max(0, due - performance.now()));
    const sent = performance.now();
    all.push(send(service, agent, body).then(() => void times.push(performance.now() - sent)));
  }
  await Promise.all(all);
  agent.destroy();
  return times.sort((a, b) => a - b);
}

/** Makes a data folder with many events of the day that is sent, in pieces: as one file they would fill a disk. */
async function fill(data: string, folder: string, events: number): Promise<void> {
  const config = readConfig({ DAYBOOK_DATA: data });
  const store = await DuckDbStore.open(config.data, {
    ...config,
    memoryMb: 2048,
    now: Date.now(),
  });
  const piece = 2_000_000;
  for (let first = 0; first < events; first += piece) {
    // The ids of what is sent come first.
    const path = await generateEvents(join(folder, 'piece.ndjson'), piece, { first: 1_000_000_000 + first });
    await ingest(store, { orgId: 'acme', source: CANONICAL, files: inputFiles([path], CANONICAL) }, () =>
      Date.now(),
    );
    rmSync(path);
  }
  await store.close();
}

/** Events over HTTP: how fast many are acknowledged, on an empty and on a full store, how soon one is, and what memory is left. */
export async function events(root: string, args: readonly string[]): Promise<void> {
  const path = await generateEvents(
    join(root, 'bench', 'out', 'data', `events-${BODIES * EVENTS_PER_BODY}.ndjson`),
    BODIES * EVENTS_PER_BODY,
  );
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  const bodies = await Bodies.open(path, EVENTS_PER_BODY, BODIES);
  try {
    const rates: number[] = [];
    const p99s: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const data = join(folder, `empty-${round}`);
      const service = await Service.start(root, data);
      await wait(2000);
      const atStart = service.memory();
      const before = service.processorTime();
      const rate = await rateOf(service, bodies);
      const rest = await settled(data);
      const sent = BODIES * EVENTS_PER_BODY;
      const perEvent = ((service.processorTime() - before) * 1e6) / sent;
      await wait(20_000);
      const idle = service.memory();
      await service.stop();
      rmSync(data, { recursive: true });
      console.log(
        `round ${round}: ${Math.round(rate)} events/s; all settled ${rest.toFixed(1)} s later, ${Math.round(sent / (sent / rate + rest))} events/s with that, ${perEvent.toFixed(1)} us of processor time an event; ${atStart} MiB after the start, ${idle} MiB idle after that`,
      );
      rates.push(rate);
      const singles = await Bodies.open(path, 1, SINGLES);
      const quiet = await Service.start(root, data);
      const times = await timesOf(quiet, singles);
      await settled(data);
      await quiet.stop();
      await singles.close();
      rmSync(data, { recursive: true });
      const at = (share: number) => times[Math.ceil(share * times.length) - 1] as number;
      p99s.push(at(0.99));
      console.log(
        `round ${round}: a single event: median ${at(0.5).toFixed(1)}, p99 ${at(0.99).toFixed(1)}, longest ${at(1).toFixed(1)} ms`,
      );
      if (args.includes('--once')) break;
    }
    console.log(`events acknowledged a second: ${Math.round(median(rates))} (bar: at least 80000)`);
    console.log(`p99 of a single event: ${median(p99s).toFixed(1)} ms (bar: at most 50)`);
    if (args.includes('--empty')) return;
    const full = join(folder, 'full');
    await fill(full, folder, STORED);
    const service = await Service.start(root, full);
    const rate = await rateOf(service, bodies);
    const rest = await settled(full);
    await service.stop();
    console.log(
      `with ${STORED} events of that day stored: ${Math.round(rate)} events/s; the rest settled ${rest.toFixed(1)} s later`,
    );
    console.log(
      `rate on the full store / rate on an empty one: ${(rate / median(rates)).toFixed(2)} (bar: at least 0.9)`,
    );
  } finally {
    await bodies.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
