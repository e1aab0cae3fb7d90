import { z } from 'zod';
import type { Row, Store } from '../store.js';
import { whenErased } from './erased-names.js';
import { inTurn, OfOrganizations } from './of-store.js';

/** Who sees people: in `protected` mode only auditors see rows of people and their names. */
export const MODES = ['open', 'protected'] as const;

/** How many people a group has at least that is shown in protected mode: the least, the most and the default. */
export const SMALLEST_GROUP = { least: 2, most: 100, usual: 5 } as const;

/** How many auditors an organization can have. */
export const AUDITORS_AT_MOST = 100;

/** Who may see people by name in an organization. */
export interface Privacy {
  readonly mode: (typeof MODES)[number];
  readonly smallestGroup: number;
  /** User ids. */
  readonly auditors: readonly string[];
}

/** The newest change of an organization's privacy; revision 0 before the first. */
export interface PrivacyRevision extends Privacy {
  readonly revision: number;
  readonly author: string | null;
  /** Of the credential; null for a command on the service's machine. */
  readonly fingerprint: string | null;
  /** Unix milliseconds. */
  readonly changedAt: number | null;
}

const Auditors = z.array(z.string());

/** The newest revisions of each store's organizations. Changes drop them. */
const known = new OfOrganizations<PrivacyRevision>(['privacy_revisions']);
whenErased((store) => known.drop(store));

function revisionOf(row: Row | undefined): PrivacyRevision {
  if (row === undefined)
    return {
      ...{ revision: 0, mode: 'open', smallestGroup: SMALLEST_GROUP.usual, auditors: [] },
      ...{ author: null, fingerprint: null, changedAt: null },
    };
  return {
    revision: Number(row.revision),
    mode: row.mode === 'protected' ? 'protected' : 'open',
    smallestGroup: Number(row.smallest_group),
    auditors: Auditors.parse(JSON.parse(String(row.auditors))),
    author: String(row.author),
    fingerprint: row.fingerprint === null ? null : String(row.fingerprint),
    changedAt: Number(row.changed_at),
  };
}

/** Who may see people by name in an organization, as the store has it. */
export async function newestPrivacy(store: Store, orgId: string): Promise<PrivacyRevision> {
  const [newest] = await privacyHistory(store, orgId, { limit: 1 });
  return newest ?? revisionOf(undefined);
}

/** The changes of who may see people by name, the newest first: those before a revision, if it is given. */
export async function privacyHistory(
  store: Store,
  orgId: string,
  { limit, before }: { readonly limit: number; readonly before?: number | undefined },
): Promise<PrivacyRevision[]> {
  const rows = await store.select(
    `SELECT revision, mode, smallest_group, auditors, author, fingerprint, changed_at FROM privacy_revisions
    WHERE org_id = $org_id AND revision < $before ORDER BY revision DESC LIMIT ${limit}`,
    { org_id: orgId, before: before ?? Number.MAX_SAFE_INTEGER },
  );
  return rows.map(revisionOf);
}

/** The same, kept in memory. */
export function privacyOf(store: Store, orgId: string): Promise<PrivacyRevision> {
  return known.get(store, orgId, () => newestPrivacy(store, orgId));
}

/** Changes who may see people by name. `make` gets the newest revision, and throws if it may not be changed. Equal settings are no change. */
export function changePrivacy(
  store: Store,
  orgId: string,
  make: (before: PrivacyRevision) => Privacy,
  author: string,
  now: number,
  fingerprint: string | null = null,
): Promise<PrivacyRevision> {
  return inTurn(store, `privacy_revisions ${orgId}`, async (turn) => {
    const before = await newestPrivacy(turn, orgId);
    const { mode, smallestGroup, auditors } = make(before);
    const names = JSON.stringify([...new Set(auditors)].sort());
    const isSame =
      mode === before.mode &&
      smallestGroup === before.smallestGroup &&
      names === JSON.stringify(before.auditors);
    if (isSame) return before;
    await turn.run([
      {
        sql: `INSERT INTO privacy_revisions SELECT $org_id, CAST($revision AS BIGINT), $mode,
          CAST($smallest_group AS BIGINT), $auditors, $author, instant($now), $fingerprint`,
        parameters: {
          ...{ org_id: orgId, revision: before.revision + 1, mode, smallest_group: smallestGroup },
          ...{ auditors: names, author, now, fingerprint },
        },
      },
    ]);
    known.drop(turn, orgId);
    return newestPrivacy(turn, orgId);
  });
}
