import { mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { stampOf } from '../day.js';
import { DATABASE } from '../disk/data-files.js';
import { copyLocked, isFull, requireRoom } from '../disk/folder.js';
import { sync } from '../disk/refusals.js';
import { rename, rm } from '../disk/renames.js';
import { MayPass } from '../exit.js';
import { checkpointBytes, databaseBytes } from './database-size.js';
import type { Session } from './duckdb-session.js';
import { areTablesOld, changesAfter, definedIn, isOfOtherEngine, newestChange } from './schema-change.js';

/** How many copies are kept: that of the last upgrade, and of the one before. */
const KEPT = 2;

/** The names of copies: of a database with this newest change, copied at this instant. */
const COPY = /^daybook-\d{4}-(\d{8}T\d{6}Z)\.duckdb$/;

/**
 * Copies a database that this version is about to change into the folder `backups` of its data folder: when there are numbered
 * changes that it hasn't seen, when another version of DuckDB wrote to it, or when day tables are made anew that have days whose events are
 * gone. Nobody else uses it yet. The format of the file is a fixed one, so the version before can read the copy.
 * Throws a UsageError where there is no room, and for a database of a newer version.
 */
export async function copyBeforeUpgrade(session: Session, folder: string, now: number): Promise<void> {
  const database = definedIn(session);
  const newest = await newestChange(database);
  const isChanged =
    newest > 0 &&
    (changesAfter(newest).length > 0 ||
      (await isOfOtherEngine(database)) ||
      ((await session.select('SELECT 1 FROM removed_days LIMIT 1')).length > 0 &&
        (await areTablesOld(database))));
  if (!isChanged) return;
  const path = join(folder, DATABASE);
  const backups = join(folder, 'backups');
  const copy = join(backups, `daybook-${String(newest).padStart(4, '0')}-${stampOf(now)}.duckdb`);
  const { file, log } = databaseBytes(folder);
  const what = 'Copying the database before its upgrade';
  await requireRoom(folder, file + log + checkpointBytes(folder), what);
  await session.run('CHECKPOINT');
  await requireRoom(folder, (await stat(path)).size, what);
  await mkdir(backups, { recursive: true, mode: 0o700 });
  await sync(folder);
  try {
    await copyLocked(path, `${copy}.unfinished`);
    await rename(`${copy}.unfinished`, copy);
    await sync(backups);
  } catch (error) {
    if (!isFull(error)) throw error;
    throw new MayPass(
      `The disk of ${folder} is full, and the database was not upgraded: make room for a copy of it.`,
    );
  } finally {
    await removeOthers(backups, basename(copy));
  }
}

/** Removes unfinished and old copies. The newest one stays, also if the clock was set back. */
async function removeOthers(backups: string, newest: string): Promise<void> {
  const names = await readdir(backups);
  const instantOf = (name: string) => (name === newest ? 'newest' : (COPY.exec(name)?.[1] ?? ''));
  const copies = names
    .filter((name) => COPY.test(name))
    .sort((a, b) => (instantOf(a) < instantOf(b) ? 1 : -1));
  const unfinished = names.filter((name) => name.endsWith('.unfinished'));
  for (const name of [...unfinished, ...copies.slice(KEPT)]) await rm(join(backups, name), { force: true });
}
