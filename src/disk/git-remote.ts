import type { Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { NO_CONTROLS } from '../input/name-text.js';
import { withoutCredentials } from '../network/url-credentials.js';
import { readForeign } from './foreign-file.js';

/** How many bytes a file of git can have. Longer ones aren't read. */
const FILE_BYTES = 1 << 20;
/** How many characters an address can have, as in events. */
const ADDRESS_CHARACTERS = 2048;

/** The facts about a checkout. */
export interface Checkout {
  /** The address of `origin`, or of the only remote, without credentials. */
  readonly repo: string | undefined;
  /** The checked-out branch; undefined if there is none. */
  readonly branch: string | undefined;
  /** When it was checked out, in Unix milliseconds. The branch before that isn't known. */
  readonly branchSince: number;
}

/**
 * The checkout that contains a folder; undefined if the folder doesn't exist or is in none.
 *
 * The path may come from a file that somebody else wrote. So this doesn't run git, which would run programs that a repository configures:
 * it reads only regular files under git's names for them, no links, pipes or devices, and nothing on another machine.
 */
export async function checkoutOf(folder: string): Promise<Checkout | undefined> {
  if (!isLocal(folder) || !(await found(stat, folder))?.isDirectory()) return undefined;
  for (let place = resolve(folder); ; place = dirname(place)) {
    const entry = await found(lstat, join(place, '.git'));
    if (entry?.isDirectory()) return checkoutIn(join(place, '.git'));
    // The .git of a worktree or submodule is a file with the path of its folder.
    if (entry?.isFile()) return checkoutIn(pointerIn(join(place, '.git'), /^gitdir: (.+)$/m, place));
    if (place === dirname(place)) return undefined;
  }
}

async function checkoutIn(gitFolder: string | undefined): Promise<Checkout | undefined> {
  if (gitFolder === undefined || !isLocal(gitFolder)) return undefined;
  const head = join(gitFolder, 'HEAD');
  // Git writes this file when another branch is checked out, but not for a commit.
  const [, branch] = /^ref: refs\/heads\/([^.\s]\S*)$/m.exec(textOf(head) ?? '') ?? [];
  const branchSince = Math.ceil((await found(lstat, head))?.mtimeMs ?? Infinity);
  return { repo: originIn(gitFolder), branch, branchSince };
}

/** Whether a path is on this machine. One that begins with two slashes isn't, and opening it would reveal this user to another machine. */
function isLocal(path: string): boolean {
  return isAbsolute(path) && !/^[\\/]{2}/.test(path) && !path.includes('\0');
}

async function found(look: (path: string) => Promise<Stats>, path: string): Promise<Stats | undefined> {
  return look(path).catch(() => undefined);
}

/** The path that a file contains, relative to a folder. */
function pointerIn(path: string, line: RegExp, folder: string): string | undefined {
  const [, target] = line.exec(textOf(path) ?? '') ?? [];
  return target === undefined ? undefined : resolve(folder, target.trim());
}

function originIn(gitFolder: string): string | undefined {
  const common = pointerIn(join(gitFolder, 'commondir'), /^(.+)$/m, gitFolder) ?? gitFolder;
  if (!isLocal(common)) return undefined;
  const addresses = addressesIn(textOf(join(common, 'config')) ?? '');
  const address = addresses.get('origin') ?? (addresses.size === 1 ? [...addresses.values()][0] : undefined);
  return address === undefined ||
    address === '' ||
    address.length > ADDRESS_CHARACTERS ||
    !NO_CONTROLS[0].test(address)
    ? undefined
    : withoutCredentials(address);
}

/** The text of a regular file; undefined for anything else, and if it is too long. */
function textOf(path: string): string | undefined {
  try {
    return readForeign(path, { limitBytes: FILE_BYTES, followsLinks: false })?.toString();
  } catch {
    return undefined;
  }
}

/** The first address of each remote in a git configuration. */
function addressesIn(config: string): Map<string, string> {
  const addresses = new Map<string, string>();
  let remote: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const [header = '', name] = /^\s*\[(?:\s*remote\s+"((?:[^"\\]|\\.)*)"\s*|[^\]]*)\]/i.exec(line) ?? [];
    if (header !== '') remote = name?.replaceAll(/\\(.)/g, '$1');
    const [, value] = /^\s*url\s*=(.*)$/i.exec(line.slice(header.length)) ?? [];
    if (remote !== undefined && value !== undefined && !addresses.has(remote))
      addresses.set(remote, plain(value));
  }
  return addresses;
}

/** A value without quotes, escapes and a comment after it. */
function plain(value: string): string {
  const [bare = ''] = /^(?:"(?:[^"\\]|\\.)*"|\\.|[^"\\#;])*/.exec(value) ?? [];
  return bare.replaceAll(/\\(.)|"/g, '$1').trim();
}
