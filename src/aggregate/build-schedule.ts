import type { FastifyBaseLogger } from 'fastify';
import { MS_PER_DAY } from '../day.js';
import type { Store } from '../store/store.js';
import { type Cause, type RunOptions, runBuild } from './build-run.js';

/** How often it is looked whether it is time to build: a timer for the whole night knows nothing of a clock that is set, or of a machine that sleeps. */
const LOOK_MS = 1000;

/** After a run with failures it is tried again, each time after twice as long. */
const FIRST_RETRY_MS = 5 * 60_000;
const LAST_RETRY_MS = 60 * 60_000;

/** The nightly batch: builds at a time of day, and at the start what was missed. */
export class Schedule {
  private timer: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;
  private retryAfterMs = FIRST_RETRY_MS;
  private under: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly store: Store,
    private readonly clock: () => number,
    private readonly log: Pick<FastifyBaseLogger, 'info' | 'error'>,
    /** What goes before a build: events that wait. */
    private readonly prepare: () => Promise<void>,
    private readonly options: RunOptions,
  ) {}

  /** Builds what was missed, and from then on every day at a UTC time, `HH:MM`. */
  start(at: string): void {
    let nights = nightsUntil(this.clock(), at);
    this.timer = setInterval(() => {
      const before = nights;
      nights = nightsUntil(this.clock(), at);
      // Also when the clock goes back over the time: it was wrong until then.
      if (nights !== before) this.run('nightly');
    }, LOOK_MS);
    this.run('start');
  }

  private run(cause: Cause): void {
    this.under = this.under.then(() => this.build(cause));
  }

  private async build(cause: Cause): Promise<void> {
    // What waited for the run before it needn't begin any more, and a retry is for what has failed since.
    if (this.isStopped) return;
    clearTimeout(this.retry);
    let isWell = false;
    try {
      await this.prepare();
      const { days, breaches, published } = await runBuild(this.store, cause, {}, this.clock, this.options);
      this.log.info(
        { cause, days: days.length, breaches: breaches.slice(0, 10) },
        breaches.length === 0 ? 'built' : 'built, except for some days',
      );
      await published;
      await this.store.rest();
      isWell = breaches.length === 0;
    } catch (error) {
      this.log.error({ err: error, cause }, 'the build failed');
    }
    if (isWell) {
      this.retryAfterMs = FIRST_RETRY_MS;
    } else if (!this.isStopped) {
      this.retry = setTimeout(() => this.run('retry'), this.retryAfterMs).unref();
      this.retryAfterMs = Math.min(2 * this.retryAfterMs, LAST_RETRY_MS);
    }
  }

  /** Ends the schedule, and waits for a build under way. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.timer);
    clearTimeout(this.retry);
    await this.under;
  }
}

/** How often it was a time of day, `HH:MM` in UTC, until an instant. */
function nightsUntil(now: number, at: string): number {
  return Math.floor((now - Date.parse(`1970-01-01T${at}Z`)) / MS_PER_DAY);
}
