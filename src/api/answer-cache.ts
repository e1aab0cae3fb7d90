import { LRUCache } from 'lru-cache';
import type { Body } from './answer-body.js';
import { Encodings } from './encodings.js';

/** About how much memory a large body and the rest of an answer take. */
const OVERHEAD_BYTES = 1024;

/** An answer, computed from one state of the store. */
export class Answered {
  readonly encodings = new Encodings(() => this.grown());
  /** Called when it takes more memory than before. */
  grown: () => void = () => {};
  /** The newest revision of the store that is known to give the same answer. */
  revision: string;

  constructor(
    /** Identifies the answer's content: its entity tag, without quotes. */
    readonly tag: string,
    readonly body: Body,
    /** Identifies everything that its bytes are made from. The same state gives the same bytes. */
    readonly state: string,
    revision: string,
    /** Between which instants it is reused whatever arrives, in Unix milliseconds. */
    readonly reuse?: { readonly from: number; readonly until: number },
    /** The cursor of the next page, if there is one. */
    readonly nextCursor: string | null = null,
  ) {
    this.revision = revision;
  }

  get bytes(): number {
    return OVERHEAD_BYTES + (Buffer.isBuffer(this.body) ? this.body.length : 0) + this.encodings.bytes;
  }
}

/** Answers in memory, up to some number of bytes: the least recently used are dropped first. */
export class Cache {
  private readonly answers: LRUCache<string, Answered>;

  constructor(
    limitBytes: number,
    /** Called with each dropped answer. */
    drop: (answered: Answered) => void,
  ) {
    this.answers = new LRUCache({
      maxSize: limitBytes,
      sizeCalculation: ({ bytes }, key) => key.length + bytes,
      dispose: (answered, _, reason) => {
        // An answer that has grown is deleted only to be added again.
        if (reason !== 'delete') drop(answered);
      },
    });
  }

  /** Drops all answers. */
  clear(): void {
    this.answers.clear();
  }

  /** The memory of all answers. */
  get bytes(): number {
    return this.answers.calculatedSize;
  }

  get(key: string): Answered | undefined {
    return this.answers.get(key);
  }

  /** Keeps an answer, replacing the one with the same key. */
  keep(key: string, answered: Answered): void {
    this.answers.set(key, answered);
    answered.grown = () => {
      // TRICKY: setting a value that is there would leave its size as it was.
      if (this.answers.peek(key) === answered && this.answers.delete(key)) this.answers.set(key, answered);
    };
  }
}
