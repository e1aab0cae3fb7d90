import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, open, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '../arrow/duckdb-driver.js';
import { stampOf } from '../day.js';
import { DATABASE, RESTORED, STAGING } from '../disk/data-files.js';
import { digestOf } from '../disk/file-digest.js';
import { freeName, isFull, makeFolder, requireRoom, syncTree, writeWhole } from '../disk/folder.js';
import { sync } from '../disk/refusals.js';
import { rename, rm } from '../disk/renames.js';
import { codeOf, UsageError } from '../exit.js';
import { RESTORED_AT } from '../lake/earlier-snapshot.js';
import { LAKE } from '../lake/lake-paths.js';

import { holderIn, isLocked } from '../store/database-file.js';
import { CLICKHOUSE_MARK } from '../store/loss-mark.js';
import { changesAfter } from '../store/schema-change.js';
import { type BackedUpFile, type Manifest, placeOf, readManifest } from './backup-manifest.js';
import { makeDraft } from './draft.js';

/** Everything that Daybook keeps in a data folder, except databases. */
const OWN = new Set([CLICKHOUSE_MARK, 'inbox', 'objects', LAKE, 'secret.key']);

/** The entries of a data folder that a restore replaces. The names of a database's logs and marks begin with its own name. */
function ownIn(data: string): string[] {
  const names = existsSync(data) ? readdirSync(data) : [];
  return names
    .filter((name) => OWN.has(name) || name.startsWith(DATABASE) || name.startsWith(STAGING))
    .sort();
}

/** The result of a restore. */
export interface Restored {
  /** The manifest of the restored backup; undefined if this only finished an interrupted restore. */
  readonly manifest: Manifest | undefined;
  /** The folder of the files that were there before; undefined if there were none. */
  readonly aside: string | undefined;
}

/** The destination of a restore. */
export interface Place {
  readonly data: string;
  readonly store: Manifest['store'];
  /** Whether existing files may be moved aside. */
  readonly isReplacing: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Puts the files of a backup into a data folder that no process uses: all of them or none, and only if each matches the manifest. If an
 * earlier restore was interrupted while it moved files, this only finishes that one. Throws a UsageError, and then has changed
 * nothing.
 */
export async function restore(
  folder: string,
  { data, store, isReplacing, now }: Place,
  progress: (done: number, total: number) => void = () => {},
): Promise<Restored> {
  if (existsSync(join(data, RESTORED))) return { manifest: undefined, aside: await finish(data, now) };
  const manifest = await readManifest(folder);
  // Throws for a backup of a newer version.
  changesAfter(manifest.change);
  if (manifest.store !== store)
    throw new UsageError(
      `The backup in ${folder} is of the store ${manifest.store}, but DAYBOOK_STORE is ${store}: set it to that one.`,
    );
  const refuseOld = async () => {
    const old = ownIn(data);
    if (old.length > 0 && !isReplacing)
      throw new UsageError(
        `The data folder ${data} already has ${old.join(', ')}: restore into another folder, or move them aside with --replace.`,
      );
    for (const file of [DATABASE, STAGING]) if (old.includes(file)) await refuseOpen(data, file);
  };
  await refuseOld();
  makeFolder(data);
  const draft = await makeDraft(data, RESTORED);
  try {
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    await requireRoom(data, bytes, 'The backup');
    let done = 0;
    const files = join(draft, 'files');
    for (const file of manifest.files) {
      await copyWhole(file, folder, files, (length) => {
        done += length;
        progress(done, bytes);
      });
    }
    // What was published before isn't in the backup: the lake says why.
    await mkdir(join(files, LAKE), { recursive: true, mode: 0o700 });
    await writeWhole(join(files, LAKE, RESTORED_AT), new Date(now).toISOString());
    await syncTree(draft);
    await refuseOld();
    await rename(draft, join(data, RESTORED));
    // From now on no process opens the database, but one may have opened it just before.
    await refuseOld().catch(async (error) => {
      await rename(join(data, RESTORED), draft);
      throw error;
    });
    await sync(data);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (isFull(error))
      throw new UsageError(`The disk of ${data} is full, and nothing was restored: make room there.`);
    if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error)))
      throw new UsageError(
        `Another restore into ${data} was faster: run "daybook restore" again to finish it.`,
      );
    throw error;
  }
  return { manifest, aside: await finish(data, now) };
}

/** Throws a UsageError if another process has the database open. A damaged database can be replaced. */
async function refuseOpen(data: string, file: string): Promise<void> {
  try {
    const instance = await DuckDBInstance.create(join(data, file), {
      access_mode: 'READ_ONLY',
      temp_directory: '',
    });
    instance.closeSync();
  } catch (error) {
    if (isLocked(error))
      throw new UsageError(
        `${holderIn(error.message) ?? 'Another program'} has the database in ${data} open: end it first, or restore into another folder.`,
      );
  }
}

/** Copies a file. Throws a UsageError if its bytes don't match the manifest. */
async function copyWhole(
  file: BackedUpFile,
  from: string,
  to: string,
  progress: (bytes: number) => void,
): Promise<void> {
  const path = placeOf(file, from);
  const place = placeOf(file, to);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`The backup in ${from} lacks ${file.path}: use another backup.`);
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  const copy = await open(place, 'wx', 0o600);
  try {
    const { bytes, sha256 } = await digestOf(path, async (part) => {
      progress(part.length);
      await copy.writeFile(part);
    });
    if (bytes !== file.bytes || sha256 !== file.sha256)
      throw new UsageError(
        `The file ${file.path} of the backup in ${from} has changed since it was made: use another backup.`,
      );
    await copy.sync();
  } finally {
    await copy.close();
  }
}

/**
 * Moves existing files aside, and then the restored files to their places. It can be interrupted anywhere and repeated: no process opens
 * the data folder until it is done. Answers the folder of the old files.
 */
async function finish(data: string, now: number): Promise<string | undefined> {
  const files = join(data, RESTORED, 'files');
  // This name means that all old files are out of the way.
  const moving = join(data, RESTORED, 'moving');
  // Notes the folder for old files, including those that an interrupted restore has already moved.
  const noted = join(data, RESTORED, 'aside');
  if (existsSync(files) && !existsSync(noted))
    await writeWhole(noted, freeName(data, `replaced-${stampOf(now)}`));
  const replaced = existsSync(noted) ? join(data, await readFile(noted, 'utf8')) : undefined;
  if (existsSync(files) && replaced !== undefined) {
    const there = new Set(readdirSync(data));
    const restored = (await readdir(files)).filter((name) => there.has(name));
    for (const name of new Set([...ownIn(data), ...restored])) {
      await mkdir(replaced, { recursive: true, mode: 0o700 });
      await rename(join(data, name), join(replaced, name));
    }
    if (existsSync(replaced)) await sync(replaced);
    await sync(data);
    await rename(files, moving);
  }
  // If this folder is gone, all files are in place, and only the folder above it is left to remove.
  const left = existsSync(moving) ? await readdir(moving) : [];
  for (const name of left) await rename(join(moving, name), join(data, name));
  await sync(data);
  await rm(join(data, RESTORED), { recursive: true });
  await sync(data);
  return replaced !== undefined && existsSync(replaced) ? replaced : undefined;
}
