import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { codeOf } from '../exit.js';

/** How a body can be packed. */
export type Encoding = 'identity' | 'gzip';

/** decisions.md, Events in: at most 16 MiB as sent, 64 MiB unpacked. */
export const PACKED_BYTES = 16 << 20;
export const UNPACKED_BYTES = 64 << 20;

/** How many bytes are written to the disk at once, at most. */
const WAITING_BYTES = 1 << 20;

/** A body has more bytes than it may. */
export class TooLarge extends Error {
  override name = 'TooLarge';
}

/** A body is not packed as it says. */
export class NotUnpacked extends Error {
  override name = 'NotUnpacked';
}

/** Passes bytes on, up to a number of them. */
export function atMost(limit: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes > limit) done(new TooLarge());
      else done(null, chunk);
    },
  });
}

/**
 * Unpacks a body as it comes in, writes the bytes that `keep` returns to a file, and returns the file's size in bytes and its SHA-256 once it is on
 * disk. Throws TooLarge, NotUnpacked, and the errors of `keep`.
 */
export async function writeBody(
  body: Readable,
  path: string,
  encoding: Encoding,
  keep: (body: AsyncIterable<Buffer>) => AsyncIterable<string>,
): Promise<{ bytes: number; sha256: string }> {
  // Not part of the pipeline, which would destroy it: then the sender of a refused body could not read the answer.
  const sent = atMost(PACKED_BYTES);
  finished(body, { writable: false }).catch((error) => sent.destroy(error));
  body.pipe(sent);
  const file = createWriteStream(path, { flags: 'wx', flush: true, highWaterMark: WAITING_BYTES });
  const hash = createHash('sha256');
  let bytes = 0;
  const kept = async function* (pieces: AsyncIterable<Buffer>) {
    for await (const text of keep(pieces)) {
      const piece = Buffer.from(text);
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  };
  try {
    if (encoding === 'identity') await pipeline(sent, kept, file);
    else await pipeline(sent, createGunzip(), atMost(UNPACKED_BYTES), kept, file);
  } catch (error) {
    // Opening may still be under way, and would make the file that the caller has removed.
    if (!file.closed) await new Promise<void>((done) => file.once('close', done));
    if (error instanceof Error && codeOf(error).startsWith('Z_')) throw new NotUnpacked(error.message);
    throw error;
  }
  return { bytes, sha256: hash.digest('hex') };
}
