import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiDeps } from './family.js';

const Ready = z.object({
  status: z.enum(['ready', 'not ready']),
  /** When a build last ended well, Unix milliseconds. */
  last_build_at: z.number().nullable(),
});

/** What those who run the service ask it: without a credential, and without any data of an organization. */
export const operations: FastifyPluginAsyncZod<ApiDeps> = async (app, { store }) => {
  app.get(
    '/healthz',
    {
      schema: {
        summary: 'Whether the process answers',
        response: { 200: z.object({ status: z.literal('ok') }) },
      },
    },
    async () => ({ status: 'ok' as const }),
  );

  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());

  app.get(
    '/readyz',
    { schema: { summary: 'Whether the store can be written', response: { 200: Ready, 503: Ready } } },
    async (_, reply) => {
      try {
        await store.run([]);
        const [last] = await store.select('SELECT max(built_at) AS built_at FROM days');
        return { status: 'ready' as const, last_build_at: (last?.built_at as number | null) ?? null };
      } catch (error) {
        app.log.error({ err: error }, 'the store does not answer');
        return reply.status(503).send({ status: 'not ready' as const, last_build_at: null });
      }
    },
  );
};
