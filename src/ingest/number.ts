import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { constants, createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';

const NEWLINE = 0x0a;
const KEPT_OF_TOO_LONG = 8192;

/** The bytes of a plain, `.gz` or `.zst` file, as far as they can be unpacked. */
async function* unpacked(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: 1 << 20 });
  if (path.endsWith('.gz')) {
    // A stream that was cut off gives what is there.
    const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
    file.on('error', (error) => gunzip.destroy(error));
    yield* file.pipe(gunzip) as AsyncIterable<Buffer>;
  } else if (path.endsWith('.zst')) {
    let ready: Buffer[] = [];
    const decompress = new Decompress((chunk) => ready.push(Buffer.from(chunk)));
    for await (const chunk of file as AsyncIterable<Buffer>) {
      decompress.push(chunk);
      yield* ready;
      ready = [];
    }
  } else {
    yield* file as AsyncIterable<Buffer>;
  }
}

/** The lines of a file without their line ends; of a line over the limit the beginning, and that it was longer. */
async function* linesOf(path: string, limit: number): AsyncGenerator<{ bytes: Buffer; isTooLong: boolean }> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer) => {
    if (length <= limit) parts.push(part);
    length += part.length;
  };
  const line = () => {
    const isTooLong = length > limit;
    const bytes = Buffer.concat(parts);
    parts = [];
    length = 0;
    return { bytes: isTooLong ? bytes.subarray(0, KEPT_OF_TOO_LONG) : bytes, isTooLong };
  };
  for await (const chunk of unpacked(path)) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (length > 0) yield line();
}

/**
 * Writes the lines of files with their numbers into one NDJSON file, where any engine can read them whatever they hold:
 * `{source, line_no, read_fault, text}`. Empty lines are numbered and left out, byte order marks are taken off. What is no UTF-8 is not_json, what is over
 * the limit (bytes) line_too_long, and what can't be unpacked is one more line that is not_json.
 *
 * This goes through the event loop and is for files with faults only.
 */
export async function numberLines(
  files: readonly { path: string; name: string }[],
  spool: string,
  limit: number,
): Promise<void> {
  const out = createWriteStream(spool);
  const write = async (row: { source: string; line_no: number; read_fault: string | null; text: string }) => {
    if (!out.write(`${JSON.stringify(row)}\n`)) await once(out, 'drain');
  };
  for (const { path, name } of files) {
    let line_no = 0;
    try {
      for await (const { bytes, isTooLong } of linesOf(path, limit)) {
        line_no += 1;
        const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
        if (text.trim() === '') continue;
        const read_fault = isTooLong ? 'line_too_long' : isUtf8(bytes) ? null : 'not_json';
        await write({
          source: name,
          line_no,
          read_fault,
          text: read_fault === null ? text : text.slice(0, 2000),
        });
      }
    } catch (error) {
      if (!(error instanceof Error) || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
      await write({ source: name, line_no: line_no + 1, read_fault: 'not_json', text: '' });
    }
  }
  out.end();
  await finished(out);
}
