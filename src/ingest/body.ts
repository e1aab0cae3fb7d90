import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { codeOf } from '../exit.js';

/** How a body can be packed. */
export type Encoding = 'identity' | 'gzip';

/** The limits of a body (docs/api.md, "Sending events"): as sent, and unpacked. */
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
function atMost(limit: number): Transform {
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
 * Receives a body of at most so many bytes as it was sent, unpacks it, and gives its pieces to `take` as they come; returns what `take`
 * returns. Throws TooLarge, NotUnpacked, and the errors of `take`.
 */
export async function unpacked<T>(
  body: Readable,
  encoding: Encoding,
  limit: number,
  take: (pieces: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  // Not part of the pipeline, which would destroy it: then the sender of a refused body could not read the answer.
  const received = atMost(limit);
  finished(body, { writable: false }).catch((error) => received.destroy(error));
  body.pipe(received);
  let taking: Promise<T> | undefined;
  const taken = (pieces: AsyncIterable<Buffer>) => {
    taking = take(pieces);
    return taking;
  };
  try {
    return encoding === 'identity'
      ? await pipeline(received, taken)
      : await pipeline(received, createGunzip(), atMost(UNPACKED_BYTES), taken);
  } catch (failure) {
    // TRICKY: the pipeline fails as soon as one part does, while `take` may be about to open a file, and when `take` stops it may tell of a
    // part that closes early. What `take` throws is the cause: its own error, or that of the pieces that it reads.
    const error =
      (await taking?.then(
        () => failure,
        (cause) => cause,
      )) ?? failure;
    if (error instanceof Error && codeOf(error).startsWith('Z_')) throw new NotUnpacked(error.message);
    throw error;
  }
}

/** Writes texts to a new file, and returns its size in bytes and its SHA-256 once it is on disk, unless it needn't outlive the process. */
export async function writeTexts(
  path: string,
  texts: Iterable<string> | AsyncIterable<string | Buffer>,
  flush = true,
): Promise<{ bytes: number; sha256: string }> {
  const file = createWriteStream(path, { flags: 'wx', flush, highWaterMark: WAITING_BYTES });
  const hash = createHash('sha256');
  let bytes = 0;
  const hashed = async function* () {
    for await (const text of texts) {
      const piece = typeof text === 'string' ? Buffer.from(text) : text;
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  };
  try {
    await pipeline(hashed, file);
  } catch (error) {
    // Opening may still be under way, and would make the file that the caller has removed.
    if (!file.closed) await once(file, 'close');
    throw error;
  }
  return { bytes, sha256: hash.digest('hex') };
}
