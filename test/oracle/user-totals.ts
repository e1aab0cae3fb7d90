import { byteOrder, groups, sum } from './lists.js';
import type { Organization } from './organization.js';
import { users } from './users.js';

/** What `daybook` prints of a range of built days: each user with the sums of the user's days, by credits. */
export function userTotals(organization: Organization) {
  return [...groups(users(organization), ({ user_id }) => user_id)]
    .map(([user_id, rows]) => ({
      user_id,
      first_day: rows[0]?.date,
      last_day: rows.at(-1)?.date,
      active_days: rows.length,
      sessions: sum(rows.map((row) => row.sessions)),
      user_turns: sum(rows.map((row) => row.user_messages)),
      tool_calls: sum(rows.map((row) => row.tool_calls)),
      files: sum(rows.map((row) => row.files_created + row.files_edited)),
      commits: sum(rows.map((row) => row.git_commits)),
      billable_tokens: sum(rows.map((row) => row.billable_tokens)),
    }))
    .sort(
      (one, other) => other.billable_tokens - one.billable_tokens || byteOrder(one.user_id, other.user_id),
    );
}
