import { z } from 'zod';
import type { SecretKey } from '../controls/secret-key.js';
import { inTurn, OfStore } from '../store/state/of-store.js';
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

/** A ticket that ended is remembered for so much longer: the clocks of nodes differ. */
const CLOCKS_APART_MS = 300_000;

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

/** The tickets of each store that ended early, by id. Changes drop them. */
const known = new OfStore<ReadonlyMap<string, number>>(['ended_tickets']);

/** Encrypted texts that a browser keeps and brings back. The service stores only those that ended early. */
export class Tickets {
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
    return inTurn(this.store, `ended_tickets ${id}`, async (turn) => {
      const [ended] = await turn.select('SELECT 1 AS found FROM ended_tickets WHERE ticket_id = $id', { id });
      if (ended !== undefined) return false;
      await this.note(turn, id, endsAt);
      return true;
    });
  }

  /** Ends all tickets that someone has. */
  async endAll(holder: string): Promise<void> {
    await inTurn(this.store, `ended_tickets ${holder}`, (turn) =>
      this.note(turn, holder, this.clock() + LONGEST),
    );
  }

  /** Whether all tickets of one of these holders have been ended since this one was issued. */
  async hasEnded({ issuedAt }: OpenTicket<unknown>, holders: readonly string[]): Promise<boolean> {
    const ended = await this.endedOnes();
    return holders.some((holder) => issuedAt <= (ended.get(holder) ?? 0) - LONGEST);
  }

  /** Stores what ended early until it would have ended anyway. */
  private async note(turn: Store, id: string, endsAt: number): Promise<void> {
    await turn.run([
      {
        sql: 'DELETE FROM ended_tickets WHERE ends_at <= instant($now) OR ticket_id = $id',
        parameters: { now: this.clock() - CLOCKS_APART_MS, id },
      },
      {
        sql: 'INSERT INTO ended_tickets (ticket_id, ends_at) SELECT $id, instant($ends_at)',
        parameters: { id, ends_at: endsAt },
      },
    ]);
    known.drop(turn);
  }

  private endedOnes(): Promise<ReadonlyMap<string, number>> {
    return known.get(this.store, async () => {
      const rows = await this.store.select('SELECT ticket_id, ends_at FROM ended_tickets');
      return new Map(rows.map((row) => [String(row.ticket_id), Number(row.ends_at)]));
    });
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
