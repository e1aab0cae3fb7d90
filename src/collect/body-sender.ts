import { UsageError } from '../exit.js';
import { type BodySpool, eventsIn, linesOf } from './body-spool.js';
import { BodyTooLarge, type EventService, Later, MOST_WAIT_MS } from './event-service.js';

/** The wait after the first failure, doubled after each further one, and its maximum. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 5 * 60_000;

/** Sends waiting bodies, oldest first, and backs off while the server can't accept them. */
export class BodySender {
  sent = 0;
  rejected = 0;
  /** Why bodies wait; undefined if the last attempt succeeded. */
  problem: string | undefined;
  /** The sentence for a body that was damaged. */
  damaged: string | undefined;
  /** The sentence for a body that was sent in parts because it was refused whole. */
  divided: string | undefined;
  private failures = 0;

  /**
   * `noted` is when the server can be asked again, as recorded by an earlier run, in Unix milliseconds. `touch` is called before each
   * body as a sign of life.
   */
  constructor(
    private readonly spool: BodySpool,
    private readonly service: EventService,
    private readonly clock: () => number,
    private noted: number,
    private readonly touch: () => void,
  ) {}

  /** When the server can be asked again, in Unix milliseconds. A time noted before the clock was set back is ignored. */
  get notBefore(): number {
    return this.noted > this.clock() + MOST_WAIT_MS ? 0 : this.noted;
  }

  /** Sends as much as the server accepts now. Answers whether nothing waits any more. Throws a UsageError as EventService does. */
  async send(): Promise<boolean> {
    for (let name = this.spool.first; name !== undefined; name = this.spool.first) {
      if (this.clock() < this.notBefore) return false;
      this.touch();
      const body = this.spool.read(name);
      if (body === undefined) continue;
      try {
        const { accepted, rejected, detail } = await this.service.send(body);
        this.spool.remove(name);
        this.sent += accepted;
        this.rejected += rejected;
        this.failures = 0;
        this.problem =
          detail === undefined
            ? undefined
            : `The server rejects ${rejected} of ${eventsIn(name)} events: ${detail}`;
      } catch (error) {
        if (error instanceof Later) {
          this.putOff(error);
          return false;
        }
        const lines = linesOf(body);
        if (lines === undefined)
          this.damaged = `${await this.spool.setAside(name)} is damaged, and was left out: send its events again with "daybook collect --again".`;
        else if (!(error instanceof BodyTooLarge)) throw error;
        else if (lines.length > 1) {
          this.divided ??= `The service, or a proxy before it, refuses a body of ${body.length} bytes (413), so events go in smaller parts: allow bodies of 1 MiB there.`;
          await this.spool.split(name, lines);
        } else
          throw new UsageError(
            'The service, or a proxy before it, refuses a request with one event (413): allow bodies of 1 MiB there.',
          );
      }
    }
    return true;
  }

  /** Sends, and retries until an instant in Unix milliseconds. Answers whether nothing waits any more. */
  async sendUntil(until: number, pause: (ms: number) => Promise<void>): Promise<boolean> {
    while (!(await this.send())) {
      if (this.notBefore > until) return false;
      await pause(Math.max(0, this.notBefore - this.clock()));
    }
    return true;
  }

  private putOff({ message, afterMs = 0 }: Later): void {
    this.failures += 1;
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.failures - 1));
    // Random, so that not all machines retry at the same moment.
    const spread = wait * (0.5 + Math.random() / 2);
    this.noted = this.clock() + Math.max(afterMs, spread);
    this.problem = `${message}.`;
  }
}
