import { setTimeout as wait } from 'node:timers/promises';
import { quote } from '../sql-text.js';
import type { Row } from '../store.js';
import { StoreUnavailable } from '../store-fault.js';
import type { ClickHouseSession } from './clickhouse-session.js';

/** How often replicas are looked at that don't have the same tables, and how long after each other. */
const LOOKS = 100;
const PAUSE_MS = 100;

interface Table {
  readonly name: string;
  readonly comment: string;
}

/**
 * Those tables of a database that are meant. On a cluster, of all replicas that can be reached: a replica makes and exchanges tables a while
 * after the statement. While one is at it, this waits, and throws StoreUnavailable if that takes long.
 */
export async function tablesOnAll(
  session: ClickHouseSession,
  isMeant: (table: Table, names: ReadonlySet<string>) => boolean,
): Promise<Table[]> {
  const { cluster } = session;
  const meant = (rows: readonly Row[]) => {
    const tables = rows.map(({ name, comment }) => ({ name: String(name), comment: String(comment) }));
    const names = new Set(tables.map(({ name }) => name));
    return tables.filter((table) => isMeant(table, names));
  };
  if (cluster === undefined)
    return meant(
      await session.select('SELECT name, comment FROM system.tables WHERE database = currentDatabase()'),
    );
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const rows = await tablesOfReplicas(session, cluster);
    const tables = meant(rows);
    if (tables.length === 0 || (await isSettled(session, cluster, rows))) return tables;
    await wait(PAUSE_MS);
  }
  throw new StoreUnavailable(
    'The replicas of the ClickHouse cluster do not have the same tables yet: try again when all of them are up.',
  );
}

const ofAll = (cluster: string, table: string) => `clusterAllReplicas(${quote(cluster)}, system.${table})`;

/** The tables of all replicas, each with the number of those that have it. */
async function tablesOfReplicas(session: ClickHouseSession, cluster: string): Promise<Row[]> {
  const [here] = await session.select('SELECT currentDatabase() AS name');
  return session.with({ skip_unavailable_shards: 1 }).select(
    `SELECT name, comment, count(*) AS replicas FROM ${ofAll(cluster, 'tables')}
    WHERE database = ${quote(String(here?.name))}
    GROUP BY name, comment`,
  );
}

/** Whether replicas have done what they were told: also those that can't be reached, if tables were to be exchanged. */
async function isSettled(session: ClickHouseSession, cluster: string, tables: readonly Row[]) {
  const [reached] = await session
    .with({ skip_unavailable_shards: 1 })
    .select(`SELECT count(*) AS replicas FROM ${ofAll(cluster, 'one')}`);
  const [told] = await session.select(
    `SELECT count(*) AS exchanges FROM system.distributed_ddl_queue
    WHERE cluster = ${quote(cluster)} AND query LIKE '%EXCHANGE TABLES%' AND status <> 'Finished'`,
  );
  return told?.exchanges === 0 && tables.every(({ replicas }) => replicas === reached?.replicas);
}
