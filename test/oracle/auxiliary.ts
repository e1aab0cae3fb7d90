import type { StoredEvent, Value } from './event.js';
import { byteOrder, groups, sum } from './lists.js';

/** docs/quality.md, "Auxiliary calls": what a transcript states beyond its answers, as far as nothing else that counts has told it. */

const COUNTERS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'web_searches',
] as const;
type Counters = Readonly<Record<(typeof COUNTERS)[number], number>>;

const WEEK_MS = 7 * 86_400_000;
const AFTERWARDS_MS = 10_000;

const agentOf = (event: StoredEvent) => event.text('agent') ?? '';

/** Whether a usage happened in a run that an event states: on its day or before it. */
function isInRun(usage: StoredEvent, statement: StoredEvent): boolean {
  const before = statement.occurred_at - usage.occurred_at;
  return usage.day <= statement.day && before >= -AFTERWARDS_MS && before <= statement.count('duration_ms');
}

/** Whether a usage can be part of what a session states. Answers of the transcript itself aren't stated. */
function isTold(usage: StoredEvent, { session_id, ...statement }: StoredEvent): boolean {
  return (
    usage.type === 'model_usage' &&
    (usage.text('channel') !== 'log' || usage.text('agent_id') !== null) &&
    agentOf(usage) === (statement.text('agent') ?? '') &&
    [session_id, ''].includes(usage.session_id)
  );
}

function totals(events: readonly StoredEvent[]): Counters {
  return Object.fromEntries(
    COUNTERS.map((name) => [name, sum(events.map((event) => event.count(name)))]),
  ) as Counters;
}

/** The calls of a model that an event stands for, as a usage. */
function asUsage(event: StoredEvent, rest: Counters): StoredEvent {
  const value = (member: string): Value =>
    member === 'is_sum' ? true : (rest[member as keyof Counters] ?? event.value(member));
  return {
    ...event,
    type: 'model_usage',
    value,
    text: (member) => (value(member) === null ? null : String(value(member))),
    count: (member) => Number(value(member) ?? 0),
  };
}

/** Events that count, with auxiliary calls as usage: the last event of a session, day and model has them. */
export function withAuxiliaryCalls(counted: readonly StoredEvent[]): StoredEvent[] {
  const statements = counted.filter(
    (event) =>
      event.type === 'other_usage' && event.session_id !== '' && event.count('duration_ms') < WEEK_MS,
  );
  const usages = new Map<StoredEvent, StoredEvent>();
  const sessions = groups(statements, (event) =>
    JSON.stringify([event.day, event.session_id, agentOf(event)]),
  );
  for (const own of sessions.values()) {
    const [first] = own as [StoredEvent];
    const told = counted.filter(
      (usage) => isTold(usage, first) && own.some((statement) => isInRun(usage, statement)),
    );
    const ofSession = [totals(own), totals(told)] as const;
    for (const [model, stated] of groups(own, (event) => event.text('model') ?? '')) {
      const toldOfModel = told.filter(
        (usage) => (usage.text('requested_model') ?? usage.text('model')) === model,
      );
      const ofModel = [totals(stated), totals(toldOfModel)] as const;
      const rest = Object.fromEntries(
        COUNTERS.map((name) => {
          const left = [ofModel, ofSession].map(([all, other]) => all[name] - other[name]);
          return [name, Math.max(0, Math.min(...left))];
        }),
      ) as Counters;
      const [last] = [...stated].sort(
        (one, other) => other.occurred_at - one.occurred_at || byteOrder(other.event_id, one.event_id),
      );
      if (last !== undefined && rest.input_tokens + rest.cache_read_tokens + rest.cache_write_tokens > 0)
        usages.set(last, asUsage(last, rest));
    }
  }
  return counted.map((event) => usages.get(event) ?? event);
}
