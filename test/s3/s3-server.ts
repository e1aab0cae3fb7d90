import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A fault of one request: it is refused, its connection is cut in the middle, or everything is done but its answer doesn't come. */
export type Fault = 'slow down' | 'denied' | 'cut' | 'lost answer' | undefined;

/** A request, as faults and delays are chosen for it. */
export interface Asked {
  readonly method: string;
  /** Empty for a list and for a removal of many. */
  readonly key: string;
}

const DATE = 'Sun, 01 Mar 2026 12:00:00 GMT';

/**
 * A server that speaks as much of S3 as Daybook does, as Amazon's documentation has it: objects are whole or not there, what was written is
 * read and listed at once, `If-Match` is a 412 where another object is, `If-None-Match: *` where any is, and the latter a 409 while another such request is under way, and a digest that
 * isn't that of the body is a 400. Objects are in memory. It believes any signature.
 */
export class S3Server {
  readonly objects = new Map<string, Buffer>();
  /** How many requests came, by method; lists are LIST. */
  readonly counts: Record<string, number> = {};
  /** Tests set them. A delay is in milliseconds, or until something has happened. */
  faultOf: (asked: Asked) => Fault = () => undefined;
  delayOf: (asked: Asked) => number | Promise<void> = () => 0;
  private readonly writing = new Set<string>();

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    readonly url: string,
  ) {}

  static async start(): Promise<S3Server> {
    const server = createServer((request, answer) => {
      own.handle(request, answer).catch(() => request.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const own: S3Server = new S3Server(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return own;
  }

  /** The address of a prefix, as settings have it. */
  address(prefix = 'daybook'): string {
    return `s3://bucket/${prefix}?region=eu-central-1&endpoint=${this.url}`;
  }

  /** The keys that begin with a text, in order. */
  keys(start = ''): string[] {
    return [...this.objects.keys()].filter((key) => key.startsWith(start)).sort();
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async handle(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const [, bucket = '', ...rest] = pathname.split('/').map(decodeURIComponent);
    const key = rest.join('/');
    const method = key === '' && request.method === 'GET' ? 'LIST' : (request.method ?? '');
    const asked = { method, key };
    this.counts[method] = (this.counts[method] ?? 0) + 1;
    const isSigned = request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 ') === true;
    const fault = this.faultOf(asked);
    if (fault === 'cut') {
      if (method === 'PUT') await once(request, 'data');
      request.socket.destroy();
      return;
    }
    const body = await bytesOf(request);
    const delay = this.delayOf(asked);
    const isConditional = request.headers['if-none-match'] === '*';
    let reply: Reply;
    if (fault === 'slow down') reply = refusal(503, 'SlowDown');
    else if (fault === 'denied' || (!isSigned && !searchParams.has('X-Amz-Signature')))
      reply = refusal(403, 'AccessDenied');
    else if (bucket !== 'bucket') reply = refusal(404, 'NoSuchBucket');
    else if (method === 'PUT' && isConditional && this.writing.has(key))
      reply = refusal(409, 'ConditionalRequestConflict');
    else {
      if (isConditional) this.writing.add(key);
      if (delay !== 0) await (typeof delay === 'number' ? wait(delay) : delay);
      reply = this.reply(method, key, request, body, searchParams);
      if (isConditional) this.writing.delete(key);
    }
    if (fault === 'lost answer') return void request.socket.destroy();
    answer.writeHead(reply.status, {
      'content-type': 'application/xml',
      'last-modified': DATE,
      'content-length': reply.bytes ?? reply.body.length,
      ...reply.headers,
    });
    answer.end(reply.body);
  }

  private reply(
    method: string,
    key: string,
    { headers }: IncomingMessage,
    body: Buffer,
    search: URLSearchParams,
  ): Reply {
    const digest = headers['content-md5'];
    if (digest !== undefined && digest !== md5(body, 'base64')) return refusal(400, 'BadDigest');
    const found = this.objects.get(key);
    if (method === 'LIST') return this.list(search);
    if (method === 'POST' && search.has('delete')) {
      if (digest === undefined && !Object.keys(headers).some((name) => name.startsWith('x-amz-checksum-')))
        return refusal(400, 'InvalidRequest');
      for (const [, name = ''] of body.toString().matchAll(/<Key>(.*?)<\/Key>/g))
        this.objects.delete(fromXml(name));
      return { status: 200, body: Buffer.from('<DeleteResult></DeleteResult>') };
    }
    if (method === 'PUT') {
      if (headers['if-none-match'] === '*' && found !== undefined) return refusal(412, 'PreconditionFailed');
      const match = headers['if-match'];
      if (match !== undefined && found === undefined) return refusal(404, 'NoSuchKey');
      if (match !== undefined && found !== undefined && match !== `"${md5(found, 'hex')}"`)
        return refusal(412, 'PreconditionFailed');
      this.objects.set(key, body);
      return { status: 200, body: Buffer.alloc(0), headers: { etag: `"${md5(body, 'hex')}"` } };
    }
    if (method === 'DELETE') {
      this.objects.delete(key);
      return { status: 204, body: Buffer.alloc(0) };
    }
    if (found === undefined) return refusal(404, 'NoSuchKey');
    const etag = { etag: `"${md5(found, 'hex')}"`, 'accept-ranges': 'bytes' };
    if (method === 'HEAD') return { status: 200, body: Buffer.alloc(0), bytes: found.length, headers: etag };
    const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? [];
    if (from === '' && to === '') return { status: 200, body: found, headers: etag };
    const first = from === '' ? Math.max(0, found.length - Number(to)) : Number(from);
    const last = from === '' || to === '' ? found.length - 1 : Math.min(Number(to), found.length - 1);
    if (first > last) return refusal(416, 'InvalidRange');
    return {
      status: 206,
      body: found.subarray(first, last + 1),
      headers: { ...etag, 'content-range': `bytes ${first}-${last}/${found.length}` },
    };
  }

  private list(search: URLSearchParams): Reply {
    const prefix = search.get('prefix') ?? '';
    const delimiter = search.get('delimiter') ?? '';
    const after = search.get('continuation-token') ?? search.get('start-after') ?? '';
    const most = Math.min(Number(search.get('max-keys') ?? 1000), 1000);
    const isEncoded = search.get('encoding-type') === 'url';
    const named = (text: string) => toXml(isEncoded ? encodeURIComponent(text) : text);
    const folders = new Set<string>();
    const all = this.keys(prefix).filter((key) => {
      const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
      if (end >= 0) folders.add(key.slice(0, end + 1));
      return end < 0 && key > after;
    });
    const page = all.slice(0, most);
    const isTruncated = all.length > most;
    const contents = page.map(
      (key) =>
        `<Contents><Key>${named(key)}</Key><LastModified>2026-03-01T12:00:00.000Z</LastModified><Size>${this.objects.get(key)?.length ?? 0}</Size></Contents>`,
    );
    const prefixes = [...folders].map(
      (folder) => `<CommonPrefixes><Prefix>${named(folder)}</Prefix></CommonPrefixes>`,
    );
    const next = isTruncated
      ? `<NextContinuationToken>${toXml(page.at(-1) ?? '')}</NextContinuationToken>`
      : '';
    const text = `<ListBucketResult><Name>bucket</Name><Prefix>${named(prefix)}</Prefix><KeyCount>${page.length}</KeyCount><MaxKeys>${most}</MaxKeys>${isEncoded ? '<EncodingType>url</EncodingType>' : ''}<IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}${prefixes.join('')}</ListBucketResult>`;
    return { status: 200, body: Buffer.from(text) };
  }
}

interface Reply {
  readonly status: number;
  readonly body: Buffer;
  /** The length that is announced, if it isn't that of the body. */
  readonly bytes?: number;
  readonly headers?: Record<string, string>;
}

function refusal(status: number, code: string): Reply {
  return { status, body: Buffer.from(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`) };
}

function md5(bytes: Buffer, encoding: 'base64' | 'hex'): string {
  return createHash('md5').update(bytes).digest(encoding);
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

function toXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function fromXml(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
