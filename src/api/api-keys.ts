import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Day, DaySchema, dayOf } from '../day.js';
import { EmailText, nameText } from '../input/name-text.js';
import { requireOrganization } from '../store/organization.js';
import { quote } from '../store/sql-text.js';
import { requireNotErased, whenErased } from '../store/state/erased-names.js';
import { OfStore } from '../store/state/of-store.js';
import { userOf } from '../store/state/person.js';
import type { Row, Store } from '../store/store.js';
import { ulid } from '../ulid.js';
import type { Caller } from './caller.js';
import { Role } from './roles.js';

/** What a new key can have. */
export const KeyName = nameText(100);
export const KeyUser = nameText(128);
export const KeyEmail = EmailText;
/** When it ends: by the end of the year 9999, because later instants have no date in RFC 3339. */
export const KeyEnd = z.int().min(0).max(Date.UTC(10_000, 0));

const instant = (description: string, example: number | null = null) =>
  z
    .int()
    .nullable()
    .meta({ description: `${description}, in Unix milliseconds`, examples: [example] });

/** A key as lists show it. Instants are Unix milliseconds. */
export const Key = z.object({
  key_id: z.string().meta({ examples: ['key_01JWN2ZK4Q8V7T5R3P1M9X6C0B'] }),
  org_id: z.string().meta({ description: 'the organization', examples: ['acme'] }),
  name: z
    .string()
    .nullable()
    .meta({ description: 'what the key is for, or null', examples: ['dashboard'] }),
  role: Role.meta({ description: 'what the key may do', examples: ['manager'] }),
  user_id: z
    .string()
    .nullable()
    .meta({ description: 'the user or service that it belongs to, or null', examples: ['ada'] }),
  user_email: z
    .string()
    .nullable()
    .meta({ description: "the user's address, or null", examples: ['ada@acme.example'] }),
  fingerprint: z
    .string()
    .meta({ description: 'names the key in logs and limits', examples: ['3f1c9a527d0e'] }),
  created_at: z.int().meta({ description: 'in Unix milliseconds', examples: [1_780_272_904_000] }),
  created_by: z
    .string()
    .nullable()
    .meta({
      description:
        "the user whose credential created it, or the fingerprint of a credential of none; null if it wasn't created over HTTP",
      examples: ['ada'],
    }),
  expires_at: instant('when it ends; null if it never does', 1_790_812_800_000),
  revoked_at: instant('when it was revoked; null if it was not'),
  last_used_on: DaySchema.nullable().meta({
    description: 'the last UTC day on which a request had the key; null if there was none',
    examples: ['2026-06-10'],
  }),
});
export type Key = Readonly<z.infer<typeof Key>>;

export interface NewKey {
  readonly orgId: string;
  readonly role: Role;
  readonly name?: string | undefined;
  readonly userId?: string | undefined;
  readonly email?: string | undefined;
  readonly expiresAt?: number | undefined;
  readonly createdBy?: string | undefined;
}

const COLUMNS = Object.keys(Key.shape).join(', ');

/** For how many users keys are made at a time. */
export const USERS_AT_MOST = 10_000;

/** How many keys one statement makes or changes. */
const TOGETHER = 100;

/** Creates a key, and its organization if it is new. Only this answer has the key itself: the store has its SHA-256. */
export async function createKey(store: Store, wanted: NewKey, now: number): Promise<Key & { key: string }> {
  const [made] = await createKeys(store, [wanted], now);
  if (made === undefined) throw new Error('the new key is missing');
  return made;
}

