import type { Row, Store } from '../store.js';
import { Turns } from './of-store.js';

/** What an organization has said of its alerts, after a change of it; revision 0 before the first. */
export interface AlertRevision {
  readonly revision: number;
  /** JSON, with encrypted secrets; '' before the first. */
  readonly settings: string;
  readonly author: string | null;
  /** Unix milliseconds. */
  readonly changedAt: number | null;
}

const turns = new Turns();

function revisionOf(row: Row | undefined): AlertRevision {
  if (row === undefined) return { revision: 0, settings: '', author: null, changedAt: null };
  return {
    revision: Number(row.revision),
    settings: String(row.settings),
    author: String(row.author),
    changedAt: Number(row.changed_at),
  };
}

/** The newest revision of an organization. */
export async function newestAlertRevision(
  store: Pick<Store, 'select'>,
  orgId: string,
): Promise<AlertRevision> {
  const [newest] = await alertRevisions(store, orgId, 1);
  return newest ?? revisionOf(undefined);
}

/** The newest revisions of an organization, the newest one first. */
export async function alertRevisions(
  store: Pick<Store, 'select'>,
  orgId: string,
  limit: number,
): Promise<AlertRevision[]> {
  const rows = await store.select(
    `SELECT revision, settings, author, changed_at FROM alert_revisions
    WHERE org_id = $org_id ORDER BY revision DESC LIMIT $limit`,
    { org_id: orgId, limit },
  );
  return rows.map(revisionOf);
}

/** Adds a revision. `make` gets the newest one, and throws if it may not be changed; the same settings as before add none. */
export function addAlertRevision(
  store: Store,
  orgId: string,
  make: (before: AlertRevision) => string,
  author: string,
  now: number,
): Promise<AlertRevision> {
  return turns.run(store, async () => {
    const before = await newestAlertRevision(store, orgId);
    const settings = make(before);
    if (settings === before.settings) return before;
    await store.run([
      {
        sql: `INSERT INTO alert_revisions
          SELECT $org_id, CAST($revision AS BIGINT), $settings, $author, instant($now)`,
        parameters: { org_id: orgId, revision: before.revision + 1, settings, author, now },
      },
    ]);
    return newestAlertRevision(store, orgId);
  });
}

/** The organizations that have said anything of alerts, by name. */
export async function organizationsWithAlerts(store: Pick<Store, 'select'>): Promise<string[]> {
  const rows = await store.select('SELECT DISTINCT org_id FROM alert_revisions ORDER BY org_id');
  return rows.map(({ org_id }) => String(org_id));
}
