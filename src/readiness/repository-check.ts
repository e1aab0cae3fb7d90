import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from '../exit.js';
import { VERSION } from '../package-root.js';
import { partsOf } from './application.js';
import { type Evaluated, evaluate } from './criterion.js';
import { Tree } from './file-tree.js';
import { type GitFacts, readGit, repositoryFolder } from './git-facts.js';
import { MOST, type Submission } from './readiness-report.js';
import type { Criterion } from './readiness-rules.js';
import { isRepositoryUrl } from './repository-url.js';

/** What was found in a repository. */
export interface Checked {
  readonly folder: string;
  readonly submission: Submission;
  readonly evaluated: readonly Evaluated[];
  /** Whether the address of the repository is one that others know it by. */
  readonly hasRemote: boolean;
  /** What wasn't looked at, a sentence each. */
  readonly notes: readonly string[];
}

async function gitOf(folder: string, notes: string[]): Promise<GitFacts | undefined> {
  try {
    return await readGit(folder);
  } catch (error) {
    const why = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error);
    notes.push(`Git could not read the repository: ${why}.`);
    return undefined;
  }
}

/**
 * Evaluates the repository that a folder is in, or else the folder, by its files and its git: nothing of it is run. `now` is
 * in Unix milliseconds. Throws a UsageError when there is no such folder.
 */
export async function check(path: string, criteria: readonly Criterion[], now: number): Promise<Checked> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`There is no folder ${path} to check.`);
  const given = realpathSync(resolve(path));
  const repository = repositoryFolder(given);
  const folder = repository ?? given;
  const notes: string[] = [];
  const git = repository === undefined ? undefined : await gitOf(repository, notes);
  const tree = new Tree(folder, git?.paths);
  const parts = partsOf(tree);
  const evidence = { parts, git, now, known: new Map() };
  const evaluated = criteria.flatMap((criterion) => evaluate(criterion, evidence) ?? []);
  // A remote can be a folder of this machine.
  const remoteUrl = isRepositoryUrl(git?.remoteUrl ?? '') ? git?.remoteUrl : undefined;
  const submission: Submission = {
    repoUrl: remoteUrl ?? pathToFileURL(folder).href,
    apps: Object.fromEntries(
      parts.applications.map(({ path, description }) => [
        path.slice(0, MOST.path),
        { description: description.slice(0, MOST.description) },
      ]),
    ),
    report: Object.fromEntries(
      evaluated.map(({ criterion: { id, level }, numerator, denominator, rationale }) => [
        id,
        { numerator, denominator, rationale, level },
      ]),
    ),
    ...(git?.commitHash === undefined ? {} : { commitHash: git.commitHash }),
    ...(git?.branch === undefined ? {} : { branch: git.branch }),
    ...(git?.hasLocalChanges === undefined ? {} : { hasLocalChanges: git.hasLocalChanges }),
    ...(git?.hasNonRemoteCommits === undefined ? {} : { hasNonRemoteCommits: git.hasNonRemoteCommits }),
    agentVersion: VERSION,
  };
  return {
    folder,
    submission,
    evaluated,
    hasRemote: remoteUrl !== undefined,
    notes: [...notes, ...tree.notes],
  };
}
