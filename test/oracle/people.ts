import type { StoredEvent } from './event.js';

/** docs/people.md: for whom events count, and what these people belong to. */

/** A team or cost centre of a person from a day to a day. */
export interface Belonging {
  readonly userId: string;
  readonly kind: 'team' | 'cost_center';
  readonly name: string;
  readonly firstDay: string;
  readonly lastDay: string;
}

/** Who the users of an organization are. */
export interface People {
  /** The persons by their other names. */
  readonly aliases: Readonly<Record<string, string>>;
  readonly belongings: readonly Belonging[];
}

export const NOBODY: People = { aliases: {}, belongings: [] };

/** An event as it counts on a built day: for the person, who belongs to something on that day. */
export function ofPerson(event: StoredEvent, { aliases, belongings }: People): StoredEvent {
  const user_id = Object.hasOwn(aliases, event.user_id) ? (aliases[event.user_id] ?? '') : event.user_id;
  const nameOf = (wanted: Belonging['kind']) =>
    belongings.find(
      ({ userId, kind, firstDay, lastDay }) =>
        userId === user_id && kind === wanted && firstDay <= event.day && event.day <= lastDay,
    )?.name ?? '';
  return { ...event, user_id, belongs_to: { team: nameOf('team'), cost_center: nameOf('cost_center') } };
}
