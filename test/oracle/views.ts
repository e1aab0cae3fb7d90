import { usersByAgent } from './agents.js';
import { isOnCard, tierOf } from './credits.js';
import { isAnnounced, OF_ALL_TYPES, OF_ALL_VIEWS, OF_TYPE, type StoredEvent, type Value } from './event.js';
import { distinct, groups } from './lists.js';
import { isParseArtifact, levelOf, toolOf, trimmed } from './names.js';
import {
  agentOf,
  type Organization,
  ofType,
  outcomesOf,
  sessionOf,
  toolCalls,
  userTurns,
} from './organization.js';
import { costsOf } from './prices.js';
import { filesOf } from './productivity.js';
import { repoKey } from './repo-key.js';
import { namesNoPerson } from './session-users.js';
import { creditsOfAgent } from './tokens.js';
import { isUnsplit, longWritesOf, promptClassOf, tokensOf, wayOf } from './ways.js';

/** What the tables and views of events hold, which people query with their own SQL: the same words, as rows. */

type Row = Record<string, Value>;

/** The columns that every view of events has. */
function common({ day, event_id, occurred_at, user_id, session_id, value }: StoredEvent): Row {
  const { user_email: _, ...members } = Object.fromEntries(
    OF_ALL_VIEWS.map((member) => [member, value(member)]),
  );
  return { day, event_id, occurred_at, user_id, session_id, ...members };
}

function withMembers(event: StoredEvent, members: readonly string[]): Row {
  return { ...common(event), ...Object.fromEntries(members.map((member) => [member, event.value(member)])) };
}

/** The table of events, of which there is one row each. */
export function eventRows({ stored }: Pick<Organization, 'stored'>): Row[] {
  const members = [...OF_ALL_TYPES, 'channel', ...Object.values(OF_TYPE).flat()];
  // No event that is sent has suggested lines.
  return stored.map((event) => ({ ...withMembers(event, members), type: event.type, lines_suggested: null }));
}

/** The table of e-mails, of which there is one row for each user who has one. */
export function emailRows(organization: Organization): Row[] {
  return distinct(organization.stored.map(({ user_id }) => user_id)).flatMap((user_id) => {
    const event = organization.emailEventOf(user_id);
    return event === undefined
      ? []
      : [{ user_id, user_email: event.value('user_email'), seen_at: event.occurred_at }];
  });
}

function files(organization: Organization): Row[] {
  const bySession = groups(organization.events, (event) => JSON.stringify([event.day, sessionOf(event)]));
  return [...bySession.values()].flatMap((events) => {
    const [{ day, user_id, session_id }] = events as [StoredEvent];
    return filesOf(events).map(({ path, isCreated, agent }) => ({
      day,
      user_id,
      session_id,
      path,
      agent,
      is_created: isCreated ? 1 : 0,
    }));
  });
}

/** For whom the telemetry of built days counts that names no person. */
function decidedUsers({ stored, decided, days }: Organization): Row[] {
  const rows = stored.flatMap((event, index): Row[] =>
    event.session_id !== '' && namesNoPerson(event) && days.includes(event.day)
      ? [
          {
            day: event.day,
            session_id: event.session_id,
            agent: agentOf(event),
            channel: event.text('channel'),
            named_user_id: event.user_id,
            user_id: decided[index]?.user_id ?? null,
          },
        ]
      : [],
  );
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}

/** Sessions, as far as the built days tell. */
function sessions(organization: Organization): Row[] {
  const built = organization.days
    .flatMap((day) => organization.on(day))
    .filter(({ session_id }) => session_id !== '');
  return [...groups(built, sessionOf).values()].map((events) => {
    const [{ user_id, session_id }] = events as [StoredEvent];
    const days = events.map(({ day }) => day).sort();
    return {
      user_id,
      session_id,
      start_day: days[0] ?? null,
      last_day: days.at(-1) ?? null,
      tool_calls: toolCalls(events).length,
      user_turns: userTurns(events).length,
    };
  });
}

