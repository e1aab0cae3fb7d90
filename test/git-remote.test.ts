import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Checkouts } from '../src/disk/git-remote.js';

const root = mkdtempSync(join(tmpdir(), 'daybook-remote-'));
afterAll(() => rmSync(root, { recursive: true }));

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
    cwd: folder,
    stdio: 'pipe',
    env: { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
  });

const ADA = ['-c', 'user.name=ada', '-c', 'user.email=ada@acme.example'];

let repositories = 0;

/** A repository with a commit, and with these remotes. */
function repository(...remotes: [name: string, url: string][]): string {
  const folder = join(root, `engine-${++repositories}`);
  git(root, 'init', '-q', folder);
  git(folder, ...ADA, 'commit', '-q', '--allow-empty', '-m', 'x');
  for (const [name, url] of remotes) git(folder, 'remote', 'add', name, url);
  return folder;
}

const checkoutOf = (folder: string) => new Checkouts().of(folder);

const remoteOf = async (folder: string) => (await checkoutOf(folder))?.repo;

const URL = 'https://git.acme.example/engine.git';

test('is that of origin, or of the only remote', async () => {
  expect(await remoteOf(repository(['fork', 'x:fork'], ['origin', URL]))).toBe(URL);
  expect(await remoteOf(repository(['up"stream', URL]))).toBe(URL);
  expect(await remoteOf(repository(['fork', 'x:fork'], ['upstream', URL]))).toBe(undefined);
  expect(await remoteOf(repository())).toBe(undefined);
});

test('comes with the branch, and since when it is checked out', async () => {
  const folder = repository(['origin', URL]);
  git(folder, 'checkout', '-q', '-b', 'feature/fast');
  const head = join(folder, '.git', 'HEAD');
  const at = new Date('2026-06-10T10:00:00.000Z');
  utimesSync(head, at, at);
  git(folder, ...ADA, 'commit', '-q', '--allow-empty', '-m', 'y');
  expect(await checkoutOf(folder)).toEqual({ repo: URL, branch: 'feature/fast', branchSince: at.getTime() });
  git(folder, 'checkout', '-q', '--detach');
  const detached = await checkoutOf(folder);
  expect(detached?.branch).toBe(undefined);
  expect(detached?.branchSince).toBeGreaterThan(at.getTime());
});

test('has no credentials', async () => {
  expect(await remoteOf(repository(['origin', 'https://ci:secret@git.acme.example/engine.git']))).toBe(URL);
});

test('is the same below the checkout, in its worktrees, and its own in a submodule', async () => {
  const folder = repository(['origin', URL]);
  mkdirSync(join(folder, 'src', 'deep'), { recursive: true });
  expect(await remoteOf(join(folder, 'src', 'deep'))).toBe(URL);
  const worktree = join(root, 'worktree');
  git(folder, 'worktree', 'add', '-q', worktree);
  expect(await remoteOf(worktree)).toBe(URL);
  const library = repository();
  git(folder, 'submodule', '--quiet', 'add', library, 'library');
  expect(await remoteOf(join(folder, 'library'))).toBe(library);
});

test('is read as git reads it', async () => {
  const folder = repository();
  const values = ['a:b # not this', '"a:b#c;d" ; not this', 'a:\\"b\\"', '"a:\\\\b"'];
  for (const value of values) {
    writeFileSync(
      join(folder, '.git', 'config'),
      `[core]\n\turl = x\n[Remote "origin"] URL = ${value}\n\turl = y`,
    );
    const [told] = git(folder, 'config', '--get-all', 'remote.origin.url').toString().split('\n');
    expect(await remoteOf(folder), value).toBe(told);
  }
});

test('is unknown where a folder is not there, is in no checkout, or is not what it seems', async () => {
  const outside = join(root, 'outside');
  mkdirSync(outside);
  const paths = [outside, join(outside, 'gone'), 'engine', '', '//host/share', '\\\\host\\share', '/a\0b'];
  for (const path of paths) expect(await remoteOf(path), path).toBe(undefined);
  const target = repository(['origin', URL]);
  const hostile = join(root, 'hostile');
  const make: ((entry: string) => void)[] = [
    (entry) => symlinkSync(join(target, '.git'), entry),
    (entry) => execFileSync('mkfifo', [entry]),
    (entry) => writeFileSync(entry, `gitdir: //host/share\n`),
    (entry) => writeFileSync(entry, `gitdir: ${join(hostile, 'none')}\n`),
    (entry) => writeFileSync(entry, `gitdir: ${join(target, '.git')}${' '.repeat(1 << 20)}\n`),
    (entry) => {
      mkdirSync(entry);
      execFileSync('mkfifo', [join(entry, 'config')]);
    },
    (entry) => {
      mkdirSync(entry);
      symlinkSync(join(target, '.git', 'config'), join(entry, 'config'));
    },
  ];
  for (const [index, put] of make.entries()) {
    rmSync(hostile, { recursive: true, force: true });
    mkdirSync(hostile);
    put(join(hostile, '.git'));
    expect(await remoteOf(hostile), String(index)).toBe(undefined);
  }
});

test('takes no longer than the file is, whatever is in it', async () => {
  const folder = repository(['origin', URL]);
  const config = join(folder, '.git', 'config');
  const lines = [
    `[${' '.repeat(400_000)}`,
    `${' '.repeat(100_000)}x`,
    `[remote "${'a'.repeat(100_000)}"${' '.repeat(100_000)}`,
  ];
  writeFileSync(config, `${lines.join('\n')}\n[ remote "origin" ] url = ${URL}\n`);
  expect(await remoteOf(folder)).toBe(URL);
});

test('is that of a worktree that was removed, as long as git has its entry', async () => {
  const folder = repository(['origin', URL]);
  const worktree = join(root, 'removed');
  git(folder, 'worktree', 'add', '-q', '-b', 'feature', worktree);
  rmSync(worktree, { recursive: true });
  expect(await checkoutOf(join(worktree, 'src'))).toMatchObject({ repo: URL, branch: 'feature' });
  // Beside other worktrees of a repository in another folder.
  const nested = join(root, 'worktrees', 'two');
  git(folder, 'worktree', 'add', '-q', join(root, 'worktrees', 'one'));
  git(folder, 'worktree', 'add', '-q', nested);
  rmSync(nested, { recursive: true });
  expect(await remoteOf(nested)).toBe(URL);
  git(folder, 'worktree', 'prune');
  expect(await remoteOf(nested)).toBe(undefined);
});

test('is that of a worktree that was removed elsewhere, if the repository was seen', async () => {
  const folder = repository(['origin', URL]);
  const elsewhere = mkdtempSync(join(tmpdir(), 'daybook-elsewhere-'));
  const worktree = join(elsewhere, 'deep', 'deeper', 'worktree');
  git(folder, 'worktree', 'add', '-q', worktree);
  rmSync(elsewhere, { recursive: true });
  const checkouts = new Checkouts();
  expect(await checkouts.of(worktree)).toBe(undefined);
  await checkouts.of(folder);
  expect(await checkouts.of(worktree)).toMatchObject({ repo: URL });
});

test('is that of the repository in which Claude Code made a worktree that was removed', async () => {
  const folder = repository(['origin', URL]);
  const worktree = join(folder, '.claude', 'worktrees', 'fix-1');
  expect(await checkoutOf(join(worktree, 'src'))).toEqual({
    repo: URL,
    branch: undefined,
    branchSince: Infinity,
  });
  expect(await remoteOf(join(folder, 'gone'))).toBe(undefined);
  expect(await remoteOf(join(root, 'gone', '.claude', 'worktrees', 'fix-1'))).toBe(undefined);
});
