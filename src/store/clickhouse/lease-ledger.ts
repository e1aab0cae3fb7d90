import { ALL_GROUPS, GROUPS, groupOf, groupOfNumber } from '../group.js';
import type { Leases } from '../postgres/leases.js';
import type { PostgresSession, Transaction } from '../postgres/postgres-session.js';
import { peopleTurn } from '../state/person.js';
import { StoreUnavailable } from '../store-fault.js';
import { type Counted, type Counting, type Kind, NEVER, revisionOf, withNewest } from './counted-numbers.js';
import type { Attempt, Last, Ledger, Written } from './ledger.js';

/** The task of a lease whose numbers are of a kind. */
const TASKS = { batch: 'settle', build: 'build' } as const;

/** Readers are done with the numbers that they name after so long. */
const READ_HOURS = 1;

/** Servers are asked whether they have the rows of so long. Rows that are taken out are older. */
const CHECKED_MINUTES = 50;

/** So long it is kept how many rows a number has, and which numbers never come to count. */
const WRITTEN_DAYS = 1;
const HOLE_DAYS = 30;

/** The number that a lease begins with, by its name: that of its group, so that all others of it have the group in them. */
export function firstNumber(name: string): number {
  const [, group] = /^(?:settle|build) (\d+)$/.exec(name) ?? [];
  return Number(group ?? 0);
}

/** What counts where several nodes write to the database: numbers of leases in PostgreSQL, which rise in the transaction that makes an attempt count. */
export class LeaseLedger implements Ledger {
  readonly groups = ALL_GROUPS;
  readonly step = GROUPS;
  private asking: Promise<Counted> | undefined;
  private next: Promise<Counted> | undefined;

  constructor(
    private readonly session: PostgresSession,
    private readonly leases: Leases,
  ) {}

  groupOf(orgId: string): number {
    return groupOf(orgId);
  }

  leading<T>(name: string, work: () => Promise<T>, way: 'waits' | 'tries' | 'keeps'): Promise<T | undefined> {
    if (way === 'keeps') return this.leases.keeping(name, work);
    return way === 'waits' ? this.leases.leading(name, work) : this.leases.trying(name, work);
  }

