import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { addDays, type Day } from '../../src/day.js';
import { ask } from '../../src/socket/control-socket.js';
import { keyOf, TODAY } from '../program.js';
import { until } from '../service.js';
import type { Ledger, Sender } from './sender.js';
import type { Site } from './site.js';

/** Over, whatever the clock is set to. */
const DAY = addDays(TODAY, -3);
const ANSWERS = ['users', 'tools', 'summary', 'quality'].map(
  (name) => `/api/v1/analytics/${name}?startDate=${DAY}&endDate=${DAY}`,
);
const SQL =
  'SELECT count(*) AS events, count(DISTINCT event_id) AS ids, (SELECT count(*) FROM users) AS users FROM events';

/** What is wanted of a service all the time: it takes events, answers, runs SQL, builds and publishes. */
export class Load {
  /** How often each was done; a reply also says that there is no answer now. */
  private readonly done = { answers: 0, queries: 0, builds: 0, replies: 0 };
  /** Why something was not done, without what differs from one time to the other. */
  readonly refusals = new Set<string>();
  private isOver = false;
  private readonly ends: readonly Promise<void>[];

  private constructor(
    private readonly site: Site,
    private readonly senders: readonly Sender[],
    readonly key: string,
  ) {
    this.ends = [
      this.repeat('answers', 200, () => this.get(ANSWERS[site.upTo(ANSWERS.length)] ?? '')),
      this.repeat('queries', 1000, () => this.query()),
      this.repeat('builds', 1500, async () => void (await ask(site.data, 'build', {}, () => {}))),
    ];
  }

  static async on(site: Site): Promise<Load> {
    const senders = await site.senders();
    return new Load(site, senders, await keyOf(site.data, 'owner'));
  }

  /** Does work again and again. What is refused for now is done later. */
  private async repeat(what: keyof Load['done'], pauseMs: number, work: () => Promise<void>): Promise<void> {
    while (!this.isOver) {
      try {
        await work();
        this.done[what] += 1;
      } catch (error) {
        this.refusals.add(`${what}: ${error instanceof Error ? error.message : error}`);
      }
      await wait(pauseMs);
    }
  }

  private async get(path: string): Promise<void> {
    await this.answer(path);
  }

  private async query(): Promise<void> {
    const body = JSON.stringify({ sql: SQL });
    const { data } = JSON.parse(await this.answer('/api/v1/sql', { method: 'POST', body }));
    expect(data[0].ids).toBe(data[0].events);
  }

  private async answer(path: string, more: RequestInit = {}): Promise<string> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${this.site.url}${path}`, { headers, ...more });
    const text = await answer.text();
    const refusal = answer.status === 200 ? undefined : JSON.parse(text).detail;
    this.done.replies += 1;
    if (refusal !== undefined) throw new Error(`${path} answered ${answer.status}: ${refusal}`);
    return text;
  }

  /** How often each was done so far. */
  get counts(): Record<string, number> {
    const taken: Record<string, number> = {};
    for (const sender of this.senders)
      for (const [kind, count] of Object.entries(sender.taken)) taken[kind] = (taken[kind] ?? 0) + count;
    return { ...taken, ...this.done };
  }

  /** Waits until each was done once more, or some were. */
  async goesOn(names = Object.keys(this.counts)): Promise<void> {
    const before = this.counts;
    await until(() => {
      for (const { refusal } of this.senders) if (refusal !== undefined) throw refusal;
      return names.every((name) => (this.counts[name] ?? 0) > (before[name] ?? 0));
    });
  }

  /** Waits until each is done, whatever was refused before. */
  async begun(): Promise<void> {
    await this.goesOn();
    this.refusals.clear();
  }

  /** Sends an event of a day. */
  async send(day: Day): Promise<void> {
    const [ledger] = this.site.ledgers as [Ledger];
    const events = ledger.events(1, day);
    await this.answer('/api/v1/events', { method: 'POST', body: JSON.stringify(events) });
    ledger.acknowledge(events);
  }

  /** Ends with what is under way. Throws if events were refused. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.ends);
    for (const sender of this.senders) await sender.stop();
  }
}
