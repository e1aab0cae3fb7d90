import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import { rmSync } from '../disk/renames.js';
import { reasonOf } from '../exit.js';
import { fetchPublished } from '../lake/fetched-lake.js';
import { LAKE } from '../lake/lake-paths.js';
import type { Seen } from '../lake/snapshot.js';
import type { Config } from '../settings/config.js';
import { killFirst, residentBytes } from '../store/own-process.js';
import type { SqlForm, SqlJob, SqlParameters, SqlReport } from './query-job.js';
import { BUSY, ENGINE, memorySentence, SqlError, type SqlFault, TURN, timeSentence } from './sql-error.js';

const PROGRAM = join(PACKAGE_ROOT, 'dist', 'sql', 'query-process.js');

/** Answers come before starting a process for the next query. */
const START_AFTER_MS = 50;

/** How long an idle process waits for a query. The first query after that is some tenths of a second slower. */
const SPARE_MS = 60_000;

/** How often the memory of a process is checked, and how much it may use beyond that of its DuckDB. */
const MEMORY_MS = 50;
const MEMORY_BESIDE = 256 * 2 ** 20;

/** How long a process may take to start. */
const START_MS = 30_000;

/** A query and the format of its answer. */
export interface SqlRequest {
  readonly orgId: string;
  readonly asOf?: number | undefined;
  readonly sql: string;
  readonly params: SqlParameters;
  readonly form: SqlForm;
  /** How many rows are wanted at most. */
  readonly limit?: number | undefined;
}

/** Runs each query in a process of its own, which sees only the lake of one organization and ends with the query. */
export class Queries {
  /** A process that hasn't read any organization yet. */
  private spare: ChildProcess | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly running = new Map<ChildProcess, string>();
  private isClosed = false;

  /** `note` gets errors that aren't a query's fault, unless the query has one of its own. */
  constructor(
    private readonly config: Pick<Config, 'data' | 'prices' | 'sql' | 'lake' | 'lakeCacheMb'>,
    private readonly note: (cause: string) => void,
  ) {}

  /**
   * Runs a query and returns its bytes once there are some, and what it sees of the organization; before that, it throws a SqlError. A later
   * failure breaks the stream off. A caller that doesn't read it to its end must destroy it, or abort, which ends the query.
   */
  async run(
    request: SqlRequest,
    aborted: AbortSignal,
    note: (cause: string) => void = this.note,
  ): Promise<{ bytes: Readable; seen: Seen }> {
    const config = this.config.sql;
    await fetchPublished(this.config, request.orgId, request.asOf).catch((error) => {
      note(reasonOf(error));
      throw new SqlError('lake', 'The lake cannot be read now: try again in a moment');
    });
    const ofOrganization = [...this.running.values()].filter((orgId) => orgId === request.orgId);
    if (ofOrganization.length >= config.queriesPerOrg) throw new SqlError('turn', TURN);
    if (this.running.size >= config.queries) throw new SqlError('busy', BUSY);
    const child = this.take();
    this.running.set(child, request.orgId);
    const job: SqlJob = {
      lake: LAKE,
      ...request,
      rows: config.rows,
      bytes: config.answerMb * 2 ** 20,
      file: `answer-${randomUUID()}.tmp`,
    };
    const run = new Run(child, config, aborted);
    const freed = run.ended.then((report) => this.free(child, job, report, note));
    child.send(job);
    const report = await Promise.race([run.begun, freed]);
    if (report.state === 'failed') throw new SqlError(report.fault, report.detail);
    // An answer without bytes has begun all the same.
    const seen = report.state === 'begun' ? report.seen : await run.begun.then((begun) => begun.seen);
    // Of an answer that is whole, the end is not held up by that of its process. Of one that broke off it is: who is told so
    // may ask again at once.
    const ended = run.ended.then((report) => (report.state === 'failed' ? freed : report));
    return { bytes: bytesOf(child, ended), seen };
  }

