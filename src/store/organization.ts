import { UsageError } from '../exit.js';
import { quote } from './sql-text.js';
import type { Store } from './store.js';

/** The form of an organization's id. */
export const ORG_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Makes an organization unless it is there. Throws a UsageError for an id that none can have. */
export async function requireOrganization(store: Store, orgId: string, now: number): Promise<void> {
  if (!ORG_ID.test(orgId)) {
    throw new UsageError(
      `--org must be 1 to 64 letters, digits, dots, hyphens and underscores, not "${orgId}".`,
    );
  }
  await requireOrganizations(store, new Set([orgId]), now);
}

/** How many organizations one statement makes. */
const MADE_TOGETHER = 100;

/** Makes those of some organizations that aren't there. Their ids are valid. */
export async function requireOrganizations(
  store: Store,
  orgIds: ReadonlySet<string>,
  now: number,
): Promise<void> {
  const rows = await store.select('SELECT org_id FROM organizations');
  const known = new Set(rows.map((row) => String(row.org_id)));
  const missing = [...orgIds].filter((orgId) => !known.has(orgId));
  const statements = [];
  for (let next = 0; next < missing.length; next += MADE_TOGETHER) {
    const made = missing.slice(next, next + MADE_TOGETHER).map((orgId) => `SELECT ${quote(orgId)} AS org_id`);
    statements.push({
      // Someone else may make one at the same time.
      sql: `INSERT INTO organizations SELECT org_id, instant($now) FROM (${made.join(' UNION ALL ')}) AS made
        WHERE org_id NOT IN (SELECT org_id FROM organizations)`,
      parameters: { now },
    });
  }
  if (statements.length > 0) await store.run(statements);
}
