import { addDays, type Day } from '../../src/day.js';
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

  /** New events, that are sent now. */
  events(count: number): SentEvent[] {
    return Array.from({ length: count }, () => {
      const day = this.pick(DAYS);
      const seconds = day === TODAY ? 0 : this.upTo(86_400);
      return this.note({
        event_id: `${this.orgId}-${this.sent.size}`,
        timestamp: new Date(Date.parse(day) + seconds * 1000).toISOString(),
        user_id: this.pick(USERS),
        session_id: `s-${this.upTo(8)}`,
        ...this.pick(OWN)(),
      } as SentEvent);
    });
  }

  /** New prompts as Claude Code exports them, with what becomes of them. */
  telemetry(count: number): { body: object; events: SentEvent[] } {
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
      body: logs(
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

/** Sends events over HTTP and OTLP without a pause while a service runs, one body after the other. */
export class Sender {
  private isOver = false;
  private readonly ended: Promise<void>;
  /** Why a body was refused that should have been taken. */
  private refusal: Error | undefined;

  constructor(
    private readonly ledger: Ledger,
    private readonly url: string,
    private readonly key: string,
    /** Whether it sends what nobody acknowledged again until somebody does, and some of what was acknowledged too. */
    private readonly repeats: boolean,
  ) {
    this.ended = this.run().catch((error) => {
      this.refusal = error;
    });
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      const { ledger } = this;
      const isTelemetry = ledger.upTo(3) === 0;
      const { body, events } = isTelemetry ? ledger.telemetry(1 + ledger.upTo(5)) : this.plain();
      const path = isTelemetry ? '/otlp/v1/logs' : '/api/v1/events';
      const type = isTelemetry ? 'application/json' : 'application/x-ndjson';
      const text = isTelemetry ? JSON.stringify(body) : String(body);
      let isTaken = await this.post(path, type, text);
      while (this.repeats && !isTaken && !this.isOver) isTaken = await this.post(path, type, text);
      if (isTaken) ledger.acknowledge(events);
      if (this.repeats && isTaken && ledger.upTo(4) === 0) await this.post(path, type, text);
    }
  }

  private plain(): { body: string; events: SentEvent[] } {
    const events = this.ledger.events(1 + this.ledger.upTo(8));
    return { body: lines(events), events };
  }

  /** Whether a body was acknowledged. */
  private async post(path: string, type: string, body: string): Promise<boolean> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': type };
    try {
      const answer = await fetch(`${this.url}${path}`, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      await new Promise((resolve) => setTimeout(resolve, this.ledger.upTo(60)));
      if (answer.status === 200) return true;
      if (answer.status === 503) return false;
      this.isOver = true;
      this.refusal = new Error(`${path} answered ${answer.status}`);
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
