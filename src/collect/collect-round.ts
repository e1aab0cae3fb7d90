import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isOfSystem } from '../disk/folder.js';
import { rmSync } from '../disk/renames.js';
import { codeOf, type UsageError } from '../exit.js';
import { batchesOf, type ChangedFile, withMeaning } from '../ingest/changed-files.js';
import { foldersHere, type InputFile, inputFiles } from '../ingest/input-files.js';
import { SOURCES, type Source } from '../ingest/source.js';
import { isOfStore, isOutOfRoom, isReadFault } from '../store/store-fault.js';
import type { BodySpool } from './body-spool.js';
import type { Target } from './collect-folder.js';
import type { Mapped } from './event-mapper.js';
import type { SentFiles } from './sent-files.js';
import { SteadyMapper } from './steady-mapper.js';

/** How many bytes of files are mapped at once. The memory for mapping grows with it. */
const BATCH = { bytes: 12 << 20 };

/** The context of a round. */
export interface Round {
  readonly target: Pick<Target, 'folder' | 'userId'>;
  readonly files: SentFiles;
  readonly spool: Pick<BodySpool, 'bytes' | 'keep'>;
  /** How many bytes can wait in the spool. */
  readonly spoolBytes: number;
  readonly sender: { readonly send: () => Promise<unknown> };
  readonly clock: () => number;
  /** Sends bodies when the spool is full. Answers whether the spool is empty then. */
  readonly drain: () => Promise<boolean>;
  /** Called before each batch as a sign of life. */
  readonly touch: () => void;
}

/** The result of a round. */
export interface RoundResult {
  /** Files of agents that are here. */
  readonly files: number;
  /** Files that were read. */
  read: number;
  /** The agents whose files are here, and when one of these last changed. */
  readonly agents: ReadonlyMap<string, number>;
  /** New events in them. */
  events: number;
  /** By source, where its files had new events: how many files were read, and how many events are new. */
  readonly news: Map<string, { readonly files: number; readonly events: number }>;
  /** Lines that broke a rule. */
  rejected: number;
  /** A sentence for each file or folder that was left out. */
  readonly leftOut: Set<string>;
  /** The sentence for a spool that is full. */
  problem: string | undefined;
}

/** The files of a source in its default folders, in order, with their states. */
export function filesHere(source: Source, skip: (error: UsageError) => void): InputFile[] {
  const folders = foldersHere(source);
  return folders.length === 0 ? [] : withMeaning(source, inputFiles(folders, source, skip));
}

/**
 * Maps new events in the files of all agents, spools them, and sends as many as the server accepts. A file counts as read once its
 * events are on disk, so a round can be interrupted anywhere and the next one continues. Without new events, a round only checks the
 * states of files.
 */
export async function collectRound(round: Round): Promise<RoundResult> {
  const { target, files, sender, spool, spoolBytes } = round;
  const leftOut = new Set<string>();
  const found = SOURCES.map((source) => ({
    source,
    all: filesHere(source, ({ message }) => leftOut.add(message)),
  }));
  const agents = found.flatMap(({ source, all }) =>
    all.length === 0
      ? []
      : [[source.name, all.reduce((newest, { changedAt }) => Math.max(newest, changedAt ?? 0), 0)] as const],
  );
  const result: RoundResult = {
    files: found.reduce((sum, { all }) => sum + all.length, 0),
    read: 0,
    agents: new Map(agents),
    events: 0,
    news: new Map(),
    rejected: 0,
    leftOut,
    problem: undefined,
  };
  await sender.send();
  const work = join(target.folder, 'work');
  rmSync(work, { recursive: true, force: true });
  const mapper = new SteadyMapper(work);
  try {
    for (const { source, all } of found) {
      const changed = files.changed(source, all);
      for (const batch of batchesOf(source, changed, all, BATCH)) {
        round.touch();
        if (spool.bytes >= spoolBytes && !(await round.drain()) && spool.bytes >= spoolBytes) {
          result.problem = `As much waits in ${target.folder} as may: the rest is read when the server has taken some of it.`;
          return result;
        }
        await take(round, mapper, source, batch, result);
        await sender.send();
      }
    }
    if (result.read > 0) {
      const gone = found.filter(({ source, all }) => files.keepOnly(source, all));
      if (gone.length > 0) await files.save();
    }
    return result;
  } finally {
    mapper.close();
    rmSync(work, { recursive: true, force: true });
  }
}

/** Whether the machine or the engine failed, for example with too many open files. The file may be fine. */
function isOfMachine(error: unknown): boolean {
  return isOfSystem(error) || isOfStore(error) || isReadFault(error);
}

/** Maps files together, or one by one if that fails, and spools their new events. */
async function take(
  round: Round,
  mapper: SteadyMapper,
  source: Source,
  batch: readonly ChangedFile[],
  result: RoundResult,
): Promise<void> {
  const { files, spool, target, clock } = round;
  let mapped: Mapped;
  try {
    mapped = await mapper.map(source, batch, target.userId, clock());
  } catch (error) {
    if (isOutOfRoom(error)) throw error;
    // The engine's message is not shown, because it can quote the file.
    if (batch.length > 1) {
      for (const file of batch) await take(round, mapper, source, [file], result);
      return;
    }
    for (const file of batch.filter(({ path }) => existsSync(path))) {
      if (isOfMachine(error)) {
        const code = codeOf(error);
        result.leftOut.add(
          `${file.path} can't be read now${code && ` (${code})`}: the next run tries again.`,
        );
        continue;
      }
      files.noteFailed(source, file);
      result.leftOut.add(
        `${file.path} can't be read as a file of ${source.name}, and is left out until it changes.`,
      );
    }
    await files.save();
    return;
  }
  for (const sentence of mapped.leftOut) result.leftOut.add(sentence);
  const since = new Map(batch.map((file) => [file.path, file.since]));
  const known = mapped.files.map((file) => files.digestsOf(source, file));
  // Of a database, only the newest rows are read again.
  const present = mapped.files.map(
    ({ path }, index) => new Set(since.get(path) === undefined ? [] : known[index]),
  );
  const fresh: string[] = [];
  const seen = new Set<bigint>();
  for (const { file, digest, line } of mapped.events) {
    present[file]?.add(digest);
    if (known[file]?.has(digest) === true || seen.has(digest)) continue;
    seen.add(digest);
    fresh.push(line);
  }
  await spool.keep(fresh);
  for (const [index, { path, state }] of mapped.files.entries())
    files.note(source, path, state, present[index] ?? new Set());
  await files.save();
  result.rejected += mapped.rejected;
  result.read += mapped.files.length;
  result.events += fresh.length;
  if (fresh.length > 0) {
    const { files: read = 0, events = 0 } = result.news.get(source.name) ?? {};
    result.news.set(source.name, { files: read + mapped.files.length, events: events + fresh.length });
  }
}
