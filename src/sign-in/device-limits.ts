import { LRUCache } from 'lru-cache';

const MINUTE_MS = 60_000;

/** How many sign-ins may begin in a minute: from one address, and from all. Each asks the provider once. */
const OF_ADDRESS = 60;
const OF_ALL = 300;

/** How many of them are remembered with when the provider may be asked again: more than can begin before they end. */
const REMEMBERED = 10_000;

/** Limits how often anybody can have the service ask its provider. */
export class DeviceLimits {
  private minute = 0;
  private all = 0;
  private readonly begun = new Map<string, number>();
  private readonly nextAt = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(private readonly clock: () => number) {}

  /** Whether an address may begin a sign-in now. */
  mayBegin(address: string): boolean {
    const minute = Math.floor(this.clock() / MINUTE_MS);
    if (minute !== this.minute) {
      this.minute = minute;
      this.all = 0;
      this.begun.clear();
    }
    const own = this.begun.get(address) ?? 0;
    if (own >= OF_ADDRESS || this.all >= OF_ALL) return false;
    this.begun.set(address, own + 1);
    this.all += 1;
    return true;
  }

  /** Whether the provider may be asked about a sign-in now. If so, not again for so many milliseconds. */
  mayAsk(id: string, intervalMs: number): boolean {
    const now = this.clock();
    // A time noted before the clock was set back is ignored.
    const nextAt = this.nextAt.get(id) ?? 0;
    if (nextAt > now && nextAt <= now + intervalMs) return false;
    this.nextAt.set(id, now + intervalMs);
    return true;
  }
}
