import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkForeign, LeftOut, unreadable } from '../disk/foreign-file.js';
import { codeOf, UsageError } from '../exit.js';
import { expandPaths } from '../settings/config.js';
import { withoutPacking } from '../store/line-numbers.js';
import { readableBeside } from '../store/readable-batch.js';
import { fileLimitOf, sideFilesOf, unitOf } from '../store/source-sql.js';
import { databaseState, type SeenFile, seeFile } from './file-state.js';
import { isWithin, linkedFolder, realPathOf } from './linked-folder.js';
import type { Source } from './source.js';

/** A file to ingest, by absolute path. */
export interface InputFile {
  readonly path: string;
  /** Bytes on disk. */
  readonly size: number;
  /** Tells this version of the file from others: see SeenFile. */
  readonly state?: string | undefined;
  /** When it last changed: Unix milliseconds. */
  readonly changedAt?: number;
}

/** The folders of a source that exist on this machine. */
export function foldersHere({ folders }: Pick<Source, 'folders'>): string[] {
  return folders.flatMap(expandPaths).filter((folder) => existsSync(folder));
}

/** Is told about files that are left out. */
type Skip = (error: UsageError) => void;

/** A file with its state and that of those beside it; undefined where it is gone. Throws LeftOut for one that can't be read. */
function seen(source: Source, path: string, skip: Skip): SeenFile | undefined {
  const unit = unitOf(source, path);
  if (unit === 'database') {
    const size = checkForeign(path);
    return size === undefined ? undefined : { size, ...databaseState(path) };
  }
  const file = seeFile(path, unit === 'document' ? undefined : fileLimitOf(source));
  if (file === undefined) return undefined;
  const readable = new Set(readableBeside(source, path, skip).map((beside) => beside.path));
  // One that becomes readable changes the state.
  const others = sideFilesOf(source, path).map((beside) =>
    readable.has(beside.path) ? seeFile(beside.path)?.state : undefined,
  );
  return { ...file, state: [file.state, ...others].join(', ') };
}

/** The entries of a folder, in order of their names. */
function entriesOf(folder: string): Dirent[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The files that paths name: a file is itself, a folder is all the files of the source below it, in order of their names. A link to a folder
 * of an agent is followed, and its files are read once, under their real paths. Throws a UsageError for a path that isn't there. `skip` takes
 * an error for whatever else can't be read, or that is thrown as well.
 */
export function inputFiles(
  paths: readonly string[],
  source: Source,
  skip: Skip = (error) => {
    throw error;
  },
): InputFile[] {
  const files = new Map<string, InputFile>();
  /** The real paths of the folders that are read with all that is below them. */
  const folders: string[] = [];
  const isRead = (folder: string) => folders.some((one) => isWithin(folder, one));
  const add = (path: string, isFolder: boolean): void => {
    try {
      if (isFolder) for (const entry of entriesOf(path)) addEntry(path, entry);
      else {
        const file = seen(source, path, skip);
        if (file !== undefined) files.set(path, { path, ...file });
        // It may have gone in the meantime, or the system may know it by another name than the one that it told.
        else if (path.includes('\uFFFD')) skip(new LeftOut(path, 'its name is not UTF-8'));
      }
    } catch (error) {
      const code = codeOf(error);
      if (error instanceof LeftOut) skip(error);
      else if (code === '') throw error;
      else if (code !== 'ENOENT') skip(unreadable(path, code));
    }
  };
  const addEntry = (folder: string, entry: Dirent): void => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (source.skippedFolders?.test(path) !== true) add(path, true);
    } else if (entry.isSymbolicLink() && !source.namesUsers && source.skippedFolders?.test(path) !== true) {
      addLink(path);
    } else if (source.files.test(withoutPacking(path))) {
      if (entry.isSymbolicLink()) skip(new LeftOut(path, 'it is a link, and links are not followed'));
      else add(path, false);
    }
  };
  const addLink = (path: string): void => {
    try {
      const folder = linkedFolder(path);
      if (folder === undefined) {
        if (source.files.test(withoutPacking(path)))
          skip(new LeftOut(path, 'it is a link, and links to files are not followed'));
      } else if (!isRead(folder) && source.skippedFolders?.test(folder) !== true) {
        folders.push(folder);
        add(folder, true);
      }
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error;
      skip(error);
    }
  };
  const named: { path: string; isFolder: boolean }[] = [];
  for (const given of paths) {
    if (given === '') throw new UsageError('A path is empty: name the files or folders to read.');
    const path = resolve(given);
    if (!existsSync(path)) throw new UsageError(`There is no file or folder ${path}.`);
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const real = isFolder ? realPathOf(path) : undefined;
    // Two of an agent's folders can be the same one.
    if (real !== undefined && !source.namesUsers && isRead(real)) continue;
    if (real !== undefined) folders.push(real);
    named.push({ path, isFolder });
  }
  for (const { path, isFolder } of named) add(path, isFolder);
  return [...files.values()];
}
