import { createHmac, timingSafeEqual } from 'node:crypto';
import { type KeySource, keyFor } from '../disk/key-file.js';

/** What a signed address permits. */
export type Permission = 'PUT' | 'GET';

/** Signs addresses that permit one thing with one transfer, until an instant (decisions.md, File upload). */
export class Signer {
  private constructor(private readonly key: Buffer) {}

  /** What one service signed the next one takes. Throws a UsageError for a key that can't be used. */
  static open(source: KeySource): Signer {
    return new Signer(keyFor('daybook addresses', source));
  }

  /** What goes behind the question mark. */
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
