import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { type Encoding, UNPACKED_BYTES, unpacked } from '../ingest/body.js';
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
    const take = async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) {
        bytes += piece.length;
        const isFull = this.room.isFull(orgId, piece.length);
        this.room.take(orgId, piece.length);
        if (isFull) throw new InboxFull();
        chunks.push(piece);
      }
    };
    try {
      await unpacked(body, encoding, UNPACKED_BYTES, take);
      return await work(await joined(chunks, bytes));
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
