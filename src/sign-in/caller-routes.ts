import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ACTIONS, type Action, BY_NAME, may, Role } from '../api/roles.js';
import type { ApiDeps } from '../api/route-family.js';
import { DaySchema, lastClosedDay } from '../day.js';
import { readSql } from '../store/sql-text.js';
import { staleDays } from '../store/stale-days.js';

const day = (description: string, example: string) =>
  DaySchema.nullable().meta({ description: `${description}, or null`, examples: [example] });

const CallerAnswer = z
  .object({
    org_id: z.string().meta({ description: 'the organization', examples: ['acme'] }),
    role: Role.meta({ description: 'the role', examples: ['owner'] }),
    user_id: z
      .string()
      .nullable()
      .meta({ description: 'the user, or null for a credential of none', examples: ['ada'] }),
    email: z
      .string()
      .nullable()
      .meta({ description: "the user's address, or null", examples: ['ada@acme.example'] }),
    actions: z.array(z.enum(Object.keys(ACTIONS) as Action[])).meta({
      description:
        'what you may do: what the role may, without what only auditors may if people are protected',
      examples: [['read analytics']],
    }),
    days: z.object({
      first: day('first built day that has events', '2026-06-01'),
      last: day('last built day that has events', '2026-06-07'),
      stale: z.array(DaySchema).meta({
        description:
          'closed days that wait for a build because they are stale or were never built, oldest first',
        examples: [['2026-06-08']],
      }),
    }),
  })
  .meta({ id: 'Caller' });

/** Who a credential is: what a program asks first that shows different things to different people. */
export const callerRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, config, clock }) => {
  app.get(
    '',
    {
      config: { action: 'use the page' },
      schema: {
        tags: ['analytics'],
        summary:
          'Who you are, what you may do, from when to when there are numbers, and which days wait for a build',
        response: { 200: z.object({ data: CallerAnswer }) },
      },
    },
    async ({ caller: { orgId, role, userId, email }, protection }) => {
      // Owners keep the list of people, which has no numbers.
      const all: readonly Action[] = may(role, 'change people') ? BY_NAME : [...BY_NAME, 'read people'];
      const closed = protection === undefined ? [] : all;
      const days = await store.select(readSql('state/data_days.sql'), {
        org_id: orgId,
        from: { day: config.historyStart },
      });
      const stale = await staleDays(store, lastClosedDay(clock()), orgId);
      return {
        data: {
          ...{ org_id: orgId, role, user_id: userId, email },
          actions: (Object.keys(ACTIONS) as Action[]).filter(
            (action) => may(role, action) && !closed.includes(action),
          ),
          days: {
            first: days[0] === undefined ? null : DaySchema.parse(days[0].day),
            last: days.length === 0 ? null : DaySchema.parse(days.at(-1)?.day),
            stale: stale.map(({ day }) => day),
          },
        },
      };
    },
  );
};