/** The rows of a day table: one for each distinct key and agent of a built day, with what its events say. */
function perDay(
  organization: Organization,
  key: (event: StoredEvent) => Row | undefined,
  numbers: (events: readonly StoredEvent[]) => Row,
  byAgent: (event: StoredEvent) => Row = (event) => ({ agent: agentOf(event) }),
): Row[] {
  const built = organization.days.flatMap((day) => organization.on(day)).filter((event) => key(event));
  const keyOf = (event: StoredEvent) => ({
    day: event.day,
    user_id: event.user_id,
    ...key(event),
    ...byAgent(event),
  });
  return [...groups(built, (event) => JSON.stringify(keyOf(event))).values()].map((events) => {
    const [first] = events as [StoredEvent];
    return { ...keyOf(first), ...numbers(events) };
  });
}

function userSessions(organization: Organization, byAgent?: () => Row): Row[] {
  return perDay(
    organization,
    ({ session_id }) => ({ session_id }),
    (events) => ({
      events: events.length,
      tool_calls: toolCalls(events).length,
      user_turns: userTurns(events).length,
      assistant_messages: ofType(events, 'assistant_message').length,
    }),
    byAgent,
  );
}

/** The credits of one agent's calls of one user and model on one day. */
function creditsIn(calls: readonly StoredEvent[], organization: Organization): number {
  const [first] = calls as [StoredEvent];
  const usage = ofType(organization.on(first.day), 'model_usage').filter(
    ({ user_id, text }) => user_id === first.user_id && text('model') === first.text('model'),
  );
  return creditsOfAgent(usage, agentOf(first), organization);
}

function userModels(organization: Organization): Row[] {
  const { rateCard } = organization;
  return perDay(
    organization,
    ({ type, value }) => (type === 'model_usage' ? { model_id: value('model') } : undefined),
    (calls) => {
      const model = calls[0]?.text('model') ?? '';
      return {
        model_tier: tierOf(model, rateCard),
        is_on_rate_card: isOnCard(model, rateCard) ? 1 : 0,
        calls: calls.length,
        ...tokensOf(calls),
        cache_write_1h_tokens: longWritesOf(calls),
        billable_tokens: creditsIn(calls, organization),
      };
    },
  );
}

function userCosts(organization: Organization): Row[] {
  return perDay(
    organization,
    ({ type, value, text }) =>
      type === 'model_usage' ? { model_id: value('model'), repo: repoKey(text('repo') ?? '') } : undefined,
    (calls) => {
      return {
        calls: calls.length,
        ...tokensOf(calls),
        cache_write_1h_tokens: longWritesOf(calls),
        billable_tokens: creditsIn(calls, organization),
        ...costsOf(calls, organization.prices),
      };
    },
  );
}

function callCosts({ events, prices }: Organization): Row[] {
  return ofType(events, 'model_usage').map((event) => {
    const { day, event_id, occurred_at, user_id, session_id } = event;
    const tokens = { ...tokensOf([event]), cache_write_1h_tokens: longWritesOf([event]) };
    const { cost_usd, unpriced_tokens } = costsOf([event], prices);
    return {
      day,
      event_id,
      occurred_at,
      user_id,
      session_id,
      agent: event.value('agent'),
      repo: event.text('repo') === null ? null : repoKey(event.text('repo') ?? ''),
      model_id: event.text('model') ?? '',
      ...tokens,
      web_searches: event.count('web_searches'),
      reported_cost_usd: event.value('reported_cost_usd'),
      cost_usd,
      unpriced_tokens,
    };
  });
}

function userModes(organization: Organization): Row[] {
  return perDay(
    organization,
    (event) =>
      event.type === 'user_message' || toolOf(event) !== null
        ? {
            autonomy_mode: event.text('autonomy_mode') ?? '',
            autonomy_level: levelOf(event.text('autonomy_mode')) ?? 'unknown',
          }
        : undefined,
    (events) => ({ tool_calls: toolCalls(events).length, user_turns: userTurns(events).length }),
  );
}

function userTools(organization: Organization): Row[] {
  return perDay(
    organization,
    (event) => {
      const tool = toolOf(event);
      return tool === null ? undefined : { tool_key: tool.key, server_key: tool.server ?? '' };
    },
    (calls) => ({ tool_calls: calls.length, ...outcomesOf(calls) }),
  );
}

function userClients(organization: Organization): Row[] {
  return perDay(
    organization,
    ({ text }) => (text('client') === null ? undefined : { client: text('client') }),
    (events) => ({ events: events.length }),
  );
}

