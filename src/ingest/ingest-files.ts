import { checkoutOf } from '../git-remote.js';
import { requireOrganization } from '../store/organization.js';
import { EXAMPLES, type Settled, type Store } from '../store/store.js';
import { batchesOf, changedFiles, withMeaning } from './changed-files.js';
import type { InputFile } from './input-files.js';
import type { Source } from './source.js';

/** How much goes into one transaction, in bytes on disk: a batch of files, or one larger file. */
const BATCH = { bytes: 1 << 30, files: 20_000 };
/** The same for documents, and for lines whose order counts: all of a batch is in memory at a time. */
const SMALL_BATCH = { bytes: 64 << 20, files: 500 };

export interface IngestRequest {
  readonly orgId: string;
  readonly source: Source;
  /** Whose events they are, where the lines don't say it. */
  readonly userId?: string | undefined;
  readonly files: readonly InputFile[];
}

export interface Ingested extends Settled {
  /** The files that were read. */
  files: number;
  /** Those that weren't, as they are as they were when they were read before. */
  unchanged: number;
  bytes: number;
}

function bytesOf(files: readonly InputFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/**
 * Takes the lines of files into the store. Each batch of files is settled in one transaction, so that what was counted is
 * on disk; doing it again changes nothing, and reads only what has changed.
 */
export async function ingest(
  store: Store,
  request: IngestRequest,
  clock: () => number,
  progress: (bytesDone: number) => void = () => {},
): Promise<Ingested> {
  await requireOrganization(store, request.orgId, clock());
  const total: Ingested = {
    accepted: 0,
    duplicates: 0,
    rejected: 0,
    byReason: {},
    files: 0,
    unchanged: 0,
    bytes: 0,
    examples: [],
  };
  const { source } = request;
  const all = withMeaning(source, request.files);
  const changed = await changedFiles(store, request, all);
  const most = source.unit === 'document' || source.isOrdered === true ? SMALL_BATCH : BATCH;
  const batches = [...batchesOf(source, changed, all, most)];
  const read = new Set(batches.flat().map(({ path }) => path));
  const unchanged = all.filter(({ path }) => !read.has(path));
  total.files = all.length - unchanged.length;
  total.unchanged = unchanged.length;
  const skipped = bytesOf(unchanged);
  for (const files of batches) {
    const now = clock();
    const bytes = bytesOf(files);
    const settled = await store.settle(
      {
        source,
        files: files.map(({ path, state, since }) => ({
          path,
          state,
          since,
          name: path,
          orgId: request.orgId,
          userId: request.userId,
          receivedAt: now,
        })),
        ...(source.namesRepos ? {} : { checkoutOf }),
        settledAt: now,
      },
      (share) => progress(skipped + total.bytes + bytes * share),
    );
    total.accepted += settled.accepted;
    total.duplicates += settled.duplicates;
    total.rejected += settled.rejected;
    for (const [reason, lines] of Object.entries(settled.byReason))
      total.byReason[reason] = (total.byReason[reason] ?? 0) + lines;
    total.examples.push(...settled.examples.slice(0, EXAMPLES - total.examples.length));
    total.bytes += bytes;
    progress(skipped + total.bytes);
  }
  return total;
}
