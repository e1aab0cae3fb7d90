import { UsageError } from '../../exit.js';
import { quote } from '../sql-text.js';
import type { Row, Store } from '../store.js';
import { OfStore } from './of-store.js';
import { hashWith, nameHash } from './organization-secret.js';

/** The fault of an event of a person who was erased. */
export const ERASED_PERSON = 'erased_person user_id';

/** Whether a name is one of a person who was erased. */
export type IsErased = (name: string) => boolean;

/** A name is one of a person who was erased. The message doesn't have the name. */
export class ErasedName extends UsageError {
  override name = 'ErasedName';
}

/** The hashes of each store's erased names, by organization. An erasure drops them. */
const known = new OfStore<ReadonlyMap<string, ReadonlySet<string>>>(['erased_names']);

/** Drops the names of a store that are in memory elsewhere. */
const forgetters = new Set<(store: Store) => void>();

/** Has names dropped from memory whenever somebody is erased. */
export function whenErased(forget: (store: Store) => void): void {
  forgetters.add(forget);
}

/** Drops all names of a store that are in memory. */
export function forgetNames(store: Store): void {
  known.drop(store);
  for (const forget of forgetters) forget(store);
}

/** Tells the erased names of an organization; undefined if it has erased nobody. */
export async function erasedIn(store: Store, orgId: string): Promise<IsErased | undefined> {
  const hashes = (await hashesOf(store)).get(orgId);
  if (hashes === undefined) return undefined;
  const hashed = await nameHash(store, orgId, 'erased', 0);
  return (name) => hashes.has(hashed(name).toString('hex'));
}

/** A path, in which `erased` takes the place of folders and files that are called as a person who was erased. */
export function pathWithout(isErased: IsErased, path: string): string {
  return path
    .split(/([/\\])/)
    .map((part) => (isErased(part) ? 'erased' : part))
    .join('');
}

function hashesOf(store: Store): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  return known.get(store, async () =>
    byOrganization(await store.select('SELECT org_id, name_hash FROM erased_names')),
  );
}

function byOrganization(rows: readonly Row[]): Map<string, Set<string>> {
  const hashes = new Map<string, Set<string>>();
  for (const { org_id, name_hash } of rows) {
    const own = hashes.get(String(org_id)) ?? new Set<string>();
    hashes.set(String(org_id), own.add(String(name_hash)));
  }
  return hashes;
}

/** Throws an ErasedName if one of some names is of a person who was erased. */
export async function requireNotErased(
  store: Store,
  orgId: string,
  names: readonly (string | null | undefined)[],
): Promise<void> {
  const isErased = await erasedIn(store, orgId);
  if (isErased !== undefined && names.some((name) => name != null && isErased(name)))
    throw new ErasedName(
      `One of these names is of a person who was erased from ${orgId}: choose another one.`,
    );
}

/** How the settling of a batch refuses the events of erased people. */
export interface Refusal {
  /** The condition on `org_id`, `user_id` and `user_email` that an event is of somebody who was erased. */
  readonly condition: string;
  /** The path of a file without erased names. */
  readonly withoutNames: (orgId: string, path: string) => string;
}

const BLOCK_BYTES = 64;

/** A key of HMAC-SHA-256 as SQL, combined with its inner or outer padding. */
function padded(secret: Buffer, padding: number): string {
  const block = Buffer.alloc(BLOCK_BYTES, padding);
  for (const [place, byte] of secret.entries()) block[place] = byte ^ padding;
  return `unhex('${block.toString('hex')}')`;
}

/** How to refuse the events of people who were erased; undefined if none of the organizations has erased anybody. */
export async function refusalOf(
  store: Pick<Store, 'select'>,
  orgIds: readonly string[],
): Promise<Refusal | undefined> {
  // The first secret of an organization is the one that counts.
  const rows = await store.select(
    `SELECT erased_names.org_id AS org_id, name_hash, secret
    FROM erased_names
    JOIN organization_secrets ON organization_secrets.org_id = erased_names.org_id
    WHERE erased_names.org_id IN (${[...new Set(orgIds)].map(quote).join(', ')})
    ORDER BY erased_names.org_id, added_at, secret, name_hash`,
  );
  if (rows.length === 0) return undefined;
  const organizations = [...byOrganization(rows)].map(([orgId, hashes]) => {
    const row = rows.find(({ org_id }) => org_id === orgId);
    return { orgId, hashes, secret: Buffer.from(String(row?.secret), 'hex') };
  });
  // nameHash computes the same.
  const isErased = (column: string) =>
    organizations.map(({ orgId, hashes, secret }) => {
      const message = `encode('["erased",' || CAST(to_json(${column}) AS VARCHAR) || ']')`;
      const inner = `unhex(sha256(${padded(secret, 0x36)} || ${message}))`;
      const hash = `sha256(${padded(secret, 0x5c)} || ${inner})`;
      return `(org_id = ${quote(orgId)} AND ${column} IS NOT NULL AND ${hash} IN (${[...hashes].map(quote).join(', ')}))`;
    });
  return {
    condition: [...isErased('user_id'), ...isErased('user_email')].join(' OR '),
    withoutNames: (orgId, path) => {
      const own = organizations.find((one) => one.orgId === orgId);
      if (own === undefined) return path;
      const hashed = hashWith(own.secret, 'erased');
      return pathWithout((part) => own.hashes.has(hashed(part).toString('hex')), path);
    },
  };
}
