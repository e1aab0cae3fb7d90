import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { open, readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, MayPass, UsageError } from '../exit.js';
import { makePrivate, sync, syncNow } from './refusals.js';
import { rename } from './renames.js';

const run = promisify(execFile);

/** The error for a folder on a full disk. */
export function fullDisk(folder: string): UsageError {
  return new MayPass(`The disk of ${folder} is full: make room there, and run the command again.`);
}

/** The error for a data folder that the system doesn't let us write to. */
export function unwritable(folder: string, error: unknown): UsageError {
  if (isFull(error)) return fullDisk(folder);
  const code = codeOf(error);
  return new UsageError(
    `Daybook can't write to ${folder}${code === '' ? '' : ` (${code})`}: change its permissions, or choose another folder with --data or DAYBOOK_DATA.`,
  );
}

/** Creates a folder and its parents. If that fails, throws the UsageError that `sentence` makes. */
export function makeFolder(folder: string, sentence = unwritable): void {
  const missing: string[] = [];
  for (let path = folder; !existsSync(path) && dirname(path) !== path; path = dirname(path))
    missing.unshift(path);
  // TRICKY: one at a time, since a recursive mkdir never ends where the system only pretends to create folders, as below /proc.
  for (const path of missing) {
    try {
      mkdirSync(path);
      syncNow(dirname(path));
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      throw sentence(folder, error);
    }
  }
}

/** A name that doesn't exist in a folder yet: the given one, if necessary with a number. */
export function freeName(folder: string, first: string): string {
  let name = first;
  for (let number = 2; existsSync(join(folder, name)); number += 1) name = `${first}-${number}`;
  return name;
}

/** Syncs the entries of a folder and of all folders below it to disk. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await syncTree(join(folder, entry.name));
  await sync(folder);
}

/** Whether users of this machine other than the owner and the group can read a folder and one of these files in it. */
export function isOpenToAll(folder: string, names: readonly string[]): boolean {
  const isOpen = (path: string) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o007) !== 0;
  return process.platform !== 'win32' && isOpen(folder) && names.some((name) => isOpen(join(folder, name)));
}

/** Writes a file atomically: readers get either the old content or the new one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.new`;
  const file = await open(draft, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await sync(dirname(path));
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

/** Throws a UsageError if there is no room for so many bytes below a folder. `what` names what needs them. */
export async function requireRoom(folder: string, bytes: number, what: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (bytes > free)
    throw new MayPass(
      `${what} takes ${megabytes(bytes)} MB, but ${folder} has room for ${megabytes(free)} MB: make room there.`,
    );
}

/** Whether the system refused to read or write something. Errors of streams and request bodies have a code too, but no system call. */
export function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** Whether the disk is full, or this user's quota is. */
export function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(error));
}

/**
 * Copies a file that a database engine has open, for the owner alone, and syncs the copy to disk.
 * TRICKY: in another process, since a process loses its locks on a file when it closes any descriptor of it.
 */
export async function copyLocked(from: string, to: string): Promise<void> {
  try {
    await run('cp', ['--', from, to]);
  } catch (error) {
    // The message of `cp` is in the user's language.
    const { bavail, bsize } = await statfs(dirname(to));
    const { stderr = '' } = error as { stderr?: string };
    throw Object.assign(new Error(stderr.split('\n')[0] || String(error)), {
      code: bavail * bsize < (await stat(from)).size ? 'ENOSPC' : 'EIO',
    });
  }
  const copy = await open(to, 'r+');
  try {
    await makePrivate(copy);
    await copy.sync();
  } finally {
    await copy.close();
  }
}
