import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { withoutCredentials } from '../network/url-credentials.js';

const TIMEOUT_MS = 10_000;
const OUTPUT_BYTES = 1 << 26;

/** The facts that git knows about a repository; undefined where it has none, for example without commits. */
export interface GitFacts {
  /** Files that are tracked, or new and not ignored, by their paths. */
  readonly paths: readonly string[];
  readonly remoteUrl: string | undefined;
  readonly commitHash: string | undefined;
  /** Also undefined if no branch is checked out. */
  readonly branch: string | undefined;
  /** Time of the newest commit, in Unix milliseconds. */
  readonly committedAt: number | undefined;
  readonly newestTag: string | undefined;
  readonly hasLocalChanges: boolean | undefined;
  readonly hasNonRemoteCommits: boolean | undefined;
}

/** The root of the repository that contains a folder; undefined if there is none. */
export function repositoryFolder(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : repositoryFolder(parent);
}

/** Settings that keep a repository's configuration from running programs or contacting other machines. */
const HARMLESS: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', devNull],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'false'],
  ['core.alternateRefsCommand', 'false'],
  ['core.untrackedCache', 'false'],
  ['credential.helper', ''],
  ['diff.external', ''],
  ['diff.ignoreSubmodules', 'all'],
  ['gpg.program', 'false'],
  ['log.showSignature', 'false'],
  ['protocol.allow', 'never'],
  ['submodule.recurse', 'false'],
];

/** Settings that name a program for a kind of file, under names that the repository chooses. */
const PROGRAMS =
  /^(filter\..*\.(clean|smudge|process)|diff\..*\.(command|textconv)|gpg\..*\.program|pager\..*)$/is;

/** Git in one repository, without running anything of the repository. */
class Git {
  private settings = HARMLESS;

  private constructor(private readonly folder: string) {}

  /** Throws if git isn't installed or refuses the repository. */
  static async open(folder: string): Promise<Git> {
    const git = new Git(folder);
    const names = (await git.run('config', '--list', '--includes', '--name-only', '-z')).split('\0');
    git.settings = [
      ...HARMLESS,
      ...names.filter((name) => PROGRAMS.test(name)).map((name) => [name, ''] as const),
      ...names
        .filter((name) => /^filter\..*\.required$/is.test(name))
        .map((name) => [name, 'false'] as const),
    ];
    return git;
  }

  /** The beginning of a command's output. */
  run(...args: string[]): Promise<string> {
    // Variables can do everything that settings can, such as GIT_EXTERNAL_DIFF.
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
    const settings = this.settings.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]);
    const env = {
      ...Object.fromEntries(inherited),
      ...Object.fromEntries(settings),
      GIT_CONFIG_COUNT: String(this.settings.length),
      // The repository may not say where its files are.
      GIT_WORK_TREE: this.folder,
      GIT_DIR: join(this.folder, '.git'),
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_NO_LAZY_FETCH: '1',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_TERMINAL_PROMPT: '0',
      GIT_PAGER: 'cat',
      LC_ALL: 'C',
    };
    const options = {
      cwd: this.folder,
      env,
      timeout: TIMEOUT_MS,
      maxBuffer: OUTPUT_BYTES,
      killSignal: 'SIGKILL',
    } as const;
    return new Promise((resolve, reject) => {
      execFile('git', args, options, (error, stdout) => {
        if (error === null || error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') resolve(stdout);
        else reject(error);
      });
    });
  }

  /** The same without the final line break; undefined if the command fails. */
  async ask(...args: string[]): Promise<string | undefined> {
    try {
      return (await this.run(...args)).trimEnd();
    } catch {
      return undefined;
    }
  }
}

/** Collects all facts from git. Throws if git isn't installed or refuses the repository. */
export async function readGit(folder: string): Promise<GitFacts> {
  const git = await Git.open(folder);
  const split = (text: string | undefined) => (text ?? '').split('\0').filter(Boolean);
  const [listed, head, branch, remotes, tag, status, ahead] = await Promise.all([
    git.run('ls-files', '-z'),
    git.ask('log', '-1', '--no-color', '--no-show-signature', '--format=%H %ct', 'HEAD', '--'),
    git.ask('symbolic-ref', '--short', '-q', 'HEAD'),
    git.ask('config', '--get-regexp', '-z', '^remote\\..*\\.url$'),
    git.ask('for-each-ref', '--count=1', '--sort=-creatordate', '--format=%(refname:short)', 'refs/tags'),
    git.ask('status', '--porcelain', '-z', '--ignore-submodules=all', '--no-renames', '-uall'),
    git.ask('rev-list', '--max-count=1', 'HEAD', '--not', '--remotes'),
  ]);
  const [commitHash, seconds] = head?.split(' ') ?? [];
  const untracked = split(status).flatMap((entry) => (entry.startsWith('?? ') ? [entry.slice(3)] : []));
  const urls = new Map(split(remotes).map((entry) => entry.split('\n') as [string, string]));
  const url = urls.get('remote.origin.url') ?? (urls.size === 1 ? [...urls.values()][0] : undefined);
  return {
    paths: [...split(listed), ...untracked].sort(),
    remoteUrl: url === undefined ? undefined : withoutCredentials(url),
    commitHash,
    branch: branch || undefined,
    committedAt: seconds === undefined ? undefined : Number(seconds) * 1000,
    newestTag: tag || undefined,
    hasLocalChanges: status === undefined ? undefined : status !== '',
    hasNonRemoteCommits: ahead === undefined ? undefined : ahead !== '',
  };
}
