import { open } from 'node:fs/promises';
import negotiate from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { discard } from './answer-body.js';
import { type Answered, ENCODINGS, type Encoding } from './answer-cache.js';
import type { Form } from './answer-rows.js';
import type { IsKnown, Unchanged } from './answerer.js';

/** Shorter bodies go as they are: compressing those saves no packet. */
const COMPRESSED_FROM_BYTES = 1024;

/** The forms that rows are answered in, by their media types: the first unless another is asked for. */
const FORMS = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/vnd.apache.arrow.stream': 'arrow',
} as const satisfies Record<string, Form>;

/** The form that the Accept header prefers; JSON where it names none of them. */
export function formOf(request: FastifyRequest): Form {
  return FORMS[mediaTypeOf(request, Object.keys(FORMS) as (keyof typeof FORMS)[]) ?? 'application/json'];
}

/** The media type that the Accept header prefers of some; null where it names none of them. */
export function mediaTypeOf<Type extends string>(
  { headers: { accept = '' } }: FastifyRequest,
  types: readonly Type[],
): Type | null {
  // What a type has besides its weight says nothing about which of these it is.
  const header = accept.toLowerCase().replace(/;(?!\s*q\s*=)[^,;]*/g, '');
  return negotiate(header, [...types]);
}

const CONTENT_TYPES: Record<Form, string> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  arrow: 'application/vnd.apache.arrow.stream',
};

/** A build can change any day at any time, so whoever keeps an answer asks whether it still holds. */
const CACHE_CONTROL = 'private, no-cache';

/**
 * What an If-None-Match header says, by weak comparison; undefined without one. `*` stands for any answer, and there always
 * is one.
 */
export function isKnownOf({ headers }: FastifyRequest): IsKnown | undefined {
  const header = headers['if-none-match'];
  if (header === undefined) return undefined;
  if (header.trim() === '*') return () => true;
  const known = new Set([...header.matchAll(/(?:W\/)?"([^"]*)"/g)].map(([, tag]) => tag));
  return (tag) => known.has(tag);
}

/** Sends an answer, or 304 to a client that has it. */
export async function sendAnswer(
  answer: Answered | Unchanged,
  isKnown: IsKnown | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  /** The form that it has of those that it could; none where there is one only. */
  forms?: { readonly form: Form; readonly publicUrl: string | undefined },
): Promise<FastifyReply> {
  // Weak: what is compressed has other bytes, and when a day was built is no part of what its numbers say.
  reply.headers({
    etag: `W/"${answer.tag}"`,
    'cache-control': CACHE_CONTROL,
    vary: [reply.getHeader('vary'), forms === undefined ? [] : 'accept', 'accept-encoding']
      .flat()
      .filter(Boolean)
      .join(', '),
  });
  const { body } = answer;
  if (body === undefined || isKnown?.(answer.tag) === true) {
    if (body !== undefined && !Buffer.isBuffer(body) && answer.until === 0) await discard(body);
    return reply.status(304).send();
  }
  reply.type(CONTENT_TYPES[forms?.form ?? 'json']);
  // What has no room for next_cursor says it here.
  if (answer.nextCursor !== null && forms !== undefined && forms.form !== 'json')
    reply.header('link', nextOf(request, answer.nextCursor, forms.publicUrl));
  if (!Buffer.isBuffer(body)) {
    const file = await open(body.path);
    // The file stays until this has read it to its end, under no name.
    if (answer.until === 0) await discard(body);
    return reply.header('content-length', body.bytes).send(file.createReadStream());
  }
  const encoding = body.length < COMPRESSED_FROM_BYTES ? null : encodingOf(request);
  if (encoding === null) return reply.send(body);
  return reply.header('content-encoding', encoding).send(await answer.as(encoding, body));
}

/** The Link header (RFC 8288) of the next page of what was asked for: a path, unless it is set where others find the service. */
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
