import { setTimeout as wait } from 'node:timers/promises';
import { quote } from '../sql-text.js';
import { StoreUnavailable } from '../store-fault.js';
import { rowsOf, viewQueries } from './clickhouse-schema.js';
import type { ClickHouseServer } from './clickhouse-servers.js';
import type { ClickHouseSession } from './clickhouse-session.js';
import { type Counted, KINDS, type Kind } from './counted-numbers.js';
import type { Ledger, Written } from './ledger.js';
import { Names } from './names.js';

/** How long it is waited for a server to get the rows that count, and how often it is asked. */
const PATIENCE_MS = 5000;
const LOOK_MS = 200;

/**
 * How far a server may be behind at most, in seconds, to be asked. It is far less than for how long the ledger tells what was written: rows of
 * before that aren't counted.
 */
const BEHIND_S = 300;

/** How many tables of a server are behind by more, or can't know. Of SharedMergeTree none is listed. */
const BEHIND = `SELECT 'behind' AS place, 0 AS number, count(*) AS row_count FROM system.replicas
WHERE database = currentDatabase() AND (is_readonly OR is_session_expired OR absolute_delay > ${BEHIND_S})`;

/** The table with the rows of a name, and the column of their numbers. */
function placeOf({ table, kind }: Written): [table: string, column: string] {
  if (table === 'removed_days') return ['removed_days_rows', 'build'];
  return [rowsOf(table), table === 'removals' ? 'removed_by' : kind];
}

/** The servers of a database. A server is asked by numbers only once it was seen to have all of their rows: others may have taken them. */
export class Replicas {
  /** What each server was seen to have. */
  private readonly checked = new WeakMap<ClickHouseServer, Counted>();

  constructor(
    private readonly all: ClickHouseSession,
    private readonly ledger: Pick<Ledger, 'written'>,
  ) {}

  /**
   * A server that has what counts, where names mean that; any if the views of the database say what that is. Throws StoreUnavailable if none
   * can be reached, or has it after some seconds.
   */
  async having(counted: Counted | undefined): Promise<ClickHouseSession> {
    if (counted === undefined) return this.all;
    for (const end = performance.now() + PATIENCE_MS; ; await wait(LOOK_MS)) {
      // Before it is looked: one that took long has seen what was there when it began.
      const isLast = performance.now() > end;
      const servers = this.all.onEach();
      const faults: StoreUnavailable[] = [];
      for (const session of servers) {
        try {
          if (await this.has(session, counted)) return session.naming(new Names(viewQueries(), counted));
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) throw error;
          faults.push(error);
        }
      }
      if (faults.length === servers.length) throw faults[0];
      if (isLast)
        throw new StoreUnavailable(
          'The ClickHouse server does not have the newest rows yet: look whether its replication goes on, and try again.',
        );
    }
  }

  private async has(session: ClickHouseSession, counted: Counted): Promise<boolean> {
    const { server } = session;
    const checked = server && this.checked.get(server);
    if (checked !== undefined && isUpTo(checked, counted)) return true;
    const written = await this.ledger.written(checked, counted);
    if (!(await hasRows(session, written))) return false;
    if (server !== undefined)
      this.checked.set(server, checked === undefined ? counted : newest(checked, counted));
    return true;
  }
}

/** Whether numbers are no newer than others. */
function isUpTo(checked: Counted, counted: Counted): boolean {
  return KINDS.every((kind) =>
    counted[kind].newest.every((number, group) => number <= (checked[kind].newest[group] ?? 0)),
  );
}

/** The newer number of each group. */
function newest(one: Counted, other: Counted): Counted {
  const of = (kind: Kind) => ({
    ...other[kind],
    newest: other[kind].newest.map((number, group) => Math.max(number, one[kind].newest[group] ?? 0)),
  });
  return { ...other, batch: of('batch'), build: of('build') };
}

/** Whether a server has rows that were written lately, and all of before. */
async function hasRows(session: ClickHouseSession, written: readonly Written[]): Promise<boolean> {
  const numbers = new Map<string, number[]>();
  for (const one of written) {
    const place = placeOf(one).join(' ');
    numbers.set(place, [...(numbers.get(place) ?? []), one.number]);
  }
  const counts = [...numbers].map(([place, some]) => {
    const [table, column] = place.split(' ');
    return `SELECT ${quote(place)} AS place, ${column} AS number, count(*) AS row_count
    FROM ${table} WHERE ${column} IN (${some.join(', ')}) GROUP BY ${column}`;
  });
  if (session.cluster !== undefined) counts.push(BEHIND);
  const rows = counts.length === 0 ? [] : await session.select(counts.join(' UNION ALL '));
  const there = new Map(rows.map((row) => [`${row.place} ${row.number}`, Number(row.row_count)]));
  if ((there.get('behind 0') ?? 0) > 0) return false;
  return written.every((one) => (there.get(`${placeOf(one).join(' ')} ${one.number}`) ?? 0) >= one.rows);
}
