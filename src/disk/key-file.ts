import { hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, UsageError } from '../exit.js';
import { makeFolder, syncNow, unwritable } from './folder.js';

const KEY = /^[A-Za-z0-9_-]{43}$/;

function pathOf(folder: string): string {
  return join(folder, 'secret.key');
}

/** Makes the file of the key unless it is there: it gets its name when it is whole, whoever else makes it at the same time. */
function requireKeyFile(folder: string): string {
  const path = pathOf(folder);
  if (!existsSync(path)) {
    makeFolder(folder);
    const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
    try {
      const text = `${randomBytes(32).toString('base64url')}\n`;
      writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true });
      linkSync(draft, path);
      syncNow(folder);
    } catch (error) {
      if (!existsSync(path)) throw unwritable(folder, error);
    } finally {
      rmSync(draft, { force: true });
    }
  }
  return read(path);
}

/** Where the key of an installation is: in the settings, or in the data folder. */
export interface KeySource {
  readonly data: string;
  readonly secretKey?: string | undefined;
}

/** What a file of a key says. Throws a UsageError for one that can't be read, or is no key. */
function read(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new UsageError(
      `The key in ${path} can't be read (${codeOf(error)}): make it readable for the user that runs Daybook, or copy it from a backup.`,
    );
  }
  if (!KEY.test(text))
    throw new UsageError(
      `The file ${path} is not the key that Daybook made: copy the key from a backup, or set DAYBOOK_SECRET_KEY.`,
    );
  return text;
}

/** Whether the key is there. Throws a UsageError for one that can't be read, or is damaged. */
export function hasKey({ data, secretKey }: KeySource): boolean {
  if (secretKey !== undefined) return true;
  const path = pathOf(data);
  return existsSync(path) && read(path) !== '';
}

/**
 * The 32 bytes of the installation's key for one purpose; those of other purposes tell nothing about them. The key in the data
 * folder is made when it isn't there. Throws a UsageError when that can't be, or it is damaged.
 */
export function keyFor(purpose: string, { data, secretKey }: KeySource): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey ?? requireKeyFile(data), '', purpose, 32));
}
