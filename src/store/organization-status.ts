import type { Day } from '../day.js';
import { readSql } from './sql-text.js';
import { staleDays } from './stale-days.js';
import { silenceCounts, silenceSql } from './state/silence.js';
import { troubledReports } from './state/vendor-pulls.js';
import type { Parameters, Row, Store } from './store.js';

/** The stored events and built days of each organization, or of one. `last` is the newest closed day. */
export async function organizationStatus(store: Store, last: Day, only?: string) {
  const stale = await staleDays(store, last, only);
  const where = only === undefined ? '' : 'WHERE org_id = $org_id';
  const org: Parameters = only === undefined ? {} : { org_id: only };
  const rows = await store.select(
    `SELECT
      organizations.org_id,
      (SELECT min(day) FROM arrivals WHERE arrivals.org_id = organizations.org_id AND changed > 0) AS first_day,
      (SELECT coalesce(sum(accepted), 0) FROM arrivals WHERE arrivals.org_id = organizations.org_id) AS events,
      (SELECT coalesce(sum(accepted), 0) FROM arrivals WHERE arrivals.org_id = organizations.org_id AND day > $last) AS events_of_open_day,
      (SELECT count(*) FROM days WHERE days.org_id = organizations.org_id) AS days_built,
      (SELECT max(day) FROM days WHERE days.org_id = organizations.org_id) AS newest_built_day
    FROM organizations ${where} ORDER BY org_id`,
    { ...org, last: { day: last } },
  );
  const rejects = await store.select(
    `SELECT org_id, reason, count(*) AS lines FROM rejects ${where} GROUP BY org_id, reason ORDER BY org_id, reason`,
    org,
  );
  const orgIds = rows.map(({ org_id }) => String(org_id));
  const { text, parameters } = silenceSql(orgIds, last, ['silent']);
  const silent =
    orgIds.length === 0
      ? []
      : await store.select(
          `SELECT * FROM (${text}) AS silent ORDER BY org_id, last_day DESC, user_id, name`,
          parameters,
        );
  const countsOf = await silenceCounts(store.select.bind(store), orgIds, last);
  // Few rows: an agent of an organization is one.
  const unknown = await store.select(readSql('report/unknown_user.sql'), { last: { day: last } });
  const troubled = new Map(
    await Promise.all(
      orgIds.map(async (orgId) => [orgId, await troubledReports(store, orgId, last)] as const),
    ),
  );
  return rows.map((row) => {
    const isOwn = ({ org_id }: Row) => org_id === row.org_id;
    const staleOf = stale.filter(({ orgId }) => orgId === row.org_id);
    return {
      org_id: String(row.org_id),
      first_day: row.first_day as Day | null,
      events: Number(row.events),
      events_of_open_day: Number(row.events_of_open_day),
      days_built: Number(row.days_built),
      newest_built_day: row.newest_built_day as Day | null,
      days_stale: staleOf.length,
      oldest_stale_day: staleOf[0]?.day ?? null,
      rejects: Object.fromEntries(
        rejects.filter(isOwn).map(({ reason, lines }) => [String(reason), Number(lines)] as const),
      ),
      silence: countsOf(String(row.org_id)),
      silent_collectors: silent
        .filter((one) => isOwn(one) && one.kind === 'collector')
        .map(({ user_id, host, last_day }) => ({
          user_id: String(user_id),
          host: host === null ? null : String(host),
          last_day: last_day as Day,
        })),
      silent_agents: silent
        .filter((one) => isOwn(one) && one.kind === 'agent')
        .map(({ user_id, name, last_day }) => ({
          user_id: String(user_id),
          agent: String(name),
          last_day: last_day as Day,
        })),
      without_user: unknown
        .filter(isOwn)
        .map(({ agent, events }) => ({ agent: String(agent), events: Number(events) })),
      vendor_reports: troubled.get(String(row.org_id)) ?? [],
    };
  });
}
