/** Installs packages of the npm registry that are no part of Daybook. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';

/**
 * Installs packages, each `name@version`, into a folder that later runs use as well, and answers it. Their install scripts
 * don't run. Throws an Error whose message is npm's reason.
 */
export async function install(packages: readonly string[]): Promise<string> {
  const name = createHash('md5').update(packages.join(' ')).digest('hex');
  const folder = join(PACKAGE_ROOT, 'node_modules/.cache/interop', name);
  const done = join(folder, 'installed');
  if (existsSync(done)) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{}');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', ['install', ...options, ...packages], {
    cwd: folder,
    shell: process.platform === 'win32',
  }).catch((error: { stderr?: string; message: string }) => {
    throw new Error(
      /^npm (?:error|ERR!) (?!code |errno |syscall )(.+)$/m.exec(error.stderr ?? '')?.[1] ?? error.message,
    );
  });
  await writeFile(done, '');
  return folder;
}
