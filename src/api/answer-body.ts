import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { rm } from '../disk/renames.js';

/** The body of an answer: in memory, or in a file when it is large. */
export type Body = Buffer | LargeBody;

export interface LargeBody {
  readonly path: string;
  readonly bytes: number;
}

/** Larger bodies are written to a file and not kept in memory. */
export const BYTES_IN_MEMORY = 8 << 20;

/** The parts of a body. */
export type Pieces = AsyncGenerator<string | Uint8Array>;

/**
 * Collects pieces and returns the body with its SHA-256: in memory up to some number of bytes, else in a new file in a folder. The
 * last reader removes the file.
 */
export async function writeBody(
  pieces: Pieces,
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

/** Runs work that writes a body: see writeBody. What it wrote before it was repeated, or failed, is removed. */
export async function written<T>(
  folder: string,
  bytesInMemory: number,
  work: (write: (pieces: Pieces) => Promise<{ body: Body; digest: string }>) => Promise<T>,
): Promise<T> {
  let last: Body | undefined;
  const forget = async () => {
    if (last !== undefined) await discard(last);
    last = undefined;
  };
  try {
    return await work(async (pieces) => {
      await forget();
      const made = await writeBody(pieces, folder, bytesInMemory);
      last = made.body;
      return made;
    });
  } catch (error) {
    await forget();
    throw error;
  }
}

/** Removes a body's file. */
export async function discard(body: Body): Promise<void> {
  if (!Buffer.isBuffer(body)) await rm(body.path, { force: true });
}