/** Whether a call that a hook announced never began: the next thing that hooks report of its session on that day is no new start. */
function isRefused(call: StoredEvent, stored: readonly StoredEvent[]): boolean {
  if (!isAnnounced(call) || call.session_id === '') return false;
  const later = stored
    .filter(
      (event) =>
        event.text('channel') === 'hook' &&
        ['user_message', 'session_start', 'session_end'].includes(event.type) &&
        event.day === call.day &&
        event.user_id === call.user_id &&
        event.session_id === call.session_id &&
        event.occurred_at > call.occurred_at,
    )
    .sort((one, other) => one.occurred_at - other.occurred_at);
  const [next] = later;
  return later.some((event) => event.occurred_at === next?.occurred_at && event.type !== 'session_start');
}

/** The rows of each view, in no order. */
export function viewRows(organization: Organization): Record<string, Row[]> {
  const { events } = organization;
  const plain = (type: StoredEvent['type']) =>
    ofType(events, type).map((event) => withMembers(event, OF_TYPE[type]));
  const calls = toolCalls(events).map((event) => ({
    ...withMembers(event, ['success', 'duration_ms']),
    is_stopped: event.value('is_stopped') === true,
    ...(isRefused(event, organization.stored) ? { success: false, is_stopped: true } : {}),
    tool_key: toolOf(event)?.key ?? null,
    server_key: toolOf(event)?.server ?? null,
    autonomy_level: levelOf(event.text('autonomy_mode')) ?? 'unknown',
  }));
  return {
    events: eventRows(organization),
    user_emails: emailRows(organization),
    decided_events: eventRows({ stored: organization.decided }),
    decided_users: decidedUsers(organization),
    told_memberships: organization.told
      .filter(({ day }) => organization.days.includes(day))
      .map((one) => ({ ...one })),
    user_turns: plain('user_message'),
    assistant_messages: plain('assistant_message'),
    model_usage: ofType(events, 'model_usage').map((event) => ({
      ...common(event),
      model_id: event.text('model'),
      input_tokens: event.count('input_tokens'),
      output_tokens: event.count('output_tokens'),
      cache_read_tokens: event.count('cache_read_tokens'),
      cache_write_tokens: event.count('cache_write_tokens'),
      cache_write_1h_tokens: longWritesOf([event]),
      request_id: event.text('request_id'),
      requested_model: event.text('requested_model'),
      speed: wayOf(event, 'speed'),
      service_tier: wayOf(event, 'service_tier'),
      region: wayOf(event, 'region'),
      effort: event.text('effort'),
      provider: event.text('provider'),
      plan: event.text('plan'),
      prompt_class: promptClassOf(event),
      web_searches: event.count('web_searches'),
      reported_cost_usd: event.value('reported_cost_usd'),
      is_reported: event.count('reported_cost_usd') > 0 ? 1 : 0,
      is_unsplit: isUnsplit(event) ? 1 : 0,
    })),
    tool_calls: calls,
    mcp_calls: calls.filter(({ server_key }) => server_key !== null),
    parse_artifacts: events.filter(isParseArtifact).map((event) => withMembers(event, ['tool_name'])),
    file_changes: plain('file_change'),
    files: files(organization),
    git_commits: plain('git_commit'),
    pull_requests: plain('pull_request'),
    skill_uses: ofType(events, 'skill_use').map((event) => ({
      ...common(event),
      skill_name: trimmed(event.text('skill_name') ?? ''),
    })),
    slash_commands: ofType(events, 'slash_command').map((event) => ({
      ...common(event),
      command_name: trimmed(event.text('command_name') ?? ''),
    })),
    hook_runs: plain('hook_run').map((row) => ({ ...row, matcher: row.matcher ?? '' })),
    sessions: sessions(organization),
    user_sessions: userSessions(organization),
    active_sessions: userSessions(organization, () => ({}))
      .filter(({ session_id }) => session_id !== '')
      .filter(({ tool_calls, user_turns }) => Number(tool_calls) + Number(user_turns) > 0),
    user_models: userModels(organization),
    user_costs: userCosts(organization),
    call_costs: callCosts(organization),
    user_modes: userModes(organization),
    user_tools: userTools(organization),
    user_clients: userClients(organization),
    user_agents: usersByAgent(organization).map(({ date, group_key, user_email: _, ...row }) => ({
      day: date,
      agent: group_key,
      ...row,
    })),
    active_users: organization.days.flatMap((day) =>
      organization.activeUsers(day).map((user_id) => ({ day, user_id })),
    ),
  };
}
