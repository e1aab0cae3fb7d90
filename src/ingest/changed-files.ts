import { hash } from 'node:crypto';
import { dirname } from 'node:path';
import { withoutPacking } from '../store/line-numbers.js';
import { meaningOfSource } from '../store/source-sql.js';
import type { Store } from '../store/store.js';
import type { InputFile } from './input-files.js';
import type { Source } from './source.js';

/** Whose files they are, and of what. */
interface Owner {
  readonly orgId: string;
  readonly source: Source;
  readonly userId?: string | undefined;
}

/** A file to read. Its state is that of the file, a space, and the meaning of the SQL. */
export interface ChangedFile extends InputFile {
  /** Of a database that the same SQL has read before: from when on rows have to be read. Unix milliseconds. */
  readonly since?: number | undefined;
  /** Whether another SQL has read the file before. */
  readonly isRemapped?: boolean;
}

/** The files that have changed, and the paths of all that were ever read. */
export interface Changes {
  readonly changed: readonly ChangedFile[];
  readonly known: readonly string[];
}

/** The state of a database ends in a time: see withRows. */
function sinceOf(known: string, state = ''): number | undefined {
  const [, meaning, since] = known.split(' ');
  return since !== undefined && meaning === state.split(' ')[1] ? Number(since) : undefined;
}

/** Files with states that also change with the source's SQL. */
export function withMeaning(source: Source, files: readonly InputFile[]): InputFile[] {
  const meaning = meaningOfSource(source);
  return files.map((file) => ({
    ...file,
    state: file.state === undefined ? undefined : `${hash('md5', file.state)} ${meaning}`,
  }));
}

/** The files whose states aren't those that are known by their paths, or by what `nameOf` makes of these. */
export function changedSince(
  known: ReadonlyMap<string, string>,
  files: readonly InputFile[],
  nameOf = (path: string) => path,
): readonly ChangedFile[] {
  return files
    .filter(
      ({ path, state }) => state === undefined || !`${known.get(nameOf(path))} `.startsWith(`${state} `),
    )
    .map((file) => {
      const before = known.get(nameOf(file.path));
      return {
        ...file,
        since: sinceOf(before ?? '', file.state),
        isRemapped: before !== undefined && before.split(' ')[1] !== file.state?.split(' ')[1],
      };
    });
}

/**
 * The files that aren't as they were when the store last read them for the same organization, source and user. `nameOf` gives the names under
 * which paths are stored.
 */
export async function changedFiles(
  store: Pick<Store, 'select'>,
  { orgId, source, userId }: Owner,
  files: readonly InputFile[],
  nameOf = (path: string) => path,
): Promise<Changes> {
  const rows = await store.select(
    'SELECT path, state FROM ingested_files WHERE org_id = $org_id AND source = $source AND user_id = $user_id',
    { org_id: orgId, source: source.name, user_id: userId ?? '' },
  );
  const known = new Map(rows.map(({ path, state }) => [String(path), String(state)]));
  return { changed: changedSince(known, files, nameOf), known: [...known.keys()] };
}

/** Some files, and those among all that the source's SQL must see together with one of them. */
function withContext(
  { context }: Source,
  some: readonly ChangedFile[],
  all: readonly InputFile[],
): readonly ChangedFile[] {
  if (context === undefined) return some;
  const paths = new Set(some.map(({ path }) => path));
  const needed = new Set([...paths].flatMap((path) => context(path)));
  return all.filter(
    ({ path }) => paths.has(path) || needed.has(withoutPacking(path)) || needed.has(dirname(path)),
  );
}

/** Files that are read together, each with those that the source's SQL must see beside it. These come on top of `most`. */
export function* batchesOf(
  source: Source,
  changed: readonly ChangedFile[],
  all: readonly InputFile[],
  most: { readonly bytes: number; readonly files?: number },
): Generator<readonly ChangedFile[]> {
  const left = new Set(changed);
  while (left.size > 0) {
    const some: ChangedFile[] = [];
    let bytes = 0;
    for (const file of left) {
      if (some.length > 0 && (bytes + file.size > most.bytes || some.length === most.files)) break;
      some.push(file);
      bytes += file.size;
    }
    const batch = withContext(source, some, all);
    const paths = new Set(batch.map(({ path }) => path));
    for (const file of left) if (paths.has(file.path)) left.delete(file);
    yield batch;
  }
}
