import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { HOSTILE, type Hostile, payloadOf } from './hostile-bodies.js';
import { Service } from './service.js';

const NDJSON = 'application/x-ndjson';
/** An answer that takes longer than this isn't waited for. */
const PATIENCE_MS = 70_000;

/** The bars: milliseconds of /healthz and of processor time in one turn, MiB of memory, MB of growth of the data folder. */
const BARS = { healthMs: 100, turnMs: 50, memory: 400, growth: 200 };

/** Bytes of the files below a folder. */
function sizeOf(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    try {
      bytes += lstatSync(join(folder, name)).size;
    } catch {
      // It has gone since.
    }
  }
  return bytes;
}

interface Answered {
  readonly status: string;
  readonly ms: number;
}

function send(
  service: Service,
  { path = '/api/v1/events', type = NDJSON, encoding = 'gzip', stalls = false }: Hostile,
  payload: Buffer,
): Promise<Answered> {
  return new Promise((resolve) => {
    const started = performance.now();
    const end = (status: string) => {
      clearTimeout(timer);
      resolve({ status, ms: performance.now() - started });
    };
    const sent = request(`${service.url}${path}`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${service.key}`,
        'content-type': type,
        ...(stalls ? {} : { 'content-length': payload.length }),
        ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
      },
    });
    const timer = setTimeout(() => {
      sent.destroy();
      end('none');
    }, PATIENCE_MS);
    sent.on('response', (answer) => {
      answer.resume();
      end(String(answer.statusCode));
    });
    sent.on('error', (error) => end(error.message));
    if (stalls) sent.write(payload.subarray(0, payload.length / 2));
    else sent.end(payload);
  });
}

/** Looks at a service until told to stop: the slowest /healthz in ms, the most memory in MiB and the largest data folder in bytes. */
class Watch {
  slowest = 0;
  memory = 0;
  bytes = 0;
  private isOver = false;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly ended: Promise<unknown>;

  constructor(
    private readonly service: Service,
    private readonly data: string,
  ) {
    this.ended = Promise.all([this.ask(), this.look()]);
  }

  private async ask(): Promise<void> {
    while (!this.isOver) {
      const started = performance.now();
      await new Promise<void>((resolve, reject) =>
        request(`${this.service.url}/healthz`, { agent: this.agent }, (answer) => {
          answer.resume().on('end', resolve);
        })
          .on('error', reject)
          .end(),
      );
      this.slowest = Math.max(this.slowest, performance.now() - started);
      await wait(5);
    }
  }

  private async look(): Promise<void> {
    while (!this.isOver) {
      this.memory = Math.max(this.memory, this.service.memory());
      this.bytes = Math.max(this.bytes, sizeOf(this.data));
      await wait(10);
    }
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
    this.agent.destroy();
  }
}

/** Whether a status is one that a body can get: a 503 is to be sent again, any other 5xx would be a fault of the service. */
function isAnswer(status: string): boolean {
  return status !== 'none' && (!status.startsWith('5') || status === '503');
}

/** Whether all that was acknowledged is settled; false when that takes too long. */
async function isSettled(data: string): Promise<boolean> {
  const started = performance.now();
  while (performance.now() - started < PATIENCE_MS) {
    const files = readdirSync(join(data, 'inbox'), { recursive: true, withFileTypes: true });
    if (!files.some((file) => file.isFile())) return true;
    await wait(100);
  }
  return false;
}

/**
 * Sends hostile bodies to a service, each to a new one, and says of each what became of the service meanwhile: until the
 * answer, and until all was settled. A name, or a part of one, as argument picks some.
 */
export async function hostile(root: string, [part = '']: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-hostile-'));
  let failures = 0;
  console.log(
    'body: status, time to answer; longest turn of the event loop; slowest /healthz, most memory, growth of the data folder [until all was settled]',
  );
  try {
    for (const [index, one] of HOSTILE.entries()) {
      if (!one.name.includes(part)) continue;
      const data = join(folder, String(index));
      const turns = join(folder, `turns-${index}`);
      const service = await Service.start(root, data, {
        NODE_OPTIONS: `--import ${join(import.meta.dirname, 'turns.js')}`,
        TURNS: turns,
      });
      await wait(300);
      const before = sizeOf(data);
      const payload = payloadOf(one);
      await wait(300);
      service.signal('SIGUSR2');
      const watch = new Watch(service, data);
      await wait(100);
      const { status, ms } = await send(service, one, payload);
      const { slowest, memory, bytes } = watch;
      const settled = await isSettled(data);
      await watch.stop();
      await service.stop();
      rmSync(data, { recursive: true });
      const growth = (bytes - before) / 1e6;
      const turn = Number(readFileSync(turns, 'utf8'));
      const holds =
        turn <= BARS.turnMs &&
        slowest <= BARS.healthMs &&
        memory <= BARS.memory &&
        growth <= BARS.growth &&
        isAnswer(status);
      if (!holds) failures += 1;
      console.log(
        `${holds ? 'ok  ' : 'FAIL'} ${one.name}: ${status}, ${Math.round(ms)} ms; ${turn} ms; ${Math.round(slowest)} ms, ${memory} MiB, ${growth.toFixed(0)} MB [${Math.round(watch.slowest)} ms, ${watch.memory} MiB, ${((watch.bytes - before) / 1e6).toFixed(0)} MB${settled ? '' : ', not settled'}]`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(
    `${failures} of the bodies break a bar (${BARS.turnMs} ms, ${BARS.healthMs} ms, ${BARS.memory} MiB, ${BARS.growth} MB)`,
  );
  if (failures > 0) process.exitCode = 1;
}
