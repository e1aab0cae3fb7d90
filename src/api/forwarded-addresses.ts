import type { IncomingHttpHeaders } from 'node:http';

/** An IPv4 address with a port, or an address in brackets with or without a port. */
const WITH_PORT = /^(?:(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([^\][]*)\](?::\d{1,5})?)$/;

/**
 * Reduces X-Forwarded-For to addresses. Some proxies write a port behind the client's address, and brackets around an IPv6 address.
 * With the port, each connection would look like another client.
 */
export function removePorts(headers: IncomingHttpHeaders): void {
  const chain = headers['x-forwarded-for'];
  if (typeof chain !== 'string') return;
  headers['x-forwarded-for'] = chain
    .split(',')
    .map((entry) => {
      const [, ipv4, inBrackets] = WITH_PORT.exec(entry.trim()) ?? [];
      return ipv4 ?? inBrackets ?? entry.trim();
    })
    .join(', ');
}
