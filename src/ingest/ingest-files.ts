import { isOfSystem } from '../disk/folder.js';
import { LeftOut } from '../disk/foreign-file.js';
import { Checkouts } from '../disk/git-remote.js';
import { requireOrganization } from '../store/organization.js';
import { erasedIn, pathWithout, requireNotErased } from '../store/state/erased-names.js';
import { type Batch, EXAMPLES, type Settled, type Store } from '../store/store.js';
import { isOfStore, isOutOfMemory } from '../store/store-fault.js';
import { batchesOf, type ChangedFile, changedFiles, withMeaning } from './changed-files.js';
import type { InputFile } from './input-files.js';
import { kindOf } from './set-aside.js';
import type { Source } from './source.js';

/** How much goes into one transaction, in bytes on disk: a batch of files, or one larger file. */
const BATCH = { bytes: 1 << 30, files: 20_000 };
/** The same for documents, and for lines whose order counts: all of a batch is in memory at a time. */
const SMALL_BATCH = { bytes: 64 << 20, files: 500 };
/** Counts the runs that have read files again, since the process began. */
let runs = 0;

/** Names a run of `remap` and `withdraw`. */
export function nextRun(): number {
  runs += 1;
  return runs;
}

/** When the store has failed on more files, the rest is not tried. */
const FAILURES_AT_MOST = 100;

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
 * Takes the lines of files into the store. Each batch of files is settled in one transaction, so counted lines are
 * on disk. Doing it again changes nothing, and reads only files that have changed. A file that the store fails on is left out. Throws the signal's reason
 * between two batches.
 */
export async function ingest(
  store: Store,
  request: IngestRequest,
  clock: () => number,
  progress: (bytesDone: number) => void = () => {},
  signal?: AbortSignal,
): Promise<Ingested> {
  await requireOrganization(store, request.orgId, clock());
  await requireNotErased(store, request.orgId, [request.userId]);
  const total: Ingested = {
    accepted: 0,
    duplicates: 0,
    rejected: 0,
    mended: 0,
    byReason: {},
    files: 0,
    unchanged: 0,
    bytes: 0,
    examples: [],
    leftOut: [],
  };
  const { source } = request;
  const all = withMeaning(source, request.files);
  const isErased = await erasedIn(store, request.orgId);
  const nameOf = (path: string) => (isErased === undefined ? path : pathWithout(isErased, path));
  const { changed, known } = await changedFiles(store, request, all, nameOf);
  const most = source.unit === 'document' || source.isOrdered === true ? SMALL_BATCH : BATCH;
  const read = new Set<string>();
  let failures = 0;
  /** Settles files together. Where the store fails on them, it settles halves, each with the files that its SQL must see beside it. */
  const settle = async (
    some: readonly ChangedFile[],
    report: (share: number) => void,
    run?: number,
  ): Promise<readonly Settled[]> => {
    try {
      const batch = batchOf(request, some, clock());
      return [
        run === undefined
          ? await store.settle(batch, report, signal)
          : await store.remap(
              { source, files: batch.files, settledAt: batch.settledAt, run },
              report,
              signal,
            ),
      ];
    } catch (error) {
      if (signal?.aborted === true || isOfStore(error)) throw error;
      const half = Math.ceil(some.length / 2);
      const parts = [some.slice(0, half), some.slice(half)].flatMap((part) => [
        ...batchesOf(source, part, all, most),
      ]);
      if (some.length === 1 || parts.some(({ length }) => length === some.length)) {
        failures += some.length;
        // Then it isn't the files.
        if (failures > FAILURES_AT_MOST) throw error;
        return [{ ...NOTHING, leftOut: some.map(({ path }) => leftOutBy(error, path).message) }];
      }
      const settled: Settled[] = [];
      for (const part of parts) settled.push(...(await settle(part, report, run)));
      return settled;
    }
  };
  // Events of agents are what a mapping makes of files. Those that a former mapping made and the present one doesn't go before others come, so
  // that the next run does all of it again if this one is cut off.
  if (!source.namesUsers && changed.some(({ isRemapped }) => isRemapped === true)) {
    const run = nextRun();
    let events = 0;
    for (const files of batchesOf(source, all, all, most)) {
      signal?.throwIfAborted();
      for (const { accepted } of await settle(files, () => {}, run)) events += accepted;
    }
    const { orgId, userId = '' } = request;
    const paths = [...new Set([...known, ...all.map(({ path }) => nameOf(path))])];
    await store.withdraw({
      run,
      orgId,
      source: source.name,
      userId,
      events,
      files: paths,
      settledAt: clock(),
    });
    failures = 0;
  }
  const batches = [...batchesOf(source, changed, all, most)];
  for (const { path } of batches.flat()) read.add(path);
  const unchanged = all.filter(({ path }) => !read.has(path));
  total.files = all.length - unchanged.length;
  total.unchanged = unchanged.length;
  const skipped = bytesOf(unchanged);
  for (const files of batches) {
    signal?.throwIfAborted();
    const bytes = bytesOf(files);
    const report = (share: number) => progress(skipped + total.bytes + bytes * share);
    for (const settled of await settle(files, report)) add(total, settled);
    total.bytes += bytes;
    progress(skipped + total.bytes);
  }
  return total;
}

const NOTHING: Settled = {
  accepted: 0,
  duplicates: 0,
  rejected: 0,
  mended: 0,
  byReason: {},
  examples: [],
  leftOut: [],
};

/** Why a file is left out that the store has failed on. The rest of an engine's message may quote words of people. */
function leftOutBy(error: unknown, path: string): LeftOut {
  if (error instanceof LeftOut) return error;
  if (isOutOfMemory(error)) return new LeftOut(path, 'it takes more memory than DAYBOOK_MEMORY_MB allows');
  const what = isOfSystem(error) ? "it can't be read" : "the database can't take it";
  return new LeftOut(path, `${what} (${kindOf(error)})`);
}

/** Files as the store takes them. */
function batchOf(
  { orgId, source, userId }: IngestRequest,
  files: readonly ChangedFile[],
  now: number,
): Batch {
  return {
    source,
    files: files.map(({ path, state, since }) => ({
      path,
      state,
      since,
      name: path,
      orgId,
      userId,
      receivedAt: now,
    })),
    ...(source.namesRepos ? {} : { checkoutOf: new Checkouts().of }),
    settledAt: now,
  };
}

/** Adds the outcome of a batch to a sum. */
function add(total: Ingested, settled: Settled): void {
  total.accepted += settled.accepted;
  total.duplicates += settled.duplicates;
  total.rejected += settled.rejected;
  total.mended += settled.mended;
  for (const [reason, lines] of Object.entries(settled.byReason))
    total.byReason[reason] = (total.byReason[reason] ?? 0) + lines;
  total.examples.push(...settled.examples.slice(0, EXAMPLES - total.examples.length));
  total.leftOut.push(...settled.leftOut);
}