/** Creates all keys or none, in the order wanted. They are of one organization. */
export async function createKeys(
  store: Store,
  wanted: readonly NewKey[],
  now: number,
): Promise<(Key & { key: string })[]> {
  const [first] = wanted;
  if (first === undefined) return [];
  await requireOrganization(store, first.orgId, now);
  await requireNotErased(
    store,
    first.orgId,
    wanted.flatMap(({ userId, email, name }) => [userId, email, name]),
  );
  const made = wanted.map(({ orgId, role, name, userId, email, expiresAt, createdBy }) => {
    const key = `dbk_${randomBytes(32).toString('base64url')}`;
    const keyHash = hash('sha256', key);
    const row = {
      ...{ key_id: `key_${ulid(now)}`, org_id: orgId, name: name ?? null, role, user_id: userId ?? null },
      ...{ user_email: email ?? null, fingerprint: keyHash.slice(0, 12), created_at: now },
      ...{
        created_by: createdBy ?? null,
        expires_at: expiresAt ?? null,
        revoked_at: null,
        last_used_on: null,
      },
    };
    return { row, key, keyHash };
  });
  const statements = [];
  for (let next = 0; next < made.length; next += TOGETHER) {
    const parameters: Record<string, string | number | null> = { now };
    const rows = made.slice(next, next + TOGETHER).map(({ row, keyHash }, index) => {
      for (const name of GIVEN) parameters[`${name}_${index}`] = row[name];
      parameters[`key_hash_${index}`] = keyHash;
      const values = GIVEN.map((name) =>
        name === 'expires_at' ? `instant($${name}_${index})` : `$${name}_${index}`,
      );
      return `SELECT ${values.join(', ')}, $key_hash_${index}, instant($now)`;
    });
    statements.push({
      sql: `INSERT INTO keys (${GIVEN.join(', ')}, key_hash, created_at) ${rows.join(' UNION ALL ')}`,
      parameters,
    });
  }
  await store.run(statements);
  loaded.drop(store);
  return made.map(({ row, key }) => ({ ...row, key }));
}

/** The columns of a new key whose values are given, beside its hash and instant. */
const GIVEN = [
  ...['key_id', 'org_id', 'name', 'role', 'user_id', 'user_email', 'fingerprint', 'created_by', 'expires_at'],
] as const;

/** The keys of an organization, or of all, oldest first. */
export async function listKeys(store: Store, orgId?: string): Promise<Key[]> {
  const rows = await store.select(
    `SELECT ${COLUMNS} FROM keys WHERE org_id = coalesce($org_id, org_id) ORDER BY created_at, key_id`,
    { org_id: orgId ?? null },
  );
  return keysIn(store, rows);
}

/** The keys of rows. One of a person's alias is the person's. */
function keysIn(store: Store, rows: readonly Row[]): Promise<Key[]> {
  return Promise.all(
    rows
      .map((row) => Key.parse(row))
      .map(async (key) => ({
        ...key,
        user_id: key.user_id && (await userOf(store, key.org_id, key.user_id)),
      })),
  );
}

