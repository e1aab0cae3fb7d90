import type { Config } from '../settings/config.js';

/** An address of this machine for one that means all addresses, which can be listened on but not connected to. */
const REACHABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Where this machine reaches the service that has these settings, without a slash at the end. */
export function localUrl({ host, port, tls }: Pick<Config, 'host' | 'port' | 'tls'>): string {
  const name = REACHABLE[host] ?? host;
  return `${tls === undefined ? 'http' : 'https'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
