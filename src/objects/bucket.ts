import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { limited } from '../network/outgoing.js';
import type { S3Address } from '../settings/store-address.js';
import { faultOf, isGone, isPassing, type Sdk, sdkOf, statusOf } from './s3-sdk.js';

/** How often a request is tried, and how long it is waited before it is tried again, at first: milliseconds. */
const TRIES = 4;
const PAUSE_MS = 100;
/** How many keys a page of a list has, and how many objects one request removes: S3's own limits. */
const KEYS_AT_ONCE = 1000;

/** An object in a list. */
export interface Listed {
  /** Without the prefix of the bucket's address. */
  readonly key: string;
  readonly bytes: number;
}

/** The bytes of an object: a text, a buffer, or pieces that can be read again for another try. */
export type Content =
  | string
  | Buffer
  | { readonly bytes: number; readonly pieces: () => AsyncIterable<Buffer> };

/** When a request must have ended, for requests that somebody waits for. */
export interface Limit {
  /** For all tries together, and for each of them: milliseconds. */
  readonly allMs: number;
  readonly eachMs: number;
}

/** The objects below a prefix of a bucket of S3. The AWS SDK finds the credentials. Every error is safe to log. */
export class Bucket {
  constructor(readonly address: S3Address) {}

  /** The address of an object, as people read it. */
  nameOf(key: string): string {
    return `s3://${this.address.bucket}/${this.address.prefix}${key}`;
  }

  /** Writes an object, whole, in place of an earlier one. */
  async put(key: string, content: Content, limit?: Limit): Promise<void> {
    await this.send((sdk, abortSignal) => this.write(sdk, key, content, {}, abortSignal), limit);
  }

  /** Writes an object that isn't there yet. Answers false if another one is there. */
  putNew(key: string, text: string): Promise<boolean> {
    return this.writeIf(key, text, { IfNoneMatch: '*' }, (error) => statusOf(error) === 412);
  }

  /** Writes an object in place of the one that has a tag, or where none is. Answers false if another one is there. */
  replace(key: string, text: string, tag: string | undefined): Promise<boolean> {
    if (tag === undefined) return this.putNew(key, text);
    return this.writeIf(key, text, { IfMatch: tag }, (error) => statusOf(error) === 412 || isGone(error));
  }

  private async writeIf(
    key: string,
    text: string,
    condition: object,
    isRefusal: (error: unknown) => boolean,
  ): Promise<boolean> {
    try {
      await this.send((sdk, abortSignal) => this.write(sdk, key, text, condition, abortSignal));
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // It may be the one of an earlier try, whose answer was lost.
      const bytes = Buffer.byteLength(text);
      return (await this.size(key)) === bytes && (await this.text(key, bytes)) === text;
    }
  }

  /** The tag of an object, which changes with its bytes; undefined if there is none. */
  async tagOf(key: string): Promise<string | undefined> {
    return (await this.head(key))?.ETag;
  }

  /** The size of an object in bytes; undefined if there is none. */
  async size(key: string): Promise<number | undefined> {
    return (await this.head(key))?.ContentLength;
  }

