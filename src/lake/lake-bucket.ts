import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, statSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { rename, rm } from '../disk/renames.js';
import { codeOf } from '../exit.js';
import { isObject, parsedJson } from '../input/json-object.js';
import { Bucket } from '../objects/bucket.js';
import type { S3Address } from '../settings/store-address.js';
import { commitPath, commitText } from './delta-log.js';
import { EARLIER, earlierPath, earlierText, snapshotAt } from './earlier-snapshot.js';
import { folderOf, LAKE_TABLES } from './lake-paths.js';
import { NEXT, readSnapshot, SNAPSHOT, type Snapshot, snapshotText } from './snapshot.js';

/** How long a snapshot or a commit can be: that of three years has 2 MB. */
const TEXT_BYTES = 256 << 20;

/** How many files are fetched at once. */
const FILES_AT_ONCE = 8;

/** A file in an organization's folder, and its bytes if they are known. */
interface File {
  readonly path: string;
  readonly bytes?: number | undefined;
}

/**
 * The lake in a bucket, where it counts. The folder is what this node has fetched of it or written for it. A publication is one that follows
 * another: whoever first writes the object that says what follows a snapshot publishes, and whoever comes next finishes it.
 */
export class LakeBucket {
  private readonly bucket: Bucket;

  constructor(
    address: S3Address,
    private readonly lake: string,
  ) {
    this.bucket = new Bucket(address);
  }

  /** Fetches the snapshot of an organization, and the one that follows if its publication was cut off. */
  async pull(orgId: string): Promise<void> {
    const folder = folderOf(orgId);
    const text = await this.bucket.text(`${folder}/${SNAPSHOT}`, TEXT_BYTES);
    const publishedAt = Number(
      (parsedJson(text ?? '') as { published_at?: unknown } | undefined)?.published_at ?? 0,
    );
    const next = await this.bucket.text(nextKey(folder, publishedAt), TEXT_BYTES);
    await this.keep(join(folder, SNAPSHOT), text);
    await this.keep(join(folder, NEXT), next);
  }

  private async keep(path: string, text: string | undefined): Promise<void> {
    const place = join(this.lake, path);
    if (text === undefined) return rm(place, { force: true });
    mkdirSync(dirname(place), { recursive: true });
    // Other processes on this machine may do the same.
    const draft = draftOf(place);
    await writeFile(draft, text);
    await rename(draft, place);
  }

