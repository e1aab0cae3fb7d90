import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readForeign } from '../disk/foreign-file.js';
import { UsageError } from '../exit.js';

/** A path in a folder into which npm, pnpm, Yarn or Bun put a program that they run once. */
const CACHED = /^(.*[\\/](?:_npx[\\/][^\\/]+|dlx(?:-[^\\/]+)?|bunx-[^\\/]+))[\\/]/;

/** npm's note of the packages that it was asked to run. */
const Note = z.object({ _npx: z.object({ packages: z.array(z.string()).min(1) }) });

/**
 * The command that starts this program, to be run again later. Throws a UsageError if the program is in a package manager's cache, which
 * is emptied without notice. `again` is the command to repeat once it is installed.
 */
export function lastingProgram(again: string, started = process.argv[1] ?? ''): string[] {
  // npm runs a package of the working directory through a link in its cache.
  const path = CACHED.test(started) ? realpathSync(started) : started;
  const [, cache] = CACHED.exec(path) ?? [];
  if (cache === undefined) return [process.execPath, path];
  throw new UsageError(
    `This program runs from a package cache, ${cache}, which is emptied without notice: run "npm install --global ${packagesIn(cache)}", and then "${again}" again.`,
  );
}

/** The packages that npm put into a folder of its cache, as they were named. */
function packagesIn(cache: string): string {
  try {
    const note = String(readForeign(join(cache, 'package.json'), { limitBytes: 1 << 20 }));
    return Note.parse(JSON.parse(note))._npx.packages.join(' ');
  } catch {
    return 'daybook';
  }
}
