import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { callerOfHash } from '../api/api-keys.js';
import { Caller } from '../api/caller.js';
import { ApiError } from '../api/errors.js';
import { baseOf } from '../api/public-url.js';
import { nameInLog } from '../api/request-log.js';
import type { Config } from '../settings/config.js';
import type { Store } from '../store/store.js';
import type { OpenTicket, Tickets } from './tickets.js';

/** The cookie of a browser that is signed in, without a prefix. */
const COOKIE = 'daybook_session';

/** Whom a browser is signed in as. A session that began with a key ends with it, so it holds the key's hash. */
const Content = z.union([z.strictObject({ keyHash: z.string() }), z.strictObject({ caller: Caller })]);
type Content = z.infer<typeof Content>;

/**
 * The name of a cookie for the service at an address. Over TLS its prefix keeps pages of other hosts, and whoever can change what comes
 * without TLS, from setting it. `__Host-` needs the path "/".
 */
export function cookieName(name: string, { protocol, pathname }: Pick<URL, 'protocol' | 'pathname'>): string {
  if (protocol !== 'https:') return name;
  return pathname === '/' ? `__Host-${name}` : `__Secure-${name}`;
}

/** Names whose sessions can be ended together, unlike the id of any ticket. */
function holderOf(orgId: string, userId?: string): string {
  return userId === undefined ? `org ${orgId}` : `user ${orgId} ${userId}`;
}

function holdersOf({ orgId, userId }: Caller): string[] {
  return [holderOf(orgId), ...(userId === null ? [] : [holderOf(orgId, userId)])];
}

/** Signs browsers in: the caller of a request that has a session's cookie instead of a credential. */
export class BrowserSessions {
  constructor(
    private readonly store: Store,
    readonly tickets: Tickets,
    private readonly config: Pick<Config, 'publicUrl'>,
    private readonly clock: () => number,
  ) {}

  /** Signs the browser in with this answer. */
  start(content: Content, request: FastifyRequest, reply: FastifyReply): void {
    const { text, endsAt } = this.tickets.issue('session', content);
    this.keep(text, endsAt, request, reply);
  }

  /** Signs the browser in with the ticket of a link. Answers whether it could: a link works once. */
  async startWithLink(token: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const link = await this.tickets.open('link', token, z.strictObject({ caller: Caller }));
    if (link === undefined || (await this.tickets.hasEnded(link, holdersOf(link.content.caller))))
      return false;
    if (!(await this.tickets.end(link))) return false;
    nameInLog(request, link.content.caller);
    this.start(link.content, request, reply);
    return true;
  }

  /** Signs the browser out, here and for every copy of its cookie. */
  async end(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const ticket = await this.ticketOf(request);
    if (ticket !== undefined) await this.tickets.end(ticket);
    this.keep('', 0, request, reply);
  }

  /** Signs out all browsers of a user, or of an organization, and ends the links that would sign in more. */
  async endAll(orgId: string, userId?: string): Promise<void> {
    await this.tickets.endAll(holderOf(orgId, userId));
  }

  /** The caller that the request's browser is signed in as; undefined if it isn't. Throws 403 for another site's page. */
  async find(request: FastifyRequest): Promise<Caller | undefined> {
    const ticket = await this.ticketOf(request);
    if (ticket === undefined) return undefined;
    const { content } = ticket;
    const caller =
      'caller' in content ? content.caller : await callerOfHash(this.store, content.keyHash, this.clock());
    if (caller === undefined || (await this.tickets.hasEnded(ticket, holdersOf(caller)))) return undefined;
    this.requireOwnOrigin(request);
    return caller;
  }

  private async ticketOf(request: FastifyRequest): Promise<OpenTicket<Content> | undefined> {
    const text = request.cookies[cookieName(COOKIE, baseOf(this.config, request))];
    return text === undefined ? undefined : this.tickets.open('session', text, Content);
  }

  /** A browser says which site's page sends a request. Whatever isn't sent by a page of this service may only read. */
  requireOwnOrigin(request: FastifyRequest): void {
    const { origin } = request.headers;
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    const own = baseOf(this.config, request);
    if (origin === undefined ? isReading : origin === own.origin) return;
    throw new ApiError(
      403,
      origin === undefined
        ? 'The session of a browser can be used only by pages of this service: send an API key instead.'
        : `A page of ${origin.slice(0, 100)} can't sign in, because the service is at ${own.origin}: ${this.remedyFor(own)}.`,
    );
  }

  private remedyFor(own: URL): string {
    return this.config.publicUrl === undefined
      ? 'if people reach it there, through a proxy, set DAYBOOK_PUBLIC_URL'
      : `open ${own.href}, or correct DAYBOOK_PUBLIC_URL`;
  }

  private keep(text: string, endsAt: number, request: FastifyRequest, reply: FastifyReply): void {
    const base = baseOf(this.config, request);
    reply.setCookie(cookieName(COOKIE, base), text, {
      path: base.pathname,
      httpOnly: true,
      sameSite: 'strict',
      secure: base.protocol === 'https:',
      // Seconds from now: the browser's clock may be wrong.
      maxAge: Math.max(0, Math.floor((endsAt - this.clock()) / 1000)),
    });
  }
}
