import { createHmac, randomBytes } from 'node:crypto';
import type { Store } from '../store.js';
import { inTurn, OfOrganizations } from './of-store.js';

/** The secrets of each store's organizations, which never change. */
const known = new OfOrganizations<Buffer>([]);

/** What names are hashed for. A hash for one purpose says nothing of one for another. */
export type Purpose = 'pseudonym' | 'erased' | 'vendor';

/** Hashes a name with the secret of an organization (HMAC-SHA-256, RFC 2104). */
export type NameHash = (name: string) => Buffer;

/** The hash of names of an organization for a purpose. The first call for an organization makes its secret. */
export async function nameHash(
  store: Store,
  orgId: string,
  purpose: Purpose,
  now: number,
): Promise<NameHash> {
  return hashWith(await known.get(store, orgId, () => readOrMake(store, orgId, now)), purpose);
}

/** The hash of names with a secret. */
export function hashWith(secret: Buffer, purpose: Purpose): NameHash {
  return (name) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([purpose, name]))
      .digest();
}

async function readOrMake(store: Store, orgId: string, now: number): Promise<Buffer> {
  const read = async (from: Pick<Store, 'select'>) => {
    const [row] = await from.select(
      'SELECT secret FROM organization_secrets WHERE org_id = $org_id ORDER BY added_at, secret LIMIT 1',
      { org_id: orgId },
    );
    return row === undefined ? undefined : Buffer.from(String(row.secret), 'hex');
  };
  const stored = await read(store);
  if (stored !== undefined) return stored;
  return inTurn(store, `organization_secrets ${orgId}`, async (turn) => {
    const others = await read(turn);
    if (others !== undefined) return others;
    const secret = randomBytes(32);
    await turn.run([
      {
        sql: 'INSERT INTO organization_secrets SELECT $org_id, $secret, instant($now)',
        parameters: { org_id: orgId, secret: secret.toString('hex'), now },
      },
    ]);
    return secret;
  });
}
