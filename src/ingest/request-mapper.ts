import { DuckDBInstance, type DuckDBPreparedStatement } from '../arrow/duckdb-driver.js';
import { rowsOf } from '../store/duckdb-rows.js';
import { connect } from '../store/duckdb-session.js';
import { EVENT_MEMBERS, HARMFUL_OPTIMIZERS, NO_EVENT, readEvents } from '../store/source-sql.js';
import { readFunctions, readSql } from '../store/sql-text.js';
import type { SourceSql } from '../store/store.js';
import { InboxFull } from './inbox.js';
import { Room } from './room.js';

const MEMORY_MB = 128;
/** How many documents are mapped together at most, and how long they are together: characters. */
const GROUP_DOCUMENTS = 5000;
const GROUP_CHARACTERS = 4 << 20;
/** How much may wait: characters. */
const WAITING_CHARACTERS = 64 << 20;

/** An event of a document. */
export interface Mapped {
  /** The document's place among those that were given together. */
  readonly place: number;
  /** The event as a canonical line. */
  readonly line: string;
}

interface Waiting {
  readonly orgId: string;
  readonly section: string | undefined;
  /** The documents, each in a line. */
  readonly text: string;
  readonly count: number;
  readonly resolve: (events: Mapped[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Two more would make the one plan for a table that happens to be empty. */
const UNUSED_OPTIMIZERS = [...HARMFUL_OPTIMIZERS, 'statistics_propagation', 'compressed_materialization'];

/** A database in memory that maps documents and keeps nothing. */
interface Engine {
  /** Maps the documents of a group, all of one section. `place` is the place of an event's document in all of it. */
  readonly map: (section: string | undefined, group: readonly Waiting[]) => Promise<Mapped[]>;
  readonly close: () => void;
}

async function openEngine(source: SourceSql): Promise<Engine> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${MEMORY_MB}MiB`,
    // Requests have words, which must never be on a disk. If they don't fit in memory, it is an error.
    temp_directory: '',
    threads: '1',
    autoinstall_known_extensions: 'false',
  });
  const session = await connect(instance);
  await session.run(`${readFunctions()}\n${readSql('source/functions.sql')}`);
  await session.run('CREATE TEMP TABLE documents (source INTEGER, line_no BIGINT, line VARCHAR)');
  const insert = await session.connection.prepare(
    `INSERT INTO documents
    SELECT unnest(range(len(lines))), NULL, unnest(lines)
    FROM (SELECT string_split($text, chr(10)) AS lines)`,
  );
  const statements = new Map<string | undefined, DuckDBPreparedStatement>();
  const statementOf = async (section: string | undefined) => {
    const known = statements.get(section);
    if (known !== undefined) return known;
    const events = readEvents(source, 'FROM documents', section);
    // Only members that this SQL gives are looked at, and nulls are left out.
    const given = new Set((await session.select(`DESCRIBE ${events}`)).map(({ column_name }) => column_name));
    const members = EVENT_MEMBERS.filter((name) => given.has(name));
    await session.run(`SET disabled_optimizers = '${UNUSED_OPTIMIZERS}'`);
    // Lines and not rows: reading forty columns of a thousand events would keep the event loop busy. concat_ws leaves out nulls.
    const parts = members.map((name) => `'"${name}":' || CAST(to_json(${name}) AS VARCHAR)`);
    const statement = await session.connection.prepare(
      `SELECT source, '{' || concat_ws(',', '"timestamp":' || occurred_ms, ${parts.join(', ')}) || '}' AS line
      FROM (${events} UNION ALL BY NAME ${NO_EVENT})`,
    );
    await session.run("SET disabled_optimizers = ''");
    statements.set(section, statement);
    return statement;
  };
  return {
    map: async (section, group) => {
      const statement = await statementOf(section);
      // Taking it back gives the memory back at once, as deleting the rows would not.
      const rows = await session.trial(async () => {
        insert.bind({ text: group.map(({ text }) => text).join('\n') });
        await insert.run();
        return rowsOf(await statement.run());
      });
      return rows.map(({ source, line }) => ({ place: Number(source), line: String(line) }));
    },
    close: () => {
      for (const statement of [insert, ...statements.values()]) statement.destroySync();
      session.connection.closeSync();
      instance.closeSync();
    },
  };
}

/** JSON that DuckDB can read: it takes no half of a surrogate pair. */
function readable(json: string): string {
  if (!/\\ud/.test(json)) return json;
  return json.replaceAll(/\\\\|\\ud[89a-f]../g, (found) => (found === '\\\\' ? found : '\ufffd'));
}

/** Maps requests to events with the SQL of a source. Requests that come while others are mapped are mapped together. */
export class RequestMapper {
  private waiting: Waiting[] = [];
  private readonly room = new Room(WAITING_CHARACTERS);
  private engine: Promise<Engine> | undefined;
  private isWorking = false;

  constructor(private readonly source: SourceSql) {}

  /** The events of a document, each as a canonical line. Throws InboxFull when too much of the organization waits. */
  async map(document: object, orgId = ''): Promise<string[]> {
    const events = await this.mapTogether([JSON.stringify(document)], undefined, orgId);
    return events.map(({ line }) => line);
  }

  /**
   * The events of documents that came together, each as JSON without line breaks. Of a source with sections, all are of one. Throws InboxFull
   * when too much of the organization waits.
   */
  async mapTogether(documents: readonly string[], section?: string, orgId = ''): Promise<Mapped[]> {
    const text = readable(documents.join('\n'));
    if (this.room.isFull(orgId, text.length)) throw new InboxFull();
    this.room.take(orgId, text.length);
    return new Promise((resolve, reject) => {
      this.waiting.push({ orgId, section, text, count: documents.length, resolve, reject });
      if (!this.isWorking) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.isWorking = true;
    while (this.waiting.length > 0) await this.mapGroup(this.nextGroup());
    // In the same turn as the look at the queue: a request that comes later starts again.
    this.isWorking = false;
  }

  /** Takes the next requests from the queue: the first one, and more of its section. */
  private nextGroup(): Waiting[] {
    const section = this.waiting[0]?.section;
    let [characters, documents] = [0, 0];
    const group = new Set<Waiting>();
    for (const one of this.waiting) {
      if (one.section !== section) continue;
      characters += one.text.length;
      documents += one.count;
      if (group.size > 0 && (documents > GROUP_DOCUMENTS || characters > GROUP_CHARACTERS)) break;
      group.add(one);
    }
    this.waiting = this.waiting.filter((one) => !group.has(one));
    for (const { orgId, text } of group) this.room.giveBack(orgId, text.length);
    return [...group];
  }

  private async mapGroup(group: readonly Waiting[]): Promise<void> {
    try {
      this.engine ??= openEngine(this.source);
      const mapped = await (await this.engine).map(group[0]?.section, group);
      const places = group.flatMap(({ count }, owner) =>
        Array.from({ length: count }, (_, place) => ({ owner, place })),
      );
      const events: Mapped[][] = group.map(() => []);
      for (const event of mapped) {
        const { owner = 0, place = 0 } = places[event.place] ?? {};
        events[owner]?.push({ ...event, place });
      }
      for (const [index, { resolve }] of group.entries()) resolve(events[index] ?? []);
    } catch (error) {
      await this.close();
      // It may be about one of them only.
      if (group.length > 1) for (const one of group) await this.mapGroup([one]);
      else group[0]?.reject(error);
    }
  }

  /** Gives its memory back. It opens again when it is needed. */
  async close(): Promise<void> {
    const { engine } = this;
    this.engine = undefined;
    await engine?.then(
      ({ close }) => close(),
      () => {},
    );
  }
}
