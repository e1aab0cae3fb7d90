import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The folder of the installed package, which has `sql/` and the data that Daybook ships, wherever the compiled code is. */
export const PACKAGE_ROOT = packageRoot(dirname(fileURLToPath(import.meta.url)));

function packageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(dirname(folder));
}

/** The version of the installed package. */
export const { version: VERSION } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')));

/** Whether a version is newer than the installed one. */
export function isNewerVersion(version: string): boolean {
  return version.localeCompare(VERSION, 'en', { numeric: true }) > 0;
}

/** The short commit that the package was built from; empty if it wasn't built in its repository. */
export const COMMIT = commitIn(join(PACKAGE_ROOT, 'dist', 'commit'));

function commitIn(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8').trim().slice(0, 12) : '';
}
