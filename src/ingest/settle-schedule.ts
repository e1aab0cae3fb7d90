import type { Store } from '../store/store.js';
import type { SetAside } from './set-aside.js';

/** How much is settled together: bytes and files. */
export const BATCH_BYTES = 256 << 20;
export const BATCH_FILES = 5000;
/** How often it is looked whether something waits. */
const SETTLE_MS = 1000;
/** While more comes in, so many times only: a batch costs about the same whether it is small or not so small. */
const PATIENCE = 10;
/** When nothing has come for so many times, all that takes memory for it rests until something comes. */
const REST_AFTER = 10;
/** After so many quiet looks, files that were set aside are tried again. */
const RETRY_AFTER = 60;
/** Settling has stopped when nothing was settled for so long, although something waits. It begins after ten seconds at the latest. */
export const STOPPED_MS = 15_000;

/** Is told about the settling of bodies. */
export interface Watcher {
  /** Settling failed, and is tried again. */
  readonly failed: (error: unknown) => void;
  /** Something was set aside: called once for each, not for each time that it is found. */
  readonly setAside: (entry: SetAside) => void;
}

/** Where acknowledged bodies wait. */
export interface Waiting {
  /** The size of the bodies that wait to be settled, without those that are set aside. */
  readonly depth: { readonly bytes: number; readonly files: number };
  /** What can't be settled, as the last drain found it. */
  readonly setAside: readonly SetAside[];
  /** How many bytes may wait. */
  readonly limitBytes: number;
  /** Whether something was acknowledged since this was last asked. */
  hasCome(): boolean;
  /** Looks what waits, where others put something there too. */
  look(): Promise<void>;
  /** Settles all of it. Throws when the store fails whatever it is given. */
  settleAll(store: Store): Promise<void>;
}

/** Settles what waits, one drain at a time. */
export class SettleSchedule {
  private draining: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(private readonly waiting: Waiting) {}

  /** Settles bodies from now on: as soon as no more come, or they make a batch, or have waited for some seconds. */
  start(store: Store, failed: Watcher['failed']): void {
    const { waiting } = this;
    let looks = 0;
    let quiet = 0;
    let isLooking = false;
    // Nobody waits for a look when it is closed, and what was looked at may be gone.
    const report = (error: unknown) => {
      if (!this.isClosed) failed(error);
    };
    this.drain(store).catch(failed);
    const tick = async () => {
      if (isLooking) return;
      isLooking = true;
      await waiting.look().finally(() => {
        isLooking = false;
      });
      if (this.isClosed) return;
      const hasCome = waiting.hasCome();
      const { bytes, files } = waiting.depth;
      quiet = files > 0 ? 0 : quiet + 1;
      if (quiet === REST_AFTER) store.rest().catch(failed);
      const isRetried = waiting.setAside.length > 0 && quiet % RETRY_AFTER === 0;
      if ((files === 0 && !isRetried) || this.draining !== undefined) return;
      looks += 1;
      if (hasCome && looks < PATIENCE && bytes < Math.min(BATCH_BYTES, waiting.limitBytes / 2)) return;
      looks = 0;
      this.drain(store).catch(failed);
    };
    this.timer = setInterval(() => void tick().catch(report), SETTLE_MS);
  }

  /**
   * Settles all bodies, and sets aside those that can't be settled. One drain at a time: a call meanwhile waits for the one under
   * way, and for the rest. Throws when the store fails whatever it is given.
   */
  async drain(store: Store): Promise<void> {
    while (this.draining !== undefined) await this.draining;
    this.draining = this.waiting.settleAll(store);
    try {
      await this.draining;
    } finally {
      this.draining = undefined;
    }
  }

  /** Finishes the drain under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    while (this.draining !== undefined) await this.draining.catch(() => undefined);
  }
}
