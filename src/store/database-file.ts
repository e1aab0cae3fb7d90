import { constants, copyFileSync, existsSync, linkSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DuckDBInstance, engineVersion } from '../arrow/duckdb-driver.js';
import { stampOf } from '../day.js';
import { DATABASE, refuseHalfRestored } from '../disk/data-files.js';
import { freeName, fullDisk, makeFolder, unwritable } from '../disk/folder.js';
import { isRefused, sync, unfit } from '../disk/refusals.js';
import { renameSync, rmSync } from '../disk/renames.js';
import { isRunning } from '../disk/running.js';
import { codeOf, UsageError } from '../exit.js';
import { isSpool } from './settler.js';
import { isOutOfRoom, StoreBusy } from './store-fault.js';

/** The format of the file: by itself the engine writes that of its oldest version, in which texts take a fifth more. */
export const STORAGE = { storage_compatibility_version: 'v1.5.0' };
/** How much of temporary files a database may have: by itself the engine takes nearly all of the disk. */
const TEMPORARY_GB = 16;

/** The resources of a database: MiB of memory, and processors (all of them by default). */
export interface Resources {
  readonly memoryMb: number;
  readonly threads?: number | undefined;
}

/** How a database is opened: to read, it isn't changed. */
export interface DatabaseOptions extends Resources {
  readonly now: number;
  readonly acceptsLoss?: boolean;
  readonly isReading?: boolean;
}

/** Whether a database can't be opened as another process has it open. */
export function isLocked(error: unknown): error is Error {
  return (
    error instanceof Error && /lock on file|already open|being used by another process/i.test(error.message)
  );
}

/** The program that has a database open, as `node (process 4711)`; undefined if the system doesn't tell. */
export function holderIn(message: string): string | undefined {
  const [, held = ''] = message.split('lock is held in ');
  const [program = '', after = ''] = held.split(' (PID ');
  const [pid] = /^\d+(?=\))/.exec(after) ?? [];
  return pid === undefined ? undefined : `${basename(program)} (process ${pid})`;
}

/** The log of a database, and how the name begins under which one is kept that could not be read. */
const LOG = `${DATABASE}.wal`;
const ASIDE = `${LOG}.damaged-`;

/** The log of a database can't be read. */
class DamagedLog extends UsageError {
  override name = 'DamagedLog';

  constructor(
    folder: string,
    /** The engine's message. */
    readonly reason: string,
  ) {
    super(
      `The log ${LOG} in ${folder} is damaged, or belongs to another database file: put back the two that belong together, restore a backup with "daybook restore", or continue without the log with --accept-loss. (${reason})`,
    );
  }
}

/** How many bytes an entry of the log has before its data: its length and its checksum. */
const ENTRY_HEAD_BYTES = 16;

/** The byte at which a log stops being readable; undefined if the error is another one. */
function readableBytes({ reason }: DamagedLog): number | undefined {
  const data = /entry at byte position (\d+)/.exec(reason)?.[1];
  return data === undefined ? undefined : Number(data) - ENTRY_HEAD_BYTES;
}

/** The names of copies of damaged logs, whose unreadable ends Daybook has dropped, oldest first. */
export function damagedLogs(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith(ASIDE))
    .sort();
}

/** Explains to the operator why a database can't be opened. */
export function sentenceOf(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || error instanceof UsageError) return error;
  if (isOutOfRoom(error)) return fullDisk(folder);
  const [cause = ''] = error.message.split('\n');
  const [, format] = /database file with version number (\d+)/i.exec(cause) ?? [];
  if (format !== undefined)
    return new UsageError(
      `The database in ${folder} has the format ${format} of another DuckDB than this Daybook's (${engineVersion()}): install the version of Daybook that wrote it or a later one, or restore a backup.`,
    );
  if (/replaying WAL/i.test(cause)) return new DamagedLog(folder, cause);
  if (/permission denied|read-only file system|not a directory|could not write file/i.test(cause))
    return unwritable(folder, error);
  if (/checksum|corrupt|not a valid DuckDB|could not read enough bytes|serializ|is a directory/i.test(cause))
    return damaged(folder, cause);
  return error;
}

function damaged(folder: string, cause: string): UsageError {
  return new UsageError(
    `The database in ${folder} is damaged: restore a backup with "daybook restore --replace", or move daybook.duckdb* away and ingest again. (${cause})`,
  );
}

/** Explains a failed command to the operator. Queries find damage that opening does not, such as a truncated file. */
export function sentenceOfQuery(error: unknown, folder: string): unknown {
  const [cause = ''] = error instanceof Error ? error.message.split('\n') : [];
  // Commands also read other files, in which the same can be wrong.
  const isDamage = /Corrupt database file|Could not read enough bytes from file "[^"]*daybook\.duckdb"/;
  return isDamage.test(cause) ? damaged(folder, cause) : error;
}

/**
 * Makes an empty database unless the file is there. It gets its name when it is whole: one that is found can be opened,
 * whoever else makes it at the same time, and wherever this process is killed.
 */
