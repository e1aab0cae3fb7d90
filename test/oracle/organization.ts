import { withAuxiliaryCalls } from './auxiliary.js';
import { countedEvents } from './channels.js';
import type { RateCard } from './credits.js';
import { type SentEvent, type StoredEvent, storedEvents } from './event.js';
import { byteOrder, daysBefore, distinct, groups } from './lists.js';
import { type LanguageTable, toolNameOf } from './names.js';
import { belongingsOf, NOBODY, ofPerson, type People, type Told, toldBy } from './people.js';
import type { PriceList } from './prices.js';
import { decidedEvents } from './session-users.js';

/** What the numbers depend on besides the events. */
export interface Circumstances {
  readonly rateCard: RateCard;
  readonly prices: PriceList;
  readonly languages: LanguageTable;
  /** Nobody is known where they are left out. */
  readonly people?: People;
  /** Unix milliseconds. */
  readonly now: number;
  /** The days that are asked for, both included; all where they are left out. */
  readonly from?: string;
  readonly to?: string;
}

/** A session is identified by its user and its id. */
export function sessionOf(event: StoredEvent): string {
  return JSON.stringify([event.user_id, event.session_id]);
}

/** The agent that an event names; '' if it names none. */
export function agentOf(event: StoredEvent): string {
  return event.text('agent') ?? '';
}

/** Whom something counts for that several events tell of: the last of their agents by name. */
export function lastAgentOf(events: readonly StoredEvent[]): string {
  return events.map(agentOf).sort(byteOrder).at(-1) ?? '';
}

/** One organization: its events, and the words that all families share. */
export class Organization {
  /** All that are stored. */
  readonly stored: readonly StoredEvent[];
  /** The same, each with the user for whom it counts. */
  readonly decided: readonly StoredEvent[];
  /** Which teams and cost centres they tell. */
  readonly told: readonly Told[];
  /** Those that count. On days that aren't over all do: that others tell the same is found out when a day is built. */
  readonly counted: readonly StoredEvent[];
  /** The same, with auxiliary calls as usage. */
  readonly events: readonly StoredEvent[];
  readonly rateCard: RateCard;
  readonly prices: PriceList;
  readonly languages: LanguageTable;
  /** The days that are served: every closed day from the first event to yesterday, of those that are asked for. */
  readonly days: readonly string[];
  private readonly eventsByDay: ReadonlyMap<string, readonly StoredEvent[]>;

  constructor(sent: readonly SentEvent[], circumstances: Circumstances) {
    const today = new Date(circumstances.now).toISOString().slice(0, 10);
    this.stored = storedEvents(sent);
    const isClosed = ({ day }: StoredEvent) => day < today;
    const { people = NOBODY } = circumstances;
    const decided = decidedEvents(this.stored, isClosed);
    const persons = new Map(
      decided.map((event) => [event, isClosed(event) ? ofPerson(event, people) : event]),
    );
    this.told = toldBy([...persons.values()].filter(isClosed));
    const toldOn = groups(this.told, ({ day, user_id }) => JSON.stringify([day, user_id]));
    for (const [event, person] of persons) {
      const told = toldOn.get(JSON.stringify([person.day, person.user_id])) ?? [];
      if (isClosed(event)) persons.set(event, { ...person, belongs_to: belongingsOf(person, people, told) });
    }
    const known = (event: StoredEvent) => persons.get(event) ?? event;
    this.decided = decided.map(known);
    const closed = countedEvents(decided.filter(isClosed), people).map(known);
    const open = decided.filter((event) => !isClosed(event));
    this.counted = [...closed, ...open];
    this.events = [...withAuxiliaryCalls(closed), ...open];
    this.rateCard = circumstances.rateCard;
    this.prices = circumstances.prices;
    this.languages = circumstances.languages;
    this.eventsByDay = groups(this.events, ({ day }) => day);
    const [first] = this.stored.map(({ day }) => day).sort();
    const days: string[] = [];
    if (first !== undefined) {
      for (let day = daysBefore(today, 1); day >= first; day = daysBefore(day, 1)) days.unshift(day);
    }
    const { from = '', to = today } = circumstances;
    this.days = days.filter((day) => from <= day && day <= to);
  }

  on(day: string): readonly StoredEvent[] {
    return this.eventsByDay.get(day) ?? [];
  }

  daysWithEvents(): string[] {
    return this.days.filter((day) => this.on(day).length > 0);
  }

  /** Users with at least one event of any type on one of the days. */
  activeUsers(...days: string[]): string[] {
    return distinct(days.flatMap((day) => this.on(day)).map(({ user_id }) => user_id)).sort(byteOrder);
  }

  /** The sessions, by key, whose earliest event of any type is on that day. */
  sessionsStartedOn(day: string): string[] {
    const before = new Set(this.events.filter((event) => event.day < day).map(sessionOf));
    const named = this.on(day).filter(({ session_id }) => session_id !== '');
    return distinct(named.map(sessionOf)).filter((session) => !before.has(session));
  }

  /** The e-mail with the latest timestamp of all that is stored, of equals the greater. */
  emailOf(user: string): string | null {
    return this.emailEventOf(user)?.text('user_email') ?? null;
  }

  /** The event that gives it. */
  emailEventOf(user: string): StoredEvent | undefined {
    const [latest] = this.stored
      .filter((event) => event.user_id === user && event.text('user_email') !== null)
      .sort(
        (one, other) =>
          other.occurred_at - one.occurred_at ||
          byteOrder(other.text('user_email') ?? '', one.text('user_email') ?? ''),
      );
    return latest;
  }
}

export function toolCalls(events: readonly StoredEvent[]): StoredEvent[] {
  return events.filter((event) => toolNameOf(event) !== null);
}

/** How many calls ended by succeeding or failing, and how many of them failed. A call that was refused or interrupted did neither. */
export function outcomesOf(calls: readonly StoredEvent[]): {
  failed_calls: number;
  calls_with_outcome: number;
} {
  const ended = calls.filter(({ value }) => value('success') !== null && value('is_stopped') !== true);
  return {
    failed_calls: ended.filter(({ value }) => value('success') === false).length,
    calls_with_outcome: ended.length,
  };
}

export function ofType(events: readonly StoredEvent[], type: StoredEvent['type']): StoredEvent[] {
  return events.filter((event) => event.type === type);
}

export function userTurns(events: readonly StoredEvent[]): StoredEvent[] {
  return ofType(events, 'user_message');
}
