import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { digestOf } from '../disk/file-digest.js';
import { rm } from '../disk/renames.js';
import { codeOf, messageOf } from '../exit.js';
import { type FileJob, JobFailed } from './agent-message.js';

type Target = Omit<FileJob, 'type' | 'url'>;

/** Whether an open descriptor can name a folder, so that it stays the same folder even if its path changes. */
const HAS_DESCRIPTORS = process.platform === 'linux';

/** How old the temporary file of another transfer must be before it is removed as left over from a killed agent. */
const STALE_MS = 3_600_000;

/** A folder that is known to be inside the workspace. */
class Folder {
  private constructor(
    readonly handle: FileHandle,
    /** A path that names the folder as long as it is open. */
    readonly path: string,
  ) {}

  static async open(path: string): Promise<Folder> {
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    return new Folder(handle, HAS_DESCRIPTORS ? `/proc/self/fd/${handle.fd}` : await realpath(path));
  }

  /** The folder's current path. */
  real(): Promise<string> {
    return HAS_DESCRIPTORS ? readlink(this.path) : realpath(this.path);
  }

  /** Opens a folder in this one, and creates it if it is missing. */
  async enter(name: string): Promise<Folder> {
    try {
      await mkdir(join(this.path, name));
      await this.handle.sync();
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    return Folder.open(`${this.path}/${name}`);
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

/**
 * Opens a folder of the workspace, step by step. TRICKY: a link is followed first, and then checked by where the open folder is.
 * Swapping a folder for a link at any instant changes nothing, since each step starts at the folder that was checked.
 */
async function enter(workspace: string, destPath = ''): Promise<Folder> {
  let folder = await Folder.open(workspace);
  const root = await folder.real();
  for (const name of destPath.split('/').filter(Boolean)) {
    const before = folder;
    try {
      folder = await before.enter(name);
    } finally {
      await before.close();
    }
    const real = await folder.real();
    if (!real.startsWith(root === '/' ? root : `${root}/`)) {
      await folder.close();
      throw new JobFailed('outside', "A link in the file's path leads outside the workspace.");
    }
  }
  return folder;
}

/** The prefix of temporary files. No uploaded file can have it, because names must not have two dots in a row. */
const PREFIX = '.daybook..';

/**
 * Writes a file into the workspace: whole or not at all, never over another file, and never outside. A file that was already
 * written for the same transfer is left as it is. Throws JobFailed.
 */
export async function writeFile(
  workspace: string,
  target: Target,
  source: () => Promise<Readable>,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    const folder = await enter(workspace, target.destPath);
    try {
      await place(folder, target, source, now, signal);
    } finally {
      await folder.close();
    }
  } catch (error) {
    throw refusalOf(error);
  }
}

async function place(
  folder: Folder,
  target: Target,
  source: () => Promise<Readable>,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  await removeLeftovers(folder, target.transferId, now);
  // TRICKY: with join, a file named "." would become the folder itself.
  const path = `${folder.path}/${target.fileName}`;
  if (await exists(path, target)) return;
  const draft = `${folder.path}/${PREFIX}${target.transferId}.${randomBytes(6).toString('hex')}`;
  const file = await open(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o666,
  );
  try {
    await receive(file, target, source, signal);
    try {
      await link(draft, path);
    } catch (error) {
      if (codeOf(error) === 'EEXIST' && (await exists(path, target))) return;
      throw error;
    }
    await folder.handle.sync();
  } finally {
    await file.close();
    await rm(draft).catch(() => undefined);
  }
}

/** Whether the file of this transfer already exists. Throws JobFailed if a different one does. */
async function exists(path: string, target: Target): Promise<boolean> {
  let found: Awaited<ReturnType<typeof lstat>>;
  try {
    found = await lstat(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  const isAlike =
    found.isFile() && found.size === target.sizeBytes && Math.round(found.mtimeMs) === target.createdAt;
  if (isAlike && (await digestOf(path)).sha256 === target.sha256) return true;
  throw new JobFailed('exists', 'A file with that name is already there.');
}

/** Fills a file, and syncs it to disk. Throws JobFailed when the bytes are not those that were announced. */
async function receive(
  file: FileHandle,
  { sizeBytes, sha256, createdAt }: Target,
  source: () => Promise<Readable>,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = await source();
  const abort = () => stream.destroy(new Error('stopped'));
  signal.addEventListener('abort', abort);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > sizeBytes) break;
      hash.update(chunk);
      await file.writeFile(chunk);
    }
  } catch (error) {
    // Errors of the disk are passed on as they are; all others come from the download.
    if (['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'].includes(codeOf(error))) throw error;
    throw new JobFailed(
      'unreachable',
      `The bytes could not be fetched (${codeOf(error) || messageOf(error)}).`,
    );
  } finally {
    signal.removeEventListener('abort', abort);
    stream.destroy();
    await finished(stream, { cleanup: true }).catch(() => undefined);
  }
  if (bytes !== sizeBytes || hash.digest('hex') !== sha256)
    throw new JobFailed('changed', 'The fetched bytes are not the announced ones.');
  await file.utimes(createdAt / 1000, createdAt / 1000);
  await file.sync();
}

/** Removes the temporary files of killed agents: those of this transfer, and old ones of others. */
async function removeLeftovers(folder: Folder, transferId: string, now: number): Promise<void> {
  for (const name of await readdir(folder.path)) {
    if (!name.startsWith(PREFIX)) continue;
    const path = `${folder.path}/${name}`;
    const isOwn = name.startsWith(`${PREFIX}${transferId}.`);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile() === true && (isOwn || found.mtimeMs < now - STALE_MS))
      await rm(path).catch(() => undefined);
  }
}

/** Turns an error into the reason that the service is told. */
function refusalOf(error: unknown): JobFailed {
  if (error instanceof JobFailed) return error;
  switch (codeOf(error)) {
    case 'EEXIST':
      return new JobFailed('exists', 'A file with that name is already there.');
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new JobFailed('full', `The disk has no room for the file (${codeOf(error)}).`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new JobFailed('denied', `The agent may not write there (${codeOf(error)}).`);
    case 'ENAMETOOLONG':
      return new JobFailed('denied', 'A name is longer than the file system allows (ENAMETOOLONG).');
    case 'ENOTDIR':
    case 'ELOOP':
    case 'ENOENT':
      return new JobFailed('denied', `A part of the file's path is not a folder (${codeOf(error)}).`);
    default:
      return new JobFailed(
        'failed',
        `The file could not be written (${codeOf(error) || messageOf(error)}).`.slice(0, 1000),
      );
  }
}
