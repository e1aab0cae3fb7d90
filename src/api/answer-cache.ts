import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Body } from './answer-body.js';

/** What a large body and the rest of an answer take in memory, about. */
const OVERHEAD_BYTES = 1024;

/** How answers are compressed, the preferred one first: the first in the list is what a client gets that takes all. */
export const ENCODINGS = ['gzip', 'br'] as const;
export type Encoding = (typeof ENCODINGS)[number];

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);

const COMPRESS: Record<Encoding, (plain: Buffer) => Promise<Buffer>> = {
  gzip: (plain) => gzipped(plain),
  br: (plain) =>
    brotlied(plain, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
    }),
};

/** An answer, as it was made of one state of the store. */
export class Answered {
  private readonly encoded = new Map<Encoding, Promise<Buffer>>();
  private encodedBytes = 0;
  /** Told when it takes more memory than before. */
  grown: () => void = () => {};
  /** The newest revision of the store that was seen to give the same answer. */
  revision: string;

  constructor(
    /** Names what the answer says: its entity tag, without quotes. */
    readonly tag: string,
    readonly body: Body,
    /** What all of its bytes are made of. The same state gives the same bytes. */
    readonly state: string,
    revision: string,
    /** Until when it is good enough whatever comes, Unix milliseconds. */
    readonly until = 0,
    /** What asks for the next page, if there is one. */
    readonly nextCursor: string | null = null,
  ) {
    this.revision = revision;
  }

  get bytes(): number {
    return OVERHEAD_BYTES + (Buffer.isBuffer(this.body) ? this.body.length : 0) + this.encodedBytes;
  }

  /** The body compressed: once for all who ask. */
  as(encoding: Encoding, plain: Buffer): Promise<Buffer> {
    const known = this.encoded.get(encoding);
    if (known !== undefined) return known;
    const made = COMPRESS[encoding](plain).then((bytes) => {
      this.encodedBytes += bytes.length;
      this.grown();
      return bytes;
    });
    this.encoded.set(encoding, made);
    return made;
  }
}

/** Answers in memory, no more than so many bytes: those go first that nobody has asked for the longest time. */
export class Cache {
  private readonly answers: LRUCache<string, Answered>;

  constructor(
    limitBytes: number,
    /** Takes care of what goes. */
    drop: (answered: Answered) => void,
  ) {
    this.answers = new LRUCache({
      maxSize: limitBytes,
      sizeCalculation: ({ bytes }, key) => key.length + bytes,
      dispose: (answered, _, reason) => {
        // What has grown is deleted only to be kept again.
        if (reason !== 'delete') drop(answered);
      },
    });
  }

  /** What all answers take. */
  get bytes(): number {
    return this.answers.calculatedSize;
  }

  get(key: string): Answered | undefined {
    return this.answers.get(key);
  }

  /** Keeps an answer in place of the one that has the key. */
  keep(key: string, answered: Answered): void {
    this.answers.set(key, answered);
    answered.grown = () => {
      // TRICKY: setting a value that is there would leave its size as it was.
      if (this.answers.peek(key) === answered && this.answers.delete(key)) this.answers.set(key, answered);
    };
  }
}
