import { createReadStream, statSync } from 'node:fs';
import { DuckDBInstance } from '../duckdb-driver.js';
import { checkoutOf } from '../git-remote.js';
import type { ChangedFile } from '../ingest/changed-files.js';
import type { InputFile } from '../ingest/input-files.js';
import type { Source } from '../ingest/source.js';
import { connect, limitMemory, type Session } from '../store/duckdb-session.js';
import { isCompressed } from '../store/line-numbers.js';
import { Settler } from '../store/settler.js';
import { sideFilesOf, unitOf } from '../store/source-sql.js';
import { readFunctions, readSql } from '../store/sql-text.js';
import type { Batch, Settled } from '../store/store.js';
import { isOutOfMemory } from '../store/store-fault.js';
import { rawColumns, readRawTable } from '../store/table-text.js';

/** Maps files of agents to events, in a database in memory: the only part of `collect` that needs DuckDB. */

/** The memory for mapping, without that for the longest line: MiB. What doesn't fit is written to the folder. */
const MEMORY_MB = 80;
/** How often a file is tried: each time that memory runs out, with four times as much. */
const TRIES = 3;
/** The rules require an organization. It isn't sent, because the key stands for it. */
const ORG = 'collected';

/** An event of a file, as the line that is sent. */
export interface MappedEvent {
  /** The place of its file among those that were mapped. */
  readonly file: number;
  /** Tells its line from others: the first half of its MD5. */
  readonly digest: bigint;
  readonly line: string;
}

/** The events of some files, and how many lines broke a rule. */
export interface Mapped {
  readonly events: readonly MappedEvent[];
  /** The states in which the files were read, in their order. */
  readonly states: readonly (string | undefined)[];
  readonly rejected: number;
}

const MEMBERS = rawColumns('events')
  .filter((name) => !['org_id', 'day', 'occurred_at', 'batch'].includes(name))
  .map((name) => `"${name}": "${name}"`);

/** Events as canonical lines. A member without a value is left out: in JSON nothing in a text looks like one. */
const LINES = `SELECT DISTINCT source, line, left(md5(line), 16) AS digest
  FROM (
    SELECT source, regexp_replace(
      CAST(to_json({${MEMBERS.join(', ')}, "timestamp": epoch_ms(occurred_at)}) AS VARCHAR), ',"\\w+":null', '', 'g'
    ) AS line
    FROM events
  )`;

/** A shorter file isn't searched for its longest line: bytes. */
const SHORT_BYTES = 1 << 20;

/** The bytes of the longest line of a file. */
async function longestLine(path: string): Promise<number> {
  let [longest, length] = [0, 0];
  for await (const chunk of createReadStream(path, { highWaterMark: SHORT_BYTES }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
      longest = Math.max(longest, length + end - start);
      length = 0;
      start = end + 1;
    }
    length += chunk.length - start;
  }
  return Math.max(longest, length);
}

/** The limit of a source for some files. A low one saves memory, because the reader always reserves twice the limit. */
async function limitFor(source: Source, files: readonly InputFile[]): Promise<number> {
  let longest = SHORT_BYTES;
  for (const { path, size } of files) {
    const unit = unitOf(source, path);
    if (isCompressed(path) || unit === 'database') return source.limitMb;
    const beside = sideFilesOf(source, path).map(
      (file) => statSync(file.path, { throwIfNoEntry: false })?.size,
    );
    longest = Math.max(longest, ...beside.map((bytes) => bytes ?? 0));
    if (size > longest) longest = Math.max(longest, unit === 'line' ? await longestLine(path) : size);
  }
  // A file may grow while it is read.
  return Math.min(source.limitMb, Math.ceil(longest / 2 ** 20) + 1);
}

/** Reads and checks files as an ingest does, but hands their events over instead of storing them. */
class Reader extends Settler {
  protected override readonly columns = `${rawColumns('events')
    .filter((name) => name !== 'batch')
    .join(', ')}, source`;
  protected override readonly keepsRejects = false;
  events: MappedEvent[] = [];
  states: (string | undefined)[] = [];

  protected override async whole<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.session.trial(work);
    } finally {
      this.defined = undefined;
    }
  }

  protected override async finish(
    _batch: unknown,
    _number: number,
    inserted: number,
    rejects: Pick<Settled, 'rejected' | 'byReason' | 'examples'>,
  ): Promise<Settled> {
    const rows = await this.session.select(LINES);
    this.events = rows.map(({ source, line, digest }) => ({
      file: Number(source),
      digest: BigInt(`0x${digest}`),
      line: String(line),
    }));
    const files = await this.session.select('SELECT state FROM batch_files ORDER BY source');
    this.states = files.map(({ state }) => (state === null ? undefined : String(state)));
    return { accepted: inserted, duplicates: 0, ...rejects };
  }
}

export class EventMapper {
  private constructor(
    private readonly instance: DuckDBInstance,
    private readonly session: Session,
    private readonly reader: Reader,
  ) {}

  /** `folder` takes what doesn't fit in memory. It is empty unless files are being mapped. */
  static async open(folder: string): Promise<EventMapper> {
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${MEMORY_MB}MiB`,
      temp_directory: folder,
      threads: '1',
      autoinstall_known_extensions: 'false',
    });
    const session = await connect(instance);
    await session.run(`${readFunctions()}\n${readSql('source/functions.sql')}`);
    for (const table of ['events', 'rejects', 'batches']) {
      const columns = readRawTable(table).columns.map(({ name, type }) => `"${name}" ${type}`);
      if (table === 'events') columns.push('source INTEGER');
      await session.run(`CREATE TABLE ${table} (${columns.join(', ')})`);
    }
    return new EventMapper(instance, session, new Reader(session, folder));
  }

  /** The events of files, whose repositories are those of the folders that they happened in. `now` is Unix milliseconds. */
  async map(source: Source, files: readonly ChangedFile[], userId: string, now: number): Promise<Mapped> {
    const limitMb = await limitFor(source, files);
    const batch: Batch = {
      source: { ...source, limitMb },
      files: files.map(({ path, state, since }) => ({
        path,
        state,
        since,
        name: path,
        orgId: ORG,
        userId,
        receivedAt: now,
      })),
      ...(source.namesRepos ? {} : { checkoutOf }),
      settledAt: now,
    };
    for (
      let [left, memoryMb] = [TRIES, MEMORY_MB + 2 * limitMb];
      ;
      [left, memoryMb] = [left - 1, memoryMb * 4]
    ) {
      // This also frees the memory that earlier files took.
      await limitMemory(this.session, memoryMb);
      try {
        const { rejected } = await this.reader.settle(batch);
        const { events, states } = this.reader;
        return { events, states, rejected };
      } catch (error) {
        if (left === 1 || !isOutOfMemory(error)) throw error;
      }
    }
  }

  close(): void {
    this.session.connection.closeSync();
    this.instance.closeSync();
  }
}
