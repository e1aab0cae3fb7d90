import type { Day } from '../../day.js';
import { quote, quoteInstant } from '../sql-text.js';
import type { Store } from '../store.js';

/** A mark of a person, and who says that it needs no look. */
export interface HiddenMark {
  readonly orgId: string;
  readonly userId: string;
  /** The first day of its run. */
  readonly since: Day;
  /** The day as of which it was seen. */
  readonly day: Day;
  readonly author: string;
}

/** Notes that a mark needs no look. The note ends by itself with the run of the mark: see sql/report/mark_hiding.sql. */
export async function hideMark(
  store: Store,
  { orgId, userId, since, day, author }: HiddenMark,
  now: number,
): Promise<void> {
  const values = [...[orgId, userId, since, day].map(quote), quoteInstant(now), quote(author)];
  await store.append(`INSERT INTO hidden_marks VALUES (${values.join(', ')})`);
}
