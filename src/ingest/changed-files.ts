import { dirname } from 'node:path';
import { withoutPacking } from '../store/line-numbers.js';
import type { Store } from '../store/store.js';
import type { InputFile } from './input-files.js';
import type { Source } from './source.js';

/** Whose files they are, and of what. */
interface Owner {
  readonly orgId: string;
  readonly source: Source;
  readonly userId?: string | undefined;
}

/**
 * The files that aren't as they were when the store last read them for the same organization, source and user, and those that
 * the source's SQL must see together with one of them.
 */
export async function changedFiles(
  store: Pick<Store, 'select'>,
  { orgId, source, userId }: Owner,
  files: readonly InputFile[],
): Promise<readonly InputFile[]> {
  const rows = await store.select(
    'SELECT path, state FROM ingested_files WHERE org_id = $org_id AND source = $source AND user_id = $user_id',
    { org_id: orgId, source: source.name, user_id: userId ?? '' },
  );
  const known = new Map(rows.map(({ path, state }) => [path, state]));
  const changed = files.filter(({ path, state }) => state === undefined || known.get(path) !== state);
  const { context } = source;
  if (context === undefined || changed.length === 0) return changed;
  const paths = new Set(changed.map(({ path }) => path));
  const needed = new Set([...paths].flatMap((path) => context(path)));
  return files.filter(
    ({ path }) => paths.has(path) || needed.has(withoutPacking(path)) || needed.has(dirname(path)),
  );
}
