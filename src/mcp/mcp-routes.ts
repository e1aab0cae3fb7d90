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

/** How many bytes a message can have beside the query of the tool `sql`. */
const FRAME_BYTES = 16 << 10;

/**
 * Refuses browsers on pages of origins that may not call the API, such as a page that reached the service under its own name (DNS
 * rebinding). Programs send no origin.
 */
function requireOrigin({ headers: { origin } }: FastifyRequest, config: Config): void {
  const own = config.publicUrl === undefined ? [] : [new URL(config.publicUrl).origin];
  if (origin !== undefined && ![...own, ...config.corsOrigins].includes(origin))
    throw new ApiError(
      403,
      `Pages of ${origin.slice(0, 100)} may not use this service: add the origin to DAYBOOK_CORS_ORIGINS.`,
    );
}

/** The media types of answers. The library looks for them by name, and refuses a client whose Accept header has them as ranges. */
const SENT = ['application/json', 'text/event-stream'];

/** The types of `SENT` that an Accept header names or includes (RFC 9110, 12.5.1). */
function acceptedOf(header = '*/*'): string {
  const ranges = new Map(
    header
      .toLowerCase()
      .split(',')
      .map((range) => range.split(';').map((part) => part.trim()))
      .map(([range = '', ...parameters]) => [range, !parameters.some((one) => /^q=0(\.0*)?$/.test(one))]),
  );
  const isAccepted = (type: string) => {
    const [nearest] = [type, type.replace(/\/.*/, '/*'), '*/*', ''].filter((range) => ranges.has(range));
    return nearest !== undefined && ranges.get(nearest) === true;
  };
  return SENT.filter(isAccepted).join(', ');
}

/** The MCP library, loaded for the first message: it takes 5 to 9 MiB, which a service without MCP clients saves. */
const protocol = () => Promise.all([import('@modelcontextprotocol/server'), import('./mcp-server.js')]);

/**
 * MCP over streamable HTTP, without sessions: each request is answered by itself, with the tools that the caller's role may use. A tool
 * calls its route of the API.
 */
export const mcpRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { config }) => {
  const tools = new Map<Role, readonly Tool[]>();
  app.post(
    '',
    {
      bodyLimit: config.sql.textKb * 1024 + FRAME_BYTES,
      // Compression would hold back a stream of events.
      compress: false,
      config: { action: 'read its own analytics' },
      schema: { hide: true, body: z.looseObject({}, 'must be one message of JSON-RPC') },
    },
    async (request, reply) => {
      requireOrigin(request, config);
      const { caller, headers, ip } = request;
      const own = tools.get(caller.role) ?? toolsOf(config, caller.role);
      tools.set(caller.role, own);
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const [{ createMcpHandler }, { mcpServer }] = await protocol();
      const message = new Request('http://localhost/mcp', {
        method: 'POST',
        headers: [
          ...Object.entries(headers).flatMap(([name, value]) =>
            /^(content-type|mcp-.*)$/.test(name) ? [[name, String(value)] as [string, string]] : [],
          ),
          ['accept', acceptedOf(headers.accept)],
        ],
        signal: gone.signal,
      });
      const note = (err: unknown) => request.log.error({ err }, 'a tool failed');
      const handler = createMcpHandler(() => mcpServer(own, callWith(own, askOwn(app, caller, ip)), note), {
        // Clients can't subscribe, because nothing ever changes.
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
