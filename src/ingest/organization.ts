import { UsageError } from '../exit.js';
import type { Store } from '../store/store.js';

/** What can name an organization. */
export const ORG_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Makes an organization unless it is there. Throws a UsageError for an id that none can have. */
export async function requireOrganization(store: Store, orgId: string, now: number): Promise<void> {
  if (!ORG_ID.test(orgId)) {
    throw new UsageError(
      `--org must be 1 to 64 letters, digits, dots, hyphens and underscores, not "${orgId}".`,
    );
  }
  await store.run([
    {
      sql: `INSERT INTO organizations SELECT $org_id, instant($now)
        WHERE $org_id NOT IN (SELECT org_id FROM organizations)`,
      parameters: { org_id: orgId, now },
    },
  ]);
}
