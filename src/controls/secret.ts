import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../exit.js';
import { makeFolder, unwritable } from '../folder.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY = /^[A-Za-z0-9_-]{43}$/;

/** Makes the file of the key unless it is there: it gets its name when it is whole, whoever else makes it at the same time. */
function requireKeyFile(folder: string): string {
  const path = join(folder, 'secret.key');
  if (!existsSync(path)) {
    makeFolder(folder);
    const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
    try {
      const text = `${randomBytes(32).toString('base64url')}\n`;
      writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true });
      linkSync(draft, path);
      const entries = openSync(folder, 'r');
      fsyncSync(entries);
      closeSync(entries);
    } catch (error) {
      if (!existsSync(path)) throw unwritable(folder, error);
    } finally {
      rmSync(draft, { force: true });
    }
  }
  const text = readFileSync(path, 'utf8').trim();
  if (!KEY.test(text))
    throw new UsageError(
      `The file ${path} is not the key that Daybook made: put it back from a backup, or set DAYBOOK_SECRET_KEY.`,
    );
  return text;
}

/** Encrypts secrets, so that the database and its backups don't tell them (AES-256-GCM). */
export class SecretKey {
  private constructor(private readonly key: Buffer) {}

  /** The key of the settings, or the one in the data folder, which is made when it isn't there. Throws a UsageError. */
  static open({ data, secretKey }: { data: string; secretKey: string | undefined }): SecretKey {
    const material = secretKey ?? requireKeyFile(data);
    return new SecretKey(Buffer.from(hkdfSync('sha256', material, '', 'daybook secrets', 32)));
  }

  /** A value, encrypted: the same value is another text each time. It can be read in the same place only. */
  seal(value: unknown, place: readonly string[]): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(Buffer.from(JSON.stringify(place)));
    const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
  }

  /** What was sealed; undefined when that was with another key, in another place, or the text is damaged. */
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
