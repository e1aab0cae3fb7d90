import { z } from 'zod';
import type { SecretKey } from '../controls/secret-key.js';
import type { Store } from '../store/store.js';
import { ulid } from '../ulid.js';

/** What each kind of ticket is for, and how long it is valid: milliseconds. */
const KINDS = {
  /** A link that signs in once. */
  link: 600_000,
  /** The way to an OpenID provider and back. */
  login: 600_000,
  /** The way of a person whose browser is on another device. The provider may end it sooner. */
  device: 1_800_000,
  /** A browser that is signed in. */
  session: 12 * 3_600_000,
} as const;

/** The longest that a ticket is valid. */
const LONGEST = Math.max(...Object.values(KINDS));

export type TicketKind = keyof typeof KINDS;

const Ticket = z.object({ id: z.string(), endsAt: z.number(), content: z.unknown() });

/** A valid ticket. Instants are Unix milliseconds. */
export interface OpenTicket<Content> {
  readonly id: string;
  readonly issuedAt: number;
  readonly endsAt: number;
  readonly content: Content;
}

/** Encrypted texts that a browser keeps and brings back. The service stores only those that ended early. */
export class Tickets {
  /** The tickets that ended early, by id, once they are read. */
  private ended: Promise<Map<string, number>> | undefined;

  constructor(
    private readonly store: Store,
    private readonly key: SecretKey,
    private readonly clock: () => number,
  ) {}

  /** Seals a content into the text of a new ticket. */
  issue(kind: TicketKind, content: unknown): { text: string; endsAt: number } {
    const now = this.clock();
    const endsAt = now + KINDS[kind];
    return { text: this.key.seal({ id: ulid(now), endsAt, content }, ['ticket', kind]), endsAt };
  }

  /** The ticket of a text; undefined if it isn't one of this kind, or has ended. */
  async open<Content>(
    kind: TicketKind,
    text: string,
    form: z.ZodType<Content>,
  ): Promise<OpenTicket<Content> | undefined> {
    const { data: ticket } = Ticket.safeParse(this.key.open(text, ['ticket', kind]));
    if (ticket === undefined || ticket.endsAt <= this.clock()) return undefined;
    if ((await this.endedOnes()).has(ticket.id)) return undefined;
    const { data: content } = form.safeParse(ticket.content);
    const issuedAt = ticket.endsAt - KINDS[kind];
    return content === undefined ? undefined : { ...ticket, issuedAt, content };
  }

  /** Ends a ticket early. Of two who end it at the same time, only the first gets true. */
  async end({ id, endsAt }: OpenTicket<unknown>): Promise<boolean> {
    const ended = await this.endedOnes();
    if (ended.has(id)) return false;
    await this.note(ended, id, endsAt);
    return true;
  }

  /** Ends all tickets that someone has. */
  async endAll(holder: string): Promise<void> {
    await this.note(await this.endedOnes(), holder, this.clock() + LONGEST);
  }

  /** Whether all tickets of one of these holders have been ended since this one was issued. */
  async hasEnded({ issuedAt }: OpenTicket<unknown>, holders: readonly string[]): Promise<boolean> {
    const ended = await this.endedOnes();
    return holders.some((holder) => issuedAt <= (ended.get(holder) ?? 0) - LONGEST);
  }

  /** Stores what ended early until it would have ended anyway. From the call on it counts. */
  private async note(ended: Map<string, number>, id: string, endsAt: number): Promise<void> {
    ended.set(id, endsAt);
    const now = this.clock();
    for (const [other, otherEndsAt] of ended) if (otherEndsAt <= now) ended.delete(other);
    await this.store.run([
      {
        sql: 'DELETE FROM ended_tickets WHERE ends_at <= instant($now) OR ticket_id = $id',
        parameters: { now, id },
      },
      {
        sql: 'INSERT INTO ended_tickets (ticket_id, ends_at) SELECT $id, instant($ends_at)',
        parameters: { id, ends_at: endsAt },
      },
    ]);
  }

  private endedOnes(): Promise<Map<string, number>> {
    this.ended ??= this.store
      .select('SELECT ticket_id, ends_at FROM ended_tickets')
      .then((rows) => new Map(rows.map((row) => [String(row.ticket_id), Number(row.ends_at)])));
    this.ended.catch(() => {
      this.ended = undefined;
    });
    return this.ended;
  }
}

/**
 * The address of the page for a service at `url`, as someone who owns an organization: it signs in once, within ten minutes.
 * `query` says what the page shows.
 */
export function signInLink(
  store: Store,
  key: SecretKey,
  clock: () => number,
  { orgId, url, query = '' }: { orgId: string; url: string; query?: string | undefined },
): string {
  const caller = { orgId, role: 'owner', userId: null, email: null, credential: 'link' };
  const { text } = new Tickets(store, key, clock).issue('link', { caller });
  return `${url.replace(/\/?$/, '/')}${query === '' ? '' : `?${query}`}#token=${text}`;
}
