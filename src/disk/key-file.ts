import { hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, UsageError } from '../exit.js';
import { makeFolder, unwritable } from './folder.js';
import { isRefused, syncNow, unfit } from './refusals.js';
import { rmSync } from './renames.js';

const KEY = /^[A-Za-z0-9_-]{43}$/;

function pathOf(folder: string): string {
  return join(folder, 'secret.key');
}

/** Creates the key file unless it exists. It gets its name once it is complete, so several processes can do this at the same time. */
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
      if (!existsSync(path)) throw isRefused(error) ? unfit(folder, 'hard links') : unwritable(folder, error);
    } finally {
      rmSync(draft, { force: true });
    }
  }
  return read(path);
}

/** The source of an installation's key: the settings, or the data folder. */
export interface KeySource {
  readonly data: string;
  readonly secretKey?: string | undefined;
}

/** Reads a key file. Throws a UsageError if it can't be read, or has no key. */
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

/** Whether the key exists. Throws a UsageError if it can't be read, or is damaged. */
export function hasKey({ data, secretKey }: KeySource): boolean {
  if (secretKey !== undefined) return true;
  const path = pathOf(data);
  return existsSync(path) && read(path) !== '';
}

/**
 * Derives the 32 bytes of the installation's key for one purpose; keys for other purposes reveal nothing about it. Creates the key in the
 * data folder if it doesn't exist. Throws a UsageError if that fails, or if the key is damaged.
 */
export function keyFor(purpose: string, { data, secretKey }: KeySource): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey ?? requireKeyFile(data), '', purpose, 32));
}
