import { DAY_TABLES } from '../catalog.js';
import { type DailySql, DECISION_TOUCHES } from '../day-builder.js';
import { ChecksFailed } from '../day-checks.js';
import type { OrgDay } from '../store.js';
import { BuildAttempt } from './build-attempt.js';
import { viewQueries } from './clickhouse-schema.js';
import type { ClickHouseSession } from './clickhouse-session.js';
import { NEVER, withNewest } from './counted-numbers.js';
import type { Attempt, Ledger } from './ledger.js';
import { dropLeftovers, dropScratch } from './leftovers.js';
import { Names } from './names.js';
import type { Replicas } from './replicas.js';

/** The comment by which the server tells a build's statements from others. */
const COMMENT = 'daybook build';

/**
 * Replaces the tables of days in ClickHouse. The rows of a build stand in partitions of their own, beside those of the
 * builds before it, and all of them come to count at once. Then nobody asks for the old ones any more, and a later build drops them.
 */
export class ClickHouseBuilder {
  constructor(
    private readonly replicas: Replicas,
    private readonly ledger: Ledger,
    private readonly daily: DailySql,
    /** Of days, by this version. */
    private readonly definitions: string,
  ) {}

  /** Computes the days of one group that are due, checks and digests them, and replaces their tables together: see Builder. */
  async build(
    due: readonly OrgDay[],
    batch: number,
    builtAt: number,
    group: number,
    commit: Commit,
  ): Promise<void> {
    const { ledger } = this;
    const attempt = withBatch(await ledger.begin('build', group), batch);
    const session = await this.sessionOf(attempt);
    const build = await this.begin(session, attempt, due);
    await build.touch(DECISION_TOUCHES, false);
    await build.fillSessions();
    await build.touch(['moved_starts', 'moved_windows'], true);
    for (const table of DAY_TABLES) await build.fill(table);
    const written = await build.digest();
    const breaches = await build.findBreaches();
    if (breaches.length > 0) throw new ChecksFailed(breaches);
    await build.note(batch, builtAt, this.definitions);
    await commit(() =>
      ledger.commit(attempt, {
        row: () => build.last(batch, builtAt),
        written: () => build.written(written),
        people: () => build.people(),
      }),
    );
    await dropScratch(session, attempt);
  }

  /**
   * Computes the days that are due as a build that never comes to count, and drops their rows again. `read` sees them by names that it is given.
   */
  async preview<T>(
    due: readonly OrgDay[],
    read: (session: ClickHouseSession, names: Names) => Promise<T>,
  ): Promise<T> {
    const attempt = await this.ledger.preview();
    const session = await this.sessionOf(attempt);
    try {
      const build = await this.begin(session, attempt, due);
      await build.fillSessions();
      for (const table of DAY_TABLES) await build.fill(table);
      return await read(session, build.names);
    } finally {
      await dropScratch(session, attempt, true);
    }
  }

  /** All statements of an attempt go to one server. */
  private async sessionOf({ counted }: Attempt): Promise<ClickHouseSession> {
    return (await this.replicas.having(counted)).with({ log_comment: COMMENT });
  }

  private async begin(
    session: ClickHouseSession,
    attempt: Attempt,
    due: readonly OrgDay[],
  ): Promise<BuildAttempt> {
    const { ledger, daily } = this;
    const names = new Names(viewQueries(), attempt.counted);
    // A killed build may still insert. Its rows do no harm, but take memory.
    if (attempt.counted === undefined) await session.endInserts(COMMENT);
    // A preview leads no group, so others of its group may be under way.
    if (attempt.number < NEVER) await dropLeftovers(session, attempt, await ledger.past(attempt));
    const build = new BuildAttempt(session, daily, attempt.number, names);
    await build.begin(due);
    return build;
  }
}

/** The attempt as it reads events up to the batch that it notes for its days, so that it is exact. */
function withBatch(attempt: Attempt, batch: number): Attempt {
  const { counted, group } = attempt;
  return counted === undefined ? attempt : { ...attempt, counted: withNewest(counted, group, { batch }) };
}

/** Does the one step that makes work count, so that no reader sees a part of its queries before and a part after it. */
export type Commit = (step: () => Promise<void>) => Promise<void>;
