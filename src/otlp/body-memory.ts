import type { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { codeOf } from '../exit.js';
import { atMost, type Encoding, NotUnpacked, TooLarge, UNPACKED_BYTES } from '../ingest/body.js';
import { InboxFull } from '../ingest/inbox.js';
import { Room } from '../ingest/room.js';

/** How many bytes of bodies are held at a time. */
const HELD_BYTES = 192 << 20;

/** The memory that bodies take while they are read. */
export class BodyMemory {
  private readonly room = new Room(HELD_BYTES);

  /**
   * Reads and unpacks a body, and calls `work` with it. Throws TooLarge, NotUnpacked, and InboxFull when other bodies of the organization
   * take too much memory.
   */
  async with<T>(
    orgId: string,
    body: Readable,
    encoding: Encoding,
    work: (body: Buffer) => Promise<T>,
  ): Promise<T> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let refusal: Error | undefined;
    const take = async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) {
        bytes += piece.length;
        const isFull = this.room.isFull(orgId, piece.length);
        this.room.take(orgId, piece.length);
        if (bytes > UNPACKED_BYTES) refusal = new TooLarge();
        else if (isFull) refusal = new InboxFull();
        if (refusal !== undefined) throw refusal;
        chunks.push(piece);
      }
    };
    try {
      // Outside the pipeline, which would destroy it: then the sender of a refused body couldn't read the answer.
      const sent = atMost(UNPACKED_BYTES);
      finished(body, { writable: false }).catch((error) => sent.destroy(error));
      body.pipe(sent);
      if (encoding === 'identity') await pipeline(sent, take);
      else await pipeline(sent, createGunzip(), take);
      return await work(await joined(chunks, bytes));
    } catch (error) {
      // TRICKY: leaving the loop destroys the unpacking stream, and the pipeline may report that instead.
      if (refusal !== undefined) throw refusal;
      if (error instanceof Error && codeOf(error).startsWith('Z_')) throw new NotUnpacked(error.message);
      throw error;
    } finally {
      this.room.giveBack(orgId, bytes);
    }
  }
}

/** How many bytes are copied before other work gets a turn. */
const COPIED_BYTES = 4 << 20;

/** Joins chunks into one buffer, and empties the list. */
async function joined(chunks: Buffer[], bytes: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(bytes);
  let [at, next] = [0, COPIED_BYTES];
  for (const chunk of chunks.splice(0)) {
    at += chunk.copy(whole, at);
    if (at < next) continue;
    next = at + COPIED_BYTES;
    await turn();
  }
  return whole;
}
