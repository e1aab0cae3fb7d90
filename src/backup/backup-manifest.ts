import { readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../exit.js';

/** The description of a backup, in the folder of its files. */
export const MANIFEST = 'manifest.json';

const Path = z
  .string()
  .refine((path) => path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'));

const Manifest = z.object({
  format: z.literal(1),
  /** The version of Daybook that made the backup. */
  version: z.string(),
  store: z.enum(['duckdb', 'clickhouse']),
  /** The newest numbered change of its database; 0 without a database. */
  change: z.int().min(0),
  /** The instant whose state the files have, in RFC 3339. */
  taken_at: z.iso.datetime(),
  files: z.array(
    z.object({
      /** Relative to the folder, with slashes. */
      path: Path,
      bytes: z.int().min(0),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});

export type Manifest = z.infer<typeof Manifest>;
export type BackedUpFile = Manifest['files'][number];

/** Reads the manifest of a backup. Throws a UsageError if the folder has none. */
export async function readManifest(folder: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(folder, MANIFEST), 'utf8');
  } catch {
    throw new UsageError(`There is no backup in ${folder}: a backup has a file ${MANIFEST}.`);
  }
  try {
    return Manifest.parse(JSON.parse(text));
  } catch {
    throw new UsageError(
      `The file ${join(folder, MANIFEST)} is damaged, or a newer Daybook wrote it: use another backup, or install that version.`,
    );
  }
}

/** The path of a backup's file below a folder. */
export function placeOf({ path }: Pick<BackedUpFile, 'path'>, folder: string): string {
  return join(folder, path.replaceAll('/', sep));
}
