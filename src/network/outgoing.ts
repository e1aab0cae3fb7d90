import type { Agent, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, request } from 'node:http';
import type { Readable } from 'node:stream';
import { codeOf, UsageError } from '../exit.js';
import { isObject } from '../input/json-object.js';

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

/** Fetches for libraries: never follows a redirect, which could take credentials elsewhere, and fails with AnswerTooLong. */
export async function limitedFetch(url: string | URL, init: object): Promise<Response> {
  const answer = await fetch(url, { ...init, redirect: 'manual' });
  if (answer.body === null) return answer;
  let left = SHORT_ANSWER_BYTES;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (piece, controller) => {
      left -= piece.length;
      if (left < 0) controller.error(new AnswerTooLong(SHORT_ANSWER_BYTES));
      else controller.enqueue(piece);
    },
  });
  return new Response(answer.body.pipeThrough(limit), answer);
}

/** The proxy refuses to connect to the server. */
export class ProxyRefusal extends Error {
  override name = 'ProxyRefusal';

  constructor(
    proxy: string,
    readonly status: number,
  ) {
    super(
      status === 407
        ? `the proxy ${proxy} wants a name and a password (407): put them into its address, as http://ada:secret@proxy.acme.example:3128`
        : `the proxy ${proxy} answers ${status}`,
    );
  }
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

/** Requests to one server over one connection, through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY set for it. */
export class Outgoing {
  private constructor(
    private readonly server: string,
    private readonly ask: typeof request,
    private readonly agent: Agent,
    /** The address of the proxy, without its password. */
    readonly proxy: string | undefined,
  ) {}

  /**
   * `authorities` is the path of a PEM file with certificate authorities that are trusted beside those of Node.js. Throws a UsageError for
   * such a file that can't be read, and for a proxy that can't be used.
   */
  static async to(server: string, authorities?: string): Promise<Outgoing> {
    const isSecure = server.startsWith('https:');
    // Loading TLS takes as long as all the rest.
    const http = isSecure ? await import('node:https') : await import('node:http');
    const base = server.replace(/(?<!\/)\/+$/, '');
    const options = {
      keepAlive: true,
      maxSockets: 1,
      ...(isSecure && authorities !== undefined ? { ca: await trustedWith(authorities) } : {}),
    };
    const proxy = await proxyFor(new URL(server));
    if (proxy === undefined)
      return new Outgoing(base, http.request as typeof request, new http.Agent(options) as Agent, undefined);
    // Plain requests are sent to the proxy without a tunnel, since many proxies allow tunnels to port 443 only.
    const agent = isSecure
      ? new (await import('https-proxy-agent')).HttpsProxyAgent(proxy, options)
      : new (await import('http-proxy-agent')).HttpProxyAgent(proxy, options);
    return new Outgoing(
      base,
      http.request as typeof request,
      agent as Agent,
      `${proxy.protocol}//${proxy.host}`,
    );
  }

  /** Sends a request to a path of the server. Throws ProxyRefusal, and what Node.js throws. */
  async send(method: string, path: string, more: Sent): Promise<Answer> {
    const answer = await this.answer(method, path, more);
    const json = parsedJson(await readAnswer(answer, SHORT_ANSWER_BYTES));
    return { status: answer.statusCode ?? 0, headers: answer.headers, json, detail: detailOf(json) };
  }

  private answer(method: string, path: string, { headers, body, signal }: Sent): Promise<IncomingMessage> {
    const { agent, proxy = '' } = this;
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const sent = this.ask(new URL(`${this.server}${path}`), {
        method,
        agent,
        signal,
        headers: { ...headers, ...length },
      });
      sent.on('proxyConnect', ({ statusCode = 200 }: { statusCode?: number }) => {
        if (statusCode !== 200) reject(new ProxyRefusal(proxy, statusCode));
      });
      sent.on('response', (answer) => {
        if (answer.statusCode === 407) reject(new ProxyRefusal(proxy, 407));
        else resolve(answer);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
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

/** A JSON text as a value; undefined if it isn't JSON. */
export function parsedJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/** The detail of an error by Daybook. Other programs' errors may have a `detail` too, but no `requestId`. */
function detailOf(json: unknown): string | undefined {
  if (!isObject(json) || typeof json.requestId !== 'string') return undefined;
  return typeof json.detail === 'string'
    ? json.detail.slice(0, DETAIL_CHARACTERS).replace(/\.$/, '')
    : undefined;
}

/** Addresses of this machine, which are never reached through a proxy. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The proxy that the environment sets for an address. */
async function proxyFor(url: URL): Promise<URL | undefined> {
  if (LOOPBACK.test(url.hostname)) return undefined;
  const { getProxyForUrl } = await import('proxy-from-env');
  const found = getProxyForUrl(url.href);
  if (found === '') return undefined;
  // For a proxy without a scheme, the library assumes the server's scheme; all other programs assume HTTP.
  const named = Object.values(process.env).includes(found) ? found : found.replace(/^https:/, 'http:');
  const proxy = URL.canParse(named) ? new URL(named) : undefined;
  if (proxy !== undefined && /^https?:$/.test(proxy.protocol)) return proxy;
  throw new UsageError(
    `HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names a proxy that can't be used for ${url.origin}: it must be an address as http://proxy.acme.example:3128. To use none, put ${url.hostname} into NO_PROXY.`,
  );
}
