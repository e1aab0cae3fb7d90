import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { rm } from '../disk/renames.js';
import type { S3Address } from '../settings/store-address.js';
import { Queue } from '../store/queue.js';
import { LakeBucket } from './lake-bucket.js';
import { LAKE } from './lake-paths.js';
import { organizationsIn } from './snapshot.js';

/** Where a lake is, and how much of it this node keeps. */
interface Place {
  readonly data: string;
  readonly lake: S3Address | undefined;
  readonly lakeCacheMb: number;
}

/** A file stays for as long as a query may read it. */
const USED_MS = 3_600_000;

/** How often files are removed that nobody needs. */
const TIDY_MS = 3_600_000;

/** One fetch of an organization at a time. */
const queues = new Map<string, Queue>();

/** Has the folder of the lake have what was published of an organization at an instant, if the lake is in a bucket. */
export async function fetchPublished(place: Place, orgId: string, asOf?: number): Promise<void> {
  const { lake, data } = place;
  if (lake === undefined) return;
  const folder = join(data, LAKE);
  const key = `${folder} ${orgId}`;
  const queue = queues.get(key) ?? new Queue();
  queues.set(key, queue);
  await queue.run(() => new LakeBucket(lake, folder).fetchPublished(orgId, asOf));
  await makeRoom(folder, place.lakeCacheMb * 2 ** 20);
}

/** The same of all organizations. */
export async function fetchAllPublished(place: Place, asOf?: number): Promise<void> {
  if (place.lake === undefined) return;
  const folder = join(place.data, LAKE);
  await new LakeBucket(place.lake, folder).pullAll();
  for (const orgId of organizationsIn(folder)) await fetchPublished(place, orgId, asOf);
}

/** Removes files of this node that the bucket no longer has now and every hour, until it is stopped: see removeGone. */
export function keepTidy(place: Place, failed: (error: unknown) => void): { readonly stop: () => void } {
  if (place.lake === undefined) return { stop: () => {} };
  const tidy = () => void removeGone(place).catch(failed);
  tidy();
  const timer = setInterval(tidy, TIDY_MS);
  return { stop: () => clearInterval(timer) };
}

/**
 * Removes the files of this node that the bucket no longer has, such as those with somebody who was erased on another node, once no query can read
 * them any more. Then makes room, which a node that only publishes would do nowhere else.
 */
export async function removeGone(place: Place): Promise<void> {
  const { lake, data } = place;
  if (lake === undefined) return;
  const folder = join(data, LAKE);
  // Listed before the bucket is: a file that this node is about to upload isn't among them.
  const gone = new Set(filesIn(folder).flatMap(({ name, usedAt }) => (isUsed(usedAt) ? [] : [name])));
  if (gone.size > 0) for await (const name of new LakeBucket(lake, folder).all()) gone.delete(name);
  for (const name of gone) await rm(join(folder, name), { force: true });
  await makeRoom(folder, place.lakeCacheMb * 2 ** 20);
}

const isUsed = (usedAt: number) => usedAt > Date.now() - USED_MS;

/** The Parquet files of organizations in the folder of a lake, those first that weren't used for the longest time. */
function filesIn(folder: string) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.parquet') && !name.startsWith('_'))
    .flatMap((name) => {
      const found = statSync(join(folder, name), { throwIfNoEntry: false });
      return found === undefined ? [] : [{ name, bytes: found.size, usedAt: found.mtimeMs }];
    })
    .sort((a, b) => a.usedAt - b.usedAt);
}

/** Removes the files that weren't used for the longest time, as long as they take too much room. */
async function makeRoom(folder: string, most: number): Promise<void> {
  const files = filesIn(folder);
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  for (const file of files) {
    if (bytes <= most || isUsed(file.usedAt)) return;
    const path = join(folder, file.name);
    // A query may have come to need it while others were removed.
    if (isUsed(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)) continue;
    await rm(path, { force: true });
    bytes -= file.bytes;
  }
}
