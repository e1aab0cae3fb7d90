import { ALL_GROUPS } from './group.js';
import type { Store } from './store.js';

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
