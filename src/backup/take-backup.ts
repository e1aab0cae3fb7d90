import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdir, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { connectTo, DuckDBInstance } from '../arrow/duckdb-driver.js';
import { DATABASE, FETCHED_PRICES } from '../disk/data-files.js';
import { digestOf } from '../disk/file-digest.js';
import { copyLocked, isFull, makeFolder, requireRoom, syncTree } from '../disk/folder.js';
import { VERSION } from '../disk/package-root.js';
import { makePrivate, sync } from '../disk/refusals.js';
import { rename, rm } from '../disk/renames.js';
import { codeOf, UsageError } from '../exit.js';
import type { Config } from '../settings/config.js';
import { checkpointBytes, databaseBytes } from '../store/database-size.js';
import { type BackedUpFile, MANIFEST, type Manifest } from './backup-manifest.js';
import { makeDraft } from './draft.js';

/** The progress of a backup, in bytes. */
type Progress = (done: number, total: number) => void;

/** Keeps the files of the data folder unchanged during `copy`. Waiting files are linked below the folder `links`. */
export type Held = (copy: (links: string, heldAt: number) => Promise<void>) => Promise<void>;

/** The paths of all files below a folder, relative to it. */
export async function filesBelow(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

async function sizeOf(paths: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const path of paths) bytes += (await stat(path)).size;
  return bytes;
}

/**
 * Throws a UsageError if there is no room for the backup and, on the same disk, for writing the database's log into its file. This is
 * checked before anything begins, since the database fails if it runs out of room while doing that.
 */
async function requireRoomFor(config: Config, folder: string): Promise<void> {
  const { data } = config;
  const { file, log } = config.clickhouse === undefined ? databaseBytes(data) : { file: 0, log: 0 };
  let bytes = file + log;
  // Files may be settled and removed meanwhile.
  for (const part of ['inbox/ready', 'inbox/settling', 'objects'])
    for (const path of await filesBelow(join(data, part)))
      bytes += statSync(join(data, part, path), { throwIfNoEntry: false })?.size ?? 0;
  const isSameDisk = existsSync(data) && statSync(data).dev === statSync(folder).dev;
  await requireRoom(folder, bytes + (isSameDisk && log > 0 ? checkpointBytes(data) : 0), 'The backup');
}

/** The files of the data folder that are never written to, or only replaced as a whole, relative to the folder. */
function settledFiles({ data, rateCard, prices }: Config): string[] {
  const chosen = [rateCard, ...(prices === undefined ? [] : [prices])]
    .map((path) => relative(data, path))
    .filter((path) => !path.startsWith('..') && !path.startsWith(sep));
  return ['secret.key', FETCHED_PRICES, ...chosen].filter((path) => existsSync(join(data, path)));
}

/**
 * Writes a backup of a data folder into a new or empty folder: everything in it that can't be computed again, as it was at one instant.
 * The folder gets its name once it is completely on disk. Throws a UsageError if the folder isn't empty or can't be written to, and if
 * there is no room.
 */
export async function backUp(
  config: Config,
  folder: string,
  held: Held,
  progress: Progress = () => {},
  warn: (sentence: string) => void = () => {},
): Promise<Manifest> {
  makeFolder(dirname(folder), unwritable);
  let draft: string | undefined;
  try {
    if (existsSync(folder) && (await readdir(folder)).length > 0) throw isTaken(folder);
    draft = await makeDraft(dirname(folder), basename(folder));
    const place = draft;
    await requireRoomFor(config, dirname(draft));
    let takenAt = 0;
    await held(async (links, heldAt) => {
      takenAt = heldAt;
      await copyFiles(config, links, place);
    });
    const { manifest, isPrivate } = await describe(draft, config, takenAt, progress);
    if (!isPrivate)
      warn(
        `The disk of ${folder} has no permissions (chmod is refused): whoever can use the disk can read the backup.`,
      );
    const file = await open(join(draft, MANIFEST), 'wx', 0o600);
    await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
    await file.sync();
    await file.close();
    await sync(draft);
    await rename(draft, folder);
    await sync(dirname(folder));
    return manifest;
  } catch (error) {
    if (draft !== undefined) await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    const code = codeOf(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') throw isTaken(folder);
    const isOfData = !isFull(error) && String((error as { path?: unknown }).path).startsWith(config.data);
    throw code === '' || isOfData ? error : unwritable(folder, error);
  }
}

/** The error for a folder that isn't empty. */
function isTaken(folder: string): UsageError {
  return new UsageError(`The folder ${folder} is not empty: name a new folder.`);
}

/** The error for a folder that a backup can't be written to. */
function unwritable(folder: string, error: unknown): UsageError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new UsageError(
    isFull(error)
      ? `The disk is full, and there is no backup in ${folder}: make room, or name a folder on another disk.`
      : `The backup can't be written to ${folder} (${code}): ${message}.`,
  );
}

/** Copies the held files, and the database file of a DuckDB store. */
async function copyFiles(config: Config, links: string, draft: string): Promise<void> {
  const database = config.clickhouse === undefined ? [DATABASE] : [];
  const from = (root: string, paths: readonly string[]) =>
    paths.map((path) => ({ source: join(root, path), copy: join(draft, path) }));
  const locked = from(config.data, database);
  const others = [...from(links, await filesBelow(links)), ...from(config.data, settledFiles(config))];
  const sources = [...locked, ...others].map(({ source }) => source);
  await requireRoom(dirname(draft), await sizeOf(sources), 'The backup');
  for (const { source, copy } of locked) await copyLocked(source, copy);
  for (const { source, copy } of others) {
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    await copyFile(source, copy);
  }
}

/** Syncs the copied files to disk, and describes them. */
async function describe(
  draft: string,
  config: Config,
  takenAt: number,
  progress: Progress,
): Promise<{ manifest: Manifest; isPrivate: boolean }> {
  const paths = await filesBelow(draft);
  const total = await sizeOf(paths.map((path) => join(draft, path)));
  const files: BackedUpFile[] = [];
  let done = 0;
  let isPrivate = true;
  for (const path of paths) {
    const place = join(draft, path);
    const file = await open(place, 'r+');
    isPrivate = (await makePrivate(file)) && isPrivate;
    await file.sync();
    await file.close();
    const digest = await digestOf(place, async ({ length }) => {
      done += length;
      progress(done, total);
    });
    files.push({ path: path.replaceAll(sep, '/'), ...digest });
  }
  await syncTree(draft);
  const manifest: Manifest = {
    format: 1,
    version: VERSION,
    store: config.clickhouse === undefined ? 'duckdb' : 'clickhouse',
    change: config.clickhouse === undefined ? await changeOf(join(draft, DATABASE)) : 0,
    taken_at: new Date(takenAt).toISOString(),
    files,
  };
  return { manifest, isPrivate };
}

/** The newest numbered change of a copied database. Reading it also proves that the file is complete. */
async function changeOf(path: string): Promise<number> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY', temp_directory: '' });
  const connection = await connectTo(instance);
  try {
    const rows = await connection.runAndReadAll('SELECT max(number) FROM changes');
    return Number(rows.getRows()[0]?.[0] ?? 0);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
