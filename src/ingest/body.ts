import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Readable, Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { codeOf } from '../folder.js';

/** How a body can be packed. */
export type Encoding = 'identity' | 'gzip';

/** decisions.md, Events in: at most 16 MiB as sent, 64 MiB unpacked. */
export const PACKED_BYTES = 16 << 20;
export const UNPACKED_BYTES = 64 << 20;

/** How much may wait for the disk: what comes meanwhile is written at once. */
const WAITING_BYTES = 1 << 20;

/** A body has more bytes than it may. */
export class TooLarge extends Error {
  override name = 'TooLarge';
}

/** A body is not packed as it says. */
export class NotUnpacked extends Error {
  override name = 'NotUnpacked';
}

/** Passes bytes on, up to a number of them, and shows them to somebody. */
function atMost(limit: number, show: (piece: Buffer) => void = () => undefined): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes > limit) return done(new TooLarge());
      try {
        show(chunk);
      } catch (error) {
        return done(error as Error);
      }
      done(null, chunk);
    },
  });
}

/**
 * Writes a body to a file as it comes in, unpacked, and answers the file's size in bytes once the disk has it. What is
 * written is shown on the way. Throws TooLarge, NotUnpacked, and what `show` throws.
 */
export async function writeBody(
  body: Readable,
  path: string,
  encoding: Encoding,
  show?: (piece: Buffer) => void,
): Promise<number> {
  // Not part of the pipeline, which would destroy it: then the sender of a refused body could not read the answer.
  const sent = atMost(PACKED_BYTES);
  finished(body, { writable: false }).catch((error) => sent.destroy(error));
  body.pipe(sent);
  try {
    await pipeline([
      sent,
      ...(encoding === 'gzip' ? [createGunzip()] : []),
      atMost(UNPACKED_BYTES, show),
      createWriteStream(path, { flags: 'wx', flush: true, highWaterMark: WAITING_BYTES }),
    ]);
  } catch (error) {
    if (error instanceof Error && codeOf(error).startsWith('Z_')) throw new NotUnpacked(error.message);
    throw error;
  }
  return (await stat(path)).size;
}