  /** Makes room for another query. */
  private async free(
    child: ChildProcess,
    { file }: SqlJob,
    report: Ended,
    note: (cause: string) => void,
  ): Promise<Ended> {
    const isFailed = report.state === 'failed';
    if (isFailed && report.cause !== undefined) note(report.cause);
    if (isFailed && report.isUsed === false) {
      this.running.delete(child);
      this.keep(child);
      return report;
    }
    child.kill('SIGKILL');
    if (report.state === 'done') this.running.delete(child);
    const isGone = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    if (!isGone) await once(child, 'exit');
    this.running.delete(child);
    rmSync(join(this.config.data, file), { force: true });
    setTimeout(() => {
      if (!this.isClosed && this.spare === undefined) this.keep(this.start());
    }, START_AFTER_MS).unref();
    return report;
  }

  /** Kills all processes. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const child of [this.spare, ...this.running.keys()]) child?.kill('SIGKILL');
  }

  private take(): ChildProcess {
    const { spare } = this;
    this.spare = undefined;
    clearTimeout(this.timer);
    return spare?.connected === true ? spare : this.start();
  }

  private keep(child: ChildProcess): void {
    if (this.isClosed || (this.spare !== undefined && this.spare !== child)) {
      child.kill('SIGKILL');
      return;
    }
    this.spare = child;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.spare = undefined;
      child.kill('SIGKILL');
    }, SPARE_MS).unref();
  }

  private start(): ChildProcess {
    const { data, prices, sql } = this.config;
    const child = fork(
      PROGRAM,
      [String(sql.memoryMb), String(sql.threads), ...(prices === undefined ? [] : [prices])],
      {
        cwd: data,
        env: {},
        // Most of its objects are short-lived: with more room they are collected less often, and the rest almost never.
        execArgv: ['--max-old-space-size=256', '--initial-old-space-size=128', '--max-semi-space-size=32'],
        stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
      },
    );
    child.on('error', ({ message }) => this.note(message));
    killFirst(child.pid);
    return child;
  }
}

type Begun = Extract<SqlReport, { state: 'begun' }>;
type Ended = Extract<SqlReport, { state: 'done' } | { state: 'failed' }>;

/** A process's work on one query, and what stops it. */
class Run {
  /** Settles when the first bytes arrive. */
  readonly begun: Promise<Begun>;
  /** The outcome; settles in any case. */
  readonly ended: Promise<Ended>;

  constructor(child: ChildProcess, config: Config['sql'], aborted: AbortSignal) {
    let begin: (report: Begun) => void = () => undefined;
    this.begun = new Promise((resolve) => {
      begin = resolve;
    });
    this.ended = new Promise((resolve) => {
      const stop = (report: Ended) => {
        clearTimeout(timer);
        clearInterval(watch);
        child.off('message', hear).off('exit', crash);
        aborted.removeEventListener('abort', abort);
        resolve(report);
      };
      const fail = (fault: SqlFault, detail: string, cause?: string) =>
        stop({ state: 'failed', fault, detail, ...(cause === undefined ? {} : { cause }) });
      const crash = (code: number | null, signal: string | null) =>
        fail('engine', ENGINE, `the process of a query ended with ${code ?? signal}`);
      const abort = () => fail('query', 'The client disconnected');
      // A query's time begins with its work, because a busy machine takes longer to start a process.
      let timer = setTimeout(
        () => fail('busy', 'The service is too busy for a query: ask again', 'a process did not start'),
        START_MS,
      );
      const watch = setInterval(() => {
        if (residentBytes(child.pid) > config.memoryMb * 2 ** 20 + MEMORY_BESIDE)
          fail('limit', memorySentence(config.memoryMb));
      }, MEMORY_MS);
      const hear = (report: SqlReport) => {
        if (report.state === 'begun') begin(report);
        if (report.state === 'done' || report.state === 'failed') stop(report);
        if (report.state !== 'started') return;
        clearTimeout(timer);
        timer = setTimeout(() => fail('limit', timeSentence(config.timeSeconds)), config.timeSeconds * 1000);
      };
      child.on('message', hear).on('exit', crash);
      aborted.addEventListener('abort', abort);
      if (aborted.aborted) abort();
    });
  }
}

/** The bytes of an answer: all of them, or the stream ends with the error. */
function bytesOf(child: ChildProcess, ended: Promise<Ended>): Readable {
  const bytes = new PassThrough({
    highWaterMark: 1 << 20,
    flush: (done) =>
      void ended.then((report) =>
        done(report.state === 'failed' ? new SqlError(report.fault, report.detail) : null),
      ),
  });
  return child.stdout?.pipe(bytes) ?? bytes;
}
