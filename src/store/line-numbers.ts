import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import { PassThrough, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { constants, createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { isOfSystem } from '../disk/folder.js';
import { LeftOut, mebibytes, streamForeign } from '../disk/foreign-file.js';
import { isWholeJson, type LineShape, mended, shapeOf } from './mended-line.js';
import type { SourceSql } from './store.js';
import { BLOCK_BYTES, zstdParts } from './zstd-frames.js';

const [TAB, NEWLINE, RETURN] = [0x09, 0x0a, 0x0d];
const KEPT_OF_TOO_LONG = 8192;
/** How much of numbered lines is written at once. */
const PIECE_CHARACTERS = 1 << 18;

/** The bytes of a plain, `.gz` or `.zst` file, as far as they can be unpacked. */
async function* unpacked(path: string): AsyncGenerator<Buffer> {
  if (path.endsWith('.gz')) {
    // Yields everything that could be unpacked before the error.
    const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
    const out = new PassThrough();
    let failure: Error | undefined;
    const end = (error: Error) => {
      failure = error;
      out.end();
    };
    const packed = streamForeign(path);
    try {
      packed.on('error', end).pipe(gunzip).on('error', end).pipe(out);
      yield* out as AsyncIterable<Buffer>;
      if (failure !== undefined) throw failure;
    } finally {
      // Nobody may have read to the end.
      packed.destroy();
      gunzip.destroy();
    }
  } else if (path.endsWith('.zst')) {
    let ready: Buffer[] = [];
    let decompress = new Decompress();
    for await (const { bytes, isFirst, isLast } of zstdParts(path)) {
      // By itself it takes longer for each frame than for the one before.
      if (isFirst) decompress = new Decompress((chunk) => ready.push(Buffer.from(chunk)));
      decompress.push(bytes, isLast);
      yield* ready;
      ready = [];
      // A block of a few bytes can take a millisecond: others have their turn in between.
      await setImmediate();
    }
  } else {
    yield* streamForeign(path) as AsyncIterable<Buffer>;
  }
}

/** Whether a file is compressed, by its name. */
export function isCompressed(path: string): boolean {
  return /\.(gz|zst)$/.test(path);
}

/** The path of a file without .gz or .zst. */
export function withoutPacking(path: string): string {
  return path.replace(/\.(gz|zst)$/, '');
}

/**
 * Whether a compressed file ends where it should; a .gz file is unpacked for that, and compared with its checksum. Throws LeftOut for one that
 * unpacks to more than a limit of bytes.
 */
export async function isWhole(path: string, limitBytes = Number.POSITIVE_INFINITY): Promise<boolean> {
  let bytes = 0;
  const isTooMuch = (more: number) => {
    bytes += more;
    return bytes > limitBytes;
  };
  try {
    if (path.endsWith('.gz'))
      await pipeline(
        streamForeign(path),
        createGunzip(),
        new Writable({ write: ({ length }, _, done) => done(isTooMuch(length) ? new Error() : null) }),
      );
    else {
      let blocks = 0;
      for await (const _ of zstdParts(path)) blocks += 1;
      // Unpacking takes long in JavaScript, and most files needn't be.
      if (blocks * BLOCK_BYTES > limitBytes)
        for await (const { length } of unpacked(path)) if (isTooMuch(length)) break;
    }
  } catch (error) {
    if (bytes <= limitBytes && !isDamage(error)) throw error;
    if (bytes <= limitBytes) return false;
  }
  if (bytes > limitBytes) throw new LeftOut(path, `it unpacks to more than ${mebibytes(limitBytes)}`);
  return true;
}

/** Whether an error of unpacking is the file's fault, and neither the system's nor that of its size. */
function isDamage(error: unknown): boolean {
  return error instanceof Error && !(error instanceof LeftOut) && !isOfSystem(error);
}

/** Length of the bytes without the white space at their end. */
function solidLength(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && isSpace(bytes[end - 1])) end -= 1;
  return end;
}

/** White space as the reader of lines has it. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}

/**
 * The lines of a file without the white space around them; of a line over the limit the beginning, and that it was longer.
 * Lines of white space come as empty ones.
 */
export async function* linesOf(
  path: string,
  limit: number,
): AsyncGenerator<{ bytes: Buffer; isTooLong: boolean }> {
  let parts: Buffer[] = [];
  let length = 0;
  let solid = 0;
  const take = (given: Buffer) => {
    let start = 0;
    if (length === 0) while (start < given.length && isSpace(given[start])) start += 1;
    const part = given.subarray(start);
    if (length <= limit) parts.push(part);
    const end = solidLength(part);
    if (end > 0) solid = length + end;
    length += part.length;
  };
  const line = () => {
    const isTooLong = solid > limit;
    const bytes = Buffer.concat(parts).subarray(0, isTooLong ? KEPT_OF_TOO_LONG : solid);
    parts = [];
    length = 0;
    solid = 0;
    return { bytes, isTooLong };
  };
  let isOpen = false;
  for await (const chunk of unpacked(path)) {
    // An empty block at the end doesn't end a line.
    if (chunk.length === 0) continue;
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    isOpen = start < chunk.length;
    take(chunk.subarray(start));
  }
  if (isOpen) yield line();
}

/** All of a file as one line that begins where it begins; of a file over the limit the beginning, and that it was longer. */
export async function* documentOf(
  path: string,
  limit: number,
): AsyncGenerator<{ bytes: Buffer; isTooLong: boolean }> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of unpacked(path)) {
    parts.push(part);
    length += part.length;
    // The rest can have any length.
    if (length > limit) break;
  }
  const bytes = Buffer.concat(parts);
  yield length > limit
    ? { bytes: bytes.subarray(0, KEPT_OF_TOO_LONG), isTooLong: true }
    : { bytes: bytes.subarray(0, solidLength(bytes)), isTooLong: false };
}

