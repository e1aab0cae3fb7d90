import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, UsageError } from '../exit.js';
import { rmSync } from './renames.js';

/** The errors of a file system that can't do something at all, such as SMB, exFAT or a mounted bucket. */
const REFUSALS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EBADF', 'EISDIR', 'EMLINK'];

export function isRefused(error: unknown): boolean {
  return REFUSALS.includes(codeOf(error));
}

/**
 * Syncs a file's bytes, or a folder's entries, to disk, and answers the size in bytes. A folder that can't be synced is left to the system:
 * that is so on Windows, whose disks keep a journal, and `serve` refuses other disks.
 */
export async function sync(path: string): Promise<number> {
  const opened = await open(path, 'r');
  try {
    const found = await opened.stat();
    try {
      await opened.sync();
    } catch (error) {
      if (!found.isDirectory() || !isRefused(error)) throw error;
    }
    return found.size;
  } finally {
    await opened.close();
  }
}

/** Syncs a folder's entries to disk. A folder that can't be read or synced is left to the system. Answers false if its disk refuses it. */
export function syncNow(folder: string): boolean {
  let opened: number | undefined;
  try {
    opened = openSync(folder, 'r');
    const descriptor = opened;
    return can(() => fsyncSync(descriptor));
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    return true;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** Whether a disk does something. Throws any error but a refusal. */
export function can(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (isRefused(error)) return false;
    throw error;
  }
}

/** Lets nobody but the owner read a file. Answers false if its disk has no such modes. */
export async function makePrivate(file: Pick<FileHandle, 'chmod'>): Promise<boolean> {
  try {
    await file.chmod(0o600);
    return true;
  } catch (error) {
    if (isRefused(error)) return false;
    throw error;
  }
}

/** The error for a data folder whose disk can't do something. */
export function unfit(folder: string, missing: string): UsageError {
  return new UsageError(
    `The disk of the data folder ${folder} refuses ${missing}, which Daybook needs to lose nothing: put the data folder on a local disk, and only backups there.`,
  );
}

/**
 * Checks what a service needs of the disk of its data folder. Throws a UsageError that names all that the disk refuses, and answers whether
 * it has modes, which only hide files from other users of the machine. A folder that can't be written is left to who writes there.
 */
export function requireFitDisk(folder: string): boolean {
  const path = join(folder, `new-${randomUUID()}`);
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
  } catch {
    return true;
  }
  try {
    const missing = [
      can(() => linkSync(path, `${path}-link`)) ? '' : 'hard links',
      process.platform === 'win32' || syncNow(folder) ? '' : 'to sync folders',
    ].filter(Boolean);
    if (missing.length > 0) throw unfit(folder, missing.join(' and '));
    return can(() => chmodSync(path, 0o600));
  } finally {
    for (const name of [path, `${path}-link`]) rmSync(name, { force: true });
  }
}
