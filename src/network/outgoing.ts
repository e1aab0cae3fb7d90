import type { Agent, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { codeOf, UsageError } from '../exit.js';
import { isObject, parsedJson } from '../input/json-object.js';
import { onRefusal, type Way, wayTo } from './proxy-agent.js';

/** How many bytes are read of answers that should be short, such as a receipt, a key set or an error. */
export const SHORT_ANSWER_BYTES = 4 << 20;
/** How many characters of another server's message are shown or kept. */
const DETAIL_CHARACTERS = 1000;

/** An answer is longer than any that is expected. */
export class AnswerTooLong extends Error {
  override name = 'AnswerTooLong';

  constructor(most: number) {
    super(`the answer has more than ${most} bytes`);
  }
}

/** Reads the beginning of an answer. The rest is not read, so that the server stops computing it. */
export async function readBeginning(
  body: Readable,
  most: number,
): Promise<{ text: string; isWhole: boolean }> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    // Leaving the loop destroys the stream.
    if (bytes > most) break;
  }
  return { text: Buffer.concat(pieces).subarray(0, most).toString(), isWhole: bytes <= most };
}

/** Reads a whole answer. Throws AnswerTooLong as soon as it is longer than `most` bytes. */
export async function readAnswer(body: Readable, most: number): Promise<string> {
  const { text, isWhole } = await readBeginning(body, most);
  if (!isWhole) throw new AnswerTooLong(most);
  return text;
}

/** Passes on the pieces of an answer. Throws AnswerTooLong once they have more than `most` bytes together. */
export async function* limited(
  body: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > most) throw new AnswerTooLong(most);
    yield piece;
  }
}

/** Statuses whose answers have no body. */
const BODILESS = [204, 205, 304];

/**
 * Fetches for libraries, through the proxy of the environment. It never follows a redirect, which could take credentials elsewhere, and
 * fails with AnswerTooLong after `most` bytes.
 */
export async function limitedFetch(
  url: string | URL,
  init: object,
  most = SHORT_ANSWER_BYTES,
): Promise<Response> {
  const request = new Request(url, init);
  const { method, headers, signal } = request;
  const target = new URL(request.url);
  const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
  const sent = { headers: Object.fromEntries(headers), body, signal };
  const answer = await send(target, method, sent, await wayTo(target)).catch((error) => {
    // Libraries tell a limit of time by the error that its signal has.
    throw signal.aborted ? signal.reason : error;
  });
  const pieces = Readable.toWeb(Readable.from(limited(answer, most)));
  const status = answer.statusCode ?? 0;
  return new Response(BODILESS.includes(status) ? null : (pieces as ReadableStream), {
    status,
    headers: Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  });
}

interface Sent {
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Buffer | undefined;
  readonly signal: AbortSignal;
}

/** A server's answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Its body; undefined if that isn't JSON. */
  readonly json: unknown;
  /** The sentence of Daybook's error, without its full stop; undefined if there is none, or if another program answered. */
  readonly detail: string | undefined;
}

/** Sends a request, and answers as soon as its answer begins. Throws ProxyRefusal, and what Node.js throws. */
async function send(
  url: URL,
  method: string,
  { headers, body, signal }: Sent,
  way: Way,
): Promise<IncomingMessage> {
  // Loading TLS takes as long as all the rest.
  const http = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const { agent } = way;
    const request = http.request(url, {
      method,
      signal,
      headers: { ...headers, ...length },
      ...(agent === undefined ? {} : { agent }),
    });
    onRefusal(request, way, reject);
    request.on('response', resolve);
    request.on('error', reject);
    request.end(body);
  });
}

/** Requests to one server over one connection, through the proxy of the environment. */
export class Outgoing {
  private constructor(
    private readonly server: string,
    private readonly way: Way,
  ) {}

  /**
   * `authorities` is the path of a PEM file with certificate authorities that are trusted beside those of Node.js. Throws a UsageError for
   * such a file that can't be read, and for a proxy that can't be used.
   */
  static async to(server: string, authorities?: string): Promise<Outgoing> {
    const isSecure = server.startsWith('https:');
    const options = {
      keepAlive: true,
      maxSockets: 1,
      ...(isSecure && authorities !== undefined ? { ca: await trustedWith(authorities) } : {}),
    };
    const { agent, proxy } = await wayTo(new URL(server), options);
    const http = isSecure ? await import('node:https') : await import('node:http');
    const own = agent ?? (new http.Agent(options) as Agent);
    return new Outgoing(server.replace(/(?<!\/)\/+$/, ''), { agent: own, proxy });
  }

  /** The address of the proxy, without its password. */
  get proxy(): string | undefined {
    return this.way.proxy;
  }

  /** Sends a request to a path of the server. Throws ProxyRefusal, and what Node.js throws. */
  async send(method: string, path: string, more: Sent): Promise<Answer> {
    const answer = await send(new URL(`${this.server}${path}`), method, more, this.way);
    const json = parsedJson(await readAnswer(answer, SHORT_ANSWER_BYTES));
    return { status: answer.statusCode ?? 0, headers: answer.headers, json, detail: detailOf(json) };
  }

  close(): void {
    this.way.agent?.destroy();
  }
}

/** The certificates of all trusted authorities, with those of a PEM file. */
async function trustedWith(path: string): Promise<string[]> {
  const [{ readFile }, { rootCertificates }] = await Promise.all([
    import('node:fs/promises'),
    import('node:tls'),
  ]);
  const more = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(
      `The certificates ${path} can't be read (${codeOf(error)}): install the hooks again with NODE_EXTRA_CA_CERTS set to a PEM file.`,
    );
  });
  return [...rootCertificates, more];
}

/** The detail of an error by Daybook. Other programs' errors may have a `detail` too, but no `requestId`. */
function detailOf(json: unknown): string | undefined {
  if (!isObject(json) || typeof json.requestId !== 'string') return undefined;
  return typeof json.detail === 'string'
    ? json.detail.slice(0, DETAIL_CHARACTERS).replace(/\.$/, '')
    : undefined;
}
