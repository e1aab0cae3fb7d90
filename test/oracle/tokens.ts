import { credits, tierOf } from './credits.js';
import type { StoredEvent } from './event.js';
import { byteOrder, distinct, groups, sum } from './lists.js';
import { agentOf, type Organization, ofType } from './organization.js';
import { tokensOf } from './ways.js';

/** Rounded at the grain (day, user, model), and summed upward from there. */
export function creditsOf(usage: readonly StoredEvent[], { rateCard }: Organization): number {
  const grain = groups(usage, (event) => JSON.stringify([event.day, event.user_id, event.text('model')]));
  return sum(
    [...grain.values()].map((calls) => {
      const [{ day, text }] = calls as [StoredEvent];
      return credits(tokensOf(calls), text('model') ?? '', day, rateCard);
    }),
  );
}

/** What an agent's calls add to those of the agents before it by name. */
export function creditsOfAgent(
  usage: readonly StoredEvent[],
  agent: string,
  organization: Organization,
): number {
  const before = usage.filter((event) => byteOrder(agentOf(event), agent) < 0);
  const own = usage.filter((event) => agentOf(event) === agent);
  return creditsOf([...before, ...own], organization) - creditsOf(before, organization);
}

function byModel(usage: readonly StoredEvent[], organization: Organization) {
  return [...groups(usage, (event) => event.text('model') ?? '')]
    .map(([model_id, calls]) => ({
      model_id,
      model_tier: tierOf(model_id, organization.rateCard),
      billable_tokens: creditsOf(calls, organization),
      ...tokensOf(calls),
    }))
    .sort(
      (one, other) => other.billable_tokens - one.billable_tokens || byteOrder(one.model_id, other.model_id),
    );
}

export function tokens(organization: Organization) {
  return organization.days.map((date) => {
    const usage = ofType(organization.on(date), 'model_usage');
    const byUser = distinct(usage.map(({ user_id }) => user_id)).map((user_id) => {
      const own = usage.filter((event) => event.user_id === user_id);
      return {
        user_id,
        user_email: organization.emailOf(user_id),
        billable_tokens: creditsOf(own, organization),
        by_model: byModel(own, organization),
      };
    });
    return {
      date,
      billable_tokens: creditsOf(usage, organization),
      ...tokensOf(usage),
      by_model: byModel(usage, organization),
      by_user: byUser.sort(
        (one, other) => other.billable_tokens - one.billable_tokens || byteOrder(one.user_id, other.user_id),
      ),
    };
  });
}

export function tokensByModel(organization: Organization) {
  return organization.days.flatMap((date) =>
    byModel(ofType(organization.on(date), 'model_usage'), organization).map(
      ({ model_id, model_tier: _, ...numbers }) => ({ date, group_key: model_id, ...numbers }),
    ),
  );
}
