import { z } from 'zod';
import type { Row, Store } from '../store.js';
import { whenErased } from './erased-names.js';
import { OfOrganizations, Turns } from './of-store.js';

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
  /** Unix milliseconds. */
  readonly changedAt: number | null;
}

const Auditors = z.array(z.string());

/** The newest revisions of each store's organizations. Changes drop them. */
const known = new OfOrganizations<PrivacyRevision>();
whenErased((store) => known.drop(store));

const turns = new Turns();

function revisionOf(row: Row | undefined): PrivacyRevision {
  if (row === undefined)
    return {
      ...{ revision: 0, mode: 'open', smallestGroup: SMALLEST_GROUP.usual, auditors: [] },
      ...{ author: null, changedAt: null },
    };
  return {
    revision: Number(row.revision),
    mode: row.mode === 'protected' ? 'protected' : 'open',
    smallestGroup: Number(row.smallest_group),
    auditors: Auditors.parse(JSON.parse(String(row.auditors))),
    author: String(row.author),
    changedAt: Number(row.changed_at),
  };
}

/** Who may see people by name in an organization, as the store has it. */
export async function newestPrivacy(store: Store, orgId: string): Promise<PrivacyRevision> {
  const [row] = await store.select(
    `SELECT revision, mode, smallest_group, auditors, author, changed_at FROM privacy_revisions
    WHERE org_id = $org_id ORDER BY revision DESC LIMIT 1`,
    { org_id: orgId },
  );
  return revisionOf(row);
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
): Promise<PrivacyRevision> {
  return turns.run(store, async () => {
    const before = await newestPrivacy(store, orgId);
    const { mode, smallestGroup, auditors } = make(before);
    const names = JSON.stringify([...new Set(auditors)].sort());
    const isSame =
      mode === before.mode &&
      smallestGroup === before.smallestGroup &&
      names === JSON.stringify(before.auditors);
    if (isSame) return before;
    await store.run([
      {
        sql: `INSERT INTO privacy_revisions SELECT $org_id, CAST($revision AS BIGINT), $mode,
          CAST($smallest_group AS BIGINT), $auditors, $author, instant($now)`,
        parameters: {
          ...{ org_id: orgId, revision: before.revision + 1, mode, smallest_group: smallestGroup },
          ...{ auditors: names, author, now },
        },
      },
    ]);
    known.drop(store, orgId);
    return privacyOf(store, orgId);
  });
}
