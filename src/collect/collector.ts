import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isOfSystem } from '../disk/folder.js';
import { OnlyOne } from '../disk/only-one.js';
import { VERSION } from '../disk/package-root.js';
import { rmSync } from '../disk/renames.js';
import { reasonOf, UsageError } from '../exit.js';
import { isOutOfRoom } from '../store/store-fault.js';
import { count } from '../terminal/counted.js';
import { BodySender } from './body-sender.js';
import { BodySpool } from './body-spool.js';
import { type Connection, type Sender, type Target, targetOf } from './collect-folder.js';
import { collectRound, type RoundResult } from './collect-round.js';
import { type CollectStatus, saveStatus, statusOf } from './collect-status.js';
import { EventService, Later } from './event-service.js';
import { SentFiles } from './sent-files.js';

/** A collector without a sign of life for this long counts as gone. */
const HOLDS_MS = 15 * 60_000;

/** How many of the files that were left out are named, in the status and in the sentences of a round. */
const LEFT_OUT_NAMED = 20;
const SAID = 3;

/** How often the server gets a sign of life, also when nothing is new. */
const HEARTBEAT_MS = 60 * 60_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const NO_AGENT =
  'No agent has sessions here. If one keeps them in another folder, set its variable, such as CLAUDE_CONFIG_DIR.';

export interface CollectOptions {
  readonly folder: string;
  readonly connection: Connection;
  readonly spoolBytes: number;
  /** How long a run keeps trying if the server can't accept events. */
  readonly waitMs: number;
  /** The pause between rounds; undefined for a single round. */
  readonly everyMs: number | undefined;
  /** Whether to read and send everything again. */
  readonly again: boolean;
  readonly clock: () => number;
  readonly say: (sentence: string) => void;
}

/** Collects once, or until the process ends. Answers whether nothing waits. Throws a UsageError for a wrong key or address. */
export async function collect(options: CollectOptions): Promise<boolean> {
  const { folder, everyMs, say } = options;
  for (;;) {
    try {
      return await collectWithRoom(options);
    } catch (error) {
      const isFull = isOutOfRoom(error);
      // One of the system passes, or can be mended while this goes on.
      if (!isFull && (everyMs === undefined || !isOfSystem(error))) throw error;
      say(
        isFull
          ? `There is no room in ${folder}: make room on its disk, or choose another folder with --folder.`
          : `This round failed (${reasonOf(error)}), and the next one tries again.`,
      );
      if (everyMs === undefined) return false;
      await wait(everyMs);
    }
  }
}

/** Does the same, but throws an error that isOutOfRoom recognizes if there is no room. */
async function collectWithRoom(options: CollectOptions): Promise<boolean> {
  const { folder, connection, everyMs, clock, say } = options;
  const service = new EventService(connection, clock);
  try {
    const target = await targetOf(folder, connection, () => asked(service, options));
    const one = OnlyOne.at(join(target.folder, 'running'), HOLDS_MS, clock);
    if (one === undefined) {
      say(`Another daybook collect works in ${target.folder}, and this one leaves it to that.`);
      return true;
    }
    // A round can be interrupted anywhere: the next run continues it.
    const stop = () => {
      rmSync(join(target.folder, 'work'), { recursive: true, force: true });
      one.end();
      process.exit(0);
    };
    for (const signal of SIGNALS) process.once(signal, stop);
    try {
      const files = new SentFiles(target.folder);
      if (options.again) await files.clear();
      const spool = new BodySpool(join(target.folder, 'spool'), clock);
      const notBefore = statusOf(target).not_before ?? 0;
      const sender = new BodySender(spool, service, clock, notBefore, () => one.touch());
      const parts = { target, one, files, spool, sender, service };
      if (everyMs === undefined) return await playRound(parts, options);
      for (;;) {
        // If another process began while this one was silent, the rounds are left to it.
        const isMine = one.touch();
        if (isMine) await playRound(parts, options);
        // If events wait, the next round begins when the server can be asked again.
        const isWaiting = isMine && spool.first !== undefined;
        await one.rest(isWaiting ? Math.min(everyMs, Math.max(0, sender.notBefore - clock())) : everyMs);
      }
    } finally {
      for (const signal of SIGNALS) process.off(signal, stop);
      one.end();
    }
  } finally {
    service.close();
  }
}

/** The parts that all rounds of a target share. */
interface Parts {
  readonly target: Target;
  readonly one: OnlyOne;
  readonly files: SentFiles;
  readonly spool: BodySpool;
  readonly sender: BodySender;
  readonly service: EventService;
}

/**
 * Collects, sends, and records the result, even if the service refuses: then it throws the UsageError. Answers whether all went well and
 * nothing waits.
 */
