import type { StoredEvent } from './event.js';
import { distinct } from './lists.js';

/** docs/otlp.md, "Telemetry beside transcripts": for whom telemetry counts that names no person. */

const TELEMETRY = ['otlp_log', 'otlp_span', 'otlp_metric'];

export function namesNoPerson(event: StoredEvent): boolean {
  return (
    TELEMETRY.includes(event.text('channel') ?? '') &&
    (event.user_id === 'unknown' || event.value('is_installation') === true)
  );
}

function isTranscript(event: StoredEvent): boolean {
  return event.text('channel') === 'log' && event.user_id !== 'unknown';
}

/** The id of a call that the transcripts of an agent name as well as its telemetry. */
function callOf(event: StoredEvent): string | null {
  const isNamed = ['claude-code', 'qwen-code'].includes(event.text('agent') ?? '');
  return event.type === 'model_usage' && isNamed ? event.text('request_id') : null;
}

function userOf(event: StoredEvent, events: readonly StoredEvent[]): string {
  if (event.session_id === '' || !namesNoPerson(event)) return event.user_id;
  const ofSession = events.filter(
    (other) =>
      other.session_id === event.session_id && (other.text('agent') ?? '') === (event.text('agent') ?? ''),
  );
  const calls = ofSession
    .filter((other) => namesNoPerson(other) && other.user_id === event.user_id)
    .map(callOf)
    .filter((call) => call !== null);
  const users = distinct(
    ofSession
      .filter((other) => isTranscript(other) && (calls.length === 0 || calls.includes(callOf(other) ?? '')))
      .map(({ user_id }) => user_id),
  );
  return users.length === 1 ? (users[0] ?? event.user_id) : event.user_id;
}

/** The events, each with the user for whom it counts: what is decided of closed days, by their events. */
export function decidedEvents(
  events: readonly StoredEvent[],
  isClosed: (event: StoredEvent) => boolean,
): StoredEvent[] {
  const closed = events.filter(isClosed);
  return events.map((event) => (isClosed(event) ? { ...event, user_id: userOf(event, closed) } : event));
}
