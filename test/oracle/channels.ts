import { CHANNELS, channelRank, isAnnounced, type StoredEvent, type Type } from './event.js';
import { daysBefore } from './lists.js';
import { ofPerson, type People } from './people.js';

/** Which events give way to those of a better channel (docs/quality.md, "Events of several channels"). */

const FAMILIES: readonly (readonly Type[])[] = [
  ['model_usage'],
  ['user_message', 'slash_command'],
  ['assistant_message'],
  ['tool_call', 'skill_use'],
  ['file_change'],
  ['git_commit'],
  ['pull_request'],
  ['hook_run'],
];
/** Any event of a session tells that it started. */
const OF_SESSIONS: readonly Type[] = ['session_start', 'session_end'];

const isOf = (agents: readonly string[], event: StoredEvent) => agents.includes(event.text('agent') ?? '');

/** The place of an event's channel. A log of a session's usage without requests has its total: it comes after spans, and before metrics. */
function rankOf(event: StoredEvent): number {
  const isTotal = isOfSession(event) && event.text('channel') === 'log' && event.text('request_id') === null;
  return isTotal ? CHANNELS.indexOf('otlp_span') + 0.5 : channelRank(event);
}

/** Whether it is compared over its whole session. */
function isOfSession(event: StoredEvent): boolean {
  return event.type === 'model_usage' && isOf(['droid', 'copilot-chat', 'copilot-cli', 'cursor'], event);
}

function isNear(one: StoredEvent, other: StoredEvent): boolean {
  return [one.day, daysBefore(one.day, 1), daysBefore(one.day, -1)].includes(other.day);
}

/** Whether its id can be the same in several channels. */
function hasSharedId({ type }: StoredEvent): boolean {
  return ['user_message', 'tool_call', 'skill_use', 'file_change', 'git_commit', 'pull_request'].includes(
    type,
  );
}

/** Whether it is telemetry's reply to a request whose usage is in a transcript. */
function isLoggedReply(event: StoredEvent, other: StoredEvent): boolean {
  const request = /^message:otlp:(.+)$/s.exec(event.event_id)?.[1];
  return (
    request !== undefined &&
    event.type === 'assistant_message' &&
    other.type === 'model_usage' &&
    other.text('channel') === 'log' &&
    other.text('request_id') === request &&
    channelRank(event) >= CHANNELS.indexOf('otlp_log') &&
    isNear(event, other)
  );
}

/** Whether it is of a vendor's report of a day, which names no session. */
function isReport(event: StoredEvent): boolean {
  return event.text('channel') === 'vendor_api' && event.session_id === '';
}

/** Whether it is a metric that names no session, and gives way to what a better channel tells of its user's agent on that day. */
function isToldBetter(event: StoredEvent, other: StoredEvent): boolean {
  return (
    event.text('channel') === 'otlp_metric' &&
    event.session_id === '' &&
    (event.text('agent') ?? '') !== 'cursor' &&
    channelRank(other) < channelRank(event) &&
    event.day === other.day &&
    event.user_id === other.user_id &&
    (event.text('agent') ?? '') === (other.text('agent') ?? '') &&
    FAMILIES.some((family) => family.includes(event.type) && family.includes(other.type))
  );
}

/** Whether an event gives way to another of the same organization. */
function givesWay(event: StoredEvent, other: StoredEvent): boolean {
  const request = event.type === other.type ? event.text('request_id') : null;
  const isSameRequest = request !== null && other.text('request_id') === request && isNear(event, other);
  if (
    isSameRequest &&
    channelRank(event) >= CHANNELS.indexOf('otlp_log') &&
    channelRank(other) < channelRank(event)
  )
    return true;
  if (isLoggedReply(event, other)) return true;
  const isSame = event.type === other.type && hasSharedId(event) && event.event_id === other.event_id;
  const difference =
    channelRank(other) - channelRank(event) || Number(isAnnounced(other)) - Number(isAnnounced(event));
  if (isSame && isNear(event, other) && difference < 0) return true;
  const goesByRequest = request !== null && isOf(['claude-code', 'copilot-cli', 'qwen-code'], event);
  if (!goesByRequest && isToldBetter(event, other)) return true;
  return (
    !goesByRequest &&
    (event.text('agent') ?? '') === (other.text('agent') ?? '') &&
    event.session_id === other.session_id &&
    // Events that name no session are compared with those of their user.
    (event.session_id !== '' || event.user_id === other.user_id) &&
    (event.day === other.day || (isOfSession(event) && !isReport(event))) &&
    (OF_SESSIONS.includes(event.type)
      ? channelRank(other) < channelRank(event)
      : FAMILIES.some((family) => family.includes(event.type) && family.includes(other.type)) &&
        rankOf(other) < rankOf(event))
  );
}

/** Whether a vendor's report of a day gives way to another event of the same person, agent and day. */
function isKnownBetter(event: StoredEvent, other: StoredEvent, people: People): boolean {
  return (
    isReport(event) &&
    other.text('channel') !== 'vendor_api' &&
    event.day === other.day &&
    (event.text('agent') ?? '') === (other.text('agent') ?? '') &&
    ofPerson(event, people).user_id === ofPerson(other, people).user_id &&
    (event.type !== 'model_usage' || ['model_usage', 'other_usage'].includes(other.type))
  );
}

/** The events that count. */
export function countedEvents(events: readonly StoredEvent[], people: People): StoredEvent[] {
  return events.filter(
    (event) => !events.some((other) => givesWay(event, other) || isKnownBetter(event, other, people)),
  );
}
