import { randomInt } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Queue } from '../store/queue.js';
import { type AccessEntry, addEntries, type Scope } from '../store/state/access-log.js';
import type { Store } from '../store/store.js';
import type { Caller } from './caller.js';

/** How often entries are written. A process that is killed loses those since the last time. */
const SAVE_MS = 5_000;

/** How many entries one statement writes, and how many can wait in memory. */
const TOGETHER = 500;
const WAITING_AT_MOST = 50_000;

/** How many users an entry can be about, and how long their ids can be: as many as requests can name. */
const USERS_AT_MOST = 200;
const USER_ID_CHARACTERS = 128;

/** Whom an answer is about. SQL also has its digest, and the tables that it names. */
export interface About {
  readonly scope: Scope;
  /** Of scope `user`. */
  readonly userIds?: readonly string[];
  readonly sqlDigest?: string;
  readonly sqlTables?: string;
}

/**
 * Whom an answer is about if a request names these users, and otherwise. A request is not checked before it is refused, so the names can be
 * anything.
 */
export function aboutUsers(named: readonly unknown[], otherwise: Exclude<Scope, 'user'>): About {
  const userIds = named
    .filter((one) => typeof one === 'string' && one !== '')
    .slice(0, USERS_AT_MOST)
    .map((one) => String(one).slice(0, USER_ID_CHARACTERS).replaceAll('\0', ''));
  return userIds.length === 0 ? { scope: otherwise } : { scope: 'user', userIds: [...new Set(userIds)] };
}

/** For routes whose answers always have a row for each person. */
export const aboutEveryone = (): About => ({ scope: 'everyone' });

/** The log of who read what about whom (docs/audit.md). Entries wait in memory and are written together. */
export class AccessLog {
  private readonly waiting: AccessEntry[] = [];
  private readonly queue = new Queue();
  private newest = 0;
  private dropped = 0;

  constructor(
    private readonly store: Store,
    private readonly clock: () => number,
    /** Is told how many entries had no room. */
    private readonly lost: (entries: number) => void,
  ) {}

  add(
    { orgId, userId, credential }: Caller,
    { scope, userIds, sqlDigest, sqlTables }: About,
    rest: Answered,
  ): void {
    const askedAt = this.clock();
    for (const about of userIds ?? [null]) {
      if (this.waiting.length >= WAITING_AT_MOST) {
        this.dropped += 1;
        continue;
      }
      // Microseconds, so that numbers go on growing after a restart. Nodes draw those within a millisecond, so that they seldom meet.
      this.newest = Math.max(this.newest + 1, askedAt * 1000 + randomInt(1000));
      this.waiting.push({
        ...{ orgId, entryNo: this.newest, askedAt, fingerprint: credential, userId, ...rest },
        ...{ scope, about, sqlDigest: sqlDigest ?? null, sqlTables: sqlTables ?? null },
      });
    }
  }

  /** Writes the entries that wait. Those that can't be written go on waiting. */
  save(): Promise<void> {
    return this.queue.run(async () => {
      while (this.waiting.length > 0) {
        const some = this.waiting.slice(0, TOGETHER);
        await addEntries(this.store, some);
        this.waiting.splice(0, some.length);
      }
      if (this.dropped > 0) this.lost(this.dropped);
      this.dropped = 0;
    });
  }
}

/** What an entry has of a request and its answer. */
type Answered = Pick<AccessEntry, 'address' | 'path' | 'status'>;

/** Logs every answer about people, and every request for one that the caller may not have. */
export function auditReads(app: FastifyInstance, store: Store, clock: () => number): AccessLog {
  const log = new AccessLog(store, clock, (entries) =>
    app.log.error({ entries }, 'entries of the access log were lost, because too many waited to be written'),
  );
  app.addHook('onSend', async (request, reply) => {
    const { routeOptions, ip } = request;
    const { statusCode: status } = reply;
    const caller: Caller | undefined = request.caller;
    const isTold = status < 400 || status === 403;
    if (caller === undefined || !isTold) return;
    const about = request.about ?? routeOptions.config.about?.(request);
    if (about === undefined) return;
    log.add(caller, about, { address: ip, path: String(routeOptions.url), status });
  });
  const save = () =>
    log
      .save()
      .catch((err) => app.log.warn({ err }, 'the access log could not be written: it is tried again'));
  const timer = setInterval(save, SAVE_MS).unref();
  app.addHook('onClose', async () => {
    clearInterval(timer);
    await save();
  });
  return log;
}
