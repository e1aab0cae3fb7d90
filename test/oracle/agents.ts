import type { StoredEvent } from './event.js';
import { byteOrder, distinct } from './lists.js';
import {
  agentOf,
  lastAgentOf,
  type Organization,
  ofType,
  outcomesOf,
  sessionOf,
  toolCalls,
  userTurns,
} from './organization.js';
import { madeBy } from './productivity.js';
import { creditsOfAgent } from './tokens.js';
import { isMcpCall } from './tools.js';
import { tokensOf } from './ways.js';

/** docs/api.md, "By agent": what answers grouped by agent say. */

function agentsOf(events: readonly StoredEvent[]): string[] {
  return distinct(events.map(agentOf)).sort(byteOrder);
}

/** The sessions that start on a day and count for an agent. */
function sessionsOf(organization: Organization, day: string, agent: string): string[] {
  return organization
    .sessionsStartedOn(day)
    .filter(
      (session) =>
        lastAgentOf(organization.on(day).filter((event) => sessionOf(event) === session)) === agent,
    );
}

function messagesOf(events: readonly StoredEvent[]) {
  const user_messages = userTurns(events).length;
  const assistant_messages = ofType(events, 'assistant_message').length;
  return { messages: user_messages + assistant_messages, user_messages, assistant_messages };
}

export function tokensByAgent(organization: Organization) {
  return organization.days.flatMap((date) => {
    const usage = ofType(organization.on(date), 'model_usage');
    return agentsOf(usage)
      .map((agent) => ({
        date,
        group_key: agent,
        billable_tokens: creditsOfAgent(usage, agent, organization),
        ...tokensOf(usage.filter((event) => agentOf(event) === agent)),
      }))
      .sort((one, other) => other.billable_tokens - one.billable_tokens);
  });
}

export function activityByAgent(organization: Organization) {
  return organization.days.flatMap((date) =>
    agentsOf(organization.on(date))
      .map((agent) => {
        const events = organization.on(date).filter((event) => agentOf(event) === agent);
        const { messages, user_messages } = messagesOf(events);
        return {
          date,
          group_key: agent,
          daily_active_users: distinct(events.map(({ user_id }) => user_id)).length,
          sessions: sessionsOf(organization, date, agent).length,
          messages,
          user_messages,
        };
      })
      .sort((one, other) => other.daily_active_users - one.daily_active_users),
  );
}

export function usersByAgent(organization: Organization) {
  return organization.activeUsers(...organization.days).flatMap((user_id) =>
    organization.days.flatMap((date) => {
      const day = organization.on(date).filter((event) => event.user_id === user_id);
      return agentsOf(day).map((agent) => {
        const events = day.filter((event) => agentOf(event) === agent);
        return {
          user_id,
          user_email: organization.emailOf(user_id),
          date,
          group_key: agent,
          tool_calls: toolCalls(events).length,
          ...outcomesOf(toolCalls(events)),
          billable_tokens: creditsOfAgent(ofType(day, 'model_usage'), agent, organization),
          ...madeBy(day, agent),
          mcp_calls: events.filter(isMcpCall).length,
          skill_calls: ofType(events, 'skill_use').length,
          slash_commands: ofType(events, 'slash_command').length,
          hooks: ofType(events, 'hook_run').length,
          sessions: sessionsOf(organization, date, agent).filter(
            (session) => JSON.parse(session)[0] === user_id,
          ).length,
          ...messagesOf(events),
        };
      });
    }),
  );
}
