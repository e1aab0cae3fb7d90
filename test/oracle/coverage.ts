import { CHANNELS, type StoredEvent } from './event.js';
import { byteOrder, distinct, groups, ratio, sum } from './lists.js';
import { agentOf, type Organization, ofType, userTurns } from './organization.js';
import { exactCosts, millionths, usd } from './prices.js';
import { tokensOf } from './ways.js';

/** docs/coverage.md: what each channel reported of a user's agent on a day, and how far channels agree. */

const TELEMETRY = ['otlp_log', 'otlp_span', 'otlp_metric'];

function reportOf(
  events: readonly StoredEvent[],
  channel: string,
  isCounted: (event: StoredEvent) => boolean,
) {
  const own = events.filter((event) => event.text('channel') === channel);
  return {
    channel,
    events: own.length,
    shadowed: own.filter((event) => !isCounted(event)).length,
    tokens: sum(Object.values(tokensOf(ofType(own, 'model_usage')))),
    user_turns: userTurns(own).length,
  };
}

/** The difference of two counts as a share of the greater one; null if one of them is missing. */
function difference(one: number | undefined, other: number | undefined): number | null {
  if (one === undefined || other === undefined) return null;
  return ratio(Math.abs(one - other), Math.max(one, other));
}

function rowOf(organization: Organization, events: readonly StoredEvent[]) {
  const [first] = events as [StoredEvent];
  const counted = new Set(organization.counted);
  const channels = CHANNELS.map((channel) => reportOf(events, channel, (event) => counted.has(event))).filter(
    (report) => report.events > 0,
  );
  const of = (channel: string) => channels.find((report) => report.channel === channel);
  const telemetry = channels.filter(({ channel }) => TELEMETRY.includes(channel));
  const otlp = telemetry.length === 0 ? undefined : Math.max(...telemetry.map(({ tokens }) => tokens));
  const token_difference_ratio = difference(of('log')?.tokens, otlp);
  const turn_difference_ratio = difference(of('log')?.user_turns, of('hook')?.user_turns);
  return {
    user_id: first.user_id,
    user_email: organization.emailOf(first.user_id),
    date: first.day,
    agent: agentOf(first),
    events: events.length,
    shadowed: sum(channels.map(({ shadowed }) => shadowed)),
    channels,
    token_difference_ratio,
    turn_difference_ratio,
    disagreements: [token_difference_ratio, turn_difference_ratio].filter((share) => (share ?? 0) > 0.01)
      .length,
    transcripts_deleted: sum(
      ofType(events, 'retention_sweep').map((event) => event.count('transcripts_deleted')),
    ),
  };
}

/** What two channels report of the same, of all users of an agent on a day. */
export function qualityByAgent(organization: Organization) {
  const rows = coverage(organization);
  return organization.days.flatMap((date) =>
    [
      ...groups(
        rows.filter((row) => row.date === date),
        ({ agent }) => agent,
      ),
    ]
      .sort(([one], [other]) => byteOrder(one, other))
      .map(([group_key, ofUsers]) => {
        const tokens = ofUsers.filter((row) => row.token_difference_ratio !== null);
        const turns = ofUsers.filter((row) => row.turn_difference_ratio !== null);
        const most = (row: (typeof ofUsers)[number], names: readonly string[], of: 'tokens' | 'user_turns') =>
          Math.max(...row.channels.filter(({ channel }) => names.includes(channel)).map((one) => one[of]));
        return {
          date,
          group_key,
          users: ofUsers.length,
          users_with_tokens: tokens.length,
          users_with_other_tokens: tokens.filter((row) => Number(row.token_difference_ratio) > 0.01).length,
          log_tokens: sum(tokens.map((row) => most(row, ['log'], 'tokens'))),
          otlp_tokens: sum(tokens.map((row) => most(row, TELEMETRY, 'tokens'))),
          users_with_turns: turns.length,
          users_with_other_turns: turns.filter((row) => Number(row.turn_difference_ratio) > 0.01).length,
          log_turns: sum(turns.map((row) => most(row, ['log'], 'user_turns'))),
          hook_turns: sum(turns.map((row) => most(row, ['hook'], 'user_turns'))),
          users_with_deleted_transcripts: ofUsers.filter((row) => row.transcripts_deleted > 0).length,
          transcripts_deleted: sum(ofUsers.map((row) => row.transcripts_deleted)),
        };
      }),
  );
}

