import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DATABASE } from '../disk/data-files.js';
import { writeWhole } from '../disk/folder.js';
import { UsageError } from '../exit.js';
import { Queue } from './queue.js';
import { isState } from './state/homes.js';
import type { Row, Store } from './store.js';

/** The files of marks. Deleting `daybook.duckdb*` deletes the mark too. */
export const MARK = `${DATABASE}.mark`;
export const CLICKHOUSE_MARK = 'clickhouse.mark';

/** How long after something was written the mark may say so: a settle must not wait for another file. */
const LAG_MS = 1000;

const COUNT = z.int().min(0);

/** Numbers that only grow, unless a database has lost something. */
const Counts = z.object({ batches: COUNT, keys: COUNT, revocations: COUNT, controls: COUNT });
type Counts = z.infer<typeof Counts>;

const NOUNS: Record<keyof Counts, string> = {
  batches: 'batches of events',
  keys: 'keys',
  revocations: 'revoked keys',
  controls: 'revisions of enterprise controls',
};

/** How each is counted, and in which table. */
const QUERIES: Record<keyof Counts, { readonly sql: string; readonly table: string }> = {
  batches: { sql: 'SELECT coalesce(max(batch), 0) FROM batches', table: 'batches' },
  keys: { sql: 'SELECT count(*) FROM keys', table: 'keys' },
  revocations: { sql: 'SELECT count(revoked_at) FROM keys', table: 'keys' },
  controls: { sql: 'SELECT count(*) FROM control_revisions', table: 'control_revisions' },
};

/** The counts of a database. A new one lacks tables: `tables` names those that exist. */
async function countsIn(select: Store['select'], tables?: ReadonlySet<string>): Promise<Counts> {
  const counts: Row = {};
  // State can be in another database.
  for (const home of [isState, (table: string) => !isState(table)]) {
    const columns = Object.entries(QUERIES)
      .filter(([, { table }]) => home(table))
      .map(([name, { sql, table }]) => `(${tables?.has(table) === false ? 'SELECT 0' : sql}) AS ${name}`);
    const [row] = await select(`SELECT ${columns.join(', ')}`);
    Object.assign(counts, row);
  }
  return Counts.parse(counts);
}

/** The counts in a mark; undefined if there is none, or if it is damaged. */
function readMark(path: string): Counts | undefined {
  try {
    return Counts.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** A database's mark, and the words of the sentence about a loss. */
interface Place {
  /** Of the file. */
  readonly path: string;
  /** The name of the database, and the way to put it back. */
  readonly what: string;
  readonly remedy: string;
}

export function duckDbPlace(folder: string): Place {
  return {
    path: join(folder, MARK),
    what: `The database in ${folder}`,
    remedy: `put ${DATABASE} and ${DATABASE}.wal back as they were, restore a backup with "daybook restore"`,
  };
}

export function clickHousePlace(folder: string): Place {
  return {
    path: join(folder, CLICKHOUSE_MARK),
    what: 'The ClickHouse database',
    remedy: 'restore a backup of it, and that of the data folder with "daybook restore"',
  };
}

/** Throws a UsageError for a database that has less than it is marked to have, unless that is accepted. */
function refuseLoss({ path, what, remedy }: Place, counts: Counts, acceptsLoss: boolean): void {
  const marked = readMark(path);
  if (marked === undefined || acceptsLoss) return;
  const names = Counts.keyof().options.filter((name) => counts[name] < marked[name]);
  if (names.length === 0) return;
  const parts = names.map((name) => `${counts[name]} of ${marked[name]} ${NOUNS[name]}`);
  throw new UsageError(
    `${what} has lost acknowledged data (it has ${parts.join(', ')}): ${remedy}, or continue without the lost data with --accept-loss.`,
  );
}

/** Throws a UsageError where a mark says that there was a database, and there is none, unless that is accepted. */
export function requireFile(folder: string, acceptsLoss: boolean): void {
  if (existsSync(join(folder, DATABASE))) return;
  refuseLoss(duckDbPlace(folder), { batches: 0, keys: 0, revocations: 0, controls: 0 }, acceptsLoss);
}

/**
 * Remembers the least that a database had, in a file outside of it, so that a loss is noticed. TRICKY: it is
 * written after the counted rows are on disk, never before: a database may have more, as after a kill.
 */
export class Mark {
  private timer: NodeJS.Timeout | undefined;
  private isDue = false;
  private isClosed = false;
  private readonly writing = new Queue();

  private constructor(
    private readonly path: string,
    private readonly select: Store['select'],
  ) {}

  /**
   * Compares a database with its mark, and marks it from then on, unless it is only read. Throws a UsageError for one that has
   * lost something, unless that is accepted. `tables` are those that it has; all of them by default.
   */
  static async open(
    place: Place,
    select: Store['select'],
    { acceptsLoss = false, isReading = false }: { acceptsLoss?: boolean; isReading?: boolean },
    tables?: ReadonlySet<string>,
  ): Promise<Mark> {
    const counts = await countsIn(select, tables);
    refuseLoss(place, counts, acceptsLoss);
    const mark = new Mark(place.path, select);
    if (!isReading && JSON.stringify(counts) !== JSON.stringify(readMark(place.path))) mark.touch();
    return mark;
  }

  /** Something was written, and is on disk. */
  touch(): void {
    this.isDue = true;
    if (this.isClosed) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // A file that can't be read or written now is tried again.
      this.write().catch(() => this.touch());
    }, LAG_MS).unref();
  }

  /** Writes the counts of the database, if something was written to it. */
  private write(): Promise<void> {
    return this.writing.run(async () => {
      if (!this.isDue) return;
      this.isDue = false;
      await writeWhole(this.path, `${JSON.stringify(await countsIn(this.select))}\n`);
    });
  }

  /** Writes the counts for the last time, while the database is still open. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.write().catch(() => undefined);
  }
}
