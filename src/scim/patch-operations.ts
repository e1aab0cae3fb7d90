import { Messages, Types } from 'scimmy';
import { z } from 'zod';
import { ScimError } from '../api/errors.js';
import { isObject } from '../input/json-object.js';
import { type Attributes, checked, memberIdsOf, refusalOf, truthOf } from './scim-body.js';
import { conditionOf } from './scim-filter.js';
import { attributesOf, GroupSchema, pathsOf, type ResourceSchema, UserSchema } from './scim-schemas.js';

const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** How many operations a request can have. */
const OPERATIONS_AT_MOST = 1000;

export const PatchBody = z.looseObject({
  Operations: z
    .array(
      z.looseObject({
        op: z
          .string()
          .toLowerCase()
          .pipe(z.enum(['add', 'remove', 'replace'], 'must be add, remove or replace')),
        path: z.string().max(1000).nullish(),
        value: z.unknown().optional(),
      }),
    )
    .min(1)
    .max(OPERATIONS_AT_MOST),
});
export type PatchBody = z.infer<typeof PatchBody>;

/** An operation on one attribute, or on a part of it. */
interface Operation {
  readonly op: 'add' | 'remove' | 'replace';
  /** Its name, and that of its part after a dot, in lower case. */
  readonly attribute: string;
  /** In brackets. */
  readonly condition: string | undefined;
  readonly part: string | undefined;
  readonly value: unknown;
}

const PATH = /^(\w+)(?:\[([^[\]]*)\])?(?:\.(\w+))?$/;

/**
 * The operations of a body, each with the path of one attribute: those without a path, and Entra's values named by paths, are taken apart.
 * Attributes that Daybook doesn't keep are left out.
 */
function operationsOf(schema: ResourceSchema, { Operations }: PatchBody): Operation[] {
  const names = attributesOf(schema);
  const paths = pathsOf(schema);
  const apart = (op: Operation['op'], path: string, value: unknown): Operation[] => {
    const own = path.toLowerCase().startsWith(`${schema.id}:`.toLowerCase())
      ? path.slice(schema.id.length + 1)
      : path;
    const [name = ''] = /^[\w$]+/.exec(own.toLowerCase()) ?? [];
    if (!names.has(name)) return [];
    const [, attribute, condition, part] = PATH.exec(own) ?? [];
    if (attribute === undefined)
      throw new ScimError(
        400,
        'invalidPath',
        `The path ${path.slice(0, 100)} is none: use one such as emails[type eq "work"].value.`,
      );
    if (name === 'name' && part === undefined && isObject(value))
      return Object.entries(value).flatMap(([inner, one]) => apart(op, `name.${inner}`, one));
    if (part !== undefined && !paths.has(`${name}.${part.toLowerCase()}`)) return [];
    return [{ op, attribute: name, condition, part: part?.toLowerCase(), value }];
  };
  return Operations.flatMap(({ op, path, value }) => {
    if (path) return apart(op, path, value);
    if (isObject(value) && op !== 'remove')
      return Object.entries(value).flatMap(([name, one]) => apart(op, name, one));
    throw new ScimError(
      400,
      'noTarget',
      'An operation without a path must add or replace the members of an object.',
    );
  });
}

/** The attributes of a user after a request of PATCH. Throws a ScimError. */
export async function patchedUser(before: Attributes, body: PatchBody): Promise<Attributes> {
  return applied(UserSchema, before, operationsOf(UserSchema, body));
}

/** The attributes and the members of a group after a request of PATCH. Throws a ScimError. */
export async function patchedGroup(
  before: Attributes,
  members: ReadonlySet<string>,
  body: PatchBody,
): Promise<{ attributes: Attributes; members: ReadonlySet<string> }> {
  const operations = operationsOf(GroupSchema, body);
  const others = operations.filter(({ attribute }) => attribute !== 'members');
  // A group can have thousands of members: they are never copied for the library.
  const after = new Set(members);
  for (const operation of operations) if (operation.attribute === 'members') changeMembers(after, operation);
  return { attributes: await applied(GroupSchema, before, others), members: after };
}

function changeMembers(members: Set<string>, { op, condition, value }: Operation): void {
  const [, named] = /^\s*value\s+eq\s+"([^"\\]*)"\s*$/i.exec(condition ?? '') ?? [];
  if (condition !== undefined && (named === undefined || op !== 'remove'))
    throw new ScimError(
      400,
      'invalidPath',
      'A path of members must be members, or members[value eq "<id>"] to remove one.',
    );
  const ids = named === undefined ? memberIdsOf(value) : [named];
  // Okta names the member in the path, Entra in the value.
  const isOfAll = named === undefined && (value === undefined || value === null);
  if (op === 'replace' || (op === 'remove' && isOfAll)) members.clear();
  for (const id of ids) {
    if (op === 'remove') members.delete(id);
    else members.add(id);
  }
}

async function applied(
  schema: ResourceSchema,
  before: Attributes,
  operations: readonly Operation[],
): Promise<Attributes> {
  let attributes = before;
  // One by one, since what a path finds depends on the operations before.
  for (const operation of operations) {
    const { op, path, value } = mended(attributes, operation);
    try {
      const patch = new Messages.PatchOp({ schemas: [PATCH], Operations: [{ op, path, value }] });
      const after: object | undefined = await patch.apply(new schema(attributes));
      if (after !== undefined) attributes = checked(() => after);
    } catch (error) {
      throw error instanceof ScimError ? error : refusalOf(error);
    }
  }
  return attributes;
}

/**
 * An operation as the library reads it. Where Entra sets a part of an address that isn't there, it adds the address.
 * TRICKY: the library makes a filter of the values that are removed, and of the condition in a path: neither may be a client's text.
 */
function mended(attributes: Attributes, { op, attribute, condition, part, value: given }: Operation) {
  const value = attribute === 'active' || part === 'primary' ? truthOf(given) : given;
  const path = `${attribute}${condition === undefined ? '' : `[${condition}]`}${part === undefined ? '' : `.${part}`}`;
  const list = Array.isArray(attributes[attribute]) ? attributes[attribute] : [];
  if (condition === undefined) {
    if (op !== 'remove') return { op, path, value };
    const removed = [value].flat().map((one) => (isObject(one) ? one.value : one));
    const left = list.filter((one) => isObject(one) && !removed.includes(one.value));
    return Array.isArray(value) ? { op: 'replace' as const, path, value: left } : { op, path };
  }
  const wanted = conditionOf(condition);
  const found = new Types.Filter([wanted]).match(list);
  if (op === 'remove' || found.length > 0) return { op, path, value };
  const equal = Object.entries(wanted).map(([name, [, expected]]) => [name, expected]);
  const whole = part === undefined ? (isObject(value) ? value : {}) : { [part]: value };
  return { op: 'add' as const, path: attribute, value: [{ ...Object.fromEntries(equal), ...whole }] };
}
