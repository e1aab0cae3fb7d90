import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from '../../disk/data-files.js';

/** The blocks at the beginning of a DuckDB file: a checkpoint changes one of them. */
const HEADER_BYTES = 3 * 4096;

/**
 * A checksum of the database in a folder, which changes when something is written to it.
 * TRICKY: taken before the engine opens the file, since a process loses its locks on a file when it closes any descriptor of it.
 */
export async function sourceChecksum(folder: string): Promise<string> {
  const sum = createHash('sha256');
  const path = join(folder, DATABASE);
  for await (const part of createReadStream(path, { end: HEADER_BYTES - 1 })) sum.update(part);
  if (existsSync(`${path}.wal`)) for await (const part of createReadStream(`${path}.wal`)) sum.update(part);
  return sum.digest('hex');
}
