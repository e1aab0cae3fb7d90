import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../api/errors.js';
import type { Role } from '../api/roles.js';
import type { ApiDeps } from '../api/route-family.js';
import type { Config } from '../settings/config.js';
import { askOwn } from './ask-route.js';
import { callWith } from './tool-call.js';
import { type Tool, toolsOf } from './tool-list.js';

/** What a message has beside the query of the tool `sql`. */
const FRAME_BYTES = 16 << 10;

/**
 * Refuses pages of origins that are not allowed to call the API. A page that reached the service under a name of its own (DNS
 * rebinding) has such an origin; programs have none.
 */
function requireOrigin({ headers: { origin } }: FastifyRequest, config: Config): void {
  const own = config.publicUrl === undefined ? [] : [new URL(config.publicUrl).origin];
  if (origin !== undefined && ![...own, ...config.corsOrigins].includes(origin))
    throw new ApiError(
      403,
      `Pages of ${origin.slice(0, 100)} may not use this service: add the origin to DAYBOOK_CORS_ORIGINS.`,
    );
}

/** The library of MCP, loaded for the first message: it takes 5 to 9 MiB, which a service that nobody asks over MCP does without. */
const protocol = () => Promise.all([import('@modelcontextprotocol/server'), import('./mcp-server.js')]);

/**
 * MCP over streamable HTTP, without sessions: every request is answered by itself, with the tools that the caller's role may use. A
 * tool asks the route of the API that it stands for.
 */
export const mcpRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { config }) => {
  const tools = new Map<Role, readonly Tool[]>();
  app.post(
    '',
    {
      bodyLimit: config.sql.textKb * 1024 + FRAME_BYTES,
      // A stream of events would wait for the compressor.
      compress: false,
      config: { action: 'read its own analytics' },
      schema: { hide: true, body: z.looseObject({}, 'must be one message of JSON-RPC') },
    },
    async (request, reply) => {
      requireOrigin(request, config);
      const { caller, headers } = request;
      const own = tools.get(caller.role) ?? toolsOf(config, caller.role);
      tools.set(caller.role, own);
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const [{ createMcpHandler }, { mcpServer }] = await protocol();
      const message = new Request('http://localhost/mcp', {
        method: 'POST',
        headers: Object.entries(headers).flatMap(([name, value]) =>
          /^(accept|content-type|mcp-.*)$/.test(name) ? [[name, String(value)] as [string, string]] : [],
        ),
        signal: gone.signal,
      });
      const note = (err: unknown) => request.log.error({ err }, 'a tool failed');
      const handler = createMcpHandler(() => mcpServer(own, callWith(own, askOwn(app, caller)), note), {
        // Nothing ever changes that a client could wait for.
        maxSubscriptions: 0,
        onerror: (err) => request.log.debug({ err }, 'a message of MCP was refused'),
      });
      const answer = await handler.fetch(message, { parsedBody: request.body });
      reply
        .status(answer.status)
        .headers({ ...Object.fromEntries(answer.headers), 'cache-control': 'no-store' });
      return answer.body === null ? reply.send() : reply.send(Readable.fromWeb(answer.body as never));
    },
  );
};
