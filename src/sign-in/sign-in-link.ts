import type { SecretKey } from '../controls/secret-key.js';
import type { Store } from '../store/store.js';
import { Tickets } from './tickets.js';

/**
 * The address of the page for a service at `url`, as someone who owns an organization: it signs in once, within ten minutes.
 * `query` says what the page shows.
 */
export function signInLink(
  store: Store,
  key: SecretKey,
  clock: () => number,
  { orgId, url, query = '' }: { orgId: string; url: string; query?: string | undefined },
): string {
  const caller = { orgId, role: 'owner', userId: null, email: null, credential: 'link' };
  const { text } = new Tickets(store, key, clock).issue('link', { caller });
  return `${url.replace(/\/?$/, '/')}${query === '' ? '' : `?${query}`}#token=${text}`;
}
