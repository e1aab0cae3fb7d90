import { z } from 'zod';
import { UsageError } from '../exit.js';
import { type Answer, AnswerTooLong, Outgoing } from '../network/outgoing.js';
import { ProxyRefusal } from '../network/proxy-agent.js';
import { whyUnreachable } from '../network/unreachable.js';
import type { Connection, Sender } from './collect-folder.js';

/** How long the service may take to answer. */
const ANSWER_MS = 60_000;

/** How long a sign of life may take: nothing waits for it. */
const HEARTBEAT_MS = 10_000;

/** How many characters of the service's detail on an event are kept. */
const DETAIL_CHARACTERS = 1000;

/** The longest wait that a service may ask for. */
export const MOST_WAIT_MS = 60 * 60_000;

/** The service may store names that a key can't have any more, so they must be escaped before printing. */
const SenderAnswer = z.object({
  org_id: z.string().min(1).max(128),
  user_id: z.string().min(1).max(128).nullable(),
  is_only_user: z.boolean(),
});
const Taken = z.object({
  accepted: z.int().min(0),
  rejected: z.int().min(0),
  errors: z.array(z.object({ detail: z.string() })),
});

/** The service can't answer now, or can't be reached. */
export class Later extends Error {
  override name = 'Later';

  /** `afterMs` is how long to wait before the next request, if the service says so. */
  constructor(
    message: string,
    readonly afterMs?: number,
  ) {
    super(message);
  }
}

/** The service, or a proxy in front of it, refuses a body of this size. */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge';
}

/** The service's answer to a body of events. */
export interface Taken {
  readonly accepted: number;
  readonly rejected: number;
  /** The fault of the first rejected event. */
  readonly detail?: string | undefined;
}

/** The wait that a Retry-After header asks for, in milliseconds: MOST_WAIT_MS at most. Its value is seconds or a date. */
function waitOf(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(MOST_WAIT_MS, Math.max(0, ms)) : undefined;
}

/** A service that takes events. All requests share one connection. */
export class EventService {
  private outgoing: Outgoing | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly clock: () => number,
  ) {}

  /** Asks whose events the key sends. Throws Later, and a UsageError for a key or an address that is wrong. */
  async sender(): Promise<Sender> {
    const sender = await this.ask('GET', '/events/sender', SenderAnswer);
    return { orgId: sender.org_id, userId: sender.user_id, isOnlyUser: sender.is_only_user };
  }

  /**
   * Sends a body of events. Returns once they are on the service's disk. `sender` must have answered before: then the address is right, and
   * a refusal by another program is temporary. Throws Later, BodyTooLarge, and a UsageError for a refusal by Daybook.
   */
  async send(body: Buffer): Promise<Taken> {
    const { accepted, rejected, errors } = await this.ask('POST', '/events', Taken, body);
    return { accepted, rejected, detail: errors[0]?.detail.slice(0, DETAIL_CHARACTERS) };
  }

  /**
   * Says that the collector works. Answers whether the service has answered: also if it is an older one that doesn't know signs of life, or
   * refuses this one.
   */
  async beat(heartbeat: object): Promise<boolean> {
    const headers = { 'content-type': 'application/json' };
    const body = Buffer.from(JSON.stringify(heartbeat));
    try {
      const { status } = await this.request('POST', '/events/heartbeat', { headers, body }, HEARTBEAT_MS);
      return status !== 429 && status < 500;
    } catch {
      return false;
    }
  }

  close(): void {
    this.outgoing?.close();
  }

  private async ask<T>(method: string, path: string, shape: z.ZodType<T>, body?: Buffer): Promise<T> {
    const { server } = this.connection;
    const isKnown = body !== undefined;
    let answer: Answer;
    try {
      const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
      answer = await this.request(method, path, body && { headers, body });
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (error instanceof AnswerTooLong) throw new Later(`${server} gives the answer of another program`);
      if (error instanceof ProxyRefusal && error.status < 500 && !isKnown)
        throw new UsageError(`${server} can't be reached: ${error.message}.`);
      const proxy = this.outgoing?.proxy;
      const way = proxy === undefined || error instanceof ProxyRefusal ? '' : ` through the proxy ${proxy}`;
      throw new Later(`${server} can't be reached${way}${whyUnreachable(error)}`);
    }
    const { status, headers, json } = answer;
    if (status === 200) {
      const taken = shape.safeParse(json);
      if (taken.success) return taken.data;
      // For example, the login page of a network.
      throw new Later(`${server} gives the answer of another program`);
    }
    if (status === 413) throw new BodyTooLarge();
    // A 404 comes from another service at this address, not from Daybook.
    const detail = status === 404 ? undefined : answer.detail;
    const sentence = `${server} answers ${status}${detail === undefined ? '' : `: ${detail}`}`;
    if (status === 408 || status === 429 || status >= 500)
      throw new Later(sentence, waitOf(headers['retry-after'], this.clock()));
    if (detail !== undefined) throw new UsageError(`${sentence}.`);
    if (isKnown)
      throw new Later(`${sentence}, but the answer isn't from Daybook: check the proxy in front of it`);
    throw new UsageError(`${sentence}, and is not the address of a Daybook service: correct --server.`);
  }

  private async request(
    method: string,
    path: string,
    sent: { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer } | undefined,
    timeoutMs = ANSWER_MS,
  ): Promise<Answer> {
    const { server, key } = this.connection;
    this.outgoing ??= await Outgoing.to(server);
    return this.outgoing.send(method, `/api/v1${path}`, {
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        authorization: `Bearer ${key}`,
        ...sent?.headers,
      },
      body: sent?.body,
    });
  }
}
