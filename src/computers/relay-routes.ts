import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../api/errors.js';
import { nameInLog } from '../api/request-log.js';
import { requireAddress } from '../api/route-family.js';
import { PROTOCOL } from './agent-message.js';
import type { Computer } from './computer.js';
import type { ComputerDeps } from './computer-deps.js';
import { noComputer } from './computer-routes.js';
import { Watchers } from './watchers.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The computer whose agent connects; set before its handler runs. */
    computer: Computer;
  }
}

const notUpgraded = () => {
  throw new ApiError(400, 'This address is for WebSocket connections: see docs/computers.md.');
};

/** Throws 400 for a WebSocket that doesn't offer the agents' protocol. */
function requireProtocol({ ws, headers }: FastifyRequest): void {
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim());
  if (ws && offered?.includes(PROTOCOL) !== true)
    throw new ApiError(400, `The request must have the header "Sec-WebSocket-Protocol: ${PROTOCOL}".`);
}

/** Accepts the connections of agents, which send their token (docs/computers.md). */
export const agents: FastifyPluginAsyncZod<ComputerDeps> = async (app, deps) => {
  const { computers, relay, provisioner } = deps;
  app.route({
    method: 'GET',
    url: '/relay/agent',
    schema: { hide: true },
    onRequest: async (request) => {
      const [, token = ''] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
      const computer = await computers.findByToken(token);
      if (computer === undefined)
        throw new ApiError(401, 'The request must have the header "Authorization: Bearer <agent token>".');
      nameInLog(request, { orgId: computer.orgId, credential: hash('sha256', token).slice(0, 12) });
      await requireAddress(request, computer.orgId, deps);
      requireProtocol(request);
      request.computer = computer;
    },
    handler: notUpgraded,
    wsHandler: (socket, request) => {
      const { computer } = request;
      relay.attach(computer, socket, (hostname) => {
        computers
          .change(computer, () => ({ hostname }))
          .catch((error) => request.log.error({ err: error }, 'could not store the hostname'));
        provisioner.start(computer);
      });
    },
  });
};

/** Lets people watch a computer: sends its answer at once, and again whenever it changes. */
export const watchers: FastifyPluginAsyncZod<ComputerDeps> = async (app, deps) => {
  const watchers = new Watchers(deps);
  app.addHook('onClose', async () => watchers.close());
  app.route({
    method: 'GET',
    url: '/computers/:computerId/relay/client',
    config: { action: 'read computers', errors: [404] },
    schema: { hide: true, params: z.strictObject({ computerId: z.string() }) },
    preHandler: async ({ caller, params }) => {
      const { computerId } = params as { computerId: string };
      if ((await deps.computers.find(caller.orgId, { id: computerId })) === undefined)
        throw noComputer(computerId);
      if (watchers.isFull(caller, computerId))
        throw new ApiError(429, 'Too many connections of this credential watch: close one of them first.');
    },
    handler: notUpgraded,
    wsHandler: (socket, request) => {
      const { computerId } = request.params as { computerId: string };
      watchers.add(socket, request, computerId);
    },
  });
};
