import type { ClickHouseSettings } from '@clickhouse/client';
import { quote } from '../sql-text.js';

/** The settings of all statements that go to a cluster, beside those of engine/clickhouse.sql. */
export const CLUSTER_SETTINGS: ClickHouseSettings = {
  // An insert is there when most replicas have it.
  insert_quorum: 'auto',
  insert_quorum_parallel: 1,
  insert_quorum_timeout: 60_000,
  // By itself a DELETE waits for replicas that are down.
  lightweight_deletes_sync: '1',
  // Servers that keep functions in Keeper have them on all replicas anyway.
  ignore_on_cluster_for_replicated_udf_queries: 1,
};

/**
 * Where a table is in Keeper. TRICKY: by its UUID, which stays when tables are exchanged. A path with the table's name would belong to
 * another table then, and the next copy couldn't be made.
 */
const PLACE = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'";

const HEAD = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;

/** What a server alone has, up to the name: each has to be told. */
const OWN =
  /^(?:CREATE (?:OR REPLACE )?(?:DATABASE|FUNCTION|TABLE|VIEW)(?: IF NOT EXISTS)? \w+|DROP (?:DATABASE|FUNCTION|TABLE|VIEW)(?: IF EXISTS)? \w+|EXCHANGE TABLES \w+ AND \w+|SYSTEM SYNC REPLICA(?= \w+$)|ALTER TABLE \w+(?= (?:ADD|DROP|MODIFY|RENAME) COLUMN))/;

/** What a replicated table tells the other replicas by itself, and what concerns the server that is asked alone. */
const TOLD_BY_TABLES =
  /^(?:INSERT INTO|DELETE FROM|UPDATE|TRUNCATE TABLE|ALTER TABLE \w+\s+(?:DELETE|UPDATE|DROP PARTITION)|KILL QUERY)\b/;

const ENGINE = /\bENGINE = (?!Replicated)(\w*MergeTree)(?:\(([^()]*)\))?/;

/** Which replicas have what they fetch on disk, too, not only those that an insert goes to. */
const ON_DISK = 'fsync_after_insert = 1';
const FETCHED_ON_DISK = `${ON_DISK}, min_compressed_bytes_to_fsync_after_fetch = 1`;

/** A statement that writes, as it goes to a server of a cluster. */
export interface ClusterStatement {
  readonly query: string;
  readonly settings: ClickHouseSettings;
}

/**
 * A statement that writes, for all replicas of a cluster: tables become replicated ones, and what a replica wouldn't hear of goes ON CLUSTER.
 * Throws for a statement of another kind, so that none is forgotten. An expression, since no parser at hand reads ClickHouse's statements.
 */
export function forCluster(query: string, cluster: string): ClusterStatement {
  const start = HEAD.exec(query)?.[0].length ?? 0;
  const text = query.slice(start);
  if (TOLD_BY_TABLES.test(text)) return { query, settings: {} };
  const head = OWN.exec(text)?.[0];
  if (head === undefined)
    throw new TypeError(`A statement that begins so has no form for a cluster: ${text.slice(0, 60)}`);
  const rest = text.slice(head.length);
  if (/^CREATE (?:OR REPLACE )?TABLE/.test(head) && /(?<!\bEMPTY) AS\s+(?:SELECT|WITH)\b/.test(rest))
    throw new TypeError(
      `Each replica would fill the table: create it EMPTY, and insert: ${text.slice(0, 60)}`,
    );
  const replicated = rest
    .replace(
      ENGINE,
      (_, engine: string, args = '') => `ENGINE = Replicated${engine}(${PLACE}${args && `, ${args}`})`,
    )
    .replace(ON_DISK, FETCHED_ON_DISK);
  return {
    query: `${query.slice(0, start)}${head} ON CLUSTER ${quote(cluster)}${head.startsWith('CREATE') ? replicated : rest}`,
    // A replica that doesn't have the column yet would refuse the next insert.
    settings: head.startsWith('ALTER') ? { alter_sync: '2' } : {},
  };
}
