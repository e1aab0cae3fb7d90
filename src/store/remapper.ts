import type { Session } from './duckdb-session.js';
import { type Rejects, Settler } from './settler.js';
import { quote, readSql } from './sql-text.js';
import { type Batch, newestBatch, type Settled, type Withdrawal } from './store.js';
import { columnNames } from './tables.js';

/** What is compared of an event. Its repository and branch can come from a checkout that has changed or gone since. */
const COMPARED = columnNames('events').filter((name) => !['batch', 'repo', 'git_branch'].includes(name));

const TABLES = `
  CREATE TEMP TABLE IF NOT EXISTS given_events (run INTEGER, session_id VARCHAR, digest UBIGINT);
  CREATE TEMP TABLE IF NOT EXISTS given_files (run INTEGER, path VARCHAR);
  CREATE TEMP TABLE IF NOT EXISTS other_files (path VARCHAR);
  CREATE OR REPLACE TEMP MACRO event_digest(event) AS hash(${COMPARED.map((name) => `(event).${name}`).join(', ')})`;

/** Reads files again whose mapping has changed, and notes what they give, to find the stored events that they don't give any more. */
export class Remapper extends Settler {
  protected override readonly table = 'remapped';
  protected override readonly keepsRejects = false;

  protected override async whole<T>(work: () => Promise<T>): Promise<T> {
    await this.session.run(`${TABLES}; CREATE OR REPLACE TEMP TABLE remapped AS FROM events LIMIT 0`);
    try {
      return await super.whole(work);
    } finally {
      // The settler of the same connection defines the source again, too.
      this.defined = undefined;
      await this.session.run('DROP TABLE IF EXISTS remapped').catch(() => undefined);
    }
  }

  protected override async finish(
    { run = 0 }: Batch,
    _number: number,
    inserted: number,
    rejects: Rejects,
  ): Promise<Settled> {
    await this.session.run(
      `INSERT INTO given_events SELECT ${run}, session_id, event_digest(remapped) FROM remapped;
      INSERT INTO given_files SELECT ${run}, name FROM batch_files`,
    );
    return { accepted: inserted, duplicates: 0, ...rejects, leftOut: [] };
  }
}

/**
 * Makes the table `withdrawn` of the stored events that a run doesn't give any more, and answers how many there are. The session has the
 * stored events of the source in `events`, and its batches. Throws if what the run gave isn't all there any more.
 */
export async function findWithdrawn(
  session: Session,
  { run, orgId, source, userId, events, files, days }: Withdrawal,
): Promise<number> {
  await session.run(TABLES);
  const [noted] = await session.select(`SELECT count(*) AS events FROM given_events WHERE run = ${run}`);
  if (Number(noted?.events) !== events)
    throw new Error('The database was opened again while files were read: run the command again.');
  await session.run(`
    SET VARIABLE run = ${run};
    SET VARIABLE withdrawn_org = ${quote(orgId)};
    SET VARIABLE withdrawn_source = ${quote(source)};
    SET VARIABLE withdrawn_user = ${quote(userId)};
    SET VARIABLE withdrawn_days = CAST([${(days ?? []).map(quote).join(', ')}] AS DATE[]);
    DELETE FROM other_files`);
  const list = `[${files.map(quote).join(', ')}]`;
  await session.run(
    `INSERT INTO other_files SELECT path FROM (SELECT unnest(CAST(${list} AS VARCHAR[])) AS path)
    WHERE path NOT IN (SELECT path FROM given_files WHERE run = ${run})`,
  );
  const query = days === undefined ? 'ingest/withdrawn.sql' : 'ingest/replaced.sql';
  await session.run(`CREATE OR REPLACE TEMP TABLE withdrawn AS ${readSql(query)}`);
  await session.run(
    `DELETE FROM given_events WHERE run = ${run}; DELETE FROM given_files WHERE run = ${run}`,
  );
  const [found] = await session.select('SELECT count(*) AS events FROM withdrawn');
  return Number(found?.events);
}

/** Notes the withdrawn events of each day in `arrivals`, and the batch that withdrew them. The session has the table `withdrawn`. */
export async function noteWithdrawn(
  session: Session,
  number: number,
  { orgId, source, settledAt }: Withdrawal,
): Promise<void> {
  await session.run(
    `INSERT INTO arrivals BY NAME
    SELECT CAST(${number} AS BIGINT) AS batch, org_id, day, -count(*) AS accepted, 0 AS duplicates, count(*) AS changed, 0 AS late
    FROM withdrawn
    GROUP BY org_id, day`,
  );
  await session.run(
    `INSERT INTO batches BY NAME
    SELECT CAST(${number} AS BIGINT) AS batch, ${quote(orgId)} AS org_id, ${quote(source)} AS source,
      make_timestamp_ms($settled_at) AS settled_at, -count(*) AS accepted, 0 AS duplicates, 0 AS rejected, CAST(NULL AS VARCHAR) AS token
    FROM withdrawn`,
    { settled_at: settledAt },
  );
}

/** Removes the events that a run doesn't give any more, in one transaction, and answers how many they were. */
export function withdraw(session: Session, withdrawal: Withdrawal): Promise<number> {
  return session.transaction(async () => {
    const found = await findWithdrawn(session, withdrawal);
    if (found === 0) return 0;
    await noteWithdrawn(session, (await newestBatch(session)) + 1, withdrawal);
    await session.run('DELETE FROM events WHERE rowid IN (SELECT row_id FROM withdrawn)');
    return found;
  });
}
