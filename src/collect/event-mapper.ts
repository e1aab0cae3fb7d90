import { statSync } from 'node:fs';
import { DuckDBInstance } from '../arrow/duckdb-driver.js';
import { streamForeign } from '../disk/foreign-file.js';
import { Checkouts } from '../disk/git-remote.js';
import type { ChangedFile } from '../ingest/changed-files.js';
import type { Source } from '../ingest/source.js';
import { connect, limitMemory, type Session } from '../store/duckdb-session.js';
import { isCompressed } from '../store/line-numbers.js';
import { withReadable } from '../store/readable-batch.js';
import { Settler } from '../store/settler.js';
import { unitOf } from '../store/source-sql.js';
import { readFunctions, readSql } from '../store/sql-text.js';
import type { Batch, BatchFile, Settled } from '../store/store.js';
import { isOutOfMemory } from '../store/store-fault.js';
import { columnNames, columnsOf } from '../store/tables.js';

/** Maps files of agents to events in an in-memory database. No other part of `collect` needs DuckDB. */

/** How many MiB mapping can take, besides those for the longest line. The rest is written to the folder. */
const MEMORY_MB = 80;
/** How often a file is tried. Each retry, after running out of memory, gets four times as much. */
const TRIES = 3;
/** The rules require an organization. It isn't sent, because the key determines it. */
const ORG = 'collected';

/** An event of a file, as the line that is sent. */
export interface MappedEvent {
  /** The place of its file among those that were mapped. */
  readonly file: number;
  /** Distinguishes its line from others: the first half of its MD5. */
  readonly digest: bigint;
  readonly line: string;
}

/** The events of some files, and how many lines broke a rule. */
export interface Mapped {
  readonly events: readonly MappedEvent[];
  /** The files that were read, in order, each with the state in which it was read. */
  readonly files: readonly ReadFile[];
  readonly rejected: number;
  /** A sentence for each file that was left out. */
  readonly leftOut: readonly string[];
}

/** A file that was read. */
export interface ReadFile {
  readonly path: string;
  readonly state: string | undefined;
}

const MEMBERS = columnNames('events')
  .filter((name) => !['org_id', 'day', 'occurred_at', 'batch'].includes(name))
  .map((name) => `"${name}": "${name}"`);

/** Events as canonical lines. Members without a value are left out; in JSON, no text can be mistaken for one. */
const LINES = `SELECT DISTINCT source, line, left(md5(line), 16) AS digest
  FROM (
    SELECT source, regexp_replace(
      CAST(to_json({${MEMBERS.join(', ')}, "timestamp": epoch_ms(occurred_at)}) AS VARCHAR), ',"\\w+":null', '', 'g'
    ) AS line
    FROM events
  )`;

/** A file with fewer bytes isn't searched for its longest line. */
const SHORT_BYTES = 1 << 20;

/** The bytes of the longest line of a file. */
async function longestLine(path: string): Promise<number> {
  let [longest, length] = [0, 0];
  for await (const chunk of streamForeign(path) as AsyncIterable<Buffer>) {
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

/** The line limit of a source for some files. A low one saves memory, because the reader always reserves twice the limit. */
async function limitFor(source: Source, files: readonly BatchFile[]): Promise<number> {
  let longest = SHORT_BYTES;
  for (const { path, unit = unitOf(source, path), sideFiles = [] } of files) {
    if (isCompressed(path) || unit === 'database') return source.limitMb;
    const [size = 0, ...beside] = [path, ...sideFiles.map((file) => file.path)].map(
      (file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0,
    );
    longest = Math.max(longest, ...beside);
    if (size > longest) longest = Math.max(longest, unit === 'line' ? await longestLine(path) : size);
  }
  // A file may grow while it is read.
  return Math.min(source.limitMb, Math.ceil(longest / 2 ** 20) + 1);
}

/** Reads and checks files as an ingest does, but returns their events instead of storing them. */
class Reader extends Settler {
  protected override readonly columns = `${columnNames('events')
    .filter((name) => name !== 'batch')
    .join(', ')}, source`;
  protected override readonly keepsRejects = false;

  /** Only the service knows who was erased. */
  protected override async refuse(): Promise<void> {}

  events: MappedEvent[] = [];
  files: ReadFile[] = [];

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
    rejects: Pick<Settled, 'rejected' | 'byReason' | 'examples' | 'mended'>,
  ): Promise<Settled> {
    const rows = await this.session.select(LINES);
    this.events = rows.map(({ source, line, digest }) => ({
      file: Number(source),
      digest: BigInt(`0x${digest}`),
      line: String(line),
    }));
    const files = await this.session.select('SELECT name, state FROM batch_files ORDER BY source');
    this.files = files.map(({ name, state }) => ({
      path: String(name),
      state: state === null ? undefined : String(state),
    }));
    return { accepted: inserted, duplicates: 0, ...rejects, leftOut: [] };
  }
}

export class EventMapper {
  private constructor(
    private readonly instance: DuckDBInstance,
    private readonly session: Session,
    private readonly reader: Reader,
    private readonly folder: string,
  ) {}

  /** `folder` takes data that doesn't fit in memory. It is empty between mappings. */
  static async open(folder: string): Promise<EventMapper> {
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${MEMORY_MB}MiB`,
      temp_directory: folder,
      threads: '1',
      autoinstall_known_extensions: 'false',
    });
    const session = await connect(instance);
    await session.run(`${readFunctions()}\n${readSql('source/functions.sql')}`);
    for (const table of ['events', 'rejects', 'mended_lines', 'batches']) {
      const columns = columnsOf(table).map(({ name, type }) => `"${name}" ${type}`);
      if (table === 'events') columns.push('source INTEGER');
      await session.run(`CREATE TABLE ${table} (${columns.join(', ')})`);
    }
    return new EventMapper(instance, session, new Reader(session, folder), folder);
  }

  /** The events of files. Their repositories are those of the folders in which they happened. `now` is Unix milliseconds. */
  async map(source: Source, files: readonly ChangedFile[], userId: string, now: number): Promise<Mapped> {
    const batch: Batch = {
      source,
      files: files.map(({ path, state, since }) => ({
        path,
        state,
        since,
        name: path,
        orgId: ORG,
        userId,
        receivedAt: now,
      })),
      ...(source.namesRepos ? {} : { checkoutOf: new Checkouts().of }),
      settledAt: now,
    };
    this.reader.events = [];
    this.reader.files = [];
    const { rejected, leftOut } = await withReadable(batch, { folder: this.folder }, (readable) =>
      this.read(source, readable),
    );
    const { events, files: read } = this.reader;
    return { events, files: read, rejected, leftOut };
  }

  /** Reads with little memory, and retries with more if it runs out. */
  private async read(source: Source, batch: Batch): Promise<Settled> {
    const limitMb = await limitFor(source, batch.files);
    for (
      let [left, memoryMb] = [TRIES, MEMORY_MB + 2 * limitMb];
      ;
      [left, memoryMb] = [left - 1, memoryMb * 4]
    ) {
      // This also frees the memory of earlier files.
      await limitMemory(this.session, memoryMb);
      try {
        return await this.reader.settle({ ...batch, source: { ...source, limitMb } });
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
