import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { requireAction } from '../api/auth.js';
import type { Caller } from '../api/caller.js';
import { ApiError } from '../api/errors.js';
import { filterOf } from '../api/filter.js';
import { baseOf } from '../api/public-url.js';
import { aboutEveryone, aboutUsers } from '../api/read-audit.js';
import {
  Change,
  type Computer,
  HostId,
  Name,
  NewComputer,
  type Owner,
  OwnerKind,
  Provider,
  RemoteUser,
  Status,
} from './computer.js';
import type { ComputerDeps } from './computer-deps.js';
import { ProviderFailed } from './e2b.js';
import type { Provisioner } from './provisioner.js';
import { retried, Steps } from './provisioning-step.js';

const EXAMPLE_ID = 'cmp_01JWN2ZK4Q8V7T5R3P1M9X6C0B';

/** A computer as answers have it. */
export const ComputerBody = z
  .strictObject({
    id: z.string().meta({ examples: [EXAMPLE_ID] }),
    name: Name,
    providerType: Provider,
    status: Status,
    createdAt: z
      .int()
      .min(0)
      .meta({ description: 'in Unix milliseconds', examples: [1_780_272_904_000] }),
    hostId: HostId.optional(),
    hostname: z
      .string()
      .meta({ description: 'as the machine reported when it last connected', examples: ['box.local'] })
      .optional(),
    remoteUser: RemoteUser.optional(),
    ownerPrincipalKind: OwnerKind,
    ownerId: z.string().meta({ description: 'the user, service account or key', examples: ['ada'] }),
    relayClientUrl: z.string().meta({
      description: 'WebSocket address for watching the computer',
      examples: [`wss://daybook.acme.example/api/v0/computers/${EXAMPLE_ID}/relay/client`],
    }),
    relayAgentUrl: z.string().meta({
      description: "WebSocket address for the computer's agent",
      examples: ['wss://daybook.acme.example/api/v0/relay/agent'],
    }),
    connectedAt: z
      .int()
      .nullable()
      .meta({
        description: 'when its agent connected, in Unix milliseconds; null if it is not connected',
        examples: [null],
      }),
    provisioningSteps: Steps.optional(),
  })
  .meta({ id: 'Computer' });

const Created = ComputerBody.extend({
  agentToken: z
    .string()
    .meta({
      description: 'token for "daybook agent" on a byom computer; shown only once',
      examples: ['dba_k3J9'],
    })
    .optional(),
}).meta({ id: 'CreatedComputer' });

const TRUE_OR_FALSE = 'must be true or false';
const IncludeSteps = z
  .enum(['true', 'false'], TRUE_OR_FALSE)
  .meta({ description: 'whether the answer has provisioningSteps', examples: ['true'] })
  .optional();

export const ComputerId = z.string().meta({ description: 'id of the computer', examples: [EXAMPLE_ID] });
const ById = z.strictObject({ computerId: ComputerId });
const ByName = z.strictObject({
  name: z.string().meta({ description: 'name of the computer', examples: ['box'] }),
});

export const NOT_FOUND = {
  404: `There is no computer ${EXAMPLE_ID} in this organization: GET /api/v0/computers lists them.`,
};
const NAME_TAKEN = 'This organization already has a computer with the name box: choose another.';
const AWAY = 'The provider of the computer failed: try again.';

/** The principal that a credential stands for: a key without a user is a principal itself. */
export function principalOf({ userId, credential }: Caller): Owner {
  return userId === null ? { kind: 'service', id: `key:${credential}` } : { kind: 'human', id: userId };
}

/** Whether the caller owns a computer. */
export function isOwn(caller: Caller, { owner }: Pick<Computer, 'owner'>): boolean {
  const { kind, id } = principalOf(caller);
  return owner.kind === kind && owner.id === id;
}

/** Whom an answer with a computer is about. */
const aboutOwner = ({ owner }: Pick<Computer, 'owner'>) =>
  aboutUsers(owner.kind === 'human' ? [owner.id] : [], 'totals');

/** A computer as a request may see it: without what names another person, if it may not see people by name. */
function shownTo({ caller, protection }: FastifyRequest, computer: Computer): Computer {
  const { id, owner } = computer;
  if (protection === undefined || owner.kind !== 'human' || isOwn(caller, computer)) return computer;
  return {
    ...computer,
    ...{ name: id, hostname: null, remoteUser: null, hostId: null },
    owner: { ...owner, id: protection.nameOf(owner.id) },
  };
}

