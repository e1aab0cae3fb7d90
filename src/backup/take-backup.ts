import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { DuckDBInstance } from '../arrow/duckdb-driver.js';
import { DATABASE } from '../disk/data-files.js';
import { digestOf } from '../disk/file-digest.js';
import { copyLocked, isFull, makeFolder, requireRoom, sync, syncTree } from '../disk/folder.js';
import { VERSION } from '../disk/package-root.js';
import { codeOf, UsageError } from '../exit.js';
import type { Config } from '../settings/config.js';
import { checkpointBytes, databaseBytes } from '../store/database-size.js';
import { type BackedUpFile, MANIFEST, type Manifest } from './backup-manifest.js';
import { makeDraft } from './draft.js';

/** How far a backup is, in bytes. */
type Progress = (done: number, total: number) => void;

/** Has the files of the data folder kept as they are while `copy` goes on: what waits is linked below the folder `links`. */
export type Held = (copy: (links: string, heldAt: number) => Promise<void>) => Promise<void>;

/** The files below a folder, by their paths from there. */
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
 * Throws a UsageError where there is no room for a backup, and, on the same disk, for the log that the database takes in
 * before. It is asked before anything begins, since the database fails when it finds that room missing.
 */
async function requireRoomFor(config: Config, folder: string): Promise<void> {
  const { data } = config;
  const { file, log } = config.clickhouse === undefined ? databaseBytes(data) : { file: 0, log: 0 };
  let bytes = file + log;
  // What is settled meanwhile goes.
  for (const part of ['inbox/ready', 'inbox/settling', 'objects'])
    for (const path of await filesBelow(join(data, part)))
      bytes += statSync(join(data, part, path), { throwIfNoEntry: false })?.size ?? 0;
  const isSameDisk = existsSync(data) && statSync(data).dev === statSync(folder).dev;
  await requireRoom(folder, bytes + (isSameDisk && log > 0 ? checkpointBytes(data) : 0), 'The backup');
}

/** The files of the data folder that nobody writes to, or that are replaced whole, by their paths from there. */
function settledFiles({ data, rateCard }: Config): string[] {
  const card = relative(data, rateCard);
  return ['secret.key', ...(card.startsWith('..') || card.startsWith(sep) ? [] : [card])].filter((path) =>
    existsSync(join(data, path)),
  );
}

/**
 * Writes a backup of a data folder into a folder that isn't there or is empty: all that the folder holds and that can't be
 * computed again, as it was at one instant. The folder has its name once all of it is on disk. Throws a UsageError for a
 * folder that has something in it or can't be written to, and where there is no room.
 */
export async function backUp(
  config: Config,
  folder: string,
  held: Held,
  progress: Progress = () => {},
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
    const manifest = await describe(draft, config, takenAt, progress);
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

/** The sentence for a folder that has something in it. */
function isTaken(folder: string): UsageError {
  return new UsageError(`The folder ${folder} is not empty: name a new folder.`);
}

/** The sentence for a folder that a backup can't be written to. */
function unwritable(folder: string, error: unknown): UsageError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new UsageError(
    isFull(error)
      ? `The disk is full, and there is no backup in ${folder}: make room, or name a folder on another disk.`
      : `The backup can't be written to ${folder} (${code}): ${message}.`,
  );
}

/** Copies what is held, of a store in a file its file too. */
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

/** Reads what was copied, and has the disk keep it. */
async function describe(
  draft: string,
  config: Config,
  takenAt: number,
  progress: Progress,
): Promise<Manifest> {
  const paths = await filesBelow(draft);
  const total = await sizeOf(paths.map((path) => join(draft, path)));
  const files: BackedUpFile[] = [];
  let done = 0;
  for (const path of paths) {
    const place = join(draft, path);
    const file = await open(place, 'r+');
    await file.chmod(0o600);
    await file.sync();
    await file.close();
    const digest = await digestOf(place, async ({ length }) => {
      done += length;
      progress(done, total);
    });
    files.push({ path: path.replaceAll(sep, '/'), ...digest });
  }
  await syncTree(draft);
  return {
    format: 1,
    version: VERSION,
    store: config.clickhouse === undefined ? 'duckdb' : 'clickhouse',
    change: config.clickhouse === undefined ? await changeOf(join(draft, DATABASE)) : 0,
    taken_at: new Date(takenAt).toISOString(),
    files,
  };
}

/** The newest numbered change of a database: who can read it has a file that is a whole one. */
async function changeOf(path: string): Promise<number> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY', temp_directory: '' });
  const connection = await instance.connect();
  try {
    const rows = await connection.runAndReadAll('SELECT max(number) FROM changes');
    return Number(rows.getRows()[0]?.[0] ?? 0);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
