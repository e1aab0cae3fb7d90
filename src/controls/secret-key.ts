import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type KeySource, keyFor } from '../disk/key-file.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets, so that the database and its backups don't reveal them (AES-256-GCM). */
export class SecretKey {
  private made: Buffer | undefined;

  constructor(private readonly source: KeySource) {}

  /** The key, created on first use, so that reading settings without secrets creates no file. Throws a UsageError for an unusable key. */
  private get key(): Buffer {
    this.made ??= keyFor('daybook secrets', this.source);
    return this.made;
  }

  /** A value, encrypted: a different text each time, which can be decrypted only in the same place. */
  seal(value: unknown, place: readonly string[]): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(Buffer.from(JSON.stringify(place)));
    const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
  }

  /** The sealed value; undefined if it was sealed with another key or in another place, or is damaged. */
  open(sealed: string, place: readonly string[]): unknown {
    const bytes = Buffer.from(sealed, 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(JSON.stringify(place)))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
        decipher.final(),
      ]);
      return JSON.parse(text.toString('utf8'));
    } catch {
      return undefined;
    }
  }
}
