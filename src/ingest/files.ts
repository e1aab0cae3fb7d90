import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UsageError } from '../exit.js';
import type { Format } from '../store/store.js';

/** A file to ingest, by absolute path. */
export interface InputFile {
  readonly path: string;
  /** Bytes on disk. */
  readonly size: number;
}

/** What is read of a folder: transcripts have .json files beside them that are none. */
const LINES: Record<Format, RegExp> = {
  canonical: /\.(ndjson|jsonl|json)(\.gz|\.zst)?$/,
  'claude-code': /\.jsonl(\.gz|\.zst)?$/,
};

/** Throws a UsageError for what the one who runs the command may not read. */
function requireReadable(path: string, isFolder: boolean): void {
  try {
    accessSync(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK);
  } catch {
    throw new UsageError(`${path} can't be read: get the right to read it, or leave it out.`);
  }
}

/**
 * The files that paths name: a file is itself, a folder is all the .ndjson, .jsonl and .json files below it (of transcripts
 * the .jsonl files; also .gz and .zst), in order of their names. Throws a UsageError for a path that isn't there or can't be
 * read.
 */
export function inputFiles(paths: readonly string[], format: Format): InputFile[] {
  const files: InputFile[] = [];
  const add = (path: string, isNamed: boolean): void => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) {
      // Below a folder a file may have gone in the meantime.
      if (!isNamed) return;
      throw new UsageError(`There is no file or folder ${path}.`);
    }
    requireReadable(path, found.isDirectory());
    if (found.isDirectory()) {
      const entries = readdirSync(path, { withFileTypes: true });
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const entry of entries) {
        if (entry.isDirectory() || (entry.isFile() && LINES[format].test(entry.name)))
          add(join(path, entry.name), false);
      }
    } else {
      files.push({ path, size: found.size });
    }
  };
  for (const path of paths) {
    if (path === '') throw new UsageError('A path is empty: name the files or folders to read.');
    add(resolve(path), true);
  }
  return files;
}
