import { z } from 'zod';
import { UsageError } from '../exit.js';
import { ORG_ID } from '../input/name-text.js';
import { quote, readSql } from './sql-text.js';
import type { Store } from './store.js';

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

/** An organization as lists show it. Instants are Unix milliseconds. */
const Organization = z.object({
  org_id: z.string(),
  created_at: z.int(),
  valid_keys: z.coerce.number(),
  is_empty: z.coerce.boolean(),
});

/** All organizations by name, as they are at an instant. */
export async function listOrganizations(store: Store, now: number): Promise<z.infer<typeof Organization>[]> {
  const rows = await store.select(readSql('state/organizations.sql'), { now });
  return rows.map((row) => Organization.parse(row));
}

/** Removes an organization, its revoked keys, its access log and the signs of life of its collectors. Throws a UsageError for one that has anything else. */
export async function removeOrganization(store: Store, orgId: string, now: number): Promise<void> {
  const found = (await listOrganizations(store, now)).find(({ org_id }) => org_id === orgId);
  if (found === undefined)
    throw new UsageError(`There is no organization ${orgId}: "daybook organizations" lists them.`);
  if (!found.is_empty)
    throw new UsageError(
      `The organization ${orgId} has events, computers, controls, budgets, alerts, vendors, readiness reports, people or groups: only an empty one can be removed.`,
    );
  if (found.valid_keys > 0)
    throw new UsageError(
      `The organization ${orgId} still has valid keys: revoke them first, as "daybook keys list --org ${orgId}" names them.`,
    );
  await store.run(
    [
      'keys',
      'access_log',
      'heartbeats',
      'silence_acknowledgements',
      'hidden_marks',
      'vendor_pulls',
      'vendor_roster',
      'vendor_bills',
      'organizations',
    ].map((table) => ({
      sql: `DELETE FROM ${table} WHERE org_id = $org_id`,
      parameters: { org_id: orgId },
    })),
  );
}