async function makeDatabase(folder: string, file: string): Promise<void> {
  const path = join(folder, file);
  if (existsSync(path)) return;
  const draft = join(folder, `new-${process.pid}.duckdb`);
  rmSync(draft, { force: true });
  const instance = await DuckDBInstance.create(draft, STORAGE);
  instance.closeSync();
  try {
    linkSync(draft, path);
    await sync(folder);
  } catch (error) {
    // Another process was faster, or has the database open already and took the draft for one that was left behind.
    if (!existsSync(path)) throw isRefused(error) ? unfit(folder, 'hard links') : error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Whether a file of the data folder is one that is removed again in the course of things: a killed process may leave it. */
function isLeftover(file: string): boolean {
  const [, pid] = /^stdin-(\d+)$/.exec(file) ?? [];
  if (pid !== undefined) return !isRunning(Number(pid));
  return isSpool(file) || /^new-\d+\.duckdb(\.wal)?$|^answer-[\w-]+\.tmp$|^held-[\w-]+$/.test(file);
}

/**
 * Opens a database file in the data folder, and removes the files that a killed process left beside it.
 * Throws StoreBusy when another process has it open.
 */
export async function openInstance(
  folder: string,
  file: string,
  resources: Resources,
): Promise<DuckDBInstance> {
  makeFolder(folder);
  refuseHalfRestored(folder);
  let instance: DuckDBInstance;
  try {
    await makeDatabase(folder, file);
    instance = await openFile(folder, file, resources);
  } catch (error) {
    throw isLocked(error) ? new StoreBusy(error.message) : sentenceOf(error, folder);
  }
  try {
    // A restore that began meanwhile looks after that whether somebody has the database open.
    refuseHalfRestored(folder);
  } catch (error) {
    instance.closeSync();
    throw error;
  }
  // A killed process left them. This process has the database open, so no other writes here.
  for (const file of readdirSync(folder))
    if (isLeftover(file)) rmSync(join(folder, file), { force: true, recursive: true });
  return instance;
}

/**
 * Opens the database of a folder. A log that is readable up to some entry ends there from then on, as one that was cut off does: a power
 * failure leaves it so, and then nobody was told that the rest is kept. The mark tells if that is not so. Throws a UsageError where the log
 * can't be read at all, unless that loss is accepted. The log as it was is put aside.
 */
export async function openDatabase(folder: string, settings: DatabaseOptions): Promise<DuckDBInstance> {
  if (settings.isReading === true)
    return openFile(folder, DATABASE, settings).catch((error) => {
      if (isLocked(error)) throw new StoreBusy(error.message);
      const meaning = sentenceOf(error, folder);
      throw meaning instanceof DamagedLog && readableBytes(meaning) !== undefined
        ? new UsageError(
            `The log ${LOG} in ${folder} ends with what could not be written any more: "daybook build" or "daybook serve" goes on without that, and says if something acknowledged was lost.`,
          )
        : meaning;
    });
  const open = () => openInstance(folder, DATABASE, settings);
  const log = join(folder, LOG);
  const aside = join(folder, freeName(folder, ASIDE + stampOf(settings.now)));
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof DamagedLog)) throw error;
    if (readableBytes(error) === undefined) {
      if (settings.acceptsLoss !== true) throw error;
      renameSync(log, aside);
      return open();
    }
  }
  const before = statSync(log, { throwIfNoEntry: false });
  if (before === undefined) return open();
  copyFileSync(log, aside, constants.COPYFILE_EXCL);
  // TRICKY: again, since a copy takes its time. Another process may have mended the log by now, and write to it.
  try {
    const instance = await open();
    rmSync(aside);
    return instance;
  } catch (error) {
    const end = error instanceof DamagedLog ? readableBytes(error) : undefined;
    const now = statSync(log, { throwIfNoEntry: false });
    if (end === undefined || now?.size !== before.size || now.mtimeMs !== before.mtimeMs) {
      rmSync(aside);
      throw error;
    }
    truncateSync(log, end);
    return open();
  }
}

/**
 * Has the disk keep what a killed process wrote and could not sync any more. The engine takes it for committed, and what is removed from the
 * inbox for that reason must not be all that there was.
 * TRICKY: before the engine opens the file, since a process loses its locks on a file when it closes any descriptor of it.
 */
async function syncLeft(folder: string, file: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    if (name === file) await sync(join(folder, name));
    if (name.startsWith(`${file}.wal`)) await sync(join(folder, name)).catch(unlessGone);
  }
  await sync(folder);
}

/** Passes over a log that is gone: a process that has the database open has taken it into the file, and synced that. */
function unlessGone(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error;
}

/** Opens a database file that is there, and touches nothing else. Opened to read, it stays as it is, and so does its log. */
async function openFile(
  folder: string,
  file: string,
  { memoryMb, threads, isReading }: Resources & { readonly isReading?: boolean },
): Promise<DuckDBInstance> {
  if (isReading !== true) await syncLeft(folder, file);
  return DuckDBInstance.create(join(folder, file), {
    ...STORAGE,
    access_mode: isReading === true ? 'READ_ONLY' : 'READ_WRITE',
    memory_limit: `${memoryMb}MiB`,
    max_temp_directory_size: `${TEMPORARY_GB}GiB`,
    ...(threads === undefined ? {} : { threads: String(threads) }),
    autoinstall_known_extensions: 'false',
  });
}

/** What opens a database file whenever it is asked to, but for the first time: then it gives the one that is open. */
export function openingAgain(
  first: DuckDBInstance,
  folder: string,
  file: string,
  resources: Resources & { readonly isReading?: boolean },
): () => Promise<DuckDBInstance> {
  let given: DuckDBInstance | undefined = first;
  return async () => {
    const instance = given ?? (await openFile(folder, file, resources));
    given = undefined;
    return instance;
  };
}
