import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UsageError } from '../exit.js';

/** A file to ingest, by absolute path. */
export interface InputFile {
  readonly path: string;
  /** Bytes on disk. */
  readonly size: number;
}

const LINES = /\.(ndjson|jsonl|json)(\.gz|\.zst)?$/;

/**
 * The files that paths name: a file is itself, a folder is all the .ndjson, .jsonl and .json files below it (also .gz and
 * .zst), in order of their names. Throws a UsageError for a path that isn't there.
 */
export function inputFiles(paths: readonly string[]): InputFile[] {
  const files: InputFile[] = [];
  const add = (path: string, isNamed: boolean): void => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) {
      // Below a folder a file may have gone in the meantime.
      if (!isNamed) return;
      throw new UsageError(`There is no file or folder ${path}.`);
    }
    if (found.isDirectory()) {
      const entries = readdirSync(path, { withFileTypes: true });
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const entry of entries) {
        if (entry.isDirectory() || (entry.isFile() && LINES.test(entry.name)))
          add(join(path, entry.name), false);
      }
    } else {
      files.push({ path, size: found.size });
    }
  };
  for (const path of paths) add(resolve(path), true);
  return files;
}
