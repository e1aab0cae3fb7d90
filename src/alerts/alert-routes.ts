import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../api/errors.js';
import { aboutUsers } from '../api/read-audit.js';
import { addRevisionRoutes } from '../api/revision-routes.js';
import type { ApiDeps } from '../api/route-family.js';
import type { SecretKey } from '../controls/secret-key.js';
import { nameText } from '../input/name-text.js';
import { alertsSince, DELIVERY_STATES, newestDeliveries, sendAgain } from '../store/state/alert-log.js';
import { sendTest } from './alarm.js';
import { AlertSettings, CONDITIONS, sealedAlerts } from './alert-settings.js';
import { sentenceOf } from './message.js';

/** How long alerts are listed after their end: milliseconds. */
const SHOWN_MS = 14 * 24 * 60 * 60 * 1000;
const DELIVERIES_SHOWN = 100;

const instant = (description: string, example: string) =>
  z.iso.datetime().meta({ description, examples: [example] });

const Log = z.object({
  alerts: z
    .array(
      z.object({
        condition: z.enum(CONDITIONS).meta({ examples: ['unpriced'] }),
        text: z.string().meta({
          description: 'what it says',
          examples: [
            '6.2% of the tokens of the last 7 days have no price, so costs are too low: "daybook prices check" lists their models.',
          ],
        }),
        beganAt: instant('the check that first saw it', '2026-06-02T00:15:08.120Z'),
        endedAt: z.iso
          .datetime()
          .nullable()
          .meta({
            description: 'the check that did not any more; null as long as it holds',
            examples: ['2026-06-03T00:15:07.810Z'],
          }),
      }),
    )
    .meta({ description: 'those that hold, and those that ended in the last 14 days, the newest first' }),
  deliveries: z
    .array(
      z.object({
        id: z
          .string()
          .meta({ description: 'id of the message', examples: ['msg_01JZ8Y3V5T8Q2M4N6P7R9S1T3V'] }),
        kind: z.enum(['alerts', 'digest']).meta({ examples: ['alerts'] }),
        way: z
          .string()
          .nullable()
          .meta({
            description: 'name of the way; null for e-mail to the leads of the team',
            examples: ['on-call'],
          }),
        week: z.iso
          .date()
          .nullable()
          .meta({ description: 'the Monday of a digest; null for alerts', examples: ['2026-06-01'] }),
        team: z
          .string()
          .nullable()
          .meta({ description: 'the team of a digest for its leads, or null', examples: ['Compilers'] }),
        state: z.enum(DELIVERY_STATES).meta({ examples: ['undelivered'] }),
        attempts: z.int().meta({ description: 'how often it was sent', examples: [7] }),
        madeAt: instant('when it was put out', '2026-06-02T00:15:08.120Z'),
        nextAt: instant('when it is sent next; of others, when it was sent last', '2026-06-02T20:51:10.000Z'),
        answer: z
          .string()
          .nullable()
          .meta({ description: 'why the last attempt failed, or null', examples: ['it answers 500'] }),
      }),
    )
    .meta({ description: 'the newest 100 messages: undelivered ones first, then those that wait' }),
});

/** What people are told without asking, and where (docs/alerts.md). */
export const alertRoutes: FastifyPluginAsyncZod<ApiDeps & { readonly secretKey: SecretKey }> = async (
  app,
  { store, config, secretKey, clock },
) => {
  const forOwners = { action: 'manage alerts' as const };

  addRevisionRoutes(app, {
    ...{ tag: 'alerts', ...forOwners, schema: AlertSettings },
    subject: 'where alerts and digests go',
    effect: 'The ways and mutes of the body replace all. A url or secret of *** stays as it is.',
    newest: (orgId) => sealedAlerts.newest(store, orgId),
    change: (orgId, settings, author, check) =>
      sealedAlerts.change(store, orgId, settings, secretKey, author, clock(), check),
    history: (orgId, limit) => sealedAlerts.history(store, orgId, limit),
  });

  app.get(
    '/log',
    {
      config: {
        ...forOwners,
        about: ({ protection }) => aboutUsers([], protection === undefined ? 'everyone' : 'totals'),
        isProtected: true,
      },
      schema: {
        tags: ['alerts'],
        operationId: 'getAlertsLog',
        summary: 'The alerts that hold, and what became of their messages',
        description: 'Where an organization protects people, only auditors see alerts that name somebody.',
        response: { 200: Log },
      },
    },
    async ({ caller: { orgId }, protection }) => {
      const alerts = await alertsSince(store, orgId, clock() - SHOWN_MS);
      const iso = (at: number) => new Date(at).toISOString();
      return {
        alerts: alerts
          .filter(({ userId }) => protection === undefined || userId === '')
          .map((alert) => ({
            condition: alert.condition as (typeof CONDITIONS)[number],
            text: sentenceOf(alert),
            beganAt: iso(alert.beganAt),
            endedAt: alert.endedAt === null ? null : iso(alert.endedAt),
          })),
        deliveries: (await newestDeliveries(store, orgId, DELIVERIES_SHOWN)).map((one) => ({
          ...{ id: one.deliveryId, kind: one.kind, way: one.way === '' ? null : one.way, week: one.week },
          ...{ team: one.team === '' ? null : one.team, state: one.state, attempts: one.attempts },
          ...{ madeAt: iso(one.madeAt), nextAt: iso(one.nextAt) },
          answer: one.answer === '' ? null : one.answer,
        })),
      };
    },
  );

  app.post(
    '/test',
    {
      config: forOwners,
      schema: {
        tags: ['alerts'],
        operationId: 'testAlerts',
        summary: 'Send a test one way out, at once',
        body: z.strictObject({
          way: nameText(64).meta({ description: 'name of the way', examples: ['on-call'] }),
        }),
        response: {
          200: z.object({
            isDelivered: z.boolean().meta({ examples: [false] }),
            answer: z
              .string()
              .nullable()
              .meta({ description: 'why it was not taken, or null', examples: ['it answers 404'] }),
          }),
        },
      },
    },
    async ({ caller: { orgId }, body }) => {
      const answer = await sendTest({ store, config, key: secretKey, clock }, orgId, body.way);
      if (answer === undefined)
        throw new ApiError(400, 'The body must name a way of GET /api/v0/organization/alerts.');
      return { isDelivered: answer === null, answer };
    },
  );

  app.post(
    '/deliveries/:id/retry',
    {
      config: { ...forOwners, errors: { 404: 'The organization has no undelivered message of that id.' } },
      schema: {
        tags: ['alerts'],
        operationId: 'retryAlertsDelivery',
        summary: 'Send a message again that could not be delivered',
        params: z.object({
          id: nameText(64).meta({
            description: 'id of the message, as the log has it',
            examples: ['msg_01JZ8Y3V5T8Q2M4N6P7R9S1T3V'],
          }),
        }),
        response: { 204: z.null() },
      },
    },
    async ({ caller: { orgId }, params: { id } }, reply) => {
      if (!(await sendAgain(store, orgId, id, clock())))
        throw new ApiError(404, 'The organization has no undelivered message of that id.');
      return reply.status(204).send(null);
    },
  );
};
