import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type DescMessage, fromBinary, toJson } from '@bufbuild/protobuf';
import type { FastifyInstance } from 'fastify';
import { createKey } from '../../src/api/api-keys.js';
import type { Role } from '../../src/api/roles.js';
import { placeOf } from '../../src/otlp/allow-list.js';
import { ExportLogsServiceRequestSchema } from '../../src/otlp/proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { ExportMetricsServiceRequestSchema } from '../../src/otlp/proto/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js';
import { ExportTraceServiceRequestSchema } from '../../src/otlp/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import type { Signal } from '../../src/otlp/telemetry.js';
import { buildApp } from '../../src/service/app.js';
import { World } from '../world.js';

/** A service of one test that takes telemetry. */
export class Receiver {
  private constructor(
    readonly world: World,
    readonly app: FastifyInstance,
    readonly key: string,
  ) {}

  /** A key of the organization acme, by default of the role ingest and of nobody. `now` is when the service lives. */
  static async start(now: number, role: Role = 'ingest', userId?: string): Promise<Receiver> {
    const world = await World.create({ DAYBOOK_RATE_LIMIT: '0' });
    world.now = now;
    return Receiver.of(world, role, userId);
  }

  /** A service on a world that there is. */
  static async of(world: World, role: Role = 'ingest', userId?: string, orgId = 'acme'): Promise<Receiver> {
    const { key } = await createKey(world.store, { orgId, role, userId }, world.now);
    return new Receiver(world, buildApp(world), key);
  }

  /** Sends a body, by default JSON. */
  async post(
    signal: Signal,
    body: object | string | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer; json: () => unknown }> {
    const payload =
      typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body);
    const answer = await this.app.inject({
      method: 'POST',
      url: `/otlp/v1/${signal}`,
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...headers },
      payload,
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      bytes: answer.rawPayload,
      json: () => answer.json(),
    };
  }

  /** Settles what was acknowledged, and answers the events. */
  async events(): Promise<Record<string, unknown>[]> {
    await this.world.inbox.drain(this.world.store);
    return this.world.store.select(
      "SELECT * FROM events WHERE org_id = 'acme' ORDER BY occurred_at, event_id",
    );
  }
}

/** A request that was recorded. */
export interface Recorded {
  readonly signal: Signal;
  readonly type: string;
  readonly body: Buffer;
  readonly json: unknown;
}

/** The requests of a recording, in their order. */
export function recordedRequests(folder: string): Recorded[] {
  const path = join(folder, 'otlp', 'requests.jsonl');
  const text = existsSync(path) ? readFileSync(path) : gunzipSync(readFileSync(`${path}.gz`));
  return text
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { path: address, headers, body_base64, json } = JSON.parse(line);
      return {
        signal: String(address).split('/').at(-1) as Signal,
        type: headers['content-type'],
        body:
          typeof body_base64 === 'string'
            ? Buffer.from(body_base64, 'base64')
            : Buffer.from(JSON.stringify(json)),
        json,
      };
    });
}

/** A request's texts: those of attributes that aren't on the allow-list and of bodies, and beside them all others. */
export function textsOf({ signal, json, body }: Recorded): object {
  const document = json ?? decoded(signal, body);
  const content: string[] = [];
  const other: string[] = [];
  const sort = (value: unknown, isContent: boolean): void => {
    if (typeof value === 'string') (isContent ? content : other).push(value);
    else if (Array.isArray(value)) for (const one of value) sort(one, isContent);
    else if (typeof value === 'object' && value !== null) {
      const { key, ...members } = value as Record<string, unknown>;
      if (typeof key === 'string') sort(Object.values(members), placeOf(key) < 0);
      else for (const [name, member] of Object.entries(members)) sort(member, isContent || name === 'body');
    }
  };
  sort(document, false);
  return { content, other };
}

export function decoded(signal: Signal, body: Uint8Array): unknown {
  const schema: DescMessage = {
    logs: ExportLogsServiceRequestSchema,
    metrics: ExportMetricsServiceRequestSchema,
    traces: ExportTraceServiceRequestSchema,
  }[signal];
  return toJson(schema, fromBinary(schema, body));
}

/** Attributes by name, as a test writes them. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

function listOf(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === 'string'
        ? { stringValue: value }
        : typeof value === 'boolean'
          ? { boolValue: value }
          : Number.isInteger(value)
            ? { intValue: String(value) }
            : { doubleValue: value },
  }));
}

/** A request with log records of one resource. */
export function logs(resource: Attributes, records: readonly { attributes: Attributes; body: string }[]) {
  const logRecords: object[] = records.map(({ attributes, body }) => ({
    timeUnixNano: '0',
    body: { stringValue: body },
    attributes: listOf(attributes),
  }));
  return {
    resourceLogs: [{ resource: { attributes: listOf(resource) }, scopeLogs: [{ scope: {}, logRecords }] }],
  };
}

/** A request with spans of one trace, which end at an instant and took 40 ms. */
export function spans(
  resource: Attributes,
  end: string,
  list: readonly { id: string; parent: string; name: string; kind: number; attributes: Attributes }[],
) {
  return {
    resourceSpans: [
      {
        resource: { attributes: listOf(resource) },
        scopeSpans: [
          {
            scope: {},
            spans: list.map(({ id, parent, name, kind, attributes }) => ({
              ...{ name, kind, traceId: '0A'.repeat(16), spanId: id.padStart(16, '0') },
              parentSpanId: parent === '' ? '' : parent.padStart(16, '0'),
              startTimeUnixNano: String(BigInt(end) - 40_000_000n),
              endTimeUnixNano: end,
              attributes: listOf(attributes),
            })),
          },
        ],
      },
    ],
  };
}

/** A request with sums, by their names. */
export function metrics(
  resource: Attributes,
  time: string,
  aggregationTemporality: number,
  sums: Readonly<Record<string, readonly { value: number; attributes: Attributes }[]>>,
) {
  return {
    resourceMetrics: [
      {
        resource: { attributes: listOf(resource) },
        scopeMetrics: [
          {
            scope: {},
            metrics: Object.entries(sums).map(([name, points]) => ({
              name,
              sum: {
                aggregationTemporality,
                dataPoints: points.map(({ value, attributes }) => ({
                  ...{ timeUnixNano: time, startTimeUnixNano: '0', asDouble: value },
                  attributes: listOf(attributes),
                })),
              },
            })),
          },
        ],
      },
    ],
  };
}
