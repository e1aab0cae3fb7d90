import { isOnCard } from './credits.js';
import { distinct } from './lists.js';
import { isParseArtifact } from './names.js';
import { type Organization, ofType } from './organization.js';

/** What the quality table counts of the events that stand (metrics.md, "Building days"). */
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
    };
  });
}
