import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Service } from './service.js';

const MIB = 1 << 20;
/** An answer that takes longer than this isn't waited for. */
const PATIENCE_MS = 60_000;

/** The bars: milliseconds of /healthz, MiB of memory, MB of growth of the data folder. */
const BARS = { healthMs: 100, memory: 400, growth: 200 };

interface Hostile {
  readonly name: string;
  readonly body: () => Buffer;
  readonly path?: string;
  readonly type?: string;
  readonly encoding?: string;
}

/** Repeats a text up to a number of bytes. */
function filled(text: string, bytes: number): Buffer {
  return Buffer.alloc(Math.floor(bytes / text.length) * text.length, text);
}

/** The lines of a body, each of some bytes. */
function lines(count: number, line: (index: number) => string): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, index) => `${line(index)}\n`).join(''));
}

function event(index: number, more: object = {}): string {
  const timestamp = new Date(Date.now() - 3_600_000).toISOString();
  return JSON.stringify({
    event_id: `e-${index}`,
    type: 'user_message',
    timestamp,
    user_id: 'ada',
    session_id: 's-1',
    ...more,
  });
}

const NDJSON = 'application/x-ndjson';
const JSON_TYPE = 'application/json';
/** What 64 MiB leave each of 100,000 lines, less what else an event has. */
const ROOM = 520;

const frames = (count: number) => Buffer.alloc(10 * count, Buffer.from('28b52ffd2001090000ff', 'hex'));
const rleBlocks = Buffer.concat([
  Buffer.from('28b52ffd0038', 'hex'),
  Buffer.alloc(80_000, Buffer.from('0200100a', 'hex')),
]);

/** Bodies that once made the service slow, large or silent, and some that come near. */
const HOSTILE: readonly Hostile[] = [
  { name: '20 million lines "{"', body: () => filled('{\n', 40 * MIB) },
  { name: '64 million empty lines', body: () => filled('\n', 64 * MIB) },
  {
    name: '100,000 lines of 670 B, all wrong',
    body: () => lines(100_000, (index) => event(index, { user_id: 7, cwd: 'x'.repeat(ROOM) })),
  },
  { name: '100,000 lines of 670 B, no JSON', body: () => filled(`${'"'.repeat(669)}\n`, 100_000 * 670) },
  {
    name: '100,000 lines of 670 B, control characters',
    body: () => filled(`${'\u0001'.repeat(669)}\n`, 100_000 * 670),
  },
  {
    name: '100,000 lines of backslashes',
    body: () => lines(100_000, (index) => event(index, { user_id: 7, cwd: '\\'.repeat(ROOM / 2) })),
  },
  {
    name: '100,000 different members',
    body: () =>
      lines(60, (index) =>
        event(index, Object.fromEntries(Array.from({ length: 80_000 }, (_, member) => [`m${member}`, 1]))),
      ),
  },
  {
    name: '60 lines of 1 MiB, one member over and over',
    body: () => filled(`{${'"type":1,'.repeat(110_000)}"a":1}\n`, 62 * MIB),
  },
  {
    name: '60 lines of 1 MiB, nested 500,000 deep',
    body: () => filled(`${'['.repeat(500_000)}${']'.repeat(500_000)}\n`, 60 * MIB),
  },
  {
    name: '60 lines of 1 MiB, user_id nested 170,000 deep',
    body: () =>
      lines(60, (index) =>
        event(index, { user_id: 'DEEP' }).replace(
          '"DEEP"',
          `${'{"a":'.repeat(170_000)}1${'}'.repeat(170_000)}`,
        ),
      ),
  },
  { name: 'one line of 64 MiB', body: () => Buffer.alloc(64 * MIB, 'x') },
  {
    name: 'one string of 64 MiB that is closed',
    body: () => Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(64 * MIB - 8, 'x'), Buffer.from('"}')]),
  },
  { name: 'array of 100,000 "{"', body: () => Buffer.from(`[${'{'.repeat(100_000)}]`), type: JSON_TYPE },
  {
    name: 'array of 30 million numbers',
    body: () => Buffer.from(`[${'0,'.repeat(30 * MIB)}0]`),
    type: JSON_TYPE,
  },
  {
    name: 'array of 64 MiB "["',
    body: () => Buffer.concat([Buffer.alloc(63 * MIB, '['), Buffer.from(']')]),
    type: JSON_TYPE,
  },
  {
    name: 'array nested 32 million deep',
    body: () => Buffer.concat([Buffer.alloc(32 * MIB, '['), Buffer.alloc(32 * MIB, ']')]),
    type: JSON_TYPE,
  },
  {
    name: 'array of 99,999 events of 670 B',
    body: () =>
      Buffer.from(
        `[${Array.from({ length: 99_999 }, (_, index) => event(index, { cwd: 'x'.repeat(ROOM) })).join(',')}]`,
      ),
    type: JSON_TYPE,
  },
  {
    name: 'array of one string of 64 MiB',
    body: () => Buffer.concat([Buffer.from('["'), Buffer.alloc(64 * MIB - 8, 'x'), Buffer.from('"]')]),
    type: JSON_TYPE,
  },
  {
    name: '99,999 events and one wrong one',
    body: () =>
      Buffer.concat([lines(99_999, (index) => event(index, { cwd: 'x'.repeat(ROOM) })), Buffer.from('{\n')]),
  },
  { name: '65 MiB of spaces', body: () => Buffer.alloc(65 * MIB, ' ') },
  { name: 'gzip: 800,000 members', body: () => Buffer.alloc(16 * MIB - 1, gzipSync('')), encoding: 'gzip' },
  {
    name: 'zstd: a window of 1 GiB',
    body: () => Buffer.from('28b52ffd00a00900000a', 'hex'),
    encoding: 'zstd',
  },
  { name: 'zstd: 20,000 RLE blocks', body: () => rleBlocks, encoding: 'zstd' },
  { name: 'zstd: 20,000 frames', body: () => frames(20_000), encoding: 'zstd' },
  {
    name: 'hook: 1 MiB of empty arrays',
    body: () =>
      Buffer.from(`{"hook_event_name":"Stop","user_id":"ada","tool_input":[${'[],'.repeat(340_000)}[]]}`),
    path: '/api/v1/hooks',
    type: JSON_TYPE,
    encoding: 'identity',
  },
  {
    name: 'hook: 16 MiB of empty arrays',
    body: () =>
      Buffer.from(`{"hook_event_name":"Stop","user_id":"ada","tool_input":[${'[],'.repeat(5_500_000)}[]]}`),
    path: '/api/v1/hooks',
    type: JSON_TYPE,
    encoding: 'identity',
  },
  {
    name: 'hook: nested 8 million deep',
    body: () =>
      Buffer.from(
        `{"hook_event_name":"Stop","user_id":"ada","tool_input":${'['.repeat(8_000_000)}${']'.repeat(8_000_000)}}`,
      ),
    path: '/api/v1/hooks',
    type: JSON_TYPE,
    encoding: 'identity',
  },
  {
    name: 'hook: 16 MiB of numbered members',
    body: () =>
      Buffer.from(
        `{"hook_event_name":"Stop","user_id":"ada"${Array.from({ length: 1_000_000 }, (_, index) => `,"m${index}":1`).join('')}}`,
      ),
    path: '/api/v1/hooks',
    type: JSON_TYPE,
    encoding: 'identity',
  },
];

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

