import { Types } from 'scimmy';

const { Attribute, Schema, SchemaDefinition } = Types;

/** Begins the ids of the schemas (RFC 7643). */
export const URN = 'urn:ietf:params:scim:schemas:core:2.0';

const text = (name: string, description: string, more: object = {}) =>
  new Attribute('string', name, { description, ...more });
const flag = (name: string, description: string) => new Attribute('boolean', name, { description });

/** What Daybook keeps of a user. Other attributes of RFC 7643 are accepted and forgotten. */
const USER = new SchemaDefinition('User', `${URN}:User`, 'A person', [
  text('userName', 'the user id of a new person, and an alias of one who is there', {
    required: true,
    uniqueness: 'server',
  }),
  new Attribute('complex', 'name', { description: 'the name, if there is no displayName' }, [
    text('formatted', 'all of it'),
    text('familyName', 'the last name'),
    text('givenName', 'the first name'),
  ]),
  text('displayName', 'the name that is shown'),
  new Attribute(
    'complex',
    'emails',
    { multiValued: true, description: 'addresses: the primary or first one is shown, and all are aliases' },
    [
      text('value', 'the address'),
      text('type', 'such as work'),
      flag('primary', 'whether it is the one that is shown'),
    ],
  ),
  flag('active', 'false: the person can neither sign in nor use keys, and leaves team and cost centre'),
]);

/** What Daybook keeps of a group. */
const GROUP = new SchemaDefinition(
  'Group',
  `${URN}:Group`,
  'A group, which can stand for a team or cost centre',
  [
    text('displayName', 'the name in the table people.groups of the enterprise controls', {
      required: true,
      uniqueness: 'server',
    }),
    new Attribute('complex', 'members', { multiValued: true, description: 'the users in the group' }, [
      text('value', 'the id of the user'),
      text('display', 'the userName of the user'),
    ]),
  ],
);

/** A user that keeps to the schema. */
export class UserSchema extends Schema {
  static override get id() {
    return USER.id;
  }

  static override get definition() {
    return USER;
  }

  constructor(data: unknown, direction = 'both') {
    super(data, direction);
    Object.assign(this, USER.coerce(data, direction));
  }
}

/** A group that keeps to the schema. */
export class GroupSchema extends Schema {
  static override get id() {
    return GROUP.id;
  }

  static override get definition() {
    return GROUP;
  }

  constructor(data: unknown, direction = 'both') {
    super(data, direction);
    Object.assign(this, GROUP.coerce(data, direction));
  }
}

export type ResourceSchema = typeof UserSchema | typeof GroupSchema;

/** The attributes that are read of a resource, in lower case: the case of names doesn't matter. */
export function attributesOf({ definition }: ResourceSchema): ReadonlySet<string> {
  const own = definition.attributes.map(({ name }) => name.toLowerCase());
  return new Set(own.filter((name) => !['id', 'schemas', 'meta'].includes(name)));
}

/** All attributes and their parts that filters can name, in lower case. */
export function pathsOf({ definition }: ResourceSchema): ReadonlySet<string> {
  return new Set(
    definition.attributes
      .flatMap(({ name, subAttributes = [] }) => [
        name,
        ...subAttributes.flatMap((part) => [part.name, `${name}.${part.name}`]),
      ])
      .map((path) => path.toLowerCase()),
  );
}

/** The types of resources by their paths. */
export const TYPES = [
  { id: 'User', endpoint: '/Users', schema: UserSchema },
  { id: 'Group', endpoint: '/Groups', schema: GroupSchema },
] as const;
