import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { KeyUser } from '../api/api-keys.js';
import type { SignInDeps } from './sign-in-routes.js';

/** Ends the sessions of others. */
export const sessionRoutes: FastifyPluginAsyncZod<SignInDeps> = async (app, { sessions }) => {
  app.delete(
    '',
    {
      config: {
        action: 'end browser sessions',
        errors: { 400: 'There is no parameter timezone: use user_id.' },
      },
      schema: {
        tags: ['keys'],
        operationId: 'endSessions',
        summary: 'Sign out all browsers of a user, or of the organization',
        description: 'Who has a valid credential can sign in again: revoke the key first.',
        querystring: z.strictObject({
          user_id: KeyUser.meta({
            description: 'only the sessions of this user',
            examples: ['ada'],
          }).optional(),
        }),
        response: { 204: z.null() },
      },
    },
    async ({ caller, query }, reply) => {
      await sessions.endAll(caller.orgId, query.user_id);
      return reply.status(204).send(null);
    },
  );
};
