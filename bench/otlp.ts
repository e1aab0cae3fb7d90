import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { create, type MessageInitShape, toBinary, toJson } from '@bufbuild/protobuf';
import { ExportLogsServiceRequestSchema } from '../src/otlp/proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import type { KeyValueSchema } from '../src/otlp/proto/opentelemetry/proto/common/v1/common_pb.js';
import { settled } from './events.js';
import { median } from './run-process.js';
import { Service } from './service.js';

const CONNECTIONS = 8;
const RECORDS_PER_BODY = 512;
const BODIES = 600;
const ROUNDS = 3;
const SINGLES = 1000;
const SINGLES_PER_SECOND = 100;

const TYPES = { protobuf: 'application/x-protobuf', json: 'application/json' } as const;
type Encoding = keyof typeof TYPES;

type Attribute = MessageInitShape<typeof KeyValueSchema>;

function text(key: string, value: string): Attribute {
  return { key, value: { value: { case: 'stringValue', value } } };
}

function count(key: string, value: number): Attribute {
  return { key, value: { value: { case: 'intValue', value: BigInt(value) } } };
}

/** What Claude Code says of each of four records in turn: a prompt, a call of the model, the decision on a tool, and its result. */
const KINDS: readonly ((index: number) => readonly Attribute[])[] = [
  (index) => [
    text('event.name', 'user_prompt'),
    count('prompt_length', 120),
    text('prompt.id', `prompt-${index}`),
  ],
  (index) => [
    text('event.name', 'api_request'),
    text('model', 'claude-opus-4-6'),
    text('cost_usd', '0.002825'),
    count('duration_ms', 1150),
    count('input_tokens', 3),
    count('output_tokens', 108 + (index % 100)),
    count('cache_read_tokens', 20_000),
    count('cache_creation_tokens', 400),
    text('request_id', `req_${index}`),
    text('query_source', 'main'),
  ],
  (index) => [
    text('event.name', 'tool_decision'),
    text('tool_name', 'Edit'),
    text('tool_use_id', `toolu_${index}`),
    text('decision', index % 40 === 2 ? 'reject' : 'accept'),
    text('source', 'config'),
    text('permission_mode', 'acceptEdits'),
  ],
  (index) => [
    text('event.name', 'tool_result'),
    text('tool_name', 'Edit'),
    text('tool_use_id', `toolu_${index}`),
    text('success', 'true'),
    count('duration_ms', 25),
    count('tool_result_size_bytes', 1200),
    text('decision_type', 'accept'),
  ],
];

function bodyOf(first: number, records: number, encoding: Encoding, now: number): Buffer {
  const logRecords = Array.from({ length: records }, (_, place) => {
    const index = first + place;
    const at = now - 3_600_000 + (index % 3_000_000);
    return {
      timeUnixNano: BigInt(at) * 1_000_000n,
      observedTimeUnixNano: BigInt(at) * 1_000_000n,
      body: { value: { case: 'stringValue' as const, value: 'claude_code.event' } },
      attributes: [
        text('user.id', 'd3b07384d113edec49eaa6238ad5ff00d3b07384d113edec49eaa6238ad5ff00'),
        text('user.email', `user-${index % 500}@acme.example`),
        text('organization.id', '00000000-0000-0000-0000-000000000001'),
        text('session.id', `11111111-2222-3333-4444-${String(index % 2000).padStart(12, '0')}`),
        text('terminal.type', 'vscode'),
        text('event.timestamp', new Date(at).toISOString()),
        count('event.sequence', index),
        ...(KINDS[index % KINDS.length]?.(index) ?? []),
      ],
    };
  });
  const message = create(ExportLogsServiceRequestSchema, {
    resourceLogs: [
      {
        resource: { attributes: [text('service.name', 'claude-code'), text('service.version', '2.1.175')] },
        scopeLogs: [{ scope: { name: 'com.anthropic.claude_code.events' }, logRecords }],
      },
    ],
  });
  return encoding === 'protobuf'
    ? Buffer.from(toBinary(ExportLogsServiceRequestSchema, message))
    : Buffer.from(JSON.stringify(toJson(ExportLogsServiceRequestSchema, message)));
}

/** Sends a body. Throws unless all of it was taken. */
function send(service: Service, agent: Agent, body: Buffer, encoding: Encoding): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${service.url}/otlp/v1/logs`,
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${service.key}`,
          'content-type': TYPES[encoding],
          'content-length': body.length,
        },
      },
      (answer) => {
        let said = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          said += chunk;
        });
        answer.on('end', () =>
          answer.statusCode === 200 && said.length <= 2
            ? resolve()
            : reject(new Error(`${answer.statusCode}: ${said}`)),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends all bodies from some connections at once, and answers the rate of acknowledged records in records/s. */
async function rateOf(service: Service, bodies: readonly Buffer[], encoding: Encoding): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let body = bodies[next++]; body !== undefined; body = bodies[next++])
        await send(service, agent, body, encoding);
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  agent.destroy();
  return (bodies.length * RECORDS_PER_BODY) / seconds;
}

/** Sends single records at a steady pace, whether answers come or not, and answers how long each took in ms, sorted. */
async function timesOf(service: Service, bodies: readonly Buffer[], encoding: Encoding): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const started = performance.now();
  await Promise.all(
    bodies.map(async (body, index) => {
      await wait(Math.max(0, started + (index * 1000) / SINGLES_PER_SECOND - performance.now()));
      const sent = performance.now();
      await send(service, agent, body, encoding);
      times.push(performance.now() - sent);
    }),
  );
  agent.destroy();
  return times.sort((one, other) => one - other);
}

/** Telemetry over OTLP/HTTP: how fast log records are acknowledged in both encodings, and how soon a single one is. */
export async function otlp(root: string, args: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    for (const encoding of ['protobuf', 'json'] as const) {
      const now = Date.now();
      const bodies = Array.from({ length: BODIES }, (_, index) =>
        bodyOf(index * RECORDS_PER_BODY, RECORDS_PER_BODY, encoding, now),
      );
      const singles = Array.from({ length: SINGLES }, (_, index) => bodyOf(index, 1, encoding, now));
      const rates: number[] = [];
      const p99s: number[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        const data = join(folder, `${encoding}-${round}`);
        const service = await Service.start(root, data);
        const before = service.processorTime();
        const rate = await rateOf(service, bodies, encoding);
        const rest = await settled(data);
        const sent = BODIES * RECORDS_PER_BODY;
        const perRecord = ((service.processorTime() - before) * 1e6) / sent;
        const memory = service.memory();
        const times = await timesOf(service, singles, encoding);
        await service.stop();
        rmSync(data, { recursive: true });
        const at = (share: number) => times[Math.ceil(share * times.length) - 1] as number;
        console.log(
          `${encoding}, round ${round}: ${Math.round(rate)} records/s; all settled ${rest.toFixed(1)} s later, ${perRecord.toFixed(1)} us of processor time a record, ${memory} MiB; a single record: median ${at(0.5).toFixed(1)}, p99 ${at(0.99).toFixed(1)}, longest ${at(1).toFixed(1)} ms`,
        );
        rates.push(rate);
        p99s.push(at(0.99));
        if (args.includes('--once')) break;
      }
      console.log(`${encoding}: ${Math.round(median(rates))} log records a second (bar: at least 40000)`);
      console.log(`${encoding}: p99 of a single record ${median(p99s).toFixed(1)} ms (bar: at most 50)`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
