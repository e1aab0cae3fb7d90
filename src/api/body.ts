import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ReportRow } from './report.js';

/** How many characters are made before others get a turn. */
const TEXT_A_TURN = 1 << 18;
/** A list of more elements is written element by element. */
const LONG_LIST = 50;

/** The body of an answer: in memory, or in a file when it is large. */
export type Body = Buffer | LargeBody;

export interface LargeBody {
  readonly path: string;
  readonly bytes: number;
}

function isLong(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > LONG_LIST;
}

/** The JSON of a row in pieces: one, as long as nothing in it is long. */
function piecesOfRow(row: ReportRow): Iterable<string> {
  return Object.values(row).some(isLong) ? piecesOf(row, 1) : [JSON.stringify(row)];
}

/** The JSON of a value in pieces, so that what is long needn't be one string. Objects are parted to a depth. */
function* piecesOf(value: unknown, depth: number): Generator<string> {
  if (isLong(value)) {
    for (const [index, element] of value.entries())
      yield `${index === 0 ? '[' : ','}${JSON.stringify(element)}`;
    yield ']';
  } else if (depth > 0 && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    let before = '{';
    for (const [name, member] of Object.entries(value)) {
      yield `${before}${JSON.stringify(name)}:`;
      yield* piecesOf(member, depth - 1);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  } else {
    yield JSON.stringify(value);
  }
}

/** Puts pieces together to texts of some length, and lets others have a turn after each. */
async function* textsOf(pieces: AsyncIterable<Iterable<string>>): AsyncGenerator<string> {
  let text = '';
  for await (const some of pieces) {
    for (const piece of some) {
      text += piece;
      if (text.length < TEXT_A_TURN) continue;
      yield text;
      text = '';
      await setImmediate();
    }
  }
  yield text;
}

/** The JSON of an answer whose `data` are the rows of some parts. */
export function rowsText(parts: AsyncIterable<ReportRow[]>, meta: object): AsyncGenerator<string> {
  async function* pieces(): AsyncGenerator<Iterable<string>> {
    yield ['{"data":['];
    let before = '';
    function* piecesOfRows(rows: readonly ReportRow[]): Generator<string> {
      for (const row of rows) {
        yield before;
        yield* piecesOfRow(row);
        before = ',';
      }
    }
    for await (const rows of parts) yield piecesOfRows(rows);
    yield [`],"meta":${JSON.stringify(meta)}}`];
  }
  return textsOf(pieces());
}

/** A line of CSV (RFC 4180) in pieces: nothing for null, JSON text for what is nested. */
export function* csvLine(values: readonly unknown[]): Generator<string> {
  let before = '';
  for (const value of values) {
    yield before;
    before = ',';
    if (typeof value === 'object' && value !== null) {
      yield '"';
      for (const piece of piecesOf(value, 1)) yield piece.replaceAll('"', '""');
      yield '"';
    } else {
      const text = value === null || value === undefined ? '' : String(value);
      yield /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    }
  }
  yield '\r\n';
}

/** The CSV of the rows of some parts, under a header of these columns. */
export function csvText(
  parts: AsyncIterable<ReportRow[]>,
  columns: readonly string[],
): AsyncGenerator<string> {
  function* linesOf(rows: readonly ReportRow[]): Generator<string> {
    for (const row of rows) yield* csvLine(columns.map((column) => row[column]));
  }
  async function* pieces(): AsyncGenerator<Iterable<string>> {
    yield csvLine(columns);
    for await (const rows of parts) yield linesOf(rows);
  }
  return textsOf(pieces());
}

/** The JSON of an answer that is one object, with members of members that can be long. */
export function objectText(answer: object): AsyncGenerator<string> {
  async function* pieces(): AsyncGenerator<Iterable<string>> {
    yield piecesOf(answer, 3);
  }
  return textsOf(pieces());
}

/**
 * Writes down what comes in pieces, and answers it with its SHA-256: in memory as long as it has at most so many bytes, else
 * in a new file of a folder. Whoever reads that one last removes it.
 */
export async function writeBody(
  pieces: AsyncIterable<string | Uint8Array>,
  folder: string,
  bytesInMemory: number,
): Promise<{ body: Body; digest: string }> {
  const hash = createHash('sha256');
  const chunks: Uint8Array[] = [];
  const path = join(folder, `answer-${randomUUID()}.tmp`);
  let bytes = 0;
  let file: FileHandle | undefined;
  try {
    for await (const piece of pieces) {
      const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece;
      hash.update(chunk);
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= bytesInMemory) continue;
      file ??= await open(path, 'wx', 0o600);
      for (const waiting of chunks.splice(0)) await file.writeFile(waiting);
    }
    const digest = hash.digest('base64url');
    return { body: file === undefined ? Buffer.concat(chunks) : { path, bytes }, digest };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file?.close();
  }
}

/** Removes what a body has on disk. */
export async function discard(body: Body): Promise<void> {
  if (!Buffer.isBuffer(body)) await rm(body.path, { force: true });
}
