import type { FastifyBaseLogger } from 'fastify';
import cron, { type ScheduledTask } from 'node-cron';
import type { Store } from '../store/store.js';
import { type Cause, type RunOptions, runBuild } from './build-run.js';

/** How often the clocks are compared: node-cron notices neither a clock that was set back nor a machine that slept, until its next time. */
const COMPARE_MS = 60_000;
/** Smaller corrections of the system's clock are ignored: milliseconds. */
const STEP_MS = 1000;

/** After a run with failures, retries follow at intervals that double. */
const FIRST_RETRY_MS = 5 * 60_000;
const LAST_RETRY_MS = 60 * 60_000;

/** Builds every night by a cron expression, and at the start what was missed. Follows the system's clock. */
export class Schedule {
  private task: ScheduledTask | undefined;
  private comparison: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;
  private retryAfterMs = FIRST_RETRY_MS;
  private under: Promise<void> = Promise.resolve();
  private isWaiting = false;
  private isStopped = false;

  constructor(
    private readonly store: Store,
    private readonly clock: () => number,
    private readonly log: Pick<FastifyBaseLogger, 'info' | 'error'>,
    /** Called before each build, to settle waiting events and the like. */
    private readonly prepare: (cause: Cause) => Promise<void>,
    private readonly options: RunOptions,
    /** Called after each build, also one that failed. */
    private readonly after: () => void = () => {},
  ) {}

  /** Builds what was missed, and then at the times of a cron expression, in UTC. */
  start(expression: string): void {
    this.schedule(expression);
    let ahead = Date.now() - performance.now();
    this.comparison = setInterval(() => {
      const before = ahead;
      ahead = Date.now() - performance.now();
      if (Math.abs(ahead - before) < STEP_MS) return;
      this.schedule(expression);
      this.run('nightly');
    }, COMPARE_MS);
    this.run('start');
  }

  /** Restarts node-cron from the present time. */
  private schedule(expression: string): void {
    const run = () => this.run('nightly');
    this.task?.destroy();
    this.task = cron.schedule(expression, run, { timezone: 'UTC' });
    // Sent once for each time that has passed unnoticed.
    this.task.on('execution:missed', run);
    this.log.info({ next: this.task.getNextRun() }, 'the next build is planned');
  }

  /** Builds after the present build. A build that already waits to start serves other requests too. */
  private run(cause: Cause): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.under = this.under.then(() => {
      this.isWaiting = false;
      return this.build(cause);
    });
  }

  private async build(cause: Cause): Promise<void> {
    // The schedule may have stopped while this run waited. This build also replaces a planned retry.
    if (this.isStopped) return;
    clearTimeout(this.retry);
    let isWell = false;
    try {
      await this.prepare(cause);
      const { days, breaches, finished } = await runBuild(this.store, cause, {}, this.clock, this.options);
      this.log.info(
        { cause, days: days.length, breaches: breaches.slice(0, 10) },
        breaches.length === 0 ? 'built' : 'built, except for some days',
      );
      await finished;
      await this.store.rest();
      isWell = breaches.length === 0;
    } catch (error) {
      this.log.error({ err: error, cause }, 'the build failed');
    }
    if (!this.isStopped) this.after();
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
    this.task?.destroy();
    clearInterval(this.comparison);
    clearTimeout(this.retry);
    await this.under;
  }
}
