import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  Change,
  type Computer,
  HostId,
  NewComputer,
  type Owner,
  OwnerKind,
  Provider,
  Status,
  Taken,
} from '../computer/computer.js';
import type { Relay } from '../computer/relay.js';
import { retried, Steps } from '../computer/step.js';
import { type Caller, requireAction } from './auth.js';
import { ApiError } from './errors.js';
import type { ApiDeps } from './family.js';

/** A computer as answers have it (public-api.md 2.1; decisions.md, Computers). Instants are Unix milliseconds. */
export const ComputerBody = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    providerType: Provider,
    status: Status,
    createdAt: z.int().min(0),
    hostId: z.uuid().optional(),
    hostname: z.string().optional().meta({ description: 'as the machine said when it last connected' }),
    remoteUser: z.string().optional(),
    ownerPrincipalKind: OwnerKind,
    ownerId: z.string(),
    relayClientUrl: z.string().meta({ description: 'WebSocket address for those who watch the computer' }),
    relayAgentUrl: z.string().meta({ description: "WebSocket address for the computer's agent" }),
    connectedAt: z
      .int()
      .nullable()
      .meta({ description: 'since when its agent is connected; null when it is not' }),
    provisioningSteps: Steps.optional(),
  })
  .meta({ id: 'Computer' });

const Created = ComputerBody.extend({
  agentToken: z
    .string()
    .meta({ description: 'what "daybook agent" on the computer is started with; shown this once' }),
}).meta({ id: 'NewComputer' });

const TRUE_OR_FALSE = 'must be true or false';
const IncludeSteps = z
  .enum(['true', 'false'], TRUE_OR_FALSE)
  .transform((text) => text === 'true')
  .optional();

const ById = z.strictObject({ computerId: z.string() });

/** Whom a credential stands for: a key without a user is a principal of its own. */
export function principalOf({ userId, credential }: Caller): Owner {
  return userId === null ? { kind: 'service', id: `key:${credential}` } : { kind: 'human', id: userId };
}

/** Whether a computer is of the one who asks. */
export function isOwn(caller: Caller, { owner }: Pick<Computer, 'owner'>): boolean {
  const { kind, id } = principalOf(caller);
  return owner.kind === kind && owner.id === id;
}

/** A computer's answer. Its relay is where the request came to. */
export function bodyOf(computer: Computer, relay: Relay, request: FastifyRequest, includeSteps: boolean) {
  const { id, name, provider, status, createdAt, hostId, hostname, remoteUser, owner, steps } = computer;
  const address = `${request.protocol === 'https' ? 'wss' : 'ws'}://${request.host}/api/v0`;
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
    relayClientUrl: `${address}/computers/${id}/relay/client`,
    relayAgentUrl: `${address}/relay/agent`,
    connectedAt: relay.connectedAt(id),
    ...(includeSteps ? { provisioningSteps: steps } : {}),
  };
}

/** The 404 of a computer that the organization doesn't have; another organization's is the same. */
export function noComputer(name: string): ApiError {
  return new ApiError(
    404,
    `There is no computer ${name.slice(0, 100)} in this organization: GET /api/v0/computers lists them.`,
  );
}

/** Has what must be unique, and is not, answered with 409. */
async function orConflict<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Taken)
      throw new ApiError(
        409,
        `There is a computer with the ${error.member} ${error.value} in this organization already: choose another.`,
      );
    throw error;
  }
}

