import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { rename, rm } from '../disk/renames.js';
import { endGroup } from '../disk/running.js';
import { codeOf } from '../exit.js';
import { withoutCredentials } from '../network/url-credentials.js';
import { JobFailed } from './agent-message.js';
import { FileName } from './workspace-path.js';

/** How long one command may take, in milliseconds. */
export const COMMAND_MS = 30 * 60_000;
/** How much of a failed command's output is kept: its end. */
const SAID_CHARACTERS = 2000;

/** The lock files that identify a project's package manager, with its command and arguments. */
const MANAGERS: readonly (readonly [lock: string, command: string, ...args: string[]])[] = [
  ['package-lock.json', 'npm', 'ci'],
  ['npm-shrinkwrap.json', 'npm', 'ci'],
  ['pnpm-lock.yaml', 'pnpm', 'install', '--frozen-lockfile'],
  ['yarn.lock', 'yarn', 'install', '--frozen-lockfile'],
  ['bun.lock', 'bun', 'install', '--frozen-lockfile'],
  ['bun.lockb', 'bun', 'install', '--frozen-lockfile'],
  ['uv.lock', 'uv', 'sync', '--frozen'],
  ['poetry.lock', 'poetry', 'install', '--no-interaction'],
  ['Pipfile.lock', 'pipenv', 'sync'],
  ['Cargo.lock', 'cargo', 'fetch', '--locked'],
  ['go.sum', 'go', 'mod', 'download'],
  ['Gemfile.lock', 'bundle', 'install'],
  ['composer.lock', 'composer', 'install', '--no-interaction'],
];

/** The folder to clone a repository to: the last part of its address. Throws JobFailed if it has none. */
function folderOf(repo: string): string {
  const name =
    repo
      .replace(/[?#][\s\S]*$/, '')
      .replace(/(?<!\/)\/+$/, '')
      .replace(/\.git$/, '')
      .split(/[/:]/)
      .at(-1) ?? '';
  if (!FileName.safeParse(name).success || name === '.' || name.startsWith('-'))
    throw new JobFailed(
      'failed',
      `The address of the repository ${repo} doesn't end in a name for its folder.`,
    );
  return name;
}

/** Clones a repository into the workspace: whole or not at all. An existing clone stays as it is. Throws JobFailed, with git's output. */
export async function clone(workspace: string, repo: string, signal: AbortSignal): Promise<void> {
  const name = folderOf(repo);
  const folder = join(workspace, name);
  if ((await lstat(folder).catch(() => undefined)) !== undefined) {
    const origin = await run('git', ['remote', 'get-url', 'origin'], folder, signal).catch(() => '');
    // The addresses are compared without passwords.
    const isSame = withoutCredentials(origin.trim()) === withoutCredentials(repo);
    if (existsSync(join(folder, '.git')) && isSame) return;
    throw new JobFailed(
      'exists',
      `The workspace already has ${name}, which is not a clone of ${repo}: remove it, and retry.`,
    );
  }
  const draft = join(workspace, `.daybook..clone-${hash('sha256', repo).slice(0, 16)}`);
  await rm(draft, { recursive: true, force: true });
  try {
    await run('git', ['clone', '--quiet', '--', repo, draft], workspace, signal);
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Installs the dependencies of a clone, or of the workspace itself, if it has lock files. Throws JobFailed, with the package
 * manager's output.
 */
export async function install(
  workspace: string,
  repo: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const folder = repo === undefined ? workspace : join(workspace, folderOf(repo));
  for (const [lock, command, ...args] of MANAGERS)
    if (existsSync(join(folder, lock))) await run(command, args, folder, signal);
}

/** Runs a command without prompts, and answers its output. Kills all its descendants with it. */
function run(command: string, args: readonly string[], cwd: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const { DAYBOOK_AGENT_TOKEN: _, ...inherited } = process.env;
    const child = spawn(command, args, {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...inherited,
        CI: '1',
        GIT_TERMINAL_PROMPT: '0',
        GIT_ALLOW_PROTOCOL: 'http:https:ssh',
        GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
      },
    });
    let said = '';
    let isCut = false;
    const hear = (chunk: Buffer) => {
      said += chunk;
      isCut ||= said.length > SAID_CHARACTERS;
      said = said.slice(-SAID_CHARACTERS);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    const late = AbortSignal.timeout(COMMAND_MS);
    const ended = AbortSignal.any([signal, late]);
    const kill = () => {
      // It may have ended, with the rest of its output still to come.
      if (child.pid !== undefined) endGroup(child.pid, 'SIGKILL');
    };
    ended.addEventListener('abort', kill);
    child.on('error', (error) => {
      ended.removeEventListener('abort', kill);
      const isMissing = codeOf(error) === 'ENOENT';
      reject(
        new JobFailed('failed', isMissing ? `${command} is not installed on the computer.` : error.message),
      );
    });
    child.on('close', (code) => {
      ended.removeEventListener('abort', kill);
      // Cut output can begin with the rest of an address, whose password can't be recognized any more.
      if (isCut) said = said.replace(/^\S*/, '');
      if (code === 0 && !ended.aborted) return resolve(said);
      const shown = [command, ...args].join(' ');
      const tooLong = `took longer than ${COMMAND_MS / 60_000} minutes`;
      const why = signal.aborted ? 'was stopped' : late.aborted ? tooLong : `ended with ${code}`;
      reject(new JobFailed('failed', `"${shown}" ${why}: ${said.trim()}`));
    });
    if (ended.aborted) kill();
  });
}