async function playRound(
  { target, one, files, spool, sender, service }: Parts,
  { spoolBytes, everyMs, waitMs, clock, say }: CollectOptions,
): Promise<boolean> {
  const isOnce = everyMs === undefined;
  const drain = (until: number) => sender.sendUntil(until, (ms) => one.rest(ms));
  const patience = () => (isOnce ? clock() + waitMs : 0);
  spool.look();
  sender.damaged = undefined;
  sender.divided = undefined;
  const before = statusOf(target);
  const [sent, rejected] = [sender.sent, sender.rejected];
  let beatAt = before.heartbeat_at;
  const note = async (problem: string | undefined, leftOut: ReadonlySet<string>) => {
    const problems = [sender.damaged, sender.divided, problem].filter((sentence) => sentence !== undefined);
    const status = after(before, {
      now: clock(),
      sent: sender.sent - sent,
      rejected: sender.rejected - rejected,
      waiting_events: spool.events,
      waiting_bytes: spool.bytes,
      failed_files: files.failed,
      left_out_files: leftOut.size,
      left_out: [...leftOut].slice(0, LEFT_OUT_NAMED),
      problem: problems.length === 0 ? null : problems.join(' '),
      not_before: sender.notBefore > clock() ? sender.notBefore : null,
      heartbeat_at: beatAt,
    });
    await saveStatus(target.folder, status);
    return status;
  };
  try {
    const until = patience();
    const touch = () => one.touch();
    const result = await collectRound({
      target,
      files,
      spool,
      spoolBytes,
      sender,
      drain: () => drain(until),
      clock,
      touch,
    });
    const isDone = await drain(patience());
    if (
      isBeatDue(before, clock()) &&
      clock() >= sender.notBefore &&
      (await service.beat(heartbeatOf(before, result)))
    )
      beatAt = clock();
    const status = await note(result.problem ?? sender.problem, result.leftOut);
    const sentence = sentenceOf(result, sender.sent - sent, status, before);
    if (sentence !== undefined || isOnce) say(sentence ?? (result.files > 0 ? 'Nothing is new.' : NO_AGENT));
    if (isOnce) for (const line of newsLines(result)) say(line);
    const isWhole = result.problem === undefined && result.leftOut.size === 0;
    return isDone && isWhole && sender.damaged === undefined;
  } catch (error) {
    if (error instanceof UsageError) await note(error.message, new Set(before.left_out));
    throw error;
  }
}

/**
 * Whether the server should get a sign of life. A machine on which this is the first run, such as one for a job of CI, may never run it again:
 * then nobody should wait for it. A time noted before the clock was set back is ignored.
 */
function isBeatDue({ last_run_at, heartbeat_at }: CollectStatus, now: number): boolean {
  if (last_run_at === null) return false;
  return heartbeat_at === null || Math.abs(now - heartbeat_at) >= HEARTBEAT_MS;
}

function heartbeatOf({ collector_id, user_id }: CollectStatus, { agents }: RoundResult): object {
  return {
    ...{ collector_id, user_id, host: hostname() || null, version: VERSION },
    agents: [...agents].map(([agent, changedAt]) => ({ agent, changed_at: changedAt || null })),
  };
}

/** Asks whose events a key sends, until the service answers. With --watch it never gives up. */
export async function asked(
  service: EventService,
  { clock, waitMs, everyMs, say }: Pick<CollectOptions, 'clock' | 'waitMs' | 'everyMs' | 'say'>,
): Promise<Sender> {
  const until = clock() + waitMs;
  for (let pause = 1000; ; pause = Math.min(60_000, pause * 2)) {
    try {
      return await service.sender();
    } catch (error) {
      if (!(error instanceof Later)) throw error;
      const ms = Math.max(pause, error.afterMs ?? 0);
      if (everyMs === undefined && clock() + ms > until) throw error;
      if (pause === 1000) say(`${error.message}: trying again.`);
      await wait(ms);
    }
  }
}

type Change = Pick<
  CollectStatus,
  | 'waiting_events'
  | 'waiting_bytes'
  | 'failed_files'
  | 'left_out_files'
  | 'left_out'
  | 'problem'
  | 'not_before'
  | 'heartbeat_at'
> & { readonly now: number; readonly sent: number; readonly rejected: number };

function after(before: CollectStatus, { now, sent, rejected, ...present }: Change): CollectStatus {
  return {
    ...before,
    ...present,
    last_run_at: now,
    last_sent_at: sent > 0 ? now : before.last_sent_at,
    events_sent: before.events_sent + sent,
    events_rejected: before.events_rejected + rejected,
    rounds: sent > 0 ? [...before.rounds, { sent_at: now, events: sent }] : before.rounds,
  };
}

/** A line for each agent that had something new. */
function newsLines({ news }: RoundResult): string[] {
  const width = Math.max(...[...news.keys()].map(({ length }) => length)) + 2;
  return [...news].map(
    ([source, { files, events }]) =>
      `  ${source.padEnd(width)}${count(events, 'event')}, ${count(files, 'file')}`,
  );
}

/** The result of a round as a sentence; undefined if nothing has changed. */
function sentenceOf(
  { read, rejected }: RoundResult,
  sent: number,
  { waiting_events, problem, left_out_files, left_out }: CollectStatus,
  before: CollectStatus,
): string | undefined {
  const isSame = problem === before.problem && left_out.join() === before.left_out.join();
  if (read === 0 && sent === 0 && waiting_events === 0 && isSame) return undefined;
  const more = left_out_files - SAID;
  return [
    `${count(sent, 'event')} sent, ${count(read, 'file')} read.`,
    ...(rejected > 0 ? [`${rejected} rejected.`] : []),
    ...(waiting_events > 0
      ? [`${count(waiting_events, 'event')} ${waiting_events === 1 ? 'waits' : 'wait'} for the next run.`]
      : []),
    ...(problem === null ? [] : [problem]),
    ...left_out.slice(0, SAID),
    ...(more > 0 ? [`"daybook collect status" names what else was left out (${count(more, 'file')}).`] : []),
  ].join(' ');
}
