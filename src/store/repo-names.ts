import type { Checkout } from '../disk/git-remote.js';
import type { Session } from './duckdb-session.js';
import { quote } from './sql-text.js';

/** Of more folders than this nobody asks, beginning with those of most events: each takes a few looks at the disk. */
const FOLDERS_AT_MOST = 1000;

/** Fills in the repository and the branch of a batch's events that name none, by the folder that they happened in. */
export async function nameRepos(
  session: Session,
  checkoutOf: (folder: string) => Promise<Checkout | undefined>,
): Promise<void> {
  const folders = await session.select(
    `SELECT cwd FROM events
    WHERE batch = getvariable('batch') AND (repo IS NULL OR git_branch IS NULL) AND cwd IS NOT NULL
    GROUP BY cwd ORDER BY count(*) DESC, cwd LIMIT ${FOLDERS_AT_MOST}`,
  );
  const repos = new Map<string, string>();
  const branches = new Map<string, string>();
  const since = new Map<string, string>();
  const note = async (cwd: string): Promise<boolean> => {
    const { repo, branch, branchSince } = (await checkoutOf(cwd)) ?? {};
    if (repo !== undefined) repos.set(cwd, quote(repo));
    if (branch !== undefined && branchSince !== Infinity) {
      branches.set(cwd, quote(branch));
      since.set(cwd, String(branchSince));
    }
    return repo !== undefined;
  };
  const unknown: string[] = [];
  for (const { cwd } of folders) if (!(await note(String(cwd)))) unknown.push(String(cwd));
  // The repository of a removed worktree may be that of a folder that came after it.
  if (unknown.length < folders.length) for (const cwd of unknown) await note(cwd);
  await fill(session, 'repo', repos, '');
  await fill(session, 'git_branch', branches, `AND epoch_ms(occurred_at) >= ${mapOf(since)}[cwd]`);
}

/** Values by folder as SQL. */
function mapOf(values: ReadonlyMap<string, string>): string {
  return `MAP {${[...values].map(([cwd, value]) => `${quote(cwd)}: ${value}`).join(', ')}}`;
}

/**
 * Fills in a column of events that don't have it.
 * TRICKY: an UPDATE that joins takes a hundred times as long.
 */
async function fill(
  session: Session,
  column: string,
  values: ReadonlyMap<string, string>,
  condition: string,
): Promise<void> {
  if (values.size === 0) return;
  await session.run(
    `UPDATE events SET ${column} = ${mapOf(values)}[cwd]
    WHERE batch = getvariable('batch') AND ${column} IS NULL AND cwd IN (${[...values.keys()].map(quote).join(', ')}) ${condition}`,
  );
}
