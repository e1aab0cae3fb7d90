/**
 * Does work for a group if this node holds its lease, for as long as it does. Answers false, and has not begun the work, if another node holds
 * it. What the work commits counts only under the lease that it began with.
 */
export type Leading = (group: number, work: () => Promise<void>) => Promise<boolean>;

/** One node has no other beside it: it leads every group. */
export const leadsAll: Leading = async (_, work) => {
  await work();
  return true;
};

/** Does work once, with all of some groups that this node leads: held together until the work ends. */
export async function withLed(
  leading: Leading,
  groups: readonly number[],
  work: (led: ReadonlySet<number>) => Promise<void>,
  led: ReadonlySet<number> = new Set(),
): Promise<void> {
  const [group, ...rest] = groups;
  if (group === undefined) {
    if (led.size > 0) await work(led);
    return;
  }
  const isLed = await leading(group, () => withLed(leading, rest, work, new Set([...led, group])));
  if (!isLed) await withLed(leading, rest, work, led);
}
