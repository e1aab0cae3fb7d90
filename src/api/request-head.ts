import type { FastifyInstance } from 'fastify';
import { ApiError } from './errors.js';

/** Headers that say one thing: of two, a proxy could believe the other one. Of Content-Length the server sees to it itself. */
const SINGLE: Readonly<Record<string, string>> = {
  host: 'Host',
  authorization: 'Authorization',
  'content-type': 'Content-Type',
};

/** Whether a text can be the host in an address. */
function isHost(text: string): boolean {
  return !/[\s/?#@\\]/.test(text) && URL.canParse(`http://${text}`);
}

/** Refuses requests of HTTP/1.1 without a Host, with one that is no host, or with two of a header that says one thing. */
export function refuseAmbiguousHeads(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw, host }) => {
    const seen = new Set<string>();
    for (let at = 0; at < raw.rawHeaders.length; at += 2) {
      const name = raw.rawHeaders[at]?.toLowerCase() ?? '';
      const title = SINGLE[name];
      if (title === undefined) continue;
      if (seen.has(name)) throw new ApiError(400, `The request has more than one header ${title}: send one.`);
      seen.add(name);
    }
    if (!seen.has('host') && raw.httpVersion === '1.0') return;
    // A proxy can name another one than the client did: the addresses in answers have that.
    if (!isHost(raw.headers.host ?? '') || !isHost(host))
      throw new ApiError(
        400,
        'The request must have the header Host, with the name or address of the service.',
      );
  });
}
