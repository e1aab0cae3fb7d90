import type { Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { NO_CONTROLS } from '../input/name-text.js';
import { withoutCredentials } from '../network/url-credentials.js';
import { readForeign } from './foreign-file.js';

/** Files of git that are longer than this aren't read: bytes. */
const FILE_BYTES = 1 << 20;
/** An address that is longer isn't one: characters, as events have it. */
const ADDRESS_CHARACTERS = 2048;

/** What is known of a checkout. */
export interface Checkout {
  /** The address of the remote that it was cloned from, without credentials: that of `origin`, or of the only remote. */
  readonly repo: string | undefined;
  /** The branch that is checked out; undefined where it is none. */
  readonly branch: string | undefined;
  /** Since when, in Unix milliseconds: on which branch somebody was before, nothing tells. */
  readonly branchSince: number;
}

/**
 * The checkout that a folder is in. Undefined where the folder doesn't exist or is in none.
 *
 * The path may come from a file that somebody else wrote. So git isn't asked, which would run what a repository configures:
 * only regular files by the names that git gives them are read, no links, pipes or devices, and nothing on another machine.
 */
export async function checkoutOf(folder: string): Promise<Checkout | undefined> {
  if (!isLocal(folder) || !(await found(stat, folder))?.isDirectory()) return undefined;
  for (let place = resolve(folder); ; place = dirname(place)) {
    const entry = await found(lstat, join(place, '.git'));
    if (entry?.isDirectory()) return checkoutIn(join(place, '.git'));
    // A worktree or a submodule has its files elsewhere.
    if (entry?.isFile()) return checkoutIn(pointerIn(join(place, '.git'), /^gitdir: (.+)$/m, place));
    if (place === dirname(place)) return undefined;
  }
}

async function checkoutIn(gitFolder: string | undefined): Promise<Checkout | undefined> {
  if (gitFolder === undefined || !isLocal(gitFolder)) return undefined;
  const head = join(gitFolder, 'HEAD');
  // Git writes this file when another branch is checked out, and not with a commit.
  const [, branch] = /^ref: refs\/heads\/([^.\s]\S*)$/m.exec(textOf(head) ?? '') ?? [];
  const branchSince = Math.ceil((await found(lstat, head))?.mtimeMs ?? Infinity);
  return { repo: originIn(gitFolder), branch, branchSince };
}

/** A path on another machine begins with two slashes, and asking for it would tell who asks. */
function isLocal(path: string): boolean {
  return isAbsolute(path) && !/^[\\/]{2}/.test(path) && !path.includes('\0');
}

async function found(look: (path: string) => Promise<Stats>, path: string): Promise<Stats | undefined> {
  return look(path).catch(() => undefined);
}

/** The path that a file names, seen from a folder. */
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

/** The text of a regular file; undefined for anything else, and for one that is too long. */
function textOf(path: string): string | undefined {
  try {
    return readForeign(path, { limitBytes: FILE_BYTES, followsLinks: false })?.toString();
  } catch {
    return undefined;
  }
}

/** The first address of each remote in a file of git's settings. */
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

/** A value without quotes, escapes and the comment after it. */
function plain(value: string): string {
  const [bare = ''] = /^(?:"(?:[^"\\]|\\.)*"|\\.|[^"\\#;])*/.exec(value) ?? [];
  return bare.replaceAll(/\\(.)|"/g, '$1').trim();
}
