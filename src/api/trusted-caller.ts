import { AsyncLocalStorage } from 'node:async_hooks';
import type { Caller } from './caller.js';

/**
 * Whom this process asks its own routes for: somebody who was let in already. Such a request needs no credential, has no address,
 * and doesn't count against the rate limit; roles apply to it as to any other. Only code of this process can set it.
 */
export const trustedCaller = new AsyncLocalStorage<{
  readonly caller: Caller;
  /** Aborts when nobody waits for the answer any more. */
  readonly left: AbortSignal;
}>();
