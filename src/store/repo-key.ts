import { readSql } from './sql-text.js';
import type { Store } from './store.js';

/** The key of the repository that an address names in any spelling: see sql/function/repo_key.sql. */
export async function repoKeyOf(select: Store['select'], repo: string): Promise<string> {
  const [row] = await select(readSql('state/named_repo.sql'), { repo });
  return String(row?.repo);
}