/** The first characters (code points) of a text. */
function beginning(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return Array.from(text.slice(0, 2 * characters))
    .slice(0, characters)
    .join('');
}

interface NumberedFile {
  readonly path: string;
  /** The name of its rule. */
  readonly source: number;
  /** The name of its format. */
  readonly unit?: SourceSql['unit'];
  /** Whether it is known to be damaged. Otherwise that is found out, as far as unpacking shows it. */
  readonly isDamaged?: boolean;
  /** Whether lines that are no JSON are taken for what they hold: see mended-line.ts. */
  readonly mends?: boolean;
}

/** A line of a file, as the rules read it. */
export interface NumberedLine {
  /** The number of its file in the rules. */
  readonly source: number;
  readonly line_no: number;
  readonly read_fault: string | null;
  readonly text: string;
  /** Which of the records of its line it is, where that was mended. */
  readonly part?: number;
}

/** So many lines of a file, of so many characters in all, show how its lines look. */
const SHAPE = { lines: 200, characters: 4 << 20 };

async function shapeOfFile(path: string, limit: number): Promise<LineShape> {
  const lines: string[] = [];
  let characters = 0;
  try {
    for await (const { bytes } of linesOf(path, limit)) {
      if (bytes.length === 0) continue;
      lines.push(bytes.toString('utf8').replace(/^\uFEFF/, ''));
      characters += bytes.length;
      if (lines.length === SHAPE.lines || characters > SHAPE.characters) break;
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  return shapeOf(lines);
}

/**
 * The lines of a file with their numbers, or all of it as the first. Empty lines are numbered and left out, a byte order mark is taken off. What is no
 * UTF-8 is not_json, what is over the limit (bytes) line_too_long, and where a compressed file is damaged there is one more
 * line that is not_json.
 *
 * This goes through the event loop and is for files with faults only.
 */
export async function* numberedLines(
  { path, source, unit = 'line', mends = false, ...file }: NumberedFile,
  limit: number,
): AsyncGenerator<NumberedLine> {
  let line_no = 0;
  let isDamaged = file.isDamaged ?? false;
  const shape = mends && unit === 'line' ? await shapeOfFile(path, limit) : undefined;
  try {
    for await (const { bytes, isTooLong } of unit === 'document'
      ? documentOf(path, limit)
      : linesOf(path, limit)) {
      line_no += 1;
      const text = line_no === 1 ? bytes.toString('utf8').replace(/^\uFEFF/, '') : bytes.toString('utf8');
      if (text === '') continue;
      const parts =
        mends && !isTooLong && !(isReadable(bytes) && isWholeJson(text)) ? mended(text, shape) : [];
      for (const [index, record] of parts.entries())
        yield { source, line_no, read_fault: null, text: record, part: index + 1 };
      if (parts.length > 0) continue;
      const read_fault = isTooLong ? 'line_too_long' : isReadable(bytes) ? null : 'not_json';
      yield { source, line_no, read_fault, text: read_fault === null ? text : beginning(text, 2000) };
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    isDamaged = true;
  }
  if (isCompressed(path) && (isDamaged || !(await isWhole(path))))
    yield { source, line_no: line_no + 1, read_fault: 'not_json compressed', text: '' };
}

/** Whether a line can be JSON at all: UTF-8, and no control character but white space, which takes six times its room on disk. */
function isReadable(bytes: Buffer): boolean {
  if (!isUtf8(bytes)) return false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte < 0x20 && byte !== TAB && byte !== NEWLINE && byte !== RETURN) return false;
  }
  return true;
}

/** Writes lines into an NDJSON file, where any engine can read them whatever they hold. Answers the bytes of its longest line. */
export async function writeLines(
  lines: AsyncIterable<NumberedLine> | Iterable<NumberedLine>,
  spool: string,
): Promise<number> {
  const out = await open(spool, 'w');
  let longest = 0;
  try {
    let piece = '';
    for await (const line of lines) {
      const text = `${JSON.stringify(line)}\n`;
      longest = Math.max(longest, Buffer.byteLength(text));
      piece += text;
      if (piece.length < PIECE_CHARACTERS) continue;
      await out.writeFile(piece);
      piece = '';
    }
    await out.writeFile(piece);
    return longest;
  } finally {
    await out.close();
  }
}

/** Writes the lines of files into one NDJSON file: see numberedLines. Answers the bytes of its longest line. */
export function numberLines(files: readonly NumberedFile[], spool: string, limit: number): Promise<number> {
  async function* lines(): AsyncGenerator<NumberedLine> {
    for (const file of files) yield* numberedLines(file, limit);
  }
  return writeLines(lines(), spool);
}
