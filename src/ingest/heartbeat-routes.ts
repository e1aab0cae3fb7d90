import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../api/errors.js';
import type { ApiDeps } from '../api/route-family.js';
import { nameText } from '../input/name-text.js';
import { erasedIn } from '../store/state/erased-names.js';
import { addHeartbeat, COLLECTORS_OF_USER } from '../store/state/heartbeat.js';
import { onlyUsersOf } from './request-body.js';

/** The largest body. */
const HEARTBEAT_BYTES = 64 << 10;

/** How many agents a collector can have files of. */
const AGENTS_AT_MOST = 32;

/** The last instant that the store can keep. */
const LAST_INSTANT = 253_402_300_799_999;

/** Members that a newer collector adds are ignored: without heartbeats it would look silent. */
const HeartbeatBody = z.object({
  collector_id: nameText(64).meta({
    description: 'chosen at random by the collector, and always the same',
    examples: ['1d0c8b7a6f5e4d3c'],
  }),
  user_id: nameText(128)
    .optional()
    .meta({ description: "whose sessions it sends; the credential's user by default", examples: ['ada'] }),
  host: nameText(255)
    .nullable()
    .default(null)
    .meta({ description: "the machine's name", examples: ['ada-laptop'] }),
  version: nameText(64).meta({ description: 'of the collector', examples: ['0.2.0'] }),
  agents: z
    .array(
      z.object({
        agent: nameText(64).meta({ examples: ['codex'] }),
        changed_at: z
          .int()
          .min(0)
          .max(LAST_INSTANT)
          .nullable()
          .meta({
            description: 'when one of its files last changed, in Unix milliseconds',
            examples: [1_780_272_904_000],
          }),
      }),
    )
    .max(AGENTS_AT_MOST)
    .default([])
    .meta({ description: 'the agents with files on the machine' }),
});

/** Signs of life of collectors (docs/silence.md). */
export const heartbeatRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, clock }) => {
  app.post(
    '',
    {
      bodyLimit: HEARTBEAT_BYTES,
      config: {
        action: 'send events',
        errors: {
          422: `The heartbeat isn't kept, because ada has ${COLLECTORS_OF_USER} collectors already.`,
        },
      },
      schema: {
        tags: ['events'],
        operationId: 'postHeartbeat',
        summary: 'Say that a collector works',
        description:
          'daybook collect sends it once an hour, also when nothing is new. A collector that stops is shown as silent.',
        body: HeartbeatBody,
        response: { 204: z.null() },
      },
    },
    async ({ caller, body }, reply) => {
      const { orgId, userId, credential } = caller;
      const onlyUsers = await onlyUsersOf(store, caller);
      const user = body.user_id ?? userId;
      if (user === null)
        throw new ApiError(
          400,
          'The member user_id is required, because this credential belongs to no user.',
        );
      if (onlyUsers !== null && !onlyUsers.includes(user))
        throw new ApiError(
          403,
          `A credential of role ${caller.role} may speak only for its own user_id, ${onlyUsers[0]}.`,
        );
      const isErased = await erasedIn(store, orgId);
      // Whoever was erased has no collectors, and the answer doesn't tell that there was somebody.
      if (isErased?.(user) === true) return reply.status(204).send(null);
      const host = body.host !== null && isErased?.(body.host) === true ? null : body.host;
      const agents = new Map(body.agents.map(({ agent, changed_at }) => [agent, changed_at]));
      const refusal = await addHeartbeat(store, {
        ...{ orgId, userId: user, collectorId: body.collector_id, seenAt: clock() },
        ...{ host, version: body.version, fingerprint: credential },
        agents: [...agents].map(([agent, changedAt]) => ({ agent, changedAt })),
      });
      if (refusal !== undefined) throw new ApiError(422, `The heartbeat isn't kept, because ${refusal}.`);
      return reply.status(204).send(null);
    },
  );
};
