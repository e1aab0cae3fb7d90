import type { Agent, AgentOptions, ClientRequest } from 'node:http';
import { UsageError } from '../exit.js';

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

/** How requests to an address are sent. */
export interface Way {
  /** Undefined for the agent of Node.js. */
  readonly agent: Agent | undefined;
  /** The address of the proxy, without its password. */
  readonly proxy: string | undefined;
}

/**
 * How requests to an address are sent: through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY set for it, or directly. Throws a
 * UsageError for a proxy that can't be used.
 */
export async function wayTo(url: URL, options?: AgentOptions): Promise<Way> {
  const proxy = await proxyFor(url);
  if (proxy === undefined) return { agent: undefined, proxy };
  // Plain requests are sent to the proxy without a tunnel, since many proxies allow tunnels to port 443 only.
  const agent =
    url.protocol === 'http:'
      ? new (await import('http-proxy-agent')).HttpProxyAgent(proxy, options)
      : new (await import('https-proxy-agent')).HttpsProxyAgent(proxy, options);
  return { agent: agent as Agent, proxy: shownProxy(proxy) };
}

/** Calls `refuse` if the proxy of a request refuses it: otherwise its answer would look like one of the server. */
export function onRefusal(
  request: ClientRequest,
  { proxy }: Way,
  refuse: (error: ProxyRefusal) => void,
): void {
  if (proxy === undefined) return;
  request.on('proxyConnect', ({ statusCode = 200 }: { statusCode?: number }) => {
    if (statusCode !== 200) refuse(new ProxyRefusal(proxy, statusCode));
  });
  request.on('response', ({ statusCode }) => {
    if (statusCode === 407) refuse(new ProxyRefusal(proxy, statusCode));
  });
}

/** Addresses of this machine, which are never reached through a proxy. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The proxy that the environment sets for an address. */
export async function proxyFor(url: URL): Promise<URL | undefined> {
  if (LOOPBACK.test(url.hostname)) return undefined;
  const { getProxyForUrl } = await import('proxy-from-env');
  // The variables name the schemes of HTTP, which WebSockets begin with.
  const found = getProxyForUrl(url.href.replace(/^ws/, 'http'));
  if (found === '') return undefined;
  // For a proxy without a scheme, the library assumes the server's scheme; all other programs assume HTTP.
  const named = Object.values(process.env).includes(found) ? found : found.replace(/^https:/, 'http:');
  const proxy = URL.canParse(named) ? new URL(named) : undefined;
  if (proxy !== undefined && /^https?:$/.test(proxy.protocol)) return proxy;
  throw new UsageError(
    `HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names a proxy that can't be used for ${url.origin}: it must be an address as http://proxy.acme.example:3128. To use none, put ${url.hostname} into NO_PROXY.`,
  );
}

function shownProxy({ protocol, host }: URL): string {
  return `${protocol}//${host}`;
}
