import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { lastClosedDay } from '../day.js';
import { nameText } from '../input/name-text.js';
import { userOf } from '../store/state/person.js';
import {
  acknowledgeSilence,
  SILENT_KINDS,
  type SilenceState,
  silenceCounts,
  silenceSql,
} from '../store/state/silence.js';
import type { ReadColumns } from '../store/store.js';
import { memberNames } from '../store/tables.js';
import { type Form, type Reading, resultsOf, sqlOfAnswer } from './answer-rows.js';
import { SilenceAnswer } from './answer-schemas.js';
import { authorOf } from './caller.js';
import { ApiError } from './errors.js';
import { sendFresh } from './fresh-answer.js';
import { aboutUsers } from './read-audit.js';
import type { ApiDeps } from './route-family.js';
import { SilenceQuery } from './silence-query.js';

/** The states that are shown by default. */
const SHOWN: readonly SilenceState[] = ['silent', 'acknowledged', 'idle'];

const AcknowledgementBody = z.strictObject({
  user_id: nameText(128).meta({ description: 'id of the user', examples: ['ada'] }),
  kind: z.enum(SILENT_KINDS).meta({ examples: ['collector'] }),
  // Events can name no agent.
  name: z
    .union([z.literal(''), nameText(128)])
    .meta({ description: 'id of the collector, or the agent', examples: ['7f3a1c5d9b2e4f60'] }),
  reason: nameText(500)
    .optional()
    .meta({ description: 'why it is silent', examples: ['on leave until July'] }),
});

/** The rows of sql/answer/silence.sql. */
export async function readSilence(
  readColumns: ReadColumns,
  { text, parameters }: ReturnType<typeof silenceSql>,
  form: Form,
): Promise<Reading> {
  const rows = await readColumns(sqlOfAnswer('silence', form), { report_silence: text }, parameters);
  return { columns: memberNames('silence'), results: resultsOf(rows) };
}

/** Adds the answer about silent collectors and agents, and the way to acknowledge one (docs/silence.md). */
export function silenceAnswers(
  instance: FastifyInstance,
  { store, config, clock }: Pick<ApiDeps, 'store' | 'config' | 'clock'>,
): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/silence',
    {
      config: {
        action: 'read analytics',
        about: ({ protection }) => aboutUsers([], protection === undefined ? 'everyone' : 'totals'),
        isProtected: true,
        errors: { 400: 'There is no parameter timezone: use state.' },
        isTagged: true,
        csvExample: `${memberNames('silence').join(',')}\r\n`,
      },
      schema: {
        tags: ['analytics'],
        operationId: 'getAnalyticsSilence',
        summary: 'Which collectors and agents have stopped reporting',
        querystring: SilenceQuery,
        response: { 200: SilenceAnswer },
      },
    },
    async (request, reply) => {
      const { protection, query } = request;
      const { orgId } = request.caller;
      const last = lastClosedDay(clock());
      // Without people by name, there are the counts alone.
      const states = protection === undefined ? (query.state ?? SHOWN) : [];
      return sendFresh(request, reply, { store, config }, async (select, readColumns, form) => {
        const counts = (await silenceCounts(select, [orgId], last))(orgId);
        const reading = await readSilence(readColumns, silenceSql([orgId], last, states), form);
        return { reading, meta: { org_id: orgId, ...counts } };
      });
    },
  );

  app.post(
    '/silence/acknowledgements',
    {
      config: {
        action: 'acknowledge silence',
        about: ({ body }) => aboutUsers([Object(body).user_id], 'totals'),
      },
      schema: {
        tags: ['analytics'],
        operationId: 'acknowledgeSilence',
        summary: 'Say that you know why a collector or an agent is silent',
        description: 'It counts until that reports again. A second one replaces the reason of the first.',
        body: AcknowledgementBody,
        response: { 204: z.null() },
      },
    },
    async ({ caller, body: { user_id, kind, name, reason = null } }, reply) => {
      const { orgId } = caller;
      const now = clock();
      const isSilent = await acknowledgeSilence(
        store,
        {
          ...{ orgId, userId: await userOf(store, orgId, user_id), kind, name },
          ...{ author: authorOf(caller), reason },
        },
        lastClosedDay(now),
        now,
      );
      if (!isSilent)
        throw new ApiError(
          400,
          'The body must name something that is silent: GET /api/v1/analytics/silence lists what is.',
        );
      return reply.status(204).send(null);
    },
  );
}