/** The newest keys of an organization, newest first: those before a key, if it is given. */
export async function newestKeys(
  store: Store,
  orgId: string,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Key[]> {
  const rows = await store.select(
    // Ids begin with the time.
    `SELECT ${COLUMNS} FROM keys WHERE org_id = $org_id AND key_id < coalesce($before, 'l')
    ORDER BY key_id DESC LIMIT ${limit}`,
    { org_id: orgId, before: before ?? null },
  );
  return keysIn(store, rows);
}

/** How many keys of an organization are neither revoked nor expired. */
export async function countValidKeys(store: Store, orgId: string, now: number): Promise<number> {
  const [row] = await store.select(
    `SELECT count(*) AS keys FROM keys
    WHERE org_id = $org_id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > instant($now))`,
    { org_id: orgId, now },
  );
  return Number(row?.keys);
}

/** A key by its id or fingerprint, of an organization or of any; undefined if there is none. */
export async function findKey(store: Store, name: string, orgId?: string): Promise<Key | undefined> {
  const rows = await store.select(
    `SELECT ${COLUMNS} FROM keys
    WHERE (key_id = $name OR fingerprint = $name) AND org_id = coalesce($org_id, org_id)`,
    { name, org_id: orgId ?? null },
  );
  const [key] = await keysIn(store, rows);
  return key;
}

/** Revokes a key by its id or fingerprint, from the next request on; undefined if there is none. */
export async function revokeKey(
  store: Store,
  name: string,
  now: number,
  orgId?: string,
): Promise<Key | undefined> {
  const key = await findKey(store, name, orgId);
  if (key === undefined || key.revoked_at !== null) return key;
  await store.run([
    {
      sql: 'UPDATE keys SET revoked_at = instant($now) WHERE key_id = $key_id AND revoked_at IS NULL',
      parameters: { now, key_id: key.key_id },
    },
  ]);
  loaded.drop(store);
  return { ...key, revoked_at: now };
}

/** Revokes all keys of some users, from the next request on. */
export async function revokeKeysOf(
  store: Store,
  orgId: string,
  userIds: readonly string[],
  now: number,
): Promise<void> {
  await store.run([
    {
      sql: `UPDATE keys SET revoked_at = instant($now)
        WHERE org_id = $org_id AND user_id IN $user_ids AND revoked_at IS NULL`,
      parameters: { org_id: orgId, user_ids: userIds, now },
    },
  ]);
  loaded.drop(store);
}

/** The keys of each store that are not revoked, by hash. Changing keys drops them. */
const loaded = new OfStore<ReadonlyMap<string, Key>>(['keys']);
whenErased((store) => loaded.drop(store));

/**
 * TRICKY: all keys are read at once, not one by one. So a guessed key costs no query, however many are guessed.
 */
function keysOf(store: Store): Promise<ReadonlyMap<string, Key>> {
  return loaded.get(store, async () => {
    const rows = await store.select(`SELECT key_hash, ${COLUMNS} FROM keys WHERE revoked_at IS NULL`);
    return new Map(rows.map((row) => [String(row.key_hash), Key.parse(row)]));
  });
}

/** The hash by which a key is found; undefined for a text that can't be a key. */
export function hashOf(key: string): string | undefined {
  return /^dbk_[A-Za-z0-9_-]{43}$/.test(key) ? hash('sha256', key) : undefined;
}

/** Whom a key stands for, by its hash; undefined if it is unknown, expired or revoked. */
export async function callerOfHash(store: Store, keyHash: string, now: number): Promise<Caller | undefined> {
  const key = (await keysOf(store)).get(keyHash);
  if (key === undefined || (key.expires_at !== null && key.expires_at <= now)) return undefined;
  noteUse(store, key, now);
  const { org_id, role, user_id, user_email, fingerprint } = key;
  return { orgId: org_id, role, userId: user_id, email: user_email, credential: fingerprint };
}

/** The keys of each store whose newest use isn't stored yet, with the day of it. */
const uses = new WeakMap<Store, Map<string, Day>>();

function noteUse(store: Store, { key_id, last_used_on }: Key, now: number): void {
  const day = dayOf(now);
  if (last_used_on !== null && last_used_on >= day) return;
  const noted = uses.get(store) ?? new Map<string, Day>();
  uses.set(store, noted.set(key_id, day));
}

/** Stores the days on which keys were used. Each key is written once a day at most, unless storing fails. */
export async function saveKeyUses(store: Store): Promise<void> {
  const noted = uses.get(store);
  if (noted === undefined) return;
  uses.delete(store);
  try {
    for (const day of new Set(noted.values())) {
      const ids = [...noted].filter(([, other]) => other === day).map(([keyId]) => quote(keyId));
      while (ids.length > 0)
        await store.run([
          {
            // Another node may have noted the same, or a later day.
            sql: `UPDATE keys SET last_used_on = CAST($day AS DATE)
              WHERE key_id IN (${ids.splice(0, TOGETHER).join(', ')}) AND (last_used_on IS NULL OR last_used_on < CAST($day AS DATE))`,
            parameters: { day },
          },
        ]);
    }
  } catch (error) {
    uses.set(store, new Map([...noted, ...(uses.get(store) ?? [])]));
    throw error;
  } finally {
    loaded.drop(store);
  }
}
