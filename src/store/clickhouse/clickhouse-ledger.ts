import type { ClickHouseSession } from './clickhouse-session.js';
import type { Attempt, Last, Ledger } from './ledger.js';

const NEWEST = {
  batch: 'SELECT max(batch) FROM batches_rows',
  build: 'SELECT max(version) FROM days_rows',
} as const;

/**
 * What counts in a database that one process writes to: everything up to the last row that was written, without what `abandoned` lists. All
 * organizations are one group.
 */
export class ClickHouseLedger implements Ledger {
  readonly groups = [0];
  readonly step = 1;

  constructor(private readonly session: ClickHouseSession) {}

  leading<T>(_name: string, work: () => Promise<T>): Promise<T> {
    return work();
  }

  groupOf(): number {
    return 0;
  }

  async counted(): Promise<undefined> {}

  async revision(): Promise<string> {
    const [state] = await this.session.select(
      `SELECT (${NEWEST.build} WHERE version >= 0) AS build, (${NEWEST.batch}) AS batch`,
    );
    return `${state?.build} ${state?.batch}`;
  }

  /** If an earlier attempt doesn't count yet, it was cut off, and its rows must never count. */
  async begin(kind: Attempt['kind'], group: number): Promise<Attempt> {
    const { session } = this;
    const [newest] = await session.select(
      `SELECT
        coalesce((SELECT max(number) FROM attempts WHERE kind = $kind), 0) AS begun,
        coalesce((${NEWEST[kind]}), 0) AS counted`,
      { kind },
    );
    if (Number(newest?.begun) > Number(newest?.counted))
      await session.run(
        `INSERT INTO abandoned SELECT kind, number FROM attempts
        WHERE kind = $kind
          AND number > $counted
          AND number NOT IN (SELECT number FROM abandoned WHERE kind = $kind)`,
        { kind, counted: Number(newest?.counted) },
      );
    const number = Number(newest?.begun) + 1;
    await session.run('INSERT INTO attempts SELECT $kind, $number', { kind, number });
    return { kind, group, number, counted: undefined };
  }

  preview(): Promise<Attempt> {
    return this.begin('build', 0);
  }

  commit(_attempt: Attempt, { row }: Last): Promise<void> {
    return row();
  }

  async past(): Promise<undefined> {}

  async forget(): Promise<void> {}

  exchanging(step: () => Promise<void>): Promise<void> {
    return step();
  }

  async exchanges(): Promise<number> {
    return 0;
  }

  async written(): Promise<[]> {
    return [];
  }

  async forgetEvents(): Promise<void> {}
}
