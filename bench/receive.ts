import { Readable } from 'node:stream';
import type { Inbox } from '../src/ingest/inbox.js';
import { ulid } from '../src/ulid.js';

/** How many senders wait for an answer at a time. */
const TOGETHER = 50;

/** Has an inbox acknowledge bodies of organizations, as if each had come in a request. */
export async function receive(
  inbox: Inbox,
  bodies: readonly { readonly orgId: string; readonly text: () => string | Buffer }[],
): Promise<void> {
  for (let first = 0; first < bodies.length; first += TOGETHER)
    await Promise.all(
      bodies.slice(first, first + TOGETHER).map(({ orgId, text }) =>
        inbox.receive(Readable.from([text()]), {
          requestId: `req_${ulid(Date.now())}`,
          orgId,
          onlyUsers: null,
          encoding: 'identity',
          isArray: false,
          keepsText: true,
          gone: new AbortController().signal,
        }),
      ),
    );
}
