import type { Day } from '../day.js';
import type { Store } from '../store/store.js';
import { type Guard, quietDaysOf, withQuietDays } from './protection.js';
import { earliestOf } from './totals-query.js';

/** A range of which a request may tell no few people apart: with the quiet days that count with its days, and those that it reads. */
export async function guardedRange(
  store: Pick<Store, 'select'>,
  orgId: string,
  floor: number,
  { from, to, historyStart }: { readonly from: Day; readonly to: Day; readonly historyStart: Day },
): Promise<{ from: Day; to: Day; guard: Guard }> {
  const all = (await quietDaysOf(store, orgId, floor)).filter(({ day }) => day >= historyStart);
  const range = withQuietDays({ from, to }, all);
  const quietDays = all.filter(({ day }) => earliestOf(range, 'previous') <= day && day <= range.to);
  return { ...range, guard: { floor, quietDays } };
}
