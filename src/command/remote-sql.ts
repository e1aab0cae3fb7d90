import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf, UsageError } from '../exit.js';
import { isObject, parsedJson } from '../input/json-object.js';
import type { Seen } from '../lake/snapshot.js';
import { AnswerTooLong, limited } from '../network/outgoing.js';
import { seenIn } from '../sql/seen-headers.js';
import { rowsText, SHOWN_ROWS } from '../sql/shown-rows.js';
import { draftOf, type Format, type ShellOptions, statementsToRun } from '../sql/sql-shell.js';
import { parametersIn } from '../sql/sql-statements.js';
import { print, printData } from '../terminal/printing.js';
import { type Column, plainText } from '../terminal/text-table.js';
import type { RemoteService } from './remote-service.js';

/** The media type to ask the service for, by output format. */
const ACCEPT: Readonly<Record<Format, string>> = {
  table: 'application/x-ndjson',
  json: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
};

/** How many characters of a row are read. */
const ROW_CHARACTERS = 32 << 20;

/** SQL on the lake of a service, for the organization of a key. */
export class RemoteSql {
  constructor(
    private readonly service: RemoteService,
    private readonly options: ShellOptions,
    private readonly out: Writable,
  ) {}

  /** Runs the statements of a text in order, and writes their rows. Throws a UsageError at the first that fails. */
  async run(text: string): Promise<void> {
    for (const { sql } of statementsToRun(text, this.options.output)) await this.execute(sql);
  }

  private async execute(sql: string): Promise<void> {
    const { format, parameters = {}, output = '', asOf } = this.options;
    const as_of = asOf === undefined ? undefined : new Date(asOf).toISOString();
    const started = performance.now();
    const wanted = parametersIn(sql);
    const params = Object.fromEntries(Object.entries(parameters).filter(([name]) => wanted.has(name)));
    const lacking = [...wanted].find((name) => !Object.hasOwn(params, name));
    if (lacking !== undefined)
      throw new UsageError(
        `The parameter $${lacking} has no value: give it one with --param ${lacking}=VALUE.`,
      );
    try {
      const answer = await this.service.post('api/v1/sql', { sql, params, as_of }, ACCEPT[format]);
      const body = limited(answer, this.service.queryMb * 2 ** 20);
      if (format === 'table') await this.writeTable(body, seenIn(answer.headers), started);
      else if (format === 'json') await this.writeJson(body);
      else if (format === 'csv') for await (const part of textOf(body)) await this.write(part);
      else await pipeline(body, createWriteStream(draftOf(output)));
    } catch (error) {
      if (error instanceof AnswerTooLong)
        throw new UsageError(
          'The answer is longer than DAYBOOK_SQL_ANSWER_MB allows: set it higher here, or ask for less.',
        );
      if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET')
        throw new UsageError('The answer broke off before its end: run the query again.');
      throw error instanceof UsageError ? error : new UsageError(messageOf(error));
    }
  }

  private async write(text: string): Promise<void> {
    if (!printData(text, this.out)) await once(this.out, 'drain');
  }

  /** Writes the first rows as a table. The service stops when nothing more is read. */
  private async writeTable(body: Pieces, seen: Seen | undefined, started: number): Promise<void> {
    const rows: Record<string, unknown>[] = [];
    let isMore = false;
    for await (const line of linesOf(body)) {
      isMore = rows.length === SHOWN_ROWS;
      if (isMore) break;
      rows.push(rowIn(line));
    }
    const shown = {
      columns: sqlColumns(rows),
      count: isMore ? undefined : rows.length,
      seconds: (performance.now() - started) / 1000,
      seen: seen === undefined ? [] : [seen],
    };
    print(rowsText(shown, this.options.width, this.out), this.out);
  }

  /** Writes the rows as a JSON array, one per line. */
  private async writeJson(body: Pieces): Promise<void> {
    let before = '[\n';
    for await (const line of linesOf(body)) {
      await this.write(`${before}${line}`);
      before = ',\n';
    }
    await this.write(before === '[\n' ? '[]\n' : '\n]\n');
  }
}

type Pieces = AsyncIterable<Uint8Array>;

/** The text of an answer, in parts. */
async function* textOf(body: Pieces): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const piece of body) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}

/** The lines of an answer. Throws if it breaks off, and AnswerTooLong for a line that is too long to be a row. */
async function* linesOf(body: Pieces): AsyncGenerator<string> {
  let rest: string[] = [];
  let length = 0;
  for await (const part of textOf(body)) {
    const [end = '', ...lines] = part.split('\n');
    rest.push(end);
    length += end.length;
    if (length > ROW_CHARACTERS) throw new AnswerTooLong(ROW_CHARACTERS);
    for (const line of lines) {
      yield rest.join('');
      rest = [line];
      length = line.length;
    }
  }
  const last = rest.join('');
  if (last !== '') yield last;
}

/** Parses a line as a row. */
function rowIn(line: string): Record<string, unknown> {
  const row = parsedJson(line);
  if (isObject(row)) return row;
  throw new UsageError('The answer is not one of Daybook: check the address of the service.');
}

/** Rows as columns, with values as SQL writes them: NULL, and JSON for nested values. */
function sqlColumns(rows: readonly Record<string, unknown>[]): Column[] {
  return Object.keys(rows[0] ?? {}).map((name) => {
    const values = rows.map((row) => row[name]);
    const text = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
    return {
      name: plainText(name),
      cells: values.map((value) => (value === null ? 'NULL' : plainText(text(value)))),
      isNumber: values.every((value) => value === null || typeof value === 'number'),
    };
  });
}
