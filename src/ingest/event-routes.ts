import type { IncomingMessage } from 'node:http';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { wrongMediaType } from '../api/error-replies.js';
import { ApiError } from '../api/errors.js';
import { erasedIn } from '../store/state/erased-names.js';
import { PACKED_BYTES, TooLarge } from './body.js';
import { ERRORS_SHOWN } from './body-check.js';
import { EVENT_BODIES } from './event-schema.js';
import {
  CUT_OFF,
  encodingOf,
  FULL,
  goneOf,
  type InboxDeps,
  NO_ARRAY,
  onlyUserOf,
  onlyUsersOf,
  refusalOfBody,
  TOO_LARGE,
} from './request-body.js';

const Taken = z.object({
  accepted: z
    .int()
    .min(0)
    .meta({ description: 'valid events, including those that were already there', examples: [41] }),
  rejected: z
    .int()
    .min(0)
    .meta({ description: 'lines that broke a rule', examples: [1] }),
  errors: z
    .array(
      z.object({
        line: z
          .int()
          .min(1)
          .meta({ description: 'line number, from 1', examples: [7] }),
        code: z.string().meta({ description: 'the rule', examples: ['missing_member'] }),
        detail: z
          .string()
          .meta({ description: 'what would be accepted', examples: ['user_id is required.'] }),
      }),
    )
    .max(ERRORS_SHOWN)
    .meta({ description: 'the first hundred rejected lines' }),
});

const EventSender = z.object({
  org_id: z.string().meta({ description: 'organization that gets the events', examples: ['acme'] }),
  user_id: z
    .string()
    .nullable()
    .meta({ description: "the credential's user; null if it belongs to none", examples: ['ada'] }),
  is_only_user: z
    .boolean()
    .meta({ description: 'whether it may send only events of that user', examples: [false] }),
});

const MEDIA_TYPES = Object.keys(EVENT_BODIES);

/** Events over HTTP (docs/api.md, "Sending events"). */
export const eventRoutes: FastifyPluginAsyncZod<InboxDeps> = async (app, { inbox, store }) => {
  app.get(
    '/events/sender',
    {
      config: { action: 'send events' },
      schema: {
        tags: ['events'],
        summary: 'Whose events a credential sends',
        description: 'For programs that send events, before they send any.',
        response: { 200: EventSender },
      },
    },
    async ({ caller }) => ({
      org_id: caller.orgId,
      user_id: caller.userId,
      is_only_user: onlyUserOf(caller) !== null,
    }),
  );

  // The body goes to disk as it comes, so no parser has it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(MEDIA_TYPES, (_, payload, done) => done(null, payload));

  app.post(
    '/events',
    {
      config: {
        action: 'send events',
        bodies: EVENT_BODIES,
        errors: {
          400: NO_ARRAY,
          413: TOO_LARGE,
          415: `This route doesn't accept that Content-Type: send ${MEDIA_TYPES.join(' or ')}.`,
          503: FULL,
        },
      },
      schema: {
        tags: ['events'],
        summary: 'Send events',
        description:
          'The body has one JSON event per line (application/x-ndjson), or is a JSON array of events (application/json); Content-Encoding can be gzip. Accepted events are on disk when the answer comes, and count once however often they are sent.',
        consumes: MEDIA_TYPES,
        response: { 200: Taken },
      },
    },
    async (request, reply) => {
      const { caller } = request;
      // An empty body without a Content-Type reaches no parser.
      if (request.body === undefined) throw wrongMediaType(request);
      const onlyUsers = await onlyUsersOf(store, caller);
      try {
        if (Number(request.headers['content-length'] ?? 0) > PACKED_BYTES) throw new TooLarge();
        const verdict = await inbox.receive(request.body as IncomingMessage, {
          requestId: request.id,
          orgId: caller.orgId,
          onlyUsers,
          encoding: encodingOf(request.headers['content-encoding']),
          isArray: request.mediaType === 'application/json',
          keepsText: true,
          isErased: await erasedIn(store, caller.orgId),
          gone: goneOf(reply),
        });
        if (verdict.ofOthers > 0) {
          throw new ApiError(
            403,
            `A credential of role ${caller.role} may send only events of its own user_id, ${onlyUsers?.[0]}: none of these were accepted.`,
          );
        }
        const { accepted, rejected, errors } = verdict;
        return { accepted, rejected, errors: [...errors] };
      } catch (error) {
        const refusal = refusalOfBody(error, request.log);
        // It is no failure of the service.
        if (refusal === error && request.raw.readableAborted) throw new ApiError(400, CUT_OFF);
        throw refusal;
      }
    },
  );
};
