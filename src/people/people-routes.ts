import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { authorOf } from '../api/caller.js';
import { ApiError } from '../api/errors.js';
import { FOR_AUDITORS } from '../api/protection.js';
import { aboutEveryone } from '../api/read-audit.js';
import { isExpectedBy, Stale, tagOf } from '../api/revision-tag.js';
import { may } from '../api/roles.js';
import type { ApiDeps } from '../api/route-family.js';
import { DaySchema } from '../day.js';
import { UsageError } from '../exit.js';
import type { Kind } from '../input/kinds.js';
import {
  FIRST_DAY,
  GroupName,
  LAST_DAY,
  type Membership,
  OF_ONE_PERSON,
  type Person,
  PersonEmail,
  PersonName,
  peopleOf,
  proposedAliases,
  UserId,
} from '../store/state/person.js';
import { rosterProposals } from '../store/state/vendor-roster.js';
import { MovedName, replacePeople } from './people-change.js';

/** The largest list of people, in bytes of JSON. */
const PEOPLE_BYTES = 4 << 20;

const day = (description: string, example: string) =>
  DaySchema.nullable()
    .default(null)
    .meta({ description, examples: [example] });

const Belonging = z.strictObject({
  name: GroupName.meta({ examples: ['Compilers'] }),
  from: day('the first day; null if it always was so', '2026-06-01'),
  to: day('the last day; null if no end is known', '2026-06-30'),
});

const list = <T extends z.ZodType>(of: T) => z.array(of).max(OF_ONE_PERSON).default([]);

const PersonBody = z
  .strictObject({
    userId: UserId.meta({
      description: 'the id that answers and filters have',
      examples: ['ada'],
    }),
    name: PersonName.default('').meta({ description: "'' if unknown", examples: ['Ada Lovelace'] }),
    emails: list(PersonEmail).meta({
      description: 'addresses; the first one is shown, and all of them are aliases',
      examples: [['ada@acme.example']],
    }),
    aliases: list(UserId).meta({
      description:
        'other names under which events come, and credentials: ids of collectors, telemetry and identity providers, logins of vendors',
      examples: [['ada-laptop', '00u1abcd']],
    }),
    teams: list(
      Belonging.extend({
        isLead: z
          .boolean()
          .default(false)
          .meta({ description: 'whether the person gets the digest of the team', examples: [true] }),
      }),
    ).meta({ description: 'one team at most on each day' }),
    costCenters: list(Belonging).meta({ description: 'one cost centre at most on each day' }),
  })
  .meta({ id: 'Person' });

const Revision = z
  .int()
  .min(0)
  .meta({ description: 'number of the newest change; 0 before the first', examples: [7] });

const PeopleBody = z
  .object({ revision: Revision, people: z.array(PersonBody) })
  .meta({ id: 'People', description: 'the people by their user ids' });

const ChangeBody = z
  .object({
    revision: Revision,
    changes: z.array(
      z.object({
        userId: UserId.meta({ examples: ['ada'] }),
        change: z.string().meta({ description: 'in words', examples: ['+ alias ada-laptop'] }),
      }),
    ),
    days: z
      .int()
      .min(0)
      .meta({
        description: 'built days that count for other users since, and that the next build builds again',
        examples: [12],
      }),
  })
  .meta({ id: 'PeopleChange', description: 'what has changed, or would' });

const Proposal = z
  .object({
    userId: z.string().meta({ examples: ['ada'] }),
    alias: z.string().meta({ description: 'a user who may be the same person', examples: ['Ada'] }),
    reason: z.enum(['spelling', 'address', 'login']).meta({
      description:
        'spelling: only upper case and white space tell them apart; address: they have one address; login: a vendor lists a login like the name or address',
      examples: ['spelling'],
    }),
  })
  .meta({ id: 'ProposedAlias' });

const Listed = z
  .object({
    report: z.string().meta({ description: "the vendor's list", examples: ['github-seats'] }),
    name: z.string().meta({ description: 'the address or login, as the vendor has it', examples: ['ada-l'] }),
    fullName: z
      .string()
      .meta({ description: "'' if the vendor doesn't tell it", examples: ['Ada Lovelace'] }),
    userId: z
      .string()
      .nullable()
      .meta({ description: 'the person who has that name; null if nobody has', examples: [null] }),
    likelyUserId: z
      .string()
      .nullable()
      .meta({ description: 'the person whose other name it may be, or null', examples: ['ada'] }),
    teams: z
      .array(z.string())
      .meta({ description: 'teams to which the person does not belong today', examples: [['compilers']] }),
    isUnused: z.boolean().meta({
      description:
        'whether the seat is billed, and neither Daybook nor the vendor saw it in use for 30 days; false where the organization protects people',
      examples: [false],
    }),
  })
  .meta({ id: 'ListedPerson' });

function personOf({ teams, costCenters, ...person }: z.infer<typeof PersonBody>): Person {
  const memberships = (kind: Kind, all: readonly (z.infer<typeof Belonging> & { isLead?: boolean })[]) =>
    all.map(
      ({ name, from, to, isLead = false }): Membership => ({
        ...{ kind, name, isLead },
        ...{ firstDay: from ?? FIRST_DAY, lastDay: to ?? LAST_DAY },
      }),
    );
  return {
    ...person,
    memberships: [...memberships('team', teams), ...memberships('cost_center', costCenters)],
  };
}

