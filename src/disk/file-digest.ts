import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

const BUFFER_BYTES = 1 << 20;

/**
 * Reads a file and returns its size and SHA-256. `take` gets its bytes in pieces, each valid only until `take` returns: all of them share
 * one buffer, because separate buffers would fill the process's memory with garbage.
 */
export async function digestOf(
  path: string,
  take: (bytes: Buffer) => Promise<unknown> = async () => {},
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  const file = await open(path);
  try {
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    for (let bytes = 0; ; ) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
      const part = buffer.subarray(0, bytesRead);
      hash.update(part);
      await take(part);
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}
