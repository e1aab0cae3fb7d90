import { Seen } from '../lake/snapshot.js';

const NEWEST_DAY = 'x-daybook-newest-day';
const PUBLISHED_AT = 'x-daybook-published-at';

/** What an answer says of the snapshot that it saw, in its headers. */
export function seenHeaders({ newest_day, published_at }: Seen): Record<string, string> {
  return { [PUBLISHED_AT]: published_at, ...(newest_day === null ? {} : { [NEWEST_DAY]: newest_day }) };
}

/** What the headers of an answer say of its snapshot; undefined if they say nothing. */
export function seenIn(headers: Readonly<Record<string, unknown>>): Seen | undefined {
  const seen = { newest_day: headers[NEWEST_DAY] ?? null, published_at: headers[PUBLISHED_AT] };
  return Seen.safeParse(seen).data;
}
