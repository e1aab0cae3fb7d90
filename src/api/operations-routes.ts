import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { COMMIT, VERSION } from '../disk/package-root.js';
import { KeptDocument } from './kept-document.js';
import type { ApiDeps } from './route-family.js';

/** How long the result of checking the store is reused for all requests. */
const HOLDS_MS = 1000;

/** What tells whether acknowledged events are settled. */
interface SettlingDeps {
  readonly inbox: { readonly stoppedSince: number | undefined };
}

const Settling = z.object({ since: z.number() }).meta({
  description: 'given while acknowledged events wait, and none was settled since then, in Unix milliseconds',
  examples: [{ since: 1_780_272_904_000 }],
});

const ready = (status: 'ready' | 'not ready', last_build_at: number | null) =>
  z.object({
    status: z.literal(status),
    ...(status === 'ready' ? { settling: Settling.optional() } : {}),
    last_build_at: z
      .number()
      .nullable()
      .meta({ description: 'when a build last succeeded, in Unix milliseconds', examples: [last_build_at] }),
  });

const Healthy = z.object({
  status: z.literal('ok'),
  version: z.string().meta({ description: 'of Daybook', examples: [VERSION] }),
  commit: z
    .string()
    .nullable()
    .meta({ description: 'the commit that it was built from, if that is known', examples: ['3f2a9c1d7b60'] }),
});

/** Only if it declares itself. */
const Document = z.looseObject({
  openapi: z.string().meta({ examples: ['3.1.0'] }),
  info: z.looseObject({
    title: z.string().meta({ examples: ['Daybook'] }),
    version: z.string().meta({ examples: [VERSION] }),
  }),
  paths: z.record(z.string(), z.unknown()).meta({ examples: [{}] }),
});

/** Endpoints for operators: without a credential, and without any data of an organization. */
export const operationsRoutes: FastifyPluginAsyncZod<ApiDeps & SettlingDeps> = async (
  app,
  { store, clock, inbox },
) => {
  let last: { at: number; looked: Promise<number | null> } | undefined;
  /** When a build last ended, after writing and reading the store. The result is reused for a moment, so requests can't cause work. */
  const looked = (): Promise<number | null> => {
    const now = clock();
    if (last === undefined || Math.abs(now - last.at) >= HOLDS_MS) {
      const probed = store.probe(now).then(async () => {
        const [built] = await store.select('SELECT max(built_at) AS built_at FROM days');
        return (built?.built_at as number | null) ?? null;
      });
      last = { at: now, looked: probed };
    }
    return last.looked;
  };

  const document = new KeptDocument('application/json; charset=utf-8', () =>
    JSON.stringify(Document.parse(app.swagger())),
  );

  app.get(
    '/healthz',
    {
      config: { isHealthCheck: true },
      schema: {
        tags: ['operations'],
        summary: 'Whether the process answers',
        response: { 200: Healthy },
      },
    },
    async () => ({ status: 'ok' as const, version: VERSION, commit: COMMIT || null }),
  );

  app.get(
    '/openapi.json',
    {
      schema: {
        tags: ['operations'],
        summary: 'This document',
        response: {
          200: Document,
        },
      },
    },

    async (request, reply) => document.send(request, reply),
  );

  app.get(
    '/readyz',
    {
      config: { isHealthCheck: true },
      schema: {
        tags: ['operations'],
        summary: 'Whether the store can be written and read',
        response: { 200: ready('ready', 1_780_272_904_000), 503: ready('not ready', null) },
      },
    },
    async (_, reply) => {
      try {
        const { stoppedSince } = inbox;
        const settling = stoppedSince === undefined ? {} : { settling: { since: stoppedSince } };
        return { status: 'ready' as const, last_build_at: await looked(), ...settling };
      } catch (error) {
        app.log.error({ err: error }, 'the store does not answer');
        return reply.status(503).send({ status: 'not ready' as const, last_build_at: null });
      }
    },
  );
};
