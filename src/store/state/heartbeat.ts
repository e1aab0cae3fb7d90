import { MS_PER_DAY } from '../../day.js';
import { quote, quoteInstant } from '../sql-text.js';
import type { Store } from '../store.js';
import { whenErased } from './erased-names.js';
import { OfOrganizations, OneAtATime } from './of-store.js';

/** How many collectors can report for one user, and for one organization. */
export const COLLECTORS_OF_USER = 50;
export const COLLECTORS_OF_ORGANIZATION = 100_000;

/** A collector that is silent for longer is forgotten. */
export const FORGOTTEN_AFTER_DAYS = 365;

/** A sign of life of a collector. Instants are Unix milliseconds. */
export interface Heartbeat {
  readonly orgId: string;
  /** Whose sessions it sends. */
  readonly userId: string;
  readonly collectorId: string;
  readonly seenAt: number;
  /** The machine's name; null if it tells none. */
  readonly host: string | null;
  readonly version: string;
  /** Of the credential that it sends with. */
  readonly fingerprint: string;
  /** The agents with files on the machine, and when these last changed. */
  readonly agents: readonly { readonly agent: string; readonly changedAt: number | null }[];
}

/** The ids of the collectors that have reported, by their users. */
type Collectors = Map<string, Set<string>>;

/** Of several nodes each counts the collectors that it has heard of: their limits hold for each node. */
const known = new OfOrganizations<Collectors>(['erased_names']);
whenErased((store) => known.drop(store));

function collectorsOf(store: Store, orgId: string): Promise<Collectors> {
  return known.get(store, orgId, async () => {
    const rows = await store.select(
      'SELECT DISTINCT user_id, collector_id FROM heartbeats WHERE org_id = $org_id',
      { org_id: orgId },
    );
    const found: Collectors = new Map();
    for (const { user_id, collector_id } of rows) noteIn(found, String(user_id), String(collector_id));
    return found;
  });
}

function noteIn(collectors: Collectors, userId: string, collectorId: string): void {
  collectors.set(userId, (collectors.get(userId) ?? new Set()).add(collectorId));
}

/** Why a collector that has never reported can't be added; undefined if it can. */
function refusalOf(collectors: Collectors, userId: string): string | undefined {
  if ((collectors.get(userId)?.size ?? 0) >= COLLECTORS_OF_USER)
    return `${userId} has ${COLLECTORS_OF_USER} collectors already`;
  let all = 0;
  for (const ids of collectors.values()) all += ids.size;
  return all >= COLLECTORS_OF_ORGANIZATION
    ? `the organization has ${COLLECTORS_OF_ORGANIZATION} collectors already`
    : undefined;
}

const writing = new OneAtATime();

/** Heartbeats that wait for the write before theirs, and are then written together. */
const waiting = new WeakMap<Store, { readonly rows: string[]; readonly written: Promise<void> }>();

/** Keeps a heartbeat. It waits for no build. Answers why it couldn't, if there are too many collectors. */
export async function addHeartbeat(store: Store, heartbeat: Heartbeat): Promise<string | undefined> {
  const { orgId, userId, collectorId } = heartbeat;
  const collectors = await collectorsOf(store, orgId);
  if (collectors.get(userId)?.has(collectorId) !== true) {
    const refusal = refusalOf(collectors, userId);
    if (refusal !== undefined) return refusal;
    noteIn(collectors, userId, collectorId);
  }
  const rows = rowsOf(heartbeat);
  const others = waiting.get(store);
  others?.rows.push(...rows);
  await (others?.written ?? write(store, rows));
  return undefined;
}

function write(store: Store, rows: string[]): Promise<void> {
  const written = writing.run(store, () => {
    waiting.delete(store);
    return store.append(`INSERT INTO heartbeats VALUES ${rows.join(', ')}`);
  });
  waiting.set(store, { rows, written });
  return written;
}

function rowsOf({ orgId, userId, collectorId, seenAt, host, version, fingerprint, agents }: Heartbeat) {
  const instant = (ms: number | null) => (ms === null ? 'NULL' : quoteInstant(ms));
  const row = (agent: string, changedAt: number | null) =>
    `(${[
      ...[orgId, userId, collectorId, agent].map(quote),
      ...[instant(seenAt), instant(changedAt)],
      ...[host === null ? 'NULL' : quote(host), quote(version), quote(fingerprint)],
    ].join(', ')})`;
  return [row('', null), ...agents.map(({ agent, changedAt }) => row(agent, changedAt))];
}

/** Removes the heartbeats after which a newer one came, and the collectors that are silent for too long. */
export async function removeOldHeartbeats(store: Store, now: number): Promise<void> {
  await store.run([
    {
      sql: `DELETE FROM heartbeats WHERE seen_at < instant($before) OR (org_id, user_id, collector_id, seen_at) NOT IN (
        SELECT org_id, user_id, collector_id, max(seen_at) AS seen_at FROM heartbeats GROUP BY org_id, user_id, collector_id)`,
      parameters: { before: now - FORGOTTEN_AFTER_DAYS * MS_PER_DAY },
    },
  ]);
  known.drop(store);
}
