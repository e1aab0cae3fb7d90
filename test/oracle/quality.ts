import { isOnCard } from './credits.js';
import type { StoredEvent } from './event.js';
import { distinct } from './lists.js';
import { isParseArtifact } from './names.js';
import { type Organization, ofType } from './organization.js';

/** The sessions that have output tokens of models and no others. */
function incompleteSessions(calls: readonly StoredEvent[]): number {
  const sum = (some: readonly StoredEvent[], members: readonly string[]) =>
    some.reduce((tokens, call) => tokens + members.reduce((all, name) => all + call.count(name), 0), 0);
  return distinct(calls.map(({ session_id }) => session_id)).filter((session) => {
    const own = calls.filter(({ session_id }) => session_id === session);
    return (
      sum(own, ['output_tokens']) > 0 &&
      sum(own, ['input_tokens', 'cache_read_tokens', 'cache_write_tokens']) === 0
    );
  }).length;
}

/** The counts of the quality table that are of events that stand. */
export function quality(organization: Organization) {
  return organization.days.map((day) => {
    const events = organization.on(day);
    const without = (member: string) => events.filter((event) => event.text(member) === null).length;
    const models = distinct(ofType(events, 'model_usage').map((event) => event.text('model') ?? ''));
    return {
      day,
      events: events.length,
      shadowed: organization.stored.filter((event) => event.day === day).length - events.length,
      parse_artifacts: events.filter(isParseArtifact).length,
      events_without_client: without('client'),
      events_without_autonomy_mode: without('autonomy_mode'),
      events_without_user: events.filter(({ user_id }) => user_id === 'unknown').length,
      models_not_on_rate_card: models.filter((model) => !isOnCard(model, organization.rateCard)).length,
      incomplete_sessions: incompleteSessions(
        ofType(events, 'model_usage').filter(({ value }) => value('is_sum') !== true),
      ),
    };
  });
}