/** Computers: create, list, get, and ours: by name, change, delete, retry (public-api.md 4.1-4.3; decisions.md, Computers). */
export const computers: FastifyPluginAsyncZod<ApiDeps> = async (app, { computers, relay, provisioner }) => {
  const required = async ({ orgId }: Caller, by: { id: string } | { name: string }) => {
    const computer = await computers.find(orgId, by);
    if (computer === undefined) throw noComputer('id' in by ? by.id : by.name);
    return computer;
  };
  /** The computer, for those who may change it. */
  const changeable = async (caller: Caller, id: string) => {
    const computer = await required(caller, { id });
    if (!isOwn(caller, computer)) requireAction(caller, 'change computers of others');
    return computer;
  };

  app.post(
    '/computers',
    {
      config: { action: 'create computers', errors: [409, 413, 415] },
      schema: { summary: 'Create a computer', body: NewComputer, response: { 201: Created } },
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
      if (body.provider === 'e2b')
        throw new ApiError(
          400,
          'This service has no provider e2b: create a byom computer, and start its agent.',
        );
      const owner: Owner =
        body.serviceAccountId === undefined
          ? principalOf(caller)
          : { kind: 'service', id: body.serviceAccountId };
      const { computer, agentToken } = await orConflict(computers.create(caller.orgId, owner, body));
      return reply.status(201).send({ ...bodyOf(computer, relay, request, true), agentToken });
    },
  );

  app.get(
    '/computers',
    {
      config: { action: 'read computers' },
      schema: {
        summary: 'List the computers of the organization, newest first',
        querystring: z.strictObject({ includeProvisioningSteps: IncludeSteps, hostId: HostId.optional() }),
        response: { 200: z.strictObject({ computers: z.array(ComputerBody) }) },
      },
    },
    async (request) => {
      const { includeProvisioningSteps = false, hostId } = request.query;
      const found = await computers.list(request.caller.orgId, hostId);
      return {
        computers: found.map((computer) => bodyOf(computer, relay, request, includeProvisioningSteps)),
      };
    },
  );

  const read = {
    config: { action: 'read computers', errors: [404] },
    schema: {
      querystring: z.strictObject({ includeProvisioningSteps: IncludeSteps }),
      response: { 200: ComputerBody },
    },
  } as const;

  app.get(
    '/computers/:computerId',
    { ...read, schema: { ...read.schema, summary: 'Get a computer', params: ById } },
    async (request) =>
      bodyOf(
        await required(request.caller, { id: request.params.computerId }),
        relay,
        request,
        request.query.includeProvisioningSteps ?? true,
      ),
  );

  app.get(
    '/computers/name/:name',
    {
      ...read,
      schema: {
        ...read.schema,
        summary: 'Get a computer by its name',
        params: z.strictObject({ name: z.string() }),
      },
    },
    async (request) =>
      bodyOf(
        await required(request.caller, { name: request.params.name }),
        relay,
        request,
        request.query.includeProvisioningSteps ?? true,
      ),
  );

  app.patch(
    '/computers/:computerId',
    {
      config: { action: 'create computers', errors: [404, 409, 413, 415] },
      schema: {
        summary: 'Change a computer',
        description: 'The hostId can be set where there is none yet.',
        params: ById,
        body: Change,
        response: { 200: ComputerBody },
      },
    },
    async (request) => {
      const { name, remoteUser, hostId } = request.body;
      const computer = await changeable(request.caller, request.params.computerId);
      const changed = await orConflict(
        computers.change(computer, (now) => {
          if (hostId !== undefined && now.hostId !== null && now.hostId !== hostId)
            throw new ApiError(
              409,
              'The member hostId is set once: create another computer for another machine.',
            );
          return {
            ...(name === undefined ? {} : { name }),
            ...(remoteUser === undefined ? {} : { remoteUser }),
            ...(hostId === undefined ? {} : { hostId }),
          };
        }),
      );
      if (changed === undefined) throw noComputer(computer.id);
      return bodyOf(changed, relay, request, true);
    },
  );

  app.delete(
    '/computers/:computerId',
    {
      config: { action: 'create computers', errors: [404] },
      schema: {
        summary: 'Delete a computer',
        description: 'The machine of a byom computer stays as it is; its agent token opens nothing any more.',
        params: ById,
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      const computer = await changeable(request.caller, request.params.computerId);
      await computers.delete(computer);
      relay.drop(computer.id);
      return reply.status(204).send(null);
    },
  );

  app.post(
    '/computers/:computerId/retry',
    {
      config: { action: 'create computers', errors: [404, 409] },
      schema: {
        summary: 'Try the failed provisioning of a computer again',
        params: ById,
        response: { 200: ComputerBody },
      },
    },
    async (request) => {
      const computer = await changeable(request.caller, request.params.computerId);
      const changed = await computers.change(computer, ({ status, steps }) => {
        if (status !== 'error')
          throw new ApiError(
            409,
            `The computer is ${status}: only one whose provisioning failed is tried again.`,
          );
        return { status: 'provisioning', steps: retried(steps) };
      });
      if (changed === undefined) throw noComputer(computer.id);
      provisioner.start(computer);
      return bodyOf(changed, relay, request, true);
    },
  );
};