  /** Readers who come while it is asked for share the next answer. */
  counted(): Promise<Counted> {
    if (this.asking === undefined) {
      const asking = this.ask().finally(() => {
        this.asking = undefined;
      });
      this.asking = asking;
      return asking;
    }
    this.next ??= this.asking
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.counted();
      });
    return this.next;
  }

  /** One statement, so that it is of one state. */
  private async ask(): Promise<Counted> {
    const rows = await this.session.select(
      `SELECT leases.name, leases.number, holes.first, holes.last
      FROM leases
      LEFT JOIN holes ON holes.name = leases.name
      WHERE leases.name LIKE 'settle %' OR leases.name LIKE 'build %' OR leases.name = 'exchanges'
      ORDER BY holes.first`,
    );
    const countingOf = (kind: Kind): Counting => {
      const own = rows.filter(({ name }) => String(name).startsWith(`${TASKS[kind]} `));
      const newest = new Map(own.map(({ number }) => [groupOfNumber(Number(number)), Number(number)]));
      return {
        newest: ALL_GROUPS.map((group) => newest.get(group) ?? 0),
        holes: own
          .filter(({ first }) => first !== null)
          .map(({ first, last }) => ({ first: Number(first), last: Number(last) })),
      };
    };
    const exchanges = rows.find(({ name }) => name === 'exchanges');
    return {
      batch: countingOf('batch'),
      build: countingOf('build'),
      exchanges: Number(exchanges?.number ?? 0),
    };
  }

  async exchanges(): Promise<number> {
    const [row] = await this.session.select("SELECT number FROM leases WHERE name = 'exchanges'");
    return Number(row?.number ?? 0);
  }

  /** The number is odd from before the step until after it, whoever ends it. */
  async exchanging(step: () => Promise<void>, names: readonly string[]): Promise<void> {
    const held = names.map((name) => this.leases.lease(name));
    const lost = await this.session.transaction(async ({ select, run }) => {
      const rows = await select(
        'SELECT name, epoch FROM leases WHERE name IN $names ORDER BY name FOR UPDATE',
        { names },
      );
      const epochs = new Map(rows.map(({ name, epoch }) => [name, Number(epoch)]));
      const gone = held.find(({ name, epoch }) => epochs.get(name) !== epoch);
      if (gone !== undefined) return gone;
      await run([
        {
          sql: `INSERT INTO leases AS known (name, epoch, expires_at, taken, number)
            VALUES ('exchanges', 0, clock_timestamp(), 0, 1)
            ON CONFLICT (name) DO UPDATE SET number = known.number + 1 + known.number % 2`,
        },
      ]);
      return undefined;
    });
    if (lost !== undefined) throw this.leases.lost(lost);
    await step();
    await this.session.run([
      { sql: "UPDATE leases SET number = number + 1 WHERE name = 'exchanges'" },
      // The tables have other rows, and none of before.
      { sql: `UPDATE written SET made_at = made_at - INTERVAL '${READ_HOURS} hours'` },
    ]);
  }

  async revision(): Promise<string> {
    return revisionOf(await this.counted());
  }

  async begin(kind: Attempt['kind'], group: number): Promise<Attempt> {
    const lease = this.leases.lease(`${TASKS[kind]} ${group}`);
    const [row] = await this.session.select(
      `UPDATE leases SET taken = taken + ${GROUPS} WHERE name = $name AND epoch = $epoch RETURNING taken`,
      { ...lease },
    );
    if (row === undefined) throw this.leases.lost(lease);
    const counted = await this.counted();
    // A reader finishes it, if whoever began with it is gone.
    if (counted.exchanges % 2 === 1)
      throw new StoreUnavailable('Tables are written anew for an erasure: try again in a minute.');
    return { kind, group, number: Number(row.taken), epoch: lease.epoch, counted };
  }

  /** Numbers of previews come from a row of their own, which nobody holds. */
  async preview(): Promise<Attempt> {
    const [row] = await this.session.select(
      `INSERT INTO leases AS known (name, epoch, expires_at, taken, number)
      VALUES ('preview', 0, clock_timestamp(), 1, 0)
      ON CONFLICT (name) DO UPDATE SET taken = known.taken + 1
      RETURNING taken`,
    );
    const number = NEVER + Number(row?.taken);
    return { kind: 'build', group: groupOfNumber(number), number, counted: await this.counted() };
  }

  async commit(attempt: Attempt, { row, written, people }: Last): Promise<void> {
    const { kind, group, number, epoch = 0 } = attempt;
    await row();
    const rows = await written();
    const revisions = await people?.();
    const lease = { name: `${TASKS[kind]} ${group}`, epoch };
    const counts = await this.session.transaction(async (inside) => {
      if (revisions !== undefined) await requireNewest(inside, revisions);
      const [before] = await inside.select(
        'SELECT number FROM leases WHERE name = $name AND epoch = $epoch AND number < $number FOR UPDATE',
        { ...lease, number },
      );
      if (before === undefined) return false;
      const first = Number(before.number) + GROUPS;
      if (first < number)
        await inside.run([
          {
            sql: 'INSERT INTO holes VALUES ($name, $first, $last, clock_timestamp())',
            parameters: { name: lease.name, first, last: number - GROUPS },
          },
        ]);
      await inside.run([
        {
          sql: 'UPDATE leases SET number = $number WHERE name = $name',
          parameters: { name: lease.name, number },
        },
        ...[...rows].map(([table, count]) => ({
          sql: 'INSERT INTO written VALUES ($number, $kind, $table, $count, clock_timestamp())',
          parameters: { number, kind, table, count },
        })),
      ]);
      return true;
    });
    if (!counts) throw this.leases.lost(lease);
  }

  async past({ group, counted = this.nothing() }: Attempt): Promise<Counted> {
    const rows = await this.session.select(
      `SELECT kind, max(number) AS number FROM written
      WHERE number % ${GROUPS} = $group AND made_at < clock_timestamp() - INTERVAL '${READ_HOURS} hours'
      GROUP BY kind`,
      { group },
    );
    const numbers = new Map(rows.map((row) => [String(row.kind), Number(row.number)]));
    return withNewest(counted, group, {
      batch: numbers.get('batch') ?? 0,
      build: numbers.get('build') ?? 0,
    });
  }

  private nothing(): Counted {
    throw new Error('an attempt under a lease knows what counts');
  }

  async written(checked: Counted | undefined, counted: Counted): Promise<Written[]> {
    const place = `CAST(number % ${GROUPS} AS INTEGER) + 1`;
    const isMeant = (kind: Kind) =>
      `kind = '${kind}' AND number <= (ARRAY[${counted[kind].newest.join(', ')}])[${place}]${
        checked === undefined ? '' : ` AND number > (ARRAY[${checked[kind].newest.join(', ')}])[${place}]`
      }`;
    const rows = await this.session.select(
      `SELECT kind, number, table_name, rows FROM written
      WHERE made_at > clock_timestamp() - INTERVAL '${CHECKED_MINUTES} minutes'
        AND (${isMeant('batch')} OR ${isMeant('build')})`,
    );
    return rows.map((row) => ({
      kind: row.kind as Kind,
      number: Number(row.number),
      table: String(row.table_name),
      rows: Number(row.rows),
    }));
  }

  async forgetEvents(group: number): Promise<void> {
    await this.session.run([
      {
        sql: `DELETE FROM written WHERE kind = 'batch' AND table_name = 'events' AND number % ${GROUPS} = $group`,
        parameters: { group },
      },
    ]);
  }

  /** Of `written` what counted last, so long ago that nobody reads by earlier numbers, stays. */
  async forget(group: number): Promise<void> {
    await this.session.run([
      {
        sql: `DELETE FROM written
        WHERE number % ${GROUPS} = $group
          AND made_at < clock_timestamp() - INTERVAL '${WRITTEN_DAYS} days'
          AND (kind, number) NOT IN (
            SELECT kind, max(number) FROM written
            WHERE number % ${GROUPS} = $group AND made_at < clock_timestamp() - INTERVAL '${READ_HOURS} hours'
            GROUP BY kind
          )`,
        parameters: { group },
      },
      {
        sql: `DELETE FROM holes
        WHERE name IN $names AND made_at < clock_timestamp() - INTERVAL '${HOLE_DAYS} days'`,
        parameters: { names: Object.values(TASKS).map((task) => `${task} ${group}`) },
      },
    ]);
  }
}

/** Throws if an organization has a newer revision of its people than was read, and keeps others from making one until the transaction ends. */
async function requireNewest(inside: Transaction, revisions: ReadonlyMap<string, number>): Promise<void> {
  const orgs = [...revisions.keys()].sort();
  const turns = orgs.map(peopleTurn);
  await inside.run(
    turns.map((name) => ({
      sql: 'INSERT INTO turns VALUES ($name) ON CONFLICT (name) DO NOTHING',
      parameters: { name },
    })),
  );
  await inside.select('SELECT name FROM turns WHERE name IN $turns ORDER BY name FOR UPDATE', { turns });
  const rows = await inside.select(
    'SELECT org_id, max(revision) AS revision FROM people_revisions WHERE org_id IN $orgs GROUP BY org_id',
    { orgs },
  );
  const newer = rows.find((row) => Number(row.revision) > (revisions.get(String(row.org_id)) ?? 0));
  if (newer !== undefined)
    throw new StoreUnavailable(
      `The people of ${newer.org_id} were changed while its days were built: build them again.`,
    );
}
