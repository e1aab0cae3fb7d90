import { report } from '../../src/api/answer-rows.js';
import type { Day } from '../../src/day.js';
import type { World } from '../world.js';

const RANGE = { from: '2026-01-01' as Day, to: '2026-06-30' as Day };

/** What is wrong with pages of users that are read one after the other; nothing when they are the whole answer, each user once. */
export async function pagesFault(world: World, orgId: string): Promise<string | undefined> {
  return (await pagesFaultOf('users', world, orgId)) ?? (await pagesFaultOf('coverage', world, orgId));
}

async function pagesFaultOf(
  answer: 'users' | 'coverage',
  world: World,
  orgId: string,
): Promise<string | undefined> {
  const whole = (await report(world.store, answer, { orgId, ...RANGE })).data;
  for (const limit of [1, 2]) {
    const rows: Record<string, unknown>[] = [];
    for (let cursor: string | undefined, isLast = false; !isLast; ) {
      const { data, page } = await report(world.store, answer, { orgId, ...RANGE, limit, cursor });
      const users = [...new Set(data.map(({ user_id }) => user_id))];
      rows.push(...data);
      isLast = page?.has_more !== true;
      if (!isLast && users.length !== limit) return `a page of ${limit} has ${users.length} users`;
      if (rows.length > whole.length) return `pages of ${limit} have more rows than the whole answer`;
      cursor = page?.next_cursor ?? undefined;
      if (isLast !== (cursor === undefined) || (cursor !== undefined && cursor !== users.at(-1)))
        return `a page of ${limit} has the wrong cursor ${cursor}`;
    }
    if (JSON.stringify(rows) !== JSON.stringify(whole)) return `pages of ${limit} are not the whole answer`;
  }
  return undefined;
}