/** A body as it is sent. */
function payloadOf({ body, encoding = 'gzip' }: Hostile): Buffer {
  const plain = body();
  return encoding === 'gzip' && plain[0] !== 0x1f ? gzipSync(plain) : plain;
}

function send(
  service: Service,
  { path = '/api/v1/events', type = NDJSON, encoding = 'gzip' }: Hostile,
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
        'content-length': payload.length,
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
    sent.end(payload);
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
    'body: status, time to answer; slowest /healthz, most memory, growth of the data folder [until all was settled]',
  );
  try {
    for (const [index, one] of HOSTILE.entries()) {
      if (!one.name.includes(part)) continue;
      const data = join(folder, String(index));
      const service = await Service.start(root, data);
      await wait(300);
      const before = sizeOf(data);
      const payload = payloadOf(one);
      await wait(300);
      const watch = new Watch(service, data);
      await wait(100);
      const { status, ms } = await send(service, one, payload);
      const { slowest, memory, bytes } = watch;
      const settled = await isSettled(data);
      await watch.stop();
      await service.stop();
      rmSync(data, { recursive: true });
      const growth = (bytes - before) / 1e6;
      const holds =
        slowest <= BARS.healthMs && memory <= BARS.memory && growth <= BARS.growth && status !== 'none';
      if (!holds) failures += 1;
      console.log(
        `${holds ? 'ok  ' : 'FAIL'} ${one.name}: ${status}, ${Math.round(ms)} ms; ${Math.round(slowest)} ms, ${memory} MiB, ${growth.toFixed(0)} MB [${Math.round(watch.slowest)} ms, ${watch.memory} MiB, ${((watch.bytes - before) / 1e6).toFixed(0)} MB${settled ? '' : ', not settled'}]`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(
    `${failures} of the bodies break a bar (${BARS.healthMs} ms, ${BARS.memory} MiB, ${BARS.growth} MB)`,
  );
  if (failures > 0) process.exitCode = 1;
}
