import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailable } from './store-fault.js';

/** How long after a failure it is opened again. */
const RETRY_MS = 1000;

/** Is told that a database broke, that it can't be opened again for now (once for each break), and that it is open again. */
export interface Mishaps {
  readonly broken: (error: unknown) => void;
  readonly unopened: (error: unknown) => void;
  readonly reopened: () => void;
}

/** For commands, which get the error from the statement that they ran. */
const UNHEARD: Mishaps = { broken: () => {}, unopened: () => {}, reopened: () => {} };

/** How to open and close something. The opened thing calls `broke` when it can't be used any more. */
export interface Ways<T> {
  readonly open: (broke: (error: unknown) => void) => Promise<T>;
  readonly close: (opened: T) => void;
}

interface Opening<T> {
  readonly value: T;
  readonly broken: AbortController;
}

/** Something that is opened again when it broke, as soon as nobody uses it any more, and however often that takes. */
export class Renewable<T> {
  private now: Opening<T> | undefined;
  private users = 0;
  private freed: (() => void) | undefined;
  private renewing: Promise<void> = Promise.resolve();
  private isClosed = false;

  private constructor(
    private readonly ways: Ways<T>,
    private readonly mishaps: Mishaps,
  ) {}

  static async start<T>(ways: Ways<T>, mishaps = UNHEARD): Promise<Renewable<T>> {
    const renewable = new Renewable(ways, mishaps);
    await renewable.open();
    return renewable;
  }

  /** Does work on the open database. Throws StoreUnavailable while it is being opened again; `broken` tells when it breaks. */
  async use<R>(work: (value: T, broken: AbortSignal) => Promise<R>): Promise<R> {
    const { now } = this;
    if (this.isClosed) throw new Error('the store is closed');
    if (now === undefined) throw new StoreUnavailable();
    this.users += 1;
    try {
      return await work(now.value, now.broken.signal);
    } finally {
      this.users -= 1;
      if (this.users === 0) this.freed?.();
    }
  }

  /** Waits for an opening that is under way, and closes it. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.renewing;
    if (this.now !== undefined) this.ways.close(this.now.value);
    this.now = undefined;
  }

  private async open(): Promise<void> {
    const broken = new AbortController();
    const broke = (error: unknown) => {
      // Work under way on it fails for the same reason, and reports it too.
      if (broken.signal.aborted) return;
      broken.abort();
      this.mishaps.broken(error);
      const { now } = this;
      this.now = undefined;
      if (now !== undefined) this.renewing = this.renew(now.value);
    };
    const value = await this.ways.open(broke);
    if (broken.signal.aborted) {
      this.ways.close(value);
      throw new Error('it broke while it was opened');
    }
    this.now = { value, broken };
  }

  /**
   * Closes it as soon as nobody uses it any more, and opens it again. `between` runs right before it is closed. Meanwhile others get
   * StoreUnavailable.
   */
  async reopen(between: (value: T) => Promise<void>): Promise<void> {
    const { now } = this;
    if (this.isClosed) throw new Error('the store is closed');
    if (now === undefined) throw new StoreUnavailable();
    this.now = undefined;
    let failure: unknown;
    this.renewing = this.renew(now.value, () =>
      between(now.value).catch((error: unknown) => {
        failure = error;
      }),
    );
    await this.renewing;
    if (failure !== undefined) throw failure;
  }

  private async renew(old: T, before: () => Promise<void> = async () => {}): Promise<void> {
    if (this.users > 0)
      await new Promise<void>((resolve) => {
        this.freed = resolve;
      });
    this.freed = undefined;
    await before();
    // Two openings of one file would disturb each other. One that can't even be closed stays broken.
    try {
      this.ways.close(old);
    } catch (error) {
      this.mishaps.broken(error);
    }
    for (let tried = 0; !this.isClosed; tried += 1) {
      if (tried > 0) await wait(RETRY_MS);
      try {
        await this.open();
        return this.mishaps.reopened();
      } catch (error) {
        if (tried === 0) this.mishaps.unopened(error);
      }
    }
  }
}
