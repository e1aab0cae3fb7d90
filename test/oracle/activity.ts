import { counted, daysBefore, groups } from './lists.js';
import { type Organization, ofType, userTurns } from './organization.js';

const LISTED_CLIENTS = ['terminal-ui', 'web', 'non-interactive-cli'];

/** Each client of the day with its users; a user on several clients counts in each. */
function byClient(organization: Organization, day: string) {
  const users = [...groups(organization.on(day), ({ user_id }) => user_id).values()];
  return counted(
    users.flatMap((events) => [...new Set(events.flatMap((event) => event.text('client') ?? []))]),
  );
}

function trailing(day: string, length: number): string[] {
  return Array.from({ length }, (_, back) => daysBefore(day, back));
}

export function activity(organization: Organization) {
  return organization.days.map((date) => {
    const events = organization.on(date);
    const turns = userTurns(events).length;
    return {
      date,
      daily_active_users: organization.activeUsers(date).length,
      weekly_active_users: organization.activeUsers(...trailing(date, 7)).length,
      monthly_active_users: organization.activeUsers(...trailing(date, 30)).length,
      daily_active_users_by_client: Object.fromEntries([
        ...LISTED_CLIENTS.map((client) => [client, 0]),
        ...byClient(organization, date).map(({ name, count }) => [name, count]),
      ]) as Record<string, number>,
      sessions: organization.sessionsStartedOn(date).length,
      messages: turns + ofType(events, 'assistant_message').length,
      user_messages: turns,
    };
  });
}

export function activityByClient(organization: Organization) {
  return organization.days.flatMap((date) =>
    byClient(organization, date).map(({ name, count }) => ({
      date,
      group_key: name,
      daily_active_users: count,
    })),
  );
}
