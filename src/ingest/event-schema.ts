import { z } from 'zod';
import { COMMON, FIRST_MS, type Member, type Members, MOST_MS, RFC3339, TYPES } from './event-members.js';

/** The declared members as schemas of the OpenAPI document. */

const Instant = z.union([
  z.string().regex(RFC3339).meta({ format: 'date-time' }),
  z.int().min(FIRST_MS).max(MOST_MS),
]);

function valueSchema(member: Member): z.ZodType {
  switch (member.kind) {
    case 'instant':
      return Instant;
    case 'integer':
      return z.int().min(member.min).max(member.max);
    case 'decimal':
      return z.number().min(member.min).max(member.max);
    case 'boolean':
      return z.boolean();
    case 'text': {
      const { max, values, pattern, isCommand, isEmptyInLogs } = member;
      const min = isEmptyInLogs === true ? undefined : member.min;
      if (values !== undefined) return z.enum(values);
      if (pattern !== undefined) return z.string().regex(new RegExp(`^${pattern[0]}$`));
      // A slash alone is no name.
      const any = isCommand === true ? z.string().regex(/^(?![ \t\n\f\r]*\/$)/) : z.string();
      const text = min === undefined ? any : any.min(min);
      return max === undefined ? text : text.max(max);
    }
  }
}

function schemaOf(member: Member): z.ZodType {
  const schema = valueSchema(member);
  return (member.isRequired === true ? schema : schema.nullish()).meta({
    examples: [member.example],
    ...(member.about === undefined ? {} : { description: member.about.replaceAll('`', '') }),
  });
}

function schemasOf(members: Members): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, schemaOf(member)]));
}

const { type: _, ...common } = schemasOf(COMMON);
const EventMembers = z
  .looseObject(common)
  .meta({ id: 'EventMembers', description: 'what events of every type have' });

const Event = z
  .intersection(
    EventMembers,
    z.union(
      Object.entries(TYPES).map(([type, own]) => z.looseObject({ type: z.literal(type), ...schemasOf(own) })),
    ),
  )
  .meta({ id: 'Event', description: "an event; members that its type doesn't have are ignored" });

const EXAMPLE = [
  {
    event_id: '01JWN2',
    type: 'tool_call',
    timestamp: '2026-06-01T09:30:00.250Z',
    user_id: 'ada',
    session_id: 's-1',
    client: 'terminal-ui',
    autonomy_mode: 'auto-low',
    tool_name: 'Edit',
    success: true,
  },
];

/** The request bodies for events, by media type. */
export const EVENT_BODIES = {
  'application/x-ndjson': z.string().meta({
    description: 'one event per line, each like an element of the array in application/json',
    examples: [EXAMPLE.map((event) => `${JSON.stringify(event)}\n`).join('')],
  }),
  'application/json': z.array(Event).meta({ examples: [EXAMPLE] }),
};