/** The answer for a computer. Its relay is at the service's address. */
export function bodyOf(
  computer: Computer,
  { relay, config }: Pick<ComputerDeps, 'relay' | 'config'>,
  request: FastifyRequest,
  includeSteps: boolean,
) {
  const { id, name, provider, status, createdAt, hostId, hostname, remoteUser, owner, steps } = shownTo(
    request,
    computer,
  );
  const base = baseOf(config, request);
  base.protocol = base.protocol === 'https:' ? 'wss:' : 'ws:';
  return {
    id,
    name,
    providerType: provider,
    status,
    createdAt,
    ...(hostId === null ? {} : { hostId }),
    ...(hostname === null ? {} : { hostname }),
    ...(remoteUser === null ? {} : { remoteUser }),
    ownerPrincipalKind: owner.kind,
    ownerId: owner.id,
    relayClientUrl: new URL(`api/v0/computers/${id}/relay/client`, base).href,
    relayAgentUrl: new URL('api/v0/relay/agent', base).href,
    connectedAt: relay.connectedAt(id),
    ...(includeSteps ? { provisioningSteps: steps } : {}),
  };
}

/** The 404 for a computer that the organization doesn't have, even if another organization has it. */
export function noComputer(name: string): ApiError {
  return new ApiError(
    404,
    `There is no computer ${name.slice(0, 100)} in this organization: GET /api/v0/computers lists them.`,
  );
}

/** Throws 400 for a computer that the provider e2b can't make. */
function requireE2b({ source }: NewComputer, { provider }: Provisioner): void {
  if (provider === undefined)
    throw new ApiError(400, 'This service has no provider e2b: set E2B_API_KEY, or create a byom computer.');
  if (source?.kind === 'computer')
    throw new ApiError(400, 'The member source.kind must be scratch or template for the provider e2b.');
}

