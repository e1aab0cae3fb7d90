import { messageOf } from '../exit.js';
import { sentenceOf } from '../store/day-checks.js';
import type { OrgDay, Store } from '../store/store.js';
import { ulid } from '../ulid.js';
import { type BuildRange, type Built, build } from './build-days.js';
import { removeOldEvents, removeOldState } from './retention.js';

/** The trigger of a run. */
export type Cause = 'start' | 'nightly' | 'retry' | 'command';

/** One run of the build. Instants are Unix milliseconds. */
export interface Run {
  readonly run_id: string;
  readonly cause: Cause;
  readonly started_at: number;
  readonly ended_at: number;
  readonly days_built: number;
  readonly days_failed: number;
  readonly error: string | null;
}

/** The latest run of each store, which the next one waits for. */
const running = new WeakMap<Store, Promise<unknown>>();

/** A run's options beside the range to build. */
export interface RunOptions {
  /** After building all stale days, removes raw events older than this number of days, unless the organization's controls set another. */
  readonly retentionDays?: number | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
  /** Publishes days whose rows have changed. */
  readonly publish?: ((days: readonly OrgDay[]) => Promise<void>) | undefined;
}

/** The result of a run's build, and the work that continues after it. */
export interface RunBuild extends Built {
  /** Ends when SQL reads what was built. Throws what kept the run from removing old events or publishing days. */
  readonly published: Promise<void>;
  /** The same, once the store is tidied up too. */
  readonly finished: Promise<void>;
}

/**
 * Builds, never two at once, and records the run. Throws and records errors of the build. Afterwards it publishes the days and tidies the
 * store; the next build waits for that, so that days don't change meanwhile.
 */
export function runBuild(
  store: Store,
  cause: Cause,
  range: BuildRange,
  clock: () => number,
  options: RunOptions = {},
): Promise<RunBuild> {
  const before = running.get(store) ?? Promise.resolve();
  const run = before.then(() => record(store, cause, range, clock, options));
  running.set(
    store,
    run.then(({ finished }) => finished).catch(() => undefined),
  );
  return run;
}

async function record(
  store: Store,
  cause: Cause,
  range: BuildRange,
  clock: () => number,
  { retentionDays, progress, publish }: RunOptions,
): Promise<RunBuild> {
  const startedAt = clock();
  const note = (built: Built | undefined, error: string | null) => {
    const failed = new Set(built?.breaches.map(({ orgId, day }) => `${orgId} ${day}`));
    return store.run([
      {
        sql: `INSERT INTO runs SELECT
          $run_id, $cause, instant($started_at), instant($ended_at),
          CAST($days_built AS BIGINT), CAST($days_failed AS BIGINT), $error`,
        parameters: {
          run_id: `run_${ulid(startedAt)}`,
          cause,
          started_at: startedAt,
          ended_at: clock(),
          days_built: built?.days.length ?? 0,
          days_failed: failed.size,
          error,
        },
      },
    ]);
  };
  let built: Built | undefined;
  try {
    await store.refresh();
    built = await build(store, range, clock, progress);
    const isChosen = range.from !== undefined || range.to !== undefined;
    let removed: OrgDay[] = [];
    let failure: unknown;
    try {
      if (!isChosen) {
        removed = await removeOldEvents(store, retentionDays, clock());
        await removeOldState(store, clock());
      }
    } catch (error) {
      // Built days are published even if removing fails.
      failure = error;
    }
    const [breach] = built.breaches;
    const sentence = breach === undefined ? null : sentenceOf(breach);
    await note(built, failure === undefined ? sentence : messageOf(failure));
    const published = Promise.resolve(publish?.([...built.days, ...removed])).then(() => {
      if (failure !== undefined) throw failure;
    });
    const finished = published.finally(() => store.tidy());
    // Callers that need one of them await it, and get its error.
    for (const end of [published, finished]) end.catch(() => undefined);
    return { ...built, published, finished };
  } catch (error) {
    await note(built, messageOf(error)).catch(() => undefined);
    throw error;
  }
}

/** The newest run; undefined before the first. */
export async function newestRun(store: Store): Promise<Run | undefined> {
  const [row] = await store.select(
    'SELECT run_id, cause, started_at, ended_at, days_built, days_failed, error FROM runs ORDER BY started_at DESC, run_id DESC LIMIT 1',
  );
  return row as Run | undefined;
}
