import { setTimeout as wait } from 'node:timers/promises';
import { ALL_GROUPS } from './group.js';
import type { Store } from './store.js';

/** How often to look whether another node has ended its work, in milliseconds. */
const LOOK_MS = 500;

/** Does work when no other node does any of its kind: `trying` answers undefined as long as one does. Answers false if it is stopped before its turn. */
export async function inTurn(
  trying: <T>(work: () => Promise<T>) => Promise<T | undefined>,
  work: () => Promise<void>,
  stopping: AbortSignal,
): Promise<boolean> {
  while (!stopping.aborted) {
    if ((await trying(() => work().then(() => true))) === true) return true;
    await wait(LOOK_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
  return false;
}

/** Does work once, with all groups that this node can lead now: held together until the work ends. Its settles count only under these leases. */
export async function withLed(
  store: Pick<Store, 'trying'>,
  work: (led: ReadonlySet<number>) => Promise<void>,
  groups: readonly number[] = ALL_GROUPS,
  led: ReadonlySet<number> = new Set(),
): Promise<void> {
  const [group, ...rest] = groups;
  if (group === undefined) {
    if (led.size > 0) await work(led);
    return;
  }
  const isLed = await store.trying(`settle ${group}`, async () => {
    await withLed(store, work, rest, new Set([...led, group]));
    return true;
  });
  if (isLed !== true) await withLed(store, work, rest, led);
}
