import { z } from 'zod';
import { ScimError, type ScimType } from '../api/errors.js';
import { isObject } from '../input/json-object.js';
import { nameText } from '../input/name-text.js';
import { UserId } from '../store/state/person.js';
import { ScimProfile } from '../store/state/scim-users.js';
import { attributesOf, GroupSchema, type ResourceSchema, UserSchema } from './scim-schemas.js';

/** The attributes of a resource as plain JSON. */
export type Attributes = Readonly<Record<string, unknown>>;

const ExternalId = z.union([z.literal(''), UserId]).default('');

const User = z
  .object({ userName: UserId, externalId: ExternalId, active: z.boolean().default(true) })
  .extend(ScimProfile.shape);
export type UserBody = Readonly<z.infer<typeof User>>;

const Group = z.object({ displayName: nameText(256), externalId: ExternalId });
export type GroupBody = Readonly<z.infer<typeof Group>>;

const Members = z.array(z.looseObject({ value: z.string().max(128) }));

/** A user as a body or a patched resource has it. Throws a ScimError. */
export function userOf(attributes: Attributes): UserBody {
  const user = parsed(User, kept(UserSchema, attributes));
  const emails = user.emails && [...new Map(user.emails.map((email) => [email.value, email])).values()];
  return { ...user, emails };
}

/** A group, without its members. Throws a ScimError. */
export function groupOf({ members: _, ...attributes }: Attributes): GroupBody {
  return parsed(Group, kept(GroupSchema, attributes));
}

/** The ids in a list of members; a single one needs no list. Throws a ScimError. */
export function memberIdsOf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  return parsed(Members, Array.isArray(value) ? value : [value]).map((member) => member.value);
}

/** A truth value. Entra writes it as text: "False". */
export function truthOf(value: unknown): unknown {
  const [text] = typeof value === 'string' ? (/^(true|false)$/i.exec(value) ?? []) : [];
  return text === undefined ? value : text.toLowerCase() === 'true';
}

/** The attributes that Daybook keeps, by the schema's names, without those that are null. Throws a ScimError. */
function kept(schema: ResourceSchema, attributes: Attributes): Attributes {
  const names = attributesOf(schema);
  const own = Object.entries(attributes)
    .map(([name, value]) => [name.toLowerCase(), mended(name.toLowerCase(), value)] as const)
    .filter(([name, value]) => (names.has(name) || name === 'schemas') && value !== null);
  return checked(() => new schema(Object.fromEntries(own), 'in'));
}

function mended(name: string, value: unknown): unknown {
  if (name === 'active') return truthOf(value);
  if (name !== 'emails' || !Array.isArray(value)) return value;
  return value.map((email) =>
    isObject(email) && 'primary' in email ? { ...email, primary: truthOf(email.primary) } : email,
  );
}

/** A resource of the library as plain JSON; its errors become ScimErrors. */
export function checked(make: () => object): Attributes {
  try {
    return JSON.parse(JSON.stringify(make()));
  } catch (error) {
    throw refusalOf(error);
  }
}

/** What the library throws for a client's fault, as an error in a sentence. */
export function refusalOf(error: unknown): ScimError {
  const { message, scimType = 'invalidValue' } = error as Error & { scimType?: ScimType };
  return new ScimError(400, scimType, `Correct the body: ${message.slice(0, 300).replace(/\.?$/, '.')}`);
}

function parsed<T>(form: z.ZodType<T>, value: unknown): T {
  const { data, error } = form.safeParse(value);
  if (error === undefined) return data;
  const [issue] = error.issues;
  const name = issue?.path.join('.') ?? '';
  throw new ScimError(400, 'invalidValue', `The attribute ${name || 'members'} ${issue?.message}.`);
}
