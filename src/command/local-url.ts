import type { Config } from '../settings/config.js';

/**
 * Addresses that a service can listen on but nobody can connect to, with an equivalent address of this machine. `::` is for IPv4 too, and a
 * container often has no IPv6 address.
 */
const REACHABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '127.0.0.1' };

/** The address at which this machine reaches the service with these settings, without a slash at the end. */
export function localUrl({ host, port, tls }: Pick<Config, 'host' | 'port' | 'tls'>): string {
  const name = REACHABLE[host] ?? host;
  return `${tls === undefined ? 'http' : 'https'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