  private async head(key: string) {
    try {
      return await this.send(({ client, s3 }) => client.send(new s3.HeadObjectCommand(this.object(key))));
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  private async write(sdk: Sdk, key: string, content: Content, condition: object, abortSignal?: AbortSignal) {
    const given = typeof content === 'string' ? Buffer.from(content) : content;
    const { bytes, pieces } = Buffer.isBuffer(given) ? ofBytes(given) : given;
    // S3 stores nothing whose digest is another.
    const md5 = createHash('md5');
    for await (const piece of pieces()) md5.update(piece);
    const body = Readable.from(pieces(), { objectMode: false });
    try {
      const command = new sdk.s3.PutObjectCommand({
        ...this.object(key),
        ...condition,
        Body: body,
        ContentLength: bytes,
        ContentMD5: md5.digest('base64'),
      });
      await sdk.client.send(command, abortSignal === undefined ? {} : { abortSignal });
    } finally {
      body.destroy();
    }
  }

  /**
   * Reads an object of at most so many bytes with `read`, which begins again when a connection was cut off. Answers undefined if there is none.
   */
  async get<T>(
    key: string,
    most: number,
    read: (pieces: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await this.send(async ({ client, s3 }) => {
        const { Body, ContentLength = 0 } = await client.send(new s3.GetObjectCommand(this.object(key)));
        // In Node.js, the body is a Node.js stream.
        return read(whole(limited(Body as Readable, most), ContentLength));
      });
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  /** The text of an object of at most so many bytes; undefined if there is none. */
  async text(key: string, most: number): Promise<string | undefined> {
    return this.get(key, most, async (pieces) => {
      const all: Uint8Array[] = [];
      for await (const piece of pieces) all.push(piece);
      return Buffer.concat(all).toString();
    });
  }

  /** The objects whose keys begin with a text, in the order of their keys' bytes. */
  async *list(start: string): AsyncGenerator<Listed, void, undefined> {
    const { bucket: Bucket, prefix } = this.address;
    for (let ContinuationToken: string | undefined; ; ) {
      const page = await this.send(({ client, s3 }) =>
        client.send(
          new s3.ListObjectsV2Command({
            Bucket,
            Prefix: `${prefix}${start}`,
            ContinuationToken,
            MaxKeys: KEYS_AT_ONCE,
          }),
        ),
      );
      for (const { Key = '', Size = 0 } of page.Contents ?? [])
        yield { key: Key.slice(prefix.length), bytes: Size };
      if (page.IsTruncated !== true) return;
      ContinuationToken = page.NextContinuationToken;
    }
  }

  /** Removes objects that exist. */
  async remove(keys: readonly string[]): Promise<void> {
    if (keys.length === 1)
      await this.send(({ client, s3 }) =>
        client.send(new s3.DeleteObjectCommand(this.object(keys[0] ?? ''))),
      );
    else
      for (let next = 0; next < keys.length; next += KEYS_AT_ONCE) {
        const Objects = keys.slice(next, next + KEYS_AT_ONCE).map((key) => ({ Key: this.object(key).Key }));
        await this.send(async ({ client, s3 }) => {
          const { Errors = [] } = await client.send(
            new s3.DeleteObjectsCommand({ Bucket: this.address.bucket, Delete: { Objects, Quiet: true } }),
          );
          if (Errors.length > 0)
            throw new Error(`${Errors.length} objects stay, the first of them by ${Errors[0]?.Code}`);
        });
      }
  }

  /** An address with which anybody can write an object of this size for some seconds. The length is signed too, so that the bucket accepts nothing longer. */
  async addressToPut(key: string, sizeBytes: number, seconds: number): Promise<string> {
    const { client, s3, presigner } = await sdkOf(this.address);
    const command = new s3.PutObjectCommand({ ...this.object(key), ContentLength: sizeBytes });
    return presigner.getSignedUrl(client, command, {
      expiresIn: seconds,
      signableHeaders: new Set(['host', 'content-length']),
    });
  }

  /** An address with which anybody can read an object for some seconds. */
  async addressToGet(key: string, seconds: number): Promise<string> {
    const { client, s3, presigner } = await sdkOf(this.address);
    return presigner.getSignedUrl(client, new s3.GetObjectCommand(this.object(key)), { expiresIn: seconds });
  }

  private object(key: string) {
    return { Bucket: this.address.bucket, Key: `${this.address.prefix}${key}` };
  }

  /** Sends a request, and again after faults that pass. Throws an error that is safe to log. */
  private async send<T>(
    work: (sdk: Sdk, abortSignal?: AbortSignal) => Promise<T>,
    limit?: Limit,
  ): Promise<T> {
    const sdk = await sdkOf(this.address);
    const all = limit === undefined ? undefined : AbortSignal.timeout(limit.allMs);
    for (let attempt = 1; ; attempt += 1) {
      const signal =
        all === undefined ? undefined : AbortSignal.any([all, AbortSignal.timeout(limit?.eachMs ?? 0)]);
      try {
        return await work(sdk, signal);
      } catch (error) {
        const isLast = limit === undefined ? attempt === TRIES : all?.aborted === true;
        if (isLast || !isPassing(error)) throw await faultOf(error, sdk);
        const pause = PAUSE_MS * 2 ** Math.min(attempt - 1, 4) * (0.5 + Math.random());
        await wait(pause, undefined, { signal: all }).catch(async () => {
          throw await faultOf(error, sdk);
        });
      }
    }
  }
}

function ofBytes(bytes: Buffer) {
  return {
    bytes: bytes.length,
    pieces: async function* () {
      yield bytes;
    },
  };
}

/** Passes pieces on. Throws when they end before there were as many bytes as announced. */
async function* whole(pieces: AsyncIterable<Uint8Array>, bytes: number) {
  let left = bytes;
  for await (const piece of pieces) {
    left -= piece.length;
    yield piece;
  }
  if (left > 0) throw Object.assign(new Error('the answer was cut off'), { code: 'ECONNRESET' });
}
