import { createHmac, timingSafeEqual } from 'node:crypto';
import { type KeySource, keyFor } from '../disk/key-file.js';

/** The operation that a signed address permits. */
export type Permission = 'PUT' | 'GET';

/** Signs addresses that permit one operation on one transfer until an instant (docs/computers.md, "Send a file"). */
export class Signer {
  private constructor(private readonly key: Buffer) {}

  /** Opens the key, so that addresses stay valid when the service restarts. Throws a UsageError for a key that can't be used. */
  static open(source: KeySource): Signer {
    return new Signer(keyFor('daybook addresses', source));
  }

  /** The query string of a signed address. */
  query(permission: Permission, transferId: string, expiresAt: number): string {
    return `expires=${expiresAt}&signature=${this.sign(permission, transferId, expiresAt).toString('base64url')}`;
  }

  /** Whether an address permits this now (Unix milliseconds). */
  isSigned(
    permission: Permission,
    transferId: string,
    { expires, signature }: { expires: number; signature: string },
    now: number,
  ): boolean {
    const expected = this.sign(permission, transferId, expires);
    const given = Buffer.from(signature, 'base64url');
    return given.length === expected.length && timingSafeEqual(given, expected) && now < expires;
  }

  private sign(permission: Permission, transferId: string, expires: number): Buffer {
    return createHmac('sha256', this.key).update(`${permission} ${transferId} ${expires}`).digest();
  }
}
