import { setTimeout as wait } from 'node:timers/promises';
import { addDays } from '../../src/day.js';
import { TODAY } from '../program.js';
import { event, lines } from '../world.js';

/** The days of a pair of events. */
const DAYS = [addDays(TODAY, -3), addDays(TODAY, -2)] as const;

/** How much later than another one an answer must know what that one knew. */
const LATER_MS = 1000;

const TIMEOUT_MS = 5000;
const PAUSE_MS = 200;

interface Totals {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly counts: readonly number[];
}

/**
 * Sends pairs of events, of two days each, and asks all nodes how many there are. Both of a pair come to count at once, and none goes: so an
 * answer with more of one day than of the other is mixed, and one with fewer than an earlier one had is old.
 */
export class Twins {
  readonly faults: string[] = [];
  /** How many answers were judged, and what they had in the end. */
  answers = 0;
  newest: readonly number[] = [0, 0];
  private readonly seen: Totals[] = [];
  private isOver = false;
  private readonly ended: Promise<unknown>;

  constructor(
    private readonly urls: readonly string[],
    private readonly key: string,
  ) {
    this.ended = Promise.all([this.send(), ...urls.map((url) => this.ask(url))]);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
  }

  private async send(): Promise<void> {
    for (let pair = 0; !this.isOver; pair += 1) {
      const ids = DAYS.map((day) => `twin-${pair}-${day}`);
      const body = lines(
        ids.map((id, one) => event(id, { timestamp: `${DAYS[one]}T10:00:00Z`, session_id: id })),
      );
      for (let tries = pair; !this.isOver; tries += 1) {
        const url = this.urls[tries % this.urls.length];
        const answer = await this.fetch(`${url}/api/v1/events`, { method: 'POST', body });
        if (answer?.status === 200) break;
      }
      await wait(PAUSE_MS);
    }
  }

  private async ask(url: string): Promise<void> {
    const range = `startDate=${DAYS[0]}&endDate=${DAYS[1]}`;
    while (!this.isOver) {
      const askedAt = performance.now();
      const answer = await this.fetch(`${url}/api/v1/analytics/activity?${range}`);
      const answeredAt = performance.now();
      if (answer?.status !== 200) continue;
      const { data } = answer.body as { data: { date: string; user_messages: number }[] };
      const counts = DAYS.map((day) => data.find(({ date }) => date === day)?.user_messages ?? 0);
      this.judge({ askedAt, answeredAt, counts });
      await wait(PAUSE_MS);
    }
  }

  private judge(one: Totals): void {
    this.answers += 1;
    const [first = 0, second = 0] = one.counts;
    if (first !== second) this.faults.push(`an answer is mixed: ${one.counts}`);
    const before = this.seen.filter(({ answeredAt }) => answeredAt + LATER_MS < one.askedAt);
    const most = Math.max(0, ...before.map(({ counts }) => counts[0] ?? 0));
    if (first < most) this.faults.push(`an answer has ${first}, and an earlier one had ${most}`);
    // Of those that every later answer is judged by, the largest is enough.
    if (first > (this.newest[0] ?? 0)) {
      this.newest = one.counts;
      this.seen.push(one);
    }
  }

  private async fetch(
    url: string,
    more: { method?: string; body?: string } = {},
  ): Promise<{ status: number; body: unknown } | undefined> {
    const headers = {
      authorization: `Bearer ${this.key}`,
      ...(more.body !== undefined && { 'content-type': 'application/x-ndjson' }),
    };
    try {
      const answer = await fetch(url, { ...more, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
      const body = await answer.json();
      if (answer.status !== 200 && answer.status !== 503)
        this.faults.push(`${url} answered ${answer.status}: ${JSON.stringify(body)}`);
      if (answer.status !== 200) await wait(100);
      return { status: answer.status, body };
    } catch {
      // Nobody is there, or nobody any more.
      await wait(100);
      return undefined;
    }
  }
}
