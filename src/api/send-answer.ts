import { hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import negotiate from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { discard } from './answer-body.js';
import type { Answered } from './answer-cache.js';
import type { Form } from './answer-rows.js';
import type { IsKnown, Unchanged } from './answerer.js';
import type { Caller } from './caller.js';
import { ENCODINGS, type Encoding, type Encodings } from './encodings.js';

/** Shorter bodies aren't compressed, because that saves no packet. */
const COMPRESSED_FROM_BYTES = 1024;

/** The formats of rows, by their media types; the first is the default. */
const FORMS = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/vnd.apache.arrow.stream': 'arrow',
} as const satisfies Record<string, Form>;

/** The format that the Accept header prefers; JSON if it names none of them. */
export function formOf(request: FastifyRequest): Form {
  return FORMS[mediaTypeOf(request, Object.keys(FORMS) as (keyof typeof FORMS)[]) ?? 'application/json'];
}

/** The one of some media types that the Accept header prefers; null if it names none of them. */
export function mediaTypeOf<Type extends string>(
  { headers: { accept = '' } }: FastifyRequest,
  types: readonly Type[],
): Type | null {
  // Parameters of a type other than its weight don't matter.
  const header = accept.toLowerCase().replace(/;(?!\s*q\s*=)[^,;]*/g, '');
  return negotiate(header, [...types]);
}

const CONTENT_TYPES: Record<Form, string> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  arrow: 'application/vnd.apache.arrow.stream',
};

/** A build can change any day at any time, so clients must ask whether a kept answer is still valid. */
const CACHE_CONTROL = 'private, no-cache';

/** The entity tag of an answer to a caller: no other organization and no other credential has the same, whatever is in the answer. */
function tagOf(tag: string, { orgId, credential }: Caller): string {
  return `${tag}-${hash('sha256', JSON.stringify([orgId, credential]), 'base64url').slice(0, 16)}`;
}

/** The tags of answers to a request's caller that the client has, by its If-None-Match; undefined without one. */
export function isKnownOf(request: FastifyRequest): IsKnown | undefined {
  const isListed = isListedIn(request);
  return isListed && ((tag) => isListed(tagOf(tag, request.caller)));
}

/** Whether an If-None-Match header lists a tag, for weak comparison; undefined without one. `*` matches any answer, and there always is one. */
export function isListedIn({ headers }: FastifyRequest): IsKnown | undefined {
  const header = headers['if-none-match'];
  if (header === undefined) return undefined;
  if (header.trim() === '*') return () => true;
  const known = new Set([...header.matchAll(/(?:W\/)?"([^"]*)"/g)].map(([, tag]) => tag));
  return (tag) => known.has(tag);
}

/** Sends an answer, or 304 if the client already has it. */
export async function sendAnswer(
  answer: Answered | Unchanged,
  isKnown: IsKnown | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  /** The chosen format; absent if there is only one. */
  forms?: { readonly form: Form; readonly publicUrl: string | undefined },
): Promise<FastifyReply> {
  // Weak: compressed answers have other bytes, and the time of a build isn't part of the numbers.
  reply.headers({ etag: `W/"${tagOf(answer.tag, request.caller)}"`, 'cache-control': CACHE_CONTROL });
  varyBy(reply, 'authorization', 'cookie', ...(forms === undefined ? [] : ['accept']), 'accept-encoding');
  const { body } = answer;
  if (body === undefined || isKnown?.(answer.tag) === true) {
    if (body !== undefined && !Buffer.isBuffer(body) && answer.reuse === undefined) await discard(body);
    return reply.status(304).send();
  }
  reply.type(CONTENT_TYPES[forms?.form ?? 'json']);
  // Formats without next_cursor have it here.
  if (answer.nextCursor !== null && forms !== undefined && forms.form !== 'json')
    reply.header('link', nextOf(request, answer.nextCursor, forms.publicUrl));
  if (!Buffer.isBuffer(body)) {
    const file = await open(body.path);
    // The unlinked file exists until this has read it to its end.
    if (answer.reuse === undefined) await discard(body);
    return reply.header('content-length', body.bytes).send(file.createReadStream());
  }
  return sendBytes(body, answer.encodings, request, reply);
}

/** Adds names of request headers on which an answer depends. */
export function varyBy(reply: FastifyReply, ...names: string[]): void {
  reply.header('vary', [reply.getHeader('vary'), names].flat().filter(Boolean).join(', '));
}

/** Sends a body in the encoding that the request prefers. */
export async function sendBytes(
  plain: Buffer,
  encodings: Encodings,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const encoding = plain.length < COMPRESSED_FROM_BYTES ? null : encodingOf(request);
  if (encoding === null) return reply.send(plain);
  return reply.header('content-encoding', encoding).send(await encodings.of(plain, encoding));
}

/** The Link header (RFC 8288) of the next page: a path, unless DAYBOOK_PUBLIC_URL is set. */
function nextOf({ url }: FastifyRequest, cursor: string, publicUrl: string | undefined): string {
  const [path = '', query = ''] = url.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set('cursor', cursor);
  const where = publicUrl === undefined ? path : new URL(path.slice(1), publicUrl).href;
  return `<${where}?${parameters}>; rel="next"`;
}

function encodingOf({ headers }: FastifyRequest): Encoding | null {
  const header = headers['accept-encoding'];
  return typeof header === 'string' ? negotiate(header.toLowerCase(), [...ENCODINGS]) : null;
}