/** Creates, lists, changes and deletes computers (docs/computers.md, "Create a computer"). */
export const computers: FastifyPluginAsyncZod<ComputerDeps> = async (app, deps) => {
  const { computers, provisioner } = deps;
  const required = async ({ orgId }: Caller, by: { id: string } | { name: string }) => {
    const computer = await computers.find(orgId, by);
    if (computer === undefined) throw noComputer('id' in by ? by.id : by.name);
    return computer;
  };
  /** The computer, if the caller may change it. */
  const changeable = async (caller: Caller, id: string) => {
    const computer = await required(caller, { id });
    if (!isOwn(caller, computer)) requireAction(caller, "change another person's computers");
    return computer;
  };

  app.post(
    '/computers',
    {
      config: { action: 'create computers', errors: { 409: NAME_TAKEN } },
      schema: {
        tags: ['computers'],
        operationId: 'createComputer',
        summary: 'Create a computer',
        description:
          'A byom computer is a machine that exists: start "daybook agent" there with the agentToken in the answer. The service creates an e2b computer itself.',
        body: NewComputer,
        response: { 201: Created },
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      if (body.serviceAccountId !== undefined) requireAction(caller, 'create computers of service accounts');
      const { source } = body;
      if (
        source?.kind === 'computer' &&
        (await computers.find(caller.orgId, { id: source.computerId })) === undefined
      )
        throw new ApiError(400, `The member source.computerId must be a computer of this organization.`);
      if (body.provider === 'e2b') requireE2b(body, provisioner);
      const owner: Owner =
        body.serviceAccountId === undefined
          ? principalOf(caller)
          : { kind: 'service', id: body.serviceAccountId };
      const { computer, agentToken } = await computers.create(caller.orgId, owner, body);
      const made = bodyOf(computer, deps, request, true);
      // If a provider makes the machine, its agent gets a different token.
      if (computer.provider === 'byom') return reply.status(201).send({ ...made, agentToken });
      provisioner.start(computer);
      return reply.status(201).send(made);
    },
  );

  app.get(
    '/computers',
    {
      config: {
        action: 'read computers',
        about: aboutEveryone,
        isProtected: true,
        errors: { 400: 'There is no parameter timezone: use includeProvisioningSteps, hostId.' },
      },
      schema: {
        tags: ['computers'],
        operationId: 'listComputers',
        summary: 'List the computers of the organization, newest first',
        querystring: z.strictObject({
          includeProvisioningSteps: IncludeSteps,
          hostId: filterOf(HostId, {
            description: 'only computers with these hostIds, in any case',
            examples: ['6f1c9a52-3b1e-4c59-9f6a-0d2f6a1b7c11', 'd3b07384-d113-4ec5-8f7a-9c0c5a1e2b64'],
          }),
        }),
        response: { 200: z.strictObject({ computers: z.array(ComputerBody) }) },
      },
    },
    async (request) => {
      const { includeProvisioningSteps, hostId } = request.query;
      const found = await computers.list(request.caller.orgId, hostId);
      return {
        computers: found.map((computer) =>
          bodyOf(computer, deps, request, includeProvisioningSteps === 'true'),
        ),
      };
    },
  );

  const read = {
    config: {
      action: 'read computers',
      errors: { ...NOT_FOUND, 400: 'There is no parameter timezone: use includeProvisioningSteps.' },
    },
    schema: {
      tags: ['computers'],
      querystring: z.strictObject({ includeProvisioningSteps: IncludeSteps }),
      response: { 200: ComputerBody },
    },
  } as const;

  app.get(
    '/computers/:computerId',
    {
      ...read,
      schema: { ...read.schema, operationId: 'getComputer', summary: 'Get a computer', params: ById },
    },
    async (request) => {
      const computer = await required(request.caller, { id: request.params.computerId });
      request.about = aboutOwner(computer);
      return bodyOf(computer, deps, request, request.query.includeProvisioningSteps !== 'false');
    },
  );

  app.get(
    '/computers/name/:name',
    {
      ...read,
      schema: {
        ...read.schema,
        operationId: 'getComputerByName',
        summary: 'Get a computer by its name',
        params: ByName,
      },
    },
    async (request) => {
      const { name } = request.params;
      const computer = await required(request.caller, { name });
      // Somebody who knows the name would learn whose pseudonym it is.
      if (shownTo(request, computer).name !== name) throw noComputer(name);
      request.about = aboutOwner(computer);
      return bodyOf(computer, deps, request, request.query.includeProvisioningSteps !== 'false');
    },
  );

  app.patch(
    '/computers/:computerId',
    {
      config: { action: 'change computers', errors: { ...NOT_FOUND, 409: NAME_TAKEN } },
      schema: {
        tags: ['computers'],
        operationId: 'changeComputer',
        summary: 'Change a computer',
        description: 'The hostId can be set only once.',
        params: ById,
        body: Change,
        response: { 200: ComputerBody },
      },
    },
    async (request) => {
      const { name, remoteUser, hostId } = request.body;
      const computer = await changeable(request.caller, request.params.computerId);
      const changed = await computers.change(computer, (now) => {
        if (hostId !== undefined && now.hostId !== null && now.hostId !== hostId)
          throw new ApiError(
            409,
            'The member hostId is already set: create another computer for another machine.',
          );
        return {
          ...(name === undefined ? {} : { name }),
          ...(remoteUser === undefined ? {} : { remoteUser }),
          ...(hostId === undefined ? {} : { hostId }),
        };
      });
      if (changed === undefined) throw noComputer(computer.id);
      return bodyOf(changed, deps, request, true);
    },
  );

  app.delete(
    '/computers/:computerId',
    {
      config: { action: 'delete computers', errors: { ...NOT_FOUND, 503: AWAY } },
      schema: {
        tags: ['computers'],
        operationId: 'deleteComputer',
        summary: 'Delete a computer',
        description:
          'The machine of a byom computer stays as it is, but its agent token no longer works. A machine that a provider created is removed.',
        params: ById,
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      const computer = await changeable(request.caller, request.params.computerId);
      try {
        await provisioner.delete(computer);
      } catch (error) {
        if (!(error instanceof ProviderFailed)) throw error;
        request.log.error({ err: error }, 'could not remove a machine');
        throw new ApiError(503, AWAY);
      }
      return reply.status(204).send(null);
    },
  );

  app.post(
    '/computers/:computerId/retry',
    {
      config: {
        action: 'retry the provisioning of computers',
        errors: {
          ...NOT_FOUND,
          409: 'The computer is active: only a failed provisioning can be retried.',
        },
      },
      schema: {
        tags: ['computers'],
        operationId: 'retryComputer',
        summary: 'Retry the failed provisioning of a computer',
        params: ById,
        response: { 200: ComputerBody },
      },
    },
    async (request) => {
      const computer = await changeable(request.caller, request.params.computerId);
      const changed = await computers.change(computer, ({ status, steps }) => {
        if (status !== 'error')
          throw new ApiError(409, `The computer is ${status}: only a failed provisioning can be retried.`);
        return { status: 'provisioning', steps: retried(steps) };
      });
      if (changed === undefined) throw noComputer(computer.id);
      provisioner.start(computer);
      return bodyOf(changed, deps, request, true);
    },
  );
};
