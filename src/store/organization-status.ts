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
  const rows = await store.select(`SELECT org_id FROM organizations ${where} ORDER BY org_id`, org);
  const arrived = byOrganization(
    await store.select(
      `SELECT org_id, min(CASE WHEN changed > 0 THEN day END) AS first_day, sum(accepted) AS events,
        sum(CASE WHEN day > $last THEN accepted ELSE 0 END) AS events_of_open_day
      FROM arrivals ${where} GROUP BY org_id`,
      { ...org, last: { day: last } },
    ),
  );
  const built = byOrganization(
    await store.select(
      `SELECT org_id, count(*) AS days_built, max(day) AS newest_built_day FROM days ${where} GROUP BY org_id`,
      org,
    ),
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
    const { first_day = null, events, events_of_open_day } = arrived.get(String(row.org_id)) ?? {};
    const { days_built, newest_built_day = null } = built.get(String(row.org_id)) ?? {};
    const staleOf = stale.filter(({ orgId }) => orgId === row.org_id);
    return {
      org_id: String(row.org_id),
      first_day: first_day as Day | null,
      events: Number(events ?? 0),
      events_of_open_day: Number(events_of_open_day ?? 0),
      days_built: Number(days_built ?? 0),
      newest_built_day: newest_built_day as Day | null,
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

function byOrganization(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [String(row.org_id), row]));
}
