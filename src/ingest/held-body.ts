import { createHash } from 'node:crypto';
import { writeTexts } from './body.js';

/** How long a body can be that waits in memory for a bucket instead of on the disk, and how many bytes all of them can have. */
const HELD_BYTES = 256 << 10;
const ALL_HELD_BYTES = 32 << 20;

/** A body that was received: its size in bytes, its SHA-256, and all of it, unless it is in a file. */
export interface Received {
  readonly bytes: number;
  readonly sha256: string;
  readonly held?: Buffer;
}

/** Memory for small bodies on their way into a bucket: most have one event, and a file for each would take longer than anything else. */
export class BodyMemory {
  private taken = 0;

  /** The room of one body, until its end. */
  body() {
    let own = 0;
    const take = (bytes: number) => {
      own += bytes;
      this.taken += bytes;
    };
    const end = () => take(-own);
    /** Keeps texts in memory until the end if they are small and there is room, and writes them to a new file otherwise. */
    const receive = async (path: string, texts: AsyncGenerator<string>): Promise<Received> => {
      const begun: Buffer[] = [];
      for (;;) {
        const { value, done } = await texts.next();
        if (done === true) break;
        const piece = Buffer.from(value);
        begun.push(piece);
        take(piece.length);
        if (own <= HELD_BYTES && this.taken <= ALL_HELD_BYTES) continue;
        end();
        return writeTexts(path, all(begun, texts), false);
      }
      const held = Buffer.concat(begun);
      return { bytes: own, sha256: createHash('sha256').update(held).digest('hex'), held };
    };
    return { receive, end };
  }
}

/** What was read of some texts, and the rest of them. */
async function* all(begun: readonly Buffer[], rest: AsyncIterable<string>): AsyncGenerator<string | Buffer> {
  yield* begun;
  yield* rest;
}
