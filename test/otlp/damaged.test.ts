import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { ExportLogsServiceRequestSchema } from '../../src/otlp/proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { FUZZ_SEED } from '../hostile.js';
import { playsSlow } from '../slow.js';
import { NOW } from '../world.js';
import { logs, Receiver } from './sender.js';

const BODIES = playsSlow() ? 10_000 : 400;

const record = (id: string) => ({
  attributes: {
    ...{ 'session.id': 's-1', 'event.timestamp': '2026-06-10T10:00:00.250Z', 'event.name': 'user_prompt' },
    ...{
      'prompt.id': id,
      prompt: 'words "that" nobody keeps \\ \u00e4\u{1f600}',
      prompt_length: 23,
      ratio: 0.5,
    },
  },
  body: 'claude_code.user_prompt',
});
const WHOLE = logs({ 'service.name': 'claude-code' }, [record('p-1'), record('p-2'), record('p-3')]);
const JSON_BODY = Buffer.from(JSON.stringify(WHOLE));
const PROTOBUF_BODY = Buffer.from(
  toBinary(ExportLogsServiceRequestSchema, fromJson(ExportLogsServiceRequestSchema, WHOLE as JsonValue)),
);

/** Something that can happen to bytes on their way. */
const damage = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), bit: fc.integer({ min: 0, max: 7 }) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('drop' as const), at: fc.nat(), bytes: fc.integer({ min: 1, max: 20 }) }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: fc.nat(),
    more: fc.uint8Array({ minLength: 1, maxLength: 20 }),
  }),
);
type Damage = typeof damage extends fc.Arbitrary<infer Value> ? Value : never;

function damaged(bytes: Buffer, done: readonly Damage[]): Buffer {
  let result = Buffer.from(bytes);
  for (const one of done) {
    const at = one.at % Math.max(1, result.length);
    if (one.kind === 'cut') result = result.subarray(0, at);
    else if (one.kind === 'drop')
      result = Buffer.concat([result.subarray(0, at), result.subarray(at + one.bytes)]);
    else if (one.kind === 'insert')
      result = Buffer.concat([result.subarray(0, at), one.more, result.subarray(at)]);
    else if (result.length > 0) result[at] = (result[at] ?? 0) ^ (1 << one.bit);
  }
  return result;
}

function canRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

test('a damaged body is refused, or what is whole of it is taken; the service goes on', async () => {
  const receiver = await Receiver.start(NOW);
  await receiver.app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => receiver.app.close());
  const { port } = receiver.app.server.address() as AddressInfo;
  let longest = 0;
  const health = setInterval(() => {
    const asked = performance.now();
    const one = request({ port, path: '/healthz' }, (answer) => {
      answer.resume().on('end', () => {
        longest = Math.max(longest, performance.now() - asked);
      });
    });
    // The last one may be under way when the service is closed.
    one.on('error', () => {}).end();
  }, 50);
  onTestFinished(() => clearInterval(health));
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(damage, { minLength: 1, maxLength: 3 }), async (isJson, done) => {
      const body = damaged(isJson ? JSON_BODY : PROTOBUF_BODY, done);
      const type = isJson ? 'application/json' : 'application/x-protobuf';
      const { status } = await receiver.post('logs', body, { 'content-type': type });
      // Both readers take what the whole body can be read as, and nothing else.
      const isWhole =
        body.length === 0 ||
        canRead(() =>
          isJson
            ? JSON.parse(new TextDecoder('utf8', { fatal: true }).decode(body))
            : fromBinary(ExportLogsServiceRequestSchema, body),
        );
      if (isWhole) expect([200, 400]).toContain(status);
      else expect(status).toBe(400);
    }),
    {
      seed: FUZZ_SEED,
      numRuns: BODIES,
      examples: [
        // A part of a message that is no record.
        [false, [{ kind: 'flip', at: 776_638_377, bit: 3 }]],
        // The name of an attribute that becomes a number.
        [false, [{ kind: 'flip', at: 820_087_899, bit: 4 }]],
        // Records that an odd bracket moves to where none are expected.
        [
          true,
          [
            { kind: 'drop', at: 920_490_530, bytes: 1 },
            { kind: 'insert', at: 1787, more: Uint8Array.of(0) },
          ],
        ],
      ],
    },
  );
  for (const { event_id, type } of await receiver.events()) {
    expect(type).toMatch(/^(user_message|slash_command)$/);
    expect(String(event_id)).toMatch(/^(turn|slash):otlp:/);
  }
  expect(longest).toBeGreaterThan(0);
  if (BODIES > 400) console.log(`/healthz took at most ${longest.toFixed(0)} ms`);
});
