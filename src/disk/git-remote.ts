import type { Stats } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
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

/** How many entries of a folder are looked at for a repository of a removed worktree, and how many worktrees of a repository. */
const ENTRIES_AT_MOST = 1000;

/**
 * Finds checkouts, and remembers where repositories are.
 *
 * The paths may come from a file that somebody else wrote. So this doesn't run git, which would run programs that a repository configures:
 * it reads only regular files under git's names for them, no links, pipes or devices, and nothing on another machine.
 */
export class Checkouts {
  /** The git folders of repositories that were seen, by what is in them: see worktreesIn. */
  private readonly worktrees = new Map<string, ReadonlyMap<string, string>>();
  /** The folders whose entries were looked at. */
  private readonly searched = new Set<string>();

  /**
   * The checkout that contains a folder, or that the folder was in before it was removed; undefined if there is none, or if nothing knows it
   * any more.
   */
  readonly of = async (folder: string): Promise<Checkout | undefined> => {
    if (!isLocal(folder)) return undefined;
    const place = resolve(folder);
    if (!(await found(stat, place))?.isDirectory()) return this.removed(place);
    const gitFolder = await gitFolderAbove(place);
    if (gitFolder === undefined) return undefined;
    await this.remember(gitFolder);
    return checkoutIn(gitFolder);
  };

  /** A removed worktree: git keeps an entry for it until it is pruned, and Claude Code makes its own below the repository. */
  private async removed(place: string): Promise<Checkout | undefined> {
    const known = this.worktreeOf(place) ?? (await this.searchAround(place));
    if (known !== undefined) return checkoutIn(known);
    const [, repository] = /^(.+)[\\/]\.claude[\\/]worktrees[\\/]/.exec(place) ?? [];
    if (repository === undefined || !(await found(stat, repository))?.isDirectory()) return undefined;
    const gitFolder = await gitFolderAbove(repository);
    const repo = gitFolder === undefined ? undefined : originIn(gitFolder);
    return repo === undefined ? undefined : { repo, branch: undefined, branchSince: Infinity };
  }

  /** The entry that a repository has for a worktree, among the repositories that are known. */
  private worktreeOf(place: string): string | undefined {
    for (const worktrees of this.worktrees.values())
      for (let folder = place; folder !== dirname(folder); folder = dirname(folder)) {
        const entry = worktrees.get(folder);
        if (entry !== undefined) return entry;
      }
    return undefined;
  }

  /** Looks for repositories above a removed folder, beside it, and beside the folder that it was in. */
  private async searchAround(place: string): Promise<string | undefined> {
    let base = dirname(place);
    while (!(await found(stat, base))?.isDirectory() && base !== dirname(base)) base = dirname(base);
    const above = await gitFolderAbove(base);
    if (above !== undefined) await this.remember(above);
    for (const folder of [base, dirname(base)]) {
      if (this.searched.has(folder)) continue;
      this.searched.add(folder);
      for (const name of await namesIn(folder)) {
        const gitFolder = await gitFolderIn(join(folder, name));
        if (gitFolder !== undefined) await this.remember(gitFolder);
      }
    }
    return this.worktreeOf(place);
  }

  private async remember(gitFolder: string): Promise<void> {
    const common = commonOf(gitFolder);
    if (common === undefined || this.worktrees.has(common)) return;
    this.worktrees.set(common, await worktreesIn(common));
  }
}

/** The git folder of the checkout that contains a folder. */
async function gitFolderAbove(folder: string): Promise<string | undefined> {
  for (let place = folder; ; place = dirname(place)) {
    const entry = await found(lstat, join(place, '.git'));
    if (entry?.isDirectory() || entry?.isFile()) return gitFolderIn(place);
    if (place === dirname(place)) return undefined;
  }
}

/** The git folder of a folder that is a checkout itself. */
async function gitFolderIn(folder: string): Promise<string | undefined> {
  const path = join(folder, '.git');
  const entry = await found(lstat, path);
  if (entry?.isDirectory()) return path;
  // The .git of a worktree or submodule is a file with the path of its folder.
  const target = entry?.isFile() ? pointerIn(path, /^gitdir: (.+)$/m, folder) : undefined;
  return target !== undefined && isLocal(target) ? target : undefined;
}

/** The worktrees of a repository, also of those that were removed: the entries of git, by the folders of the worktrees. */
async function worktreesIn(common: string): Promise<ReadonlyMap<string, string>> {
  const worktrees = new Map<string, string>();
  for (const name of await namesIn(join(common, 'worktrees'))) {
    const entry = join(common, 'worktrees', name);
    const file = pointerIn(join(entry, 'gitdir'), /^(.+)$/m, entry);
    if (file !== undefined) worktrees.set(dirname(file), entry);
  }
  return worktrees;
}

/** The first names of folders in a folder, in order. */
async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    .sort()
    .slice(0, ENTRIES_AT_MOST);
}

async function checkoutIn(gitFolder: string): Promise<Checkout> {
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

/** The git folder that the worktrees of a repository share; undefined if it is on another machine. */
function commonOf(gitFolder: string): string | undefined {
  const common = pointerIn(join(gitFolder, 'commondir'), /^(.+)$/m, gitFolder) ?? gitFolder;
  return isLocal(common) ? common : undefined;
}

function originIn(gitFolder: string): string | undefined {
  const common = commonOf(gitFolder);
  if (common === undefined) return undefined;
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
