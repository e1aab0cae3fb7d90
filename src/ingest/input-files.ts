import { accessSync, type BigIntStats, constants, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UsageError } from '../exit.js';
import { withoutPacking } from '../store/line-numbers.js';
import { sideFilesOf, unitOf } from '../store/source-sql.js';
import { databaseState, fileState, statOf } from './file-state.js';
import type { Source } from './source.js';

/** A file to ingest, by absolute path. */
export interface InputFile {
  readonly path: string;
  /** Bytes on disk. */
  readonly size: number;
  /** Tells it as it is from what it becomes: see fileState. */
  readonly state?: string | undefined;
}

/** The error for what the one who runs the command may not read. */
function unreadableOf(path: string, isFolder: boolean): UsageError | undefined {
  try {
    accessSync(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK);
    return undefined;
  } catch {
    return new UsageError(`${path} can't be read: change its permissions, or leave it out.`);
  }
}

/** What tells a file, and those that say more of it, from what they become. */
function stateOf(source: Source, path: string, found: BigIntStats): string {
  if (unitOf(source, path) === 'database') return databaseState(path);
  const others = sideFilesOf(source, path).map((file) => fileState(file.path));
  return [fileState(path, found), ...others].join(', ');
}

/**
 * The files that paths name: a file is itself, a folder is all the files of the source below it, in order of their names.
 * Throws a UsageError for a path that isn't there or can't be read, unless `skip` takes the error.
 */
export function inputFiles(
  paths: readonly string[],
  source: Source,
  skip: (error: UsageError) => void = (error) => {
    throw error;
  },
): InputFile[] {
  const files: InputFile[] = [];
  const add = (path: string, isNamed: boolean): void => {
    const found = statOf(path);
    if (found === undefined) {
      // Below a folder a file may have gone in the meantime.
      if (!isNamed) return;
      throw new UsageError(`There is no file or folder ${path}.`);
    }
    const unreadable = unreadableOf(path, found.isDirectory());
    if (unreadable !== undefined) skip(unreadable);
    else if (found.isDirectory()) {
      const entries = readdirSync(path, { withFileTypes: true });
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const entry of entries) {
        const below = join(path, entry.name);
        if (
          entry.isDirectory()
            ? !source.skippedFolders?.test(below)
            : entry.isFile() && source.files.test(withoutPacking(below))
        )
          add(below, false);
      }
    } else {
      files.push({ path, size: Number(found.size), state: stateOf(source, path, found) });
    }
  };
  for (const path of paths) {
    if (path === '') throw new UsageError('A path is empty: name the files or folders to read.');
    add(resolve(path), true);
  }
  return files;
}
