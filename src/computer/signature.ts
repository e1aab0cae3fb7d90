import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../folder.js';

/** What a signed address permits. */
export type Permission = 'PUT' | 'GET';

/** Signs addresses that permit one thing with one transfer, until an instant (decisions.md, File upload). */
export class Signer {
  private constructor(private readonly key: Buffer) {}

  /** Takes the key of a data folder, made when there is none. What one service signed the next one takes. */
  static open(data: string): Signer {
    const path = join(data, 'signing.key');
    makeFolder(data);
    for (;;) {
      try {
        return new Signer(readFileSync(path));
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      }
      const draft = `${path}.${process.pid}`;
      rmSync(draft, { force: true });
      const file = openSync(draft, 'wx', 0o600);
      try {
        writeSync(file, randomBytes(32));
        fsyncSync(file);
        linkSync(draft, path);
      } catch (error) {
        // Another process was faster: its key is the one.
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      } finally {
        closeSync(file);
        rmSync(draft, { force: true });
      }
    }
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
