import { createReadStream, mkdirSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { digestOf } from '../disk/file-digest.js';
import { sync } from '../disk/refusals.js';
import { rename, rm, rmSync } from '../disk/renames.js';
import { codeOf } from '../exit.js';

/** A body has fewer or more bytes than announced. */
export class WrongLength extends Error {
  override name = 'WrongLength';
}

/** Stores the bytes of files on their way from sender to computer, each under the id of its transfer. */
export interface Objects {
  /** The size of an object in bytes; undefined if there is none. */
  size(key: string): Promise<number | undefined>;
  /** The SHA-256 of an object of this size, in hexadecimal. */
  sha256(key: string, sizeBytes: number): Promise<string>;
  /** Removes an object, if it exists. */
  remove(key: string): Promise<void>;
  /** Addresses that let sender and computer bypass the service; undefined if the bytes go through it. */
  readonly direct: DirectAddresses | undefined;
}

export interface DirectAddresses {
  put(key: string, sizeBytes: number, seconds: number): Promise<string>;
  get(key: string, seconds: number): Promise<string>;
}

/** Stores objects as files of a folder. */
export class LocalObjects implements Objects {
  readonly direct = undefined;
  private readonly incoming: string;
  private parts = 0;

  /** Deletes bodies that a killed process hadn't received completely. */
  constructor(private readonly folder: string) {
    this.incoming = join(folder, 'incoming');
    rmSync(this.incoming, { recursive: true, force: true });
    mkdirSync(this.incoming, { recursive: true });
  }

  /** Stores the bytes of a stream, durably and whole, in place of earlier ones. Throws WrongLength. */
  async write(key: string, body: Readable, sizeBytes: number): Promise<void> {
    this.parts += 1;
    const part = join(this.incoming, `${key}.${this.parts}`);
    const file = await open(part, 'wx', 0o600);
    try {
      let bytes = 0;
      // A refused body isn't destroyed: that would keep its sender from reading the answer.
      for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > sizeBytes) break;
        await file.writeFile(chunk);
      }
      if (bytes !== sizeBytes) throw new WrongLength();
      await file.sync();
      await file.close();
      await rename(part, join(this.folder, key));
      await sync(this.folder);
    } catch (error) {
      await file.close();
      await rm(part, { force: true });
      throw error;
    }
  }

  async size(key: string): Promise<number | undefined> {
    try {
      return (await stat(join(this.folder, key))).size;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async sha256(key: string): Promise<string> {
    return (await digestOf(join(this.folder, key))).sha256;
  }

  async read(key: string): Promise<Readable> {
    const file = await open(join(this.folder, key));
    return createReadStream('', { fd: file });
  }

  async remove(key: string): Promise<void> {
    await rm(join(this.folder, key), { force: true });
  }
}
