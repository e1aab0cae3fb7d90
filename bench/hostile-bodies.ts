import { gzipSync } from 'node:zlib';

const MIB = 1 << 20;

/** A body that costs little to send and could cost the service a lot. */
export interface Hostile {
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

const JSON_TYPE = 'application/json';
/** What 64 MiB leave each of 100,000 lines, less what else an event has. */
const ROOM = 520;

const frames = (count: number) => Buffer.alloc(10 * count, Buffer.from('28b52ffd2001090000ff', 'hex'));
const rleBlocks = Buffer.concat([
  Buffer.from('28b52ffd0038', 'hex'),
  Buffer.alloc(80_000, Buffer.from('0200100a', 'hex')),
]);

/** Bodies that once made the service slow, large or silent, and some that come near. */
export const HOSTILE: readonly Hostile[] = [
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

/** A body as it is sent. */
export function payloadOf({ body, encoding = 'gzip' }: Hostile): Buffer {
  const plain = body();
  return encoding === 'gzip' && plain[0] !== 0x1f ? gzipSync(plain) : plain;
}
