import { gzipSync } from 'node:zlib';

const MIB = 1 << 20;

/** A body that costs little to send and could cost the service a lot. */
export interface Hostile {
  readonly name: string;
  readonly body: () => Buffer;
  readonly path?: string;
  readonly type?: string;
  readonly encoding?: string;
  /** Whether it is sent in chunks, of which the last one never comes. */
  readonly stalls?: boolean;
}

/** Repeats a text up to a number of bytes. */
function filled(text: string, bytes: number, encoding: BufferEncoding = 'utf8'): Buffer {
  return Buffer.alloc(Math.floor(bytes / text.length) * text.length, text, encoding);
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

const PROTOBUF = { path: '/otlp/v1/logs', type: 'application/x-protobuf' };
const OTLP_JSON = { path: '/otlp/v1/logs', type: JSON_TYPE };

/** A message, or a text, in a field of a protobuf message. `bytes` is what its length is said to be. */
function field(number: number, content: string | Buffer, bytes = Buffer.byteLength(content)): Buffer {
  const length: number[] = [];
  for (let rest = bytes; ; rest = Math.floor(rest / 128)) {
    length.push(rest < 128 ? rest : (rest % 128) | 128);
    if (rest < 128) break;
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), Buffer.from(content)]);
}

/** An attribute of a log record. */
function attribute(key: string, value: string): Buffer {
  return field(6, Buffer.concat([field(1, key), field(2, field(1, value))]));
}

/** A request with log records of Claude Code, which all have the same bytes. */
function recordsOf(content: Buffer, count = 1): Buffer {
  const records = filled(field(2, content).toString('latin1'), field(2, content).length * count, 'latin1');
  const service = Buffer.concat([field(1, 'service.name'), field(2, field(1, 'claude-code'))]);
  return field(1, Buffer.concat([field(1, field(1, service)), field(2, records)]));
}

/** What a log record of Claude Code needs. */
const plainRecord = () =>
  Buffer.concat([
    attribute('event.name', 'user_prompt'),
    attribute('event.timestamp', new Date(Date.now() - 3_600_000).toISOString()),
    attribute('session.id', 's-1'),
  ]);

function jsonRecords(record: string, count = 1): Buffer {
  return Buffer.from(
    `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${Array.from({ length: count }, () => record).join(',')}]}]}]}`,
  );
}

