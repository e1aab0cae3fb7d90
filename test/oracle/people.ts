import type { StoredEvent } from './event.js';
import { byteOrder, groups } from './lists.js';

/** docs/people.md: for whom events count, and what these people belong to. */

const KINDS = ['team', 'cost_center'] as const;
type Kind = (typeof KINDS)[number];

/** A team or cost centre of a person from a day to a day. */
export interface Belonging {
  readonly userId: string;
  readonly kind: Kind;
  readonly name: string;
  readonly firstDay: string;
  readonly lastDay: string;
}

/** Who the users of an organization are. */
export interface People {
  /** The persons by their other names. */
  readonly aliases: Readonly<Record<string, string>>;
  readonly belongings: readonly Belonging[];
  /** The names that the table of groups has; undefined if no owner lets events tell teams. */
  readonly closedNames?: Readonly<Record<Kind, readonly string[]>> | undefined;
}

export const NOBODY: People = { aliases: {}, belongings: [] };

/** An event as it counts on a built day: for the person. */
export function ofPerson(event: StoredEvent, { aliases }: People): StoredEvent {
  const user_id = Object.hasOwn(aliases, event.user_id) ? (aliases[event.user_id] ?? '') : event.user_id;
  return { ...event, user_id };
}

/** What the events of somebody on a day tell. */
export interface Told {
  readonly day: string;
  readonly user_id: string;
  readonly kind: Kind;
  readonly name: string;
}

/** The value that most events have of a member, of equals the first one. */
function mostTold(events: readonly StoredEvent[], member: string): string | undefined {
  const names = events
    .map((event) => (event.text(member) ?? '').trim())
    .filter((name) => name !== '' && !name.startsWith('('));
  const [first] = [...groups(names, (name) => name)].sort(
    ([one, { length }], [other, { length: others }]) => others - length || byteOrder(one, other),
  );
  return first?.[0];
}

/** What the events of persons tell on their days. */
export function toldBy(events: readonly StoredEvent[]): Told[] {
  const known = events.filter(({ user_id }) => user_id !== 'unknown');
  return [...groups(known, ({ day, user_id }) => JSON.stringify([day, user_id])).values()].flatMap((own) => {
    const { day, user_id } = own[0] as StoredEvent;
    const names = {
      team: mostTold(own, 'team') ?? mostTold(own, 'department'),
      cost_center: mostTold(own, 'cost_center'),
    };
    return KINDS.flatMap((kind) => {
      const name = names[kind];
      return name === undefined ? [] : [{ day, user_id, kind, name }];
    });
  });
}

/** What a person belongs to on a day. */
export function belongingsOf(
  { user_id, day }: Pick<StoredEvent, 'user_id' | 'day'>,
  { belongings, closedNames }: People,
  told: readonly Told[],
): Record<Kind, string> {
  const nameOf = (wanted: Kind) => {
    const ofKind = belongings.filter(({ kind }) => kind === wanted);
    const listed = ofKind.find(
      ({ userId, firstDay, lastDay }) => userId === user_id && firstDay <= day && day <= lastDay,
    );
    if (listed !== undefined || closedNames === undefined) return listed?.name ?? '';
    const closed = [...closedNames[wanted], ...ofKind.map(({ name }) => name)];
    const own = told.find((one) => one.day === day && one.user_id === user_id && one.kind === wanted);
    return own === undefined || closed.includes(own.name) ? '' : own.name;
  };
  return { team: nameOf('team'), cost_center: nameOf('cost_center') };
}
