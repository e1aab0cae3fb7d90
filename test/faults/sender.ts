import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { addDays, type Day } from '../../src/day.js';
import { ExportLogsServiceRequestSchema } from '../../src/otlp/proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import type { SentEvent } from '../oracle/event.js';
import { logs } from '../otlp/sender.js';
import { TODAY } from '../program.js';
import { lines } from '../world.js';

/** Days that are over, and the open one. */
const DAYS: readonly Day[] = [-3, -2, -1, 0].map((back) => addDays(TODAY, back));
const USERS = ['ada', 'grace', 'zuse'];
const OWN: readonly (() => Partial<SentEvent>)[] = [
  () => ({ type: 'user_message' }),
  () => ({ type: 'assistant_message' }),
  () => ({ type: 'model_usage', model: 'sonnet-4', input_tokens: 10, output_tokens: 5 }),
  () => ({ type: 'tool_call', tool_name: 'Read', success: true }),
  () => ({ type: 'file_change', path: '/p/a.ts', operation: 'edit', lines_added: 2, lines_removed: 1 }),
  () => ({ type: 'git_commit' }),
];

/** How events come in. */
const KINDS = ['events', 'telemetry in JSON', 'telemetry in protobuf'] as const;
type Kind = (typeof KINDS)[number];

/** How long it waits for an answer. */
const TIMEOUT_MS = 5000;

/** A body that is sent. */
export interface SentBody {
  readonly kind: Kind;
  readonly path: string;
  readonly type: string;
  readonly bytes: string | Uint8Array<ArrayBuffer>;
  readonly events: readonly SentEvent[];
}

/** The events of one organization: those that were sent, and of them those that were acknowledged, by their ids. */
export class Ledger {
  readonly sent = new Map<string, SentEvent>();
  readonly acknowledged = new Set<string>();

  constructor(
    readonly orgId: string,
    /** Gives numbers from 0 to below 1. */
    private readonly random: () => number,
  ) {}

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T;
  }

  upTo(most: number): number {
    return Math.floor(this.random() * most);
  }

  /** New events, that are sent now: of some days, or of one. */
  events(count: number, only?: Day): SentEvent[] {
    return Array.from({ length: count }, () => {
      const day = only ?? this.pick(DAYS);
      const seconds = day >= TODAY ? 0 : this.upTo(86_400);
      return this.note({
        event_id: `${this.orgId}-${this.sent.size}`,
        timestamp: new Date(Date.parse(day) + seconds * 1000).toISOString(),
        user_id: this.pick(USERS),
        session_id: `s-${this.upTo(8)}`,
        ...this.pick(OWN)(),
      } as SentEvent);
    });
  }

  /** New events as some client sends them. */
  body(): SentBody {
    const kind = this.pick(KINDS);
    if (kind === 'events') {
      const events = this.events(1 + this.upTo(8));
      return { kind, path: '/api/v1/events', type: 'application/x-ndjson', bytes: lines(events), events };
    }
    const { exported, events } = this.telemetry(1 + this.upTo(5));
    const sent = { kind, path: '/otlp/v1/logs', events };
    if (kind === 'telemetry in JSON')
      return { ...sent, type: 'application/json', bytes: JSON.stringify(exported) };
    const message = fromJson(ExportLogsServiceRequestSchema, exported as JsonValue);
    return {
      ...sent,
      type: 'application/x-protobuf',
      bytes: toBinary(ExportLogsServiceRequestSchema, message),
    };
  }

  /** New prompts as Claude Code exports them, with what becomes of them. */
  private telemetry(count: number): { exported: object; events: SentEvent[] } {
    const records = Array.from({ length: count }, () => {
      const user = `${this.pick(USERS)}@acme.example`;
      const timestamp = `${this.pick(DAYS)}T00:00:00.000Z`;
      const id = `${this.orgId}-${this.sent.size}`;
      const session = `otlp-${this.upTo(8)}`;
      const event = this.note({
        event_id: `turn:otlp:${id}`,
        type: 'user_message',
        timestamp,
        user_id: user,
        user_email: user,
        session_id: session,
        agent: 'claude-code',
        agent_version: '2.1.175',
        channel: 'otlp_log',
      });
      const attributes = {
        ...{ 'session.id': session, 'user.email': user, 'event.timestamp': timestamp },
        ...{ 'event.name': 'user_prompt', 'prompt.id': id },
      };
      return { event, record: { attributes, body: 'claude_code.user_prompt' } };
    });
    const resource = { 'service.name': 'claude-code', 'service.version': '2.1.175' };
    return {
      exported: logs(
        resource,
        records.map(({ record }) => record),
      ),
      events: records.map(({ event }) => event),
    };
  }

  private note(event: SentEvent): SentEvent {
    this.sent.set(event.event_id, event);
    return event;
  }

  acknowledge(events: readonly SentEvent[]): void {
    for (const { event_id } of events) this.acknowledged.add(event_id);
  }
}

/** Sends events over HTTP and OTLP while a service runs, one body after the other. */
export class Sender {
  /** How many bodies of each kind were acknowledged. */
  readonly taken: Record<Kind, number> = { events: 0, 'telemetry in JSON': 0, 'telemetry in protobuf': 0 };
  private isOver = false;
  private readonly ended: Promise<void>;
  /** Why a body was refused that should have been taken. */
  refusal: Error | undefined;

  constructor(
    private readonly ledger: Ledger,
    /** Of a service, or what answers that of the one that is sent the next body. */
    private readonly url: string | (() => string),
    private readonly key: string,
    /** Whether it sends what nobody acknowledged again until somebody does, and some of what was acknowledged too. */
    private readonly repeats: boolean,
    /** How long it rests at most after a body. */
    private readonly restMs = 60,
  ) {
    this.ended = this.run().catch((error) => {
      this.refusal = error;
    });
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      const { ledger } = this;
      const body = ledger.body();
      let isTaken = await this.post(body);
      while (this.repeats && !isTaken && !this.isOver) isTaken = await this.post(body);
      if (!isTaken) continue;
      ledger.acknowledge(body.events);
      this.taken[body.kind] += 1;
      if (this.repeats && ledger.upTo(4) === 0) await this.post(body);
    }
  }

  /** Whether a body was acknowledged. */
  private async post({ path, type, bytes }: SentBody): Promise<boolean> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': type };
    try {
      const url = typeof this.url === 'string' ? this.url : this.url();
      // As clients do, it doesn't wait for a service that sleeps.
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: bytes, signal });
      const said = await answer.text();
      await new Promise((resolve) => setTimeout(resolve, this.ledger.upTo(this.restMs)));
      if (answer.status === 503) return false;
      // All of it is acknowledged, or none.
      if (answer.status === 200 && /^$|^\{\}$|"rejected":0/.test(said)) return true;
      this.isOver = true;
      this.refusal = new Error(`${path} answered ${answer.status}: ${said}`);
    } catch {
      // Nobody is there, or nobody any more.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return false;
  }

  /** Ends after the body that is under way. Throws if one was refused. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
    if (this.refusal !== undefined) throw this.refusal;
  }
}
