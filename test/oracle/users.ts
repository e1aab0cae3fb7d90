import { tierOf } from './credits.js';
import type { StoredEvent } from './event.js';
import { byteOrder, groups, ratio, sum } from './lists.js';
import { type Organization, ofType, outcomesOf, toolCalls, userTurns } from './organization.js';
import { languagesOf, madeBy } from './productivity.js';
import { creditsOf } from './tokens.js';
import { isMcpCall } from './tools.js';

/** From the least autonomous to the most autonomous one. */
const MODES = ['manual', 'spec', 'auto-low', 'auto-medium', 'auto-high'];

/** The model with the most calls, of equals that with the most output tokens, then the first by name; '' when there is none. */
function primaryModel(events: readonly StoredEvent[]): string {
  const output = (calls: readonly StoredEvent[]) => sum(calls.map((call) => call.count('output_tokens')));
  const [first] = [...groups(ofType(events, 'model_usage'), (event) => event.text('model') ?? '')].sort(
    ([model, calls], [otherModel, otherCalls]) =>
      otherCalls.length - calls.length || output(otherCalls) - output(calls) || byteOrder(model, otherModel),
  );
  return first?.[0] ?? '';
}

/** The mode of most tool calls and user turns, of equals the less autonomous one; manual when none is known. */
function delegationLevel(events: readonly StoredEvent[]): string {
  const known = [...toolCalls(events), ...userTurns(events)].map((event) => event.text('autonomy_mode'));
  const uses = MODES.map((mode) => known.filter((one) => one === mode).length);
  return MODES[uses.indexOf(Math.max(...uses))] ?? 'manual';
}

export function users(organization: Organization) {
  const days = new Set(organization.days);
  return organization.activeUsers(...organization.days).flatMap((user_id) => {
    const own = organization.events.filter((event) => event.user_id === user_id && days.has(event.day));
    const activeDays = [...new Set(own.map(({ day }) => day))].sort();
    return activeDays.map((date) => {
      const events = own.filter(({ day }) => day === date);
      const calls = toolCalls(events).length;
      const turns = userTurns(events).length;
      const replies = ofType(events, 'assistant_message').length;
      const primary_model = primaryModel(events);
      return {
        user_id,
        user_email: organization.emailOf(user_id),
        date,
        tool_calls: calls,
        ...outcomesOf(toolCalls(events)),
        billable_tokens: creditsOf(ofType(events, 'model_usage'), organization),
        primary_model,
        primary_model_tier: primary_model === '' ? 'standard' : tierOf(primary_model, organization.rateCard),
        ...madeBy(events),
        mcp_calls: events.filter(isMcpCall).length,
        skill_calls: ofType(events, 'skill_use').length,
        slash_commands: ofType(events, 'slash_command').length,
        hooks: ofType(events, 'hook_run').length,
        sessions: organization.sessionsStartedOn(date).filter((session) => JSON.parse(session)[0] === user_id)
          .length,
        messages: turns + replies,
        user_messages: turns,
        assistant_messages: replies,
        autonomy_ratio: ratio(calls, turns),
        delegation_level: delegationLevel(events),
        languages: languagesOf(events, organization).map(({ name }) => name),
      };
    });
  });
}