  /** Fetches files of an organization's folder that aren't there yet, or not with the bytes that are known. One that is gone is left out. */
  async fetch(orgId: string, files: Iterable<File>): Promise<void> {
    const all = new Map([...files].map((file) => [file.path, file]));
    const left = all.values();
    const worker = async () => {
      for (const file of left) await this.fetchOne(orgId, file);
    };
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, worker));
  }

  private async fetchOne(orgId: string, { path, bytes: known }: File): Promise<void> {
    const place = join(this.lake, folderOf(orgId), path);
    const key = `${folderOf(orgId)}/${path}`;
    const size = statSync(place, { throwIfNoEntry: false })?.size;
    if (size !== undefined && (known ?? size) === size && (await isMarkedAsUsed(place))) return;
    const bytes = known ?? (await this.bucket.size(key));
    if (bytes === undefined) return;
    mkdirSync(dirname(place), { recursive: true });
    const draft = draftOf(place);
    const isThere = await this.bucket.get(key, bytes, async (pieces) => {
      await pipeline(Readable.from(pieces), createWriteStream(draft));
      return true;
    });
    if (isThere === true) await rename(draft, place);
  }

  /** Fetches all that is in an organization's folder. */
  async fetchAll(orgId: string): Promise<void> {
    await this.pull(orgId);
    const all = await this.list(orgId);
    await this.fetch(
      orgId,
      all.filter(({ path }) => !/^_(next|snapshot\.json)/.test(path)),
    );
  }

  /** Fetches what was published of an organization at an instant: its snapshot, and the files that it names. */
  async fetchPublished(orgId: string, asOf: number | undefined): Promise<void> {
    const folder = folderOf(orgId);
    await this.keep(join(folder, SNAPSHOT), await this.bucket.text(`${folder}/${SNAPSHOT}`, TEXT_BYTES));
    const current = readSnapshot(this.lake, orgId);
    if (current === undefined) return;
    if (asOf !== undefined && asOf < current.published_at)
      await this.fetch(
        orgId,
        (await this.list(orgId)).filter(({ path }) => path.startsWith(`${EARLIER}/`)),
      );
    const published = snapshotAt(this.lake, current, asOf);
    await this.fetch(
      orgId,
      Object.entries(published?.tables ?? {}).flatMap(([table, { files }]) =>
        files.map(({ path, bytes }) => ({ path: join(table, path), bytes })),
      ),
    );
  }

  private async list(orgId: string): Promise<File[]> {
    const start = `${folderOf(orgId)}/`;
    const files: File[] = [];
    for await (const { key, bytes } of this.bucket.list(start))
      files.push({ path: key.slice(start.length), bytes });
    return files;
  }

  /** The names of what is in an organization's folder. */
  async names(orgId: string): Promise<string[]> {
    return (await this.list(orgId)).map(({ path }) => path);
  }

  /** The names of all files. */
  async *all(): AsyncGenerator<string, void, undefined> {
    for await (const { key } of this.bucket.list('')) yield key;
  }

  /** The names of the folders of organizations. */
  async folders(): Promise<string[]> {
    const folders = new Set<string>();
    for await (const name of this.all()) folders.add(name.split('/')[0] ?? '');
    return [...folders].filter((name) => !/^[._]/.test(name));
  }

  /** Fetches the snapshots of all organizations, and answers the names of their folders. */
  async pullAll(): Promise<string[]> {
    const folders = await this.folders();
    for (const folder of folders)
      await this.keep(join(folder, SNAPSHOT), await this.bucket.text(`${folder}/${SNAPSHOT}`, TEXT_BYTES));
    return folders;
  }

  /** Writes files of an organization's folder into the bucket. */
  async upload(orgId: string, paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const place = join(this.lake, folderOf(orgId), path);
      await this.bucket.put(`${folderOf(orgId)}/${path}`, {
        bytes: statSync(place).size,
        pieces: () => createReadStream(place) as AsyncIterable<Buffer> as AsyncGenerator<Buffer>,
      });
    }
  }

  /** Begins the publication that follows a snapshot. Answers false if another one does already. */
  async claim(before: Snapshot, next: Snapshot): Promise<boolean> {
    const folder = folderOf(next.org_id);
    const key = nextKey(folder, before.published_at);
    if (!(await this.bucket.putNew(key, snapshotText(next)))) return false;
    // The object of another one may be gone, long after its publication.
    const current = publishedIn(await this.bucket.text(`${folder}/${SNAPSHOT}`, TEXT_BYTES));
    if (current === before.published_at) return true;
    await this.bucket.remove([key]);
    return false;
  }

  /** Makes the snapshot that follows another one the current one: commits of its tables first. */
  async commit(before: Snapshot, next: Snapshot, keepsEarlier: boolean): Promise<void> {
    const folder = folderOf(next.org_id);
    for (const table of LAKE_TABLES) {
      const [old, state] = [before.tables[table], next.tables[table]];
      if (state === undefined || state.version === old?.version) continue;
      const key = `${folder}/${table}/${commitPath(state.version)}`;
      if (await this.bucket.putNew(key, commitText(table, old, next))) continue;
      // Another version of Daybook may have begun this publication, and writes its own name into the first line.
      const [, ...there] = ((await this.bucket.text(key, TEXT_BYTES)) ?? '').split('\n');
      const [, ...own] = commitText(table, old, next).split('\n');
      if (there.join('\n') !== own.join('\n'))
        throw new Error(
          `the lake has a commit ${this.bucket.nameOf(key)} of another writer: let only Daybook write there`,
        );
    }
    if (keepsEarlier)
      await this.bucket.put(`${folder}/${earlierPath(before.published_at)}`, earlierText(before));
    const key = `${folder}/${SNAPSHOT}`;
    for (;;) {
      const tag = await this.bucket.tagOf(key);
      const current = publishedIn(await this.bucket.text(key, TEXT_BYTES));
      // Another node may have finished this publication, and begun the next one.
      if (current >= next.published_at) return;
      if (await this.bucket.replace(key, snapshotText(next), tag)) return;
    }
  }

  /** Writes another form of the current snapshot. */
  async replace(orgId: string, text: string): Promise<void> {
    await this.bucket.put(`${folderOf(orgId)}/${SNAPSHOT}`, text);
  }

  /** Removes files of an organization's folder. */
  async remove(orgId: string, names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.bucket.remove(names.map((name) => `${folderOf(orgId)}/${name}`));
  }

  /** Removes a folder: what makes a publication count first. */
  async removeFolder(folder: string): Promise<void> {
    await this.bucket.remove([`${folder}/${SNAPSHOT}`]);
    const keys: string[] = [];
    for await (const { key } of this.bucket.list(`${folder}/`)) keys.push(key);
    const isFirst = (key: string) =>
      key.startsWith(`${folder}/_next/`) || key.startsWith(`${folder}/${EARLIER}/`);
    for (const some of [keys.filter(isFirst), keys.filter((key) => !isFirst(key))])
      if (some.length > 0) await this.bucket.remove(some);
  }
}

/** When a snapshot was published; 0 without one. */
function publishedIn(text: string | undefined): number {
  const snapshot = parsedJson(text ?? '');
  return isObject(snapshot) ? Number(snapshot.published_at ?? 0) : 0;
}

/** Marks a file as used now. Answers false if it was removed meanwhile, because it wasn't used for long. */
async function isMarkedAsUsed(path: string): Promise<boolean> {
  try {
    await utimes(path, new Date(), new Date());
    return true;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return false;
  }
}

function draftOf(place: string): string {
  return `${place}.${randomUUID().slice(0, 8)}.new`;
}

/** The object that says what follows the snapshot that was published at an instant. */
function nextKey(folder: string, publishedAt: number): string {
  return `${folder}/_next/${publishedAt}.json`;
}
