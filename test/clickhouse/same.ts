import { ANSWERS, GROUPS, isPaged } from '../../src/api/answer-names.js';
import { report } from '../../src/api/answer-rows.js';
import type { Day } from '../../src/day.js';
import type { Store } from '../../src/store/store.js';

const USERS_A_PAGE = 100;

/** Every answer for an organization over some days, as the JSON that the API sends: of users, all pages. */
export async function answersOf(
  store: Store,
  orgId: string,
  from: Day,
  to: Day,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const answer of ANSWERS) {
    for (const groupBy of [undefined, ...GROUPS[answer]]) {
      const pages: unknown[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const limit = isPaged(answer) ? USERS_A_PAGE : undefined;
        const { data, page } = await report(store, answer, { orgId, from, to, groupBy, limit, cursor });
        // When a day was built is the one thing that two stores have apart.
        pages.push(data.map(({ built_at: _, first_built_at: __, ...row }) => row));
        cursor = page?.next_cursor ?? null;
      }
      found[groupBy === undefined ? answer : `${answer} by ${groupBy}`] = JSON.stringify(pages);
    }
  }
  return found;
}
