import { realpathSync, statSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { LeftOut } from '../disk/foreign-file.js';

/** Whether a path is a folder or lies in it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** The real path of a file or folder; undefined if it is gone. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/**
 * The real path of the folder that a link in a folder leads to; undefined if it leads to none. Throws LeftOut if it leads to a folder that
 * it lies in, or to a folder of another owner: who can write a link could otherwise have files of others read.
 */
export function linkedFolder(link: string): string | undefined {
  const folder = dirname(link);
  const real = realPathOf(link);
  const found = real === undefined ? undefined : statSync(real, { throwIfNoEntry: false });
  if (real === undefined || found?.isDirectory() !== true) return undefined;
  if (isWithin(realPathOf(folder) ?? folder, real))
    throw new LeftOut(link, `it is a link to ${real}, which it lies in`);
  if (found.uid !== statSync(folder).uid)
    throw new LeftOut(link, `it is a link to ${real}, which belongs to another user`);
  return real;
}
