import type { Session } from './duckdb-session.js';
import { quote } from './sql-text.js';

/** Of more folders than this nobody asks, beginning with those of most events: each takes a few looks at the disk. */
const FOLDERS_AT_MOST = 1000;

/** Fills in the repository of a batch's events that name none, by the folder that they happened in. */
export async function nameRepos(
  session: Session,
  repoOf: (folder: string) => Promise<string | undefined>,
): Promise<void> {
  const folders = await session.select(
    `SELECT cwd FROM events
    WHERE batch = getvariable('batch') AND repo IS NULL AND cwd IS NOT NULL
    GROUP BY cwd ORDER BY count(*) DESC, cwd LIMIT ${FOLDERS_AT_MOST}`,
  );
  const known = new Map<string, string>();
  for (const { cwd } of folders) {
    const repo = await repoOf(String(cwd));
    if (repo !== undefined) known.set(quote(String(cwd)), quote(repo));
  }
  if (known.size === 0) return;
  const repos = [...known].map(([cwd, repo]) => `${cwd}: ${repo}`);
  // TRICKY: an UPDATE that joins takes a hundred times as long.
  await session.run(
    `UPDATE events SET repo = MAP {${repos.join(', ')}}[cwd]
    WHERE batch = getvariable('batch') AND repo IS NULL AND cwd IN (${[...known.keys()].join(', ')})`,
  );
}
