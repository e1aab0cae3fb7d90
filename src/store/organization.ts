import { z } from 'zod';
import { UsageError } from '../exit.js';
import { ORG_ID } from '../input/name-text.js';
import { quote, quoteInstant, readSql } from './sql-text.js';
import { inTurn } from './state/of-store.js';
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

/** The turn in which organizations come and go. */
const TURN = 'organizations';

/** Makes those of some organizations that aren't there. Their ids are valid. */
export async function requireOrganizations(
  store: Store,
  orgIds: ReadonlySet<string>,
  now: number,
): Promise<void> {
  if ((await missingOf(store, orgIds)).length === 0) return;
  const at = quoteInstant(now);
  await inTurn(store, TURN, async (turn) => {
    const missing = await missingOf(turn, orgIds);
    const statements = [];
    for (let next = 0; next < missing.length; next += MADE_TOGETHER) {
      const made = missing.slice(next, next + MADE_TOGETHER).map((orgId) => `(${quote(orgId)}, ${at})`);
      statements.push({ sql: `INSERT INTO organizations (org_id, created_at) VALUES ${made.join(', ')}` });
    }
    if (statements.length > 0) await turn.run(statements);
  });
}

async function missingOf(store: Store, orgIds: ReadonlySet<string>): Promise<string[]> {
  const rows = await store.select('SELECT org_id FROM organizations');
  const known = new Set(rows.map((row) => String(row.org_id)));
  return [...orgIds].filter((orgId) => !known.has(orgId));
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
  const known = await organizationsWithData(store);
  const all = await organizationsOf(store, now);
  return all.map((one) => ({ ...one, is_empty: one.is_empty && !known.has(one.org_id) }));
}

/** The organizations by name, of which those are empty that have nothing but data. */
async function organizationsOf(store: Store, now: number): Promise<z.infer<typeof Organization>[]> {
  const rows = await store.select(readSql('state/organizations.sql'), { now });
  return rows.map((row) => Organization.parse(row));
}

async function organizationsWithData(store: Store): Promise<ReadonlySet<string>> {
  const rows = await store.select(readSql('state/organizations_with_data.sql'));
  return new Set(rows.map(({ org_id }) => String(org_id)));
}

/** Removes an organization, its revoked keys, its access log and the signs of life of its collectors. Throws a UsageError for one that has anything else. */
export async function removeOrganization(store: Store, orgId: string, now: number): Promise<void> {
  const known = await organizationsWithData(store);
  await inTurn(store, TURN, async (turn) => {
    const found = (await organizationsOf(turn, now)).find(({ org_id }) => org_id === orgId);
    requireRemovable(orgId, found, known.has(orgId));
    await turn.run(
      TABLES_OF_EMPTY.map((table) => ({
        sql: `DELETE FROM ${table} WHERE org_id = $org_id`,
        parameters: { org_id: orgId },
      })),
    );
  });
}

/** What an organization can have that is removed with it. */
const TABLES_OF_EMPTY = [
  ...['keys', 'access_log', 'heartbeats', 'silence_acknowledgements', 'hidden_marks'],
  ...['vendor_pulls', 'vendor_roster', 'vendor_bills', 'organizations'],
];

function requireRemovable(
  orgId: string,
  found: z.infer<typeof Organization> | undefined,
  hasData: boolean,
): void {
  if (found === undefined)
    throw new UsageError(`There is no organization ${orgId}: "daybook organizations" lists them.`);
  if (!found.is_empty || hasData)
    throw new UsageError(
      `The organization ${orgId} has events, computers, controls, budgets, alerts, vendors, readiness reports, people or groups: only an empty one can be removed.`,
    );
  if (found.valid_keys > 0)
    throw new UsageError(
      `The organization ${orgId} still has valid keys: revoke them first, as "daybook keys list --org ${orgId}" names them.`,
    );
}