/** Lists in lists, as the value of an attribute. */
function nested(levels: number): Buffer {
  // From the inside out, in one buffer: each level has its length before it.
  const parts: Buffer[] = [];
  for (let [level, bytes] = [0, 0]; level < levels; level += 1) {
    const inner = field(1, '', bytes);
    const outer = field(5, '', bytes + inner.length);
    parts.push(inner, outer);
    bytes += inner.length + outer.length;
  }
  return Buffer.concat(parts.reverse());
}

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
  { name: 'otlp: 200 MiB of zeros', body: () => Buffer.alloc(200 * MIB), ...PROTOBUF },
  { name: 'otlp: 200 MiB of spaces', body: () => Buffer.alloc(200 * MIB, ' '), ...OTLP_JSON },
  {
    name: 'otlp: gzip that ends early',
    body: () => gzipSync(recordsOf(plainRecord())).subarray(0, 60),
    ...PROTOBUF,
  },
  {
    name: 'otlp: 99,998 records that become events',
    body: () =>
      recordsOf(Buffer.concat([plainRecord(), attribute('user.email', 'x'.repeat(ROOM - 100))]), 99_998),
    ...PROTOBUF,
  },
  {
    name: 'otlp: a record with an attribute of 60 MiB',
    body: () => recordsOf(attribute('prompt', 'x'.repeat(60 * MIB))),
    ...PROTOBUF,
  },
  {
    name: 'otlp: 20 records with an attribute of 3 MiB that is kept',
    body: () => recordsOf(Buffer.concat([plainRecord(), attribute('session.id', 'x'.repeat(3 * MIB))]), 20),
    ...PROTOBUF,
  },
  {
    name: 'otlp: records with 100,000 attributes',
    body: () =>
      recordsOf(Buffer.concat([plainRecord(), filled(field(6, '').toString('latin1'), 200_000)]), 100),
    ...PROTOBUF,
  },
  {
    name: 'otlp: 2,000 records with 10,000 attributes each',
    body: () =>
      recordsOf(Buffer.concat([plainRecord(), filled(field(6, '').toString('latin1'), 16_000)]), 2000),
    ...PROTOBUF,
  },
  {
    name: 'otlp: 100,000 attributes as JSON',
    body: () => jsonRecords(`{"attributes":[${'{},'.repeat(100_000)}{}]}`, 100),
    ...OTLP_JSON,
  },
  {
    name: 'otlp: tool_input of 64 KiB, nested 32,000 deep',
    body: () =>
      recordsOf(
        Buffer.concat([plainRecord(), attribute('tool_input', '['.repeat(32_000) + ']'.repeat(32_000))]),
        900,
      ),
    ...PROTOBUF,
  },
  {
    name: 'otlp: 99,999 resources',
    body: () => filled(field(1, '').toString('latin1'), 199_998),
    ...PROTOBUF,
  },
  {
    name: 'otlp: 20 million resources',
    body: () => filled(field(1, '').toString('latin1'), 60 * MIB),
    ...PROTOBUF,
  },
  {
    name: 'otlp: a resource with 20 million attributes',
    body: () => field(1, field(1, filled(field(1, '').toString('latin1'), 60 * MIB))),
    ...PROTOBUF,
  },
  {
    name: 'otlp: 5 million resources as JSON',
    body: () => Buffer.from(`{"resourceLogs":[${'{},'.repeat(5_000_000)}{}]}`),
    ...OTLP_JSON,
  },
  {
    name: 'otlp: a value nested 500,000 deep',
    body: () => recordsOf(field(6, Buffer.concat([field(1, 'a'), field(2, nested(500_000))]))),
    ...PROTOBUF,
  },
  {
    name: 'otlp: nested 15 million deep as JSON',
    body: () => Buffer.from(`{"resourceLogs":${'['.repeat(15 * MIB)}${']'.repeat(15 * MIB)}}`),
    ...OTLP_JSON,
  },
  {
    name: 'otlp: 99,999 resources as JSON',
    body: () => Buffer.from(`{"resourceLogs":[${'{"scopeLogs":[]},'.repeat(99_998)}{}]}`),
    ...OTLP_JSON,
  },
  {
    name: 'otlp: records of 4 MiB as JSON',
    body: () =>
      jsonRecords(
        `{"observedTimeUnixNano":1234567890123456789,"body":{"stringValue":"${'\\n'.repeat(2_000_000)}"}}`,
        15,
      ),
    ...OTLP_JSON,
  },
  {
    name: 'otlp: a record with 60 inputs of tools',
    body: () => {
      const input = attribute('tool_input', `[${'0,'.repeat(32_000)}0]`);
      return recordsOf(
        Buffer.concat([plainRecord(), filled(input.toString('latin1'), 60 * input.length, 'latin1')]),
        15,
      );
    },
    ...PROTOBUF,
  },
  {
    name: 'otlp: 30 million numbers that nobody knows',
    body: () => filled('\u0018\u0001', 60 * MIB),
    ...PROTOBUF,
  },
  {
    name: 'otlp: a group of 60 MiB',
    body: () => Buffer.concat([Buffer.from([0x1b]), filled('\u0020\u0001', 60 * MIB), Buffer.from([0x1c])]),
    ...PROTOBUF,
  },
  {
    name: 'otlp: histograms with 4 million buckets',
    body: () => {
      const point = field(1, field(6, Buffer.alloc(3_900_000)));
      const metric = field(2, Buffer.concat([field(1, 'a'), field(9, point)]));
      return field(1, field(2, filled(metric.toString('latin1'), metric.length * 15, 'latin1')));
    },
    ...PROTOBUF,
    path: '/otlp/v1/metrics',
  },
  {
    name: 'otlp: 90,000 data points in one sum',
    body: () => {
      const point = field(1, field(7, field(1, 'type')));
      const points = filled(point.toString('latin1'), point.length * 10_000, 'latin1');
      const metric = field(
        2,
        Buffer.concat([
          field(1, 'claude_code.token.usage'),
          field(7, Buffer.concat([points, Buffer.from([0x10, 1])])),
        ]),
      );
      return field(1, field(2, filled(metric.toString('latin1'), metric.length * 9, 'latin1')));
    },
    ...PROTOBUF,
    path: '/otlp/v1/metrics',
  },
  { name: 'otlp: groups nested 30 million deep', body: () => Buffer.alloc(30 * MIB, 0x1b), ...PROTOBUF },
  { name: 'otlp: a length of 4 GiB', body: () => field(1, 'x'.repeat(100), 2 ** 32 - 1), ...PROTOBUF },
  { name: 'otlp: numbers of 60 MiB without an end', body: () => Buffer.alloc(60 * MIB, 0xff), ...PROTOBUF },
  {
    name: 'otlp: chunks that stop coming',
    body: () => recordsOf(plainRecord(), 5000),
    ...PROTOBUF,
    stalls: true,
  },
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
