import type { FastifyInstance } from 'fastify';
import { own } from '../input/own.js';
import { ApiError } from './errors.js';

/** Headers that may appear only once: a proxy could use the other one. The server itself checks Content-Length. */
const SINGLE: Readonly<Record<string, string>> = {
  host: 'Host',
  authorization: 'Authorization',
  'content-type': 'Content-Type',
};

/** Whether a text is a valid host. */
function isHost(text: string): boolean {
  return !/[\s/?#@\\]/.test(text) && URL.canParse(`http://${text}`);
}

/** Refuses HTTP/1.1 requests without a valid Host, or with two of a header that may appear only once. */
export function refuseAmbiguousHeads(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw, host }) => {
    const seen = new Set<string>();
    for (let at = 0; at < raw.rawHeaders.length; at += 2) {
      const name = raw.rawHeaders[at]?.toLowerCase() ?? '';
      const title = own(SINGLE, name);
      if (title === undefined) continue;
      if (seen.has(name)) throw new ApiError(400, `The request has more than one header ${title}: send one.`);
      seen.add(name);
    }
    if (!seen.has('host') && raw.httpVersion === '1.0') return;
    // A proxy can send another host than the client did, and addresses in answers have that host.
    if (!isHost(raw.headers.host ?? '') || !isHost(host))
      throw new ApiError(
        400,
        'The request must have the header Host, with the name or address of the service.',
      );
  });
}