function bodyOf({ memberships, ...person }: Person): z.infer<typeof PersonBody> {
  const of = (wanted: Kind) => memberships.filter(({ kind }) => kind === wanted);
  const belonging = ({ name, firstDay, lastDay }: Membership) => ({
    name,
    from: firstDay === FIRST_DAY ? null : firstDay,
    to: lastDay === LAST_DAY ? null : lastDay,
  });
  return {
    ...{ userId: person.userId, name: person.name },
    ...{ emails: [...person.emails], aliases: [...person.aliases] },
    teams: of('team').map((one) => ({ ...belonging(one), isLead: one.isLead })),
    costCenters: of('cost_center').map(belonging),
  };
}

/** Throws 403 for whoever may not see people by name, but for owners, who keep the list: it has no numbers. */
function requireOwner({ caller, protection }: FastifyRequest): void {
  if (protection !== undefined && !may(caller.role, 'change people')) throw new ApiError(403, FOR_AUDITORS);
}

/** A parameter that is false by default. */
function isAsked(description: string) {
  return z
    .enum(['true', 'false'])
    .optional()
    .meta({ description, examples: ['true'] });
}

/** An example of the ETag header. */
const TAGGED = { etag: `"${tagOf('acme', 7)}"` };

/** The people of an organization (docs/people.md). */
export const peopleRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, clock }) => {
  app.get(
    '',
    {
      config: { action: 'read people', about: aboutEveryone, isProtected: true, headers: TAGGED },
      schema: {
        tags: ['people'],
        operationId: 'getPeople',
        summary: 'The people of the organization',
        response: { 200: PeopleBody },
      },
    },
    async (request, reply) => {
      const { orgId } = request.caller;
      requireOwner(request);
      const { revision, people } = await peopleOf(store, orgId);
      reply.header('etag', `"${tagOf(orgId, revision)}"`);
      return { revision, people: people.map(bodyOf) };
    },
  );

  app.put(
    '',
    {
      bodyLimit: PEOPLE_BYTES,
      config: {
        action: 'change people',
        headers: TAGGED,
        errors: {
          400: 'There is no parameter timezone: use dryRun, keepOthers.',
          412: 'The newest revision is 7, not the one in If-Match: read it again.',
        },
      },
      schema: {
        tags: ['people'],
        operationId: 'putPeople',
        summary: 'Replace all people',
        description:
          'People who are not in the body are removed, and their events stay. With If-Match, only if that is still the newest revision.',
        querystring: z.strictObject({
          dryRun: isAsked('true: say what would change, and change nothing'),
          keepOthers: isAsked(
            'true: people who are not in the body stay as they are, which sends a large organization in parts',
          ),
        }),
        headers: z.looseObject({
          'if-match': z
            .string()
            .optional()
            .meta({
              description: 'the ETag of the people that you read, or their revision',
              examples: ['"7"'],
            }),
        }),
        body: z.strictObject({ people: z.array(PersonBody) }),
        response: { 200: ChangeBody },
      },
    },
    async ({ caller, protection, body, query, headers }, reply) => {
      const { orgId } = caller;
      try {
        const { revision, changes, days } = await replacePeople(
          store,
          orgId,
          (before) => {
            const wanted = body.people.map(personOf);
            const named = new Set(wanted.map(({ userId }) => userId));
            const others = before.filter(({ userId }) => !named.has(userId));
            return query.keepOthers === 'true' ? [...others, ...wanted] : wanted;
          },
          {
            author: authorOf(caller),
            isExpected: isExpectedBy(headers['if-match'], orgId),
            isTrial: query.dryRun === 'true',
            keepsNames: protection !== undefined,
          },
          clock(),
        );
        reply.header('etag', `"${tagOf(orgId, revision)}"`);
        return {
          revision,
          changes: changes.map(({ user_id, change }) => ({ userId: user_id, change })),
          days,
        };
      } catch (error) {
        if (error instanceof Stale) throw error;
        if (error instanceof MovedName) throw new ApiError(403, error.message);
        if (error instanceof UsageError) throw new ApiError(400, error.message);
        throw error;
      }
    },
  );

  app.get(
    '/proposals',
    {
      config: { action: 'read people', about: aboutEveryone, isProtected: true },
      schema: {
        tags: ['people'],
        operationId: 'getProposedAliases',
        summary: "Users who may be the same person, and what vendors' lists propose",
        description: 'Nothing of it counts until somebody changes the people.',
        response: {
          200: z.object({
            proposals: z.array(Proposal),
            listed: z.array(Listed).meta({
              description: "who is on a vendor's list and not among the people, or differs from them",
            }),
          }),
        },
      },
    },
    async (request) => {
      requireOwner(request);
      const { orgId } = request.caller;
      const listed = await rosterProposals(store, orgId, clock());
      const proposals = (await proposedAliases(store, orgId)).map(({ user_id, alias, reason }) => ({
        userId: user_id,
        alias,
        reason: reason as 'spelling' | 'address' | 'login',
      }));
      const isNamed = new Set(proposals.map(({ alias }) => alias));
      for (const { name, likelyUserId } of listed)
        if (likelyUserId !== null && !isNamed.has(name)) {
          isNamed.add(name);
          proposals.push({ userId: likelyUserId, alias: name, reason: 'login' });
        }
      // Who uses nothing is a number of a person.
      const isHidden = request.protection !== undefined;
      return {
        proposals,
        listed: listed
          .map((one) => ({ ...one, teams: [...one.teams], isUnused: one.isUnused && !isHidden }))
          .filter(({ userId, teams, isUnused }) => userId === null || teams.length > 0 || isUnused),
      };
    },
  );
};
