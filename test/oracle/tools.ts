import type { StoredEvent } from './event.js';
import { byteOrder, counted, distinct, groups, ratio } from './lists.js';
import { levelOf, toolOf, trimmed } from './names.js';
import { type Organization, ofType, outcomesOf, sessionOf, toolCalls, userTurns } from './organization.js';

/** By linear interpolation between closest ranks, each weighed by its nearness, as quantile_cont does; 0 of nothing. */
function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  const rank = (sorted.length - 1) * share;
  const below = sorted[Math.floor(rank)] ?? 0;
  const above = sorted[Math.ceil(rank)] ?? 0;
  const weight = rank - Math.floor(rank);
  return weight === 0 ? below : below * (1 - weight) + above * weight;
}

/** The calls by a part of their names, most calls first. */
function callsBy(events: readonly StoredEvent[], part: 'key' | 'server') {
  const nameOf = (event: StoredEvent) => toolOf(event)?.[part] ?? [];
  return counted(events.flatMap(nameOf)).map(({ name, count }) => ({
    name,
    count,
    ...outcomesOf(events.filter((event) => nameOf(event) === name)),
  }));
}

export function isMcpCall(event: StoredEvent): boolean {
  return (toolOf(event)?.server ?? null) !== null;
}

function byName(events: readonly StoredEvent[], member: string) {
  return counted(events.map((event) => trimmed(event.text(member) ?? '')));
}

function byHook(runs: readonly StoredEvent[]) {
  const of = (run: StoredEvent) => [
    run.text('hook_event') ?? '',
    run.text('matcher') ?? '',
    run.text('command') ?? '',
  ];
  return [...groups(runs, (run) => JSON.stringify(of(run))).values()]
    .map((same) => {
      const [event = '', matcher = '', command = ''] = same.slice(0, 1).flatMap(of);
      return { event, matcher, command, count: same.length };
    })
    .sort(
      (one, other) =>
        other.count - one.count ||
        byteOrder(one.event, other.event) ||
        byteOrder(one.matcher, other.matcher) ||
        byteOrder(one.command, other.command),
    );
}

/** Of the active sessions with at least one user turn. */
function autonomyRatios(events: readonly StoredEvent[]): number[] {
  return [...groups(events, sessionOf).values()]
    .filter((session) => userTurns(session).length > 0)
    .map((session) => toolCalls(session).length / userTurns(session).length);
}

function levelShares(events: readonly StoredEvent[]) {
  const levels = toolCalls(events).flatMap((event) => levelOf(event.text('autonomy_mode')) ?? []);
  const share = (level: string) => ratio(levels.filter((one) => one === level).length, levels.length);
  return {
    auto_high: share('auto_high'),
    auto_medium: share('auto_medium'),
    auto_low: share('auto_low'),
    manual: share('manual'),
  };
}

export function tools(organization: Organization) {
  return organization.days.map((date) => {
    const events = organization.on(date);
    const calls = toolCalls(events).length;
    const turns = userTurns(events).length;
    const inSessions = events.filter(({ session_id }) => session_id !== '');
    const sessions = distinct([...toolCalls(inSessions), ...userTurns(inSessions)].map(sessionOf)).length;
    const skills = ofType(events, 'skill_use');
    const commands = ofType(events, 'slash_command');
    const runs = ofType(events, 'hook_run');
    return {
      date,
      tool_calls: calls,
      ...outcomesOf(toolCalls(events)),
      by_tool: callsBy(events, 'key').map(({ name, count, ...outcomes }) => ({
        tool: name,
        invocations: count,
        ...outcomes,
      })),
      mcp_users_with_mcp: distinct(events.filter(isMcpCall).map(({ user_id }) => user_id)).length,
      mcp_by_server: callsBy(events, 'server').map(({ name, count, ...outcomes }) => ({
        server: name,
        invocations: count,
        ...outcomes,
      })),
      skills_invocations: skills.length,
      skills_by_name: byName(skills, 'skill_name'),
      slash_commands_invocations: commands.length,
      slash_commands_by_name: byName(commands, 'command_name'),
      hooks_invocations: runs.length,
      hooks_by_event: byHook(runs),
      web_users: distinct(
        events.filter((event) => event.text('client') === 'web').map(({ user_id }) => user_id),
      ).length,
      autonomy_ratio_avg: ratio(calls, turns),
      autonomy_ratio_p50: percentile(autonomyRatios(inSessions), 0.5),
      autonomy_ratio_p90: percentile(autonomyRatios(inSessions), 0.9),
      tool_calls_per_session_avg: ratio(toolCalls(inSessions).length, sessions),
      user_turns_per_session_avg: ratio(userTurns(inSessions).length, sessions),
      tool_autonomy_level_ratio: levelShares(events),
    };
  });
}

export function toolsByAutonomyLevel(organization: Organization) {
  return organization.days.flatMap((date) =>
    counted(
      toolCalls(organization.on(date)).map((event) => levelOf(event.text('autonomy_mode')) ?? 'unknown'),
    ).map(({ name, count }) => ({ date, group_key: name, tool_calls: count })),
  );
}

export function toolsByToolName(organization: Organization) {
  return organization.days.flatMap((date) =>
    callsBy(organization.on(date), 'key').map(({ name, count, ...outcomes }) => ({
      date,
      group_key: name,
      tool_calls: count,
      ...outcomes,
    })),
  );
}
