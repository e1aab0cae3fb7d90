import { setTimeout as wait } from 'node:timers/promises';

/** How often a server is asked whether it is there, how long it may take to answer, and how often it may not. */
const WATCH = { everyMs: 5000, answerMs: 5000, misses: 3 };
type Watch = typeof WATCH;

/** A server has a statement, and stopped answering. */
export class NotAnswering extends Error {
  constructor() {
    super('it stopped answering');
  }
}

/**
 * Does work that waits for a server as long as the server is there: it can take an hour. A process that is stopped, or a machine that vanished,
 * keeps its connections open. Throws NotAnswering then, and the signal ends the work.
 */
export async function whileAnswering<T>(
  url: string,
  work: (signal: AbortSignal) => Promise<T>,
  watch: Watch = WATCH,
): Promise<T> {
  const over = new AbortController();
  const lost = new AbortController();
  const gone = isGone(url, over.signal, watch).then((isLost) => {
    if (!isLost) return new Promise<never>(() => undefined);
    lost.abort();
    throw new NotAnswering();
  });
  try {
    return await Promise.race([work(lost.signal), gone]);
  } finally {
    over.abort();
  }
}

/** Pings a server until it didn't answer some times one after the other: then it is gone. Or until it is over. */
async function isGone(url: string, over: AbortSignal, watch: Watch): Promise<boolean> {
  for (let missed = 0; missed < watch.misses; ) {
    await wait(watch.everyMs, undefined, { ref: false, signal: over }).catch(() => undefined);
    if (over.aborted) return false;
    const isThere = await fetch(`${url}/ping`, { signal: AbortSignal.timeout(watch.answerMs) }).then(
      ({ ok }) => ok,
      () => false,
    );
    missed = isThere ? 0 : missed + 1;
  }
  return true;
}
