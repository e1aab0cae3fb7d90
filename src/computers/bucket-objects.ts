import { createHash } from 'node:crypto';
import { Bucket } from '../objects/bucket.js';
import type { S3Address } from '../settings/store-address.js';
import type { DirectAddresses, Objects } from './object-storage.js';

/** Stores objects in a bucket. Senders and computers get addresses of the bucket itself. */
export class S3Objects implements Objects {
  private readonly bucket: Bucket;

  constructor(address: S3Address) {
    this.bucket = new Bucket(address);
  }

  readonly direct: DirectAddresses = {
    put: (key, sizeBytes, seconds) => this.bucket.addressToPut(key, sizeBytes, seconds),
    get: (key, seconds) => this.bucket.addressToGet(key, seconds),
  };

  size(key: string): Promise<number | undefined> {
    return this.bucket.size(key);
  }

  async sha256(key: string, sizeBytes: number): Promise<string> {
    const digest = await this.bucket.get(key, sizeBytes, async (pieces) => {
      const hash = createHash('sha256');
      for await (const piece of pieces) hash.update(piece);
      return hash.digest('hex');
    });
    if (digest === undefined) throw new Error(`The object ${this.bucket.nameOf(key)} is gone.`);
    return digest;
  }

  remove(key: string): Promise<void> {
    return this.bucket.remove([key]);
  }
}
