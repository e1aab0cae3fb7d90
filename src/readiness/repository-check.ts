import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { VERSION } from '../disk/package-root.js';
import { UsageError } from '../exit.js';
import { partsOf } from './application.js';
import { type Evaluated, evaluate } from './criterion.js';
import { Tree } from './file-tree.js';
import { type GitFacts, readGit, repositoryFolder } from './git-facts.js';
import { MOST, type Submission } from './readiness-report.js';
import type { Criterion } from './readiness-rules.js';
import { isRepositoryUrl } from './repository-url.js';

/** The result of checking a repository. */
export interface Checked {
  readonly folder: string;
  readonly submission: Submission;
  readonly evaluated: readonly Evaluated[];
  /** Whether the repository's address is one that others can use. */
  readonly hasRemote: boolean;
  /** One sentence for each thing that was left out. */
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
 * Checks the repository that contains a folder, or else the folder, by its files and git history. Runs no program of the repository.
 * `now` is in Unix milliseconds. Throws a UsageError if the folder doesn't exist.
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