export function coverage(organization: Organization) {
  const built = organization.decided.filter(({ day }) => organization.days.includes(day));
  return distinct(built.map(({ user_id }) => user_id))
    .sort(byteOrder)
    .flatMap((user) =>
      organization.days.flatMap((date) => {
        const own = built.filter(({ user_id, day }) => user_id === user && day === date);
        return [...groups(own, agentOf)]
          .sort(([one], [other]) => byteOrder(one, other))
          .map(([, events]) => rowOf(organization, events));
      }),
    );
}

/** The money of the days on which the vendor says a cost. */
function moneyOf(
  days: readonly { readonly vendorCost: bigint | null; readonly cost: bigint; readonly unpriced: number }[],
) {
  const told = days.filter(({ vendorCost }) => vendorCost !== null);
  if (told.length === 0)
    return {
      ...{ vendor_usd: null, captured_usd: null, captured_cost_ratio: null },
      ...{ cost_difference_ratio: null, captured_unpriced_tokens: null },
    };
  const vendor_usd = usd(told.reduce((all, { vendorCost }) => all + (vendorCost ?? 0n), 0n));
  const captured_usd = usd(told.reduce((all, { cost }) => all + cost, 0n));
  return {
    ...{ vendor_usd, captured_usd },
    captured_cost_ratio: vendor_usd > 0 ? ratio(captured_usd, vendor_usd) : null,
    cost_difference_ratio: difference(captured_usd, vendor_usd),
    captured_unpriced_tokens: sum(told.map(({ unpriced }) => unpriced)),
  };
}

/** How much of what a vendor reports of a user's agent in a month better channels have, over the days that it reports. */
export function coverageByMonth(organization: Organization) {
  const days = coverage(organization).flatMap(({ user_id, user_email, date, agent, channels }) => {
    const tokensIn = (isVendor: boolean) =>
      sum(
        channels.filter(({ channel }) => (channel === 'vendor_api') === isVendor).map(({ tokens }) => tokens),
      );
    const vendor_tokens = tokensIn(true);
    const own = organization
      .on(date)
      .filter((event) => event.user_id === user_id && agentOf(event) === agent);
    const counted = sum(Object.values(tokensOf(ofType(own, 'model_usage'))));
    const captured_tokens = tokensIn(false) > 0 ? counted : 0;
    const month = `${date.slice(0, 7)}-01`;
    const told = organization.decided.filter(
      (event) =>
        event.day === date &&
        event.user_id === user_id &&
        agentOf(event) === agent &&
        event.text('channel') === 'vendor_api' &&
        event.type === 'model_usage' &&
        event.value('reported_cost_usd') !== null,
    );
    const vendorCost =
      told.length === 0
        ? null
        : told.reduce((all, event) => all + millionths(event.count('reported_cost_usd')) * 1_000_000n, 0n);
    const costs = exactCosts(ofType(own, 'model_usage'), organization.prices);
    const isCaptured = tokensIn(false) > 0;
    const cost = isCaptured ? costs.cost : 0n;
    const unpriced = isCaptured ? costs.unpriced : 0;
    return vendor_tokens === 0
      ? []
      : [{ user_id, user_email, month, agent, vendor_tokens, captured_tokens, vendorCost, cost, unpriced }];
  });
  return [...groups(days, ({ user_id, month, agent }) => JSON.stringify([user_id, month, agent])).values()]
    .map((own) => {
      const [{ user_id, user_email, month, agent }] = own as [(typeof own)[number]];
      const vendor_tokens = sum(own.map((day) => day.vendor_tokens));
      const captured_tokens = sum(own.map((day) => day.captured_tokens));
      return {
        ...{ user_id, user_email, month, agent, days: own.length },
        days_disagreeing: own.filter(
          (day) => Number(difference(day.captured_tokens, day.vendor_tokens)) > 0.01,
        ).length,
        ...{ vendor_tokens, captured_tokens, captured_ratio: ratio(captured_tokens, vendor_tokens) },
        token_difference_ratio: difference(captured_tokens, vendor_tokens),
        ...moneyOf(own),
      };
    })
    .sort(
      (one, other) =>
        byteOrder(one.user_id, other.user_id) ||
        byteOrder(one.month, other.month) ||
        byteOrder(one.agent, other.agent),
    );
}
