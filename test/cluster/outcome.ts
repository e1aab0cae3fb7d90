import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { DATABASE } from '../../src/disk/data-files.js';
import { RATE_CARD } from '../laws/law.js';
import { TODAY } from '../program.js';
import { type AtEnd, undoing, World } from '../world.js';
import { DaybookNode } from './node.js';
import type { BodyLedger, NodeCluster } from './node-cluster.js';

/** What a store has: the events of each organization, as often as they are counted, and the digests of all closed days. */
export interface Stored {
  readonly events: Readonly<Record<string, readonly string[]>>;
  readonly digests: readonly string[];
}

const DIGESTS = `SELECT org_id, CAST(day AS VARCHAR) AS day, table_name, row_count, digest FROM digests
WHERE day < '${TODAY}'
ORDER BY org_id, day, table_name`;

/** Reads the store of a node that has ended. */
export async function storedBy({ data, env }: DaybookNode, orgIds: readonly string[]): Promise<Stored> {
  const { atEnd, undo } = undoing();
  const select = await (env.DAYBOOK_STORE === undefined ? selectIn(data, atEnd) : selectBy(data, env, atEnd));
  const events: Record<string, string[]> = {};
  for (const orgId of orgIds) {
    const rows = await select(`SELECT event_id FROM events WHERE org_id = '${orgId}'`);
    events[orgId] = rows.map(({ event_id }) => String(event_id));
  }
  const rows = await select(DIGESTS);
  await undo();
  const digests = rows.filter(({ org_id }) => orgIds.includes(String(org_id)));
  return { events, digests: digests.map((row) => Object.values(row).join(' ')) };
}

type Select = (sql: string) => Promise<readonly Record<string, unknown>[]>;

/** Asks a database file as it is, whichever version wrote it. */
async function selectIn(data: string, atEnd: AtEnd): Promise<Select> {
  const instance = await DuckDBInstance.create(join(data, DATABASE), { access_mode: 'READ_ONLY' });
  atEnd(() => instance.closeSync());
  const connection = await instance.connect();
  atEnd(() => connection.closeSync());
  return async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJS();
}

async function selectBy(data: string, env: DaybookNode['env'], atEnd: AtEnd): Promise<Select> {
  const { store } = await World.create({ ...env, DAYBOOK_DATA: data }, atEnd, undefined, 'DuckDB');
  return (sql) => store.select(sql);
}

/** Builds the days from bodies on one node with DuckDB, which nothing disturbs, by a version of the program. */
export async function builtAlone(
  bodies: readonly (readonly [BodyLedger, NodeCluster['ledgers'][number]['bodies']])[],
  cli: string,
  atEnd: AtEnd,
): Promise<Stored> {
  const node = await DaybookNode.create(
    async () => ({ DAYBOOK_RATE_CARD: RATE_CARD, DAYBOOK_BUILD_AT: 'off', DAYBOOK_RATE_LIMIT: '0' }),
    atEnd,
  );
  node.cli = cli;
  const keys = new Map<string, string>();
  for (const [{ orgId }] of bodies) {
    const { stdout } = await node.run('keys', 'create', '--org', orgId, '--role', 'ingest', '--json');
    keys.set(orgId, JSON.parse(stdout).key);
  }
  await node.start();
  for (const [{ orgId }, own] of bodies)
    for (const { path, type, bytes } of own) {
      const headers = { authorization: `Bearer ${keys.get(orgId)}`, 'content-type': type };
      const answer = await fetch(node.url + path, { method: 'POST', headers, body: bytes });
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
      await answer.text();
    }
  const { code, stderr } = await node.run('build');
  if (code !== 0) throw new Error(stderr);
  await node.end();
  return storedBy(
    node,
    bodies.map(([{ orgId }]) => orgId),
  );
}

/** What is wrong with what a cluster has counted. Empty if nothing was lost or doubled, and each day is as one node has it. */
export async function faultsOf(cluster: NodeCluster, atEnd: AtEnd): Promise<string[]> {
  const orgIds = cluster.ledgers.map(({ orgId }) => orgId);
  const stored = await storedBy(cluster.node, orgIds);
  const faults: string[] = [];
  const bodies = cluster.ledgers.map((ledger) => {
    const found = stored.events[ledger.orgId] ?? [];
    const counted = new Set(found);
    for (const id of ledger.acknowledged) if (!counted.has(id)) faults.push(`${id} is lost`);
    for (const id of counted) if (!ledger.sent.has(id)) faults.push(`${id} was never sent`);
    for (const id of found.filter((one, place) => found.indexOf(one) !== place))
      faults.push(`${id} is doubled`);
    const own = cluster.bodiesOf(ledger, counted);
    for (const { events } of own)
      for (const { event_id } of events) if (!counted.has(event_id)) faults.push(`${event_id} is torn off`);
    return [ledger, own] as const;
  });
  const alone = await builtAlone(bodies, cluster.node.cli, atEnd);
  const [here, there] = [new Set(stored.digests), new Set(alone.digests)];
  for (const digest of there) if (!here.has(digest)) faults.push(`one node has ${digest}`);
  for (const digest of here) if (!there.has(digest)) faults.push(`the cluster has ${digest}`);
  if (there.size === 0) faults.push('no day was compared');
  return [...faults, ...(cluster.twins?.faults ?? [])];
}
