import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DaySchema, lastClosedDay } from '../day.js';
import { organizationStatus } from '../store/organization-status.js';
import { readSql } from '../store/sql-text.js';
import { SilenceCounts } from './answer-schemas.js';
import { aboutEveryone } from './read-audit.js';
import type { ApiDeps } from './route-family.js';

const count = (description: string, example: number) =>
  z
    .int()
    .min(0)
    .meta({ description, examples: [example] });
const day = (description: string) => DaySchema.nullable().meta({ description, examples: ['2026-06-01'] });
const agent = z.string().meta({ description: 'the agent, empty if events name none', examples: ['codex'] });

/** What `daybook status` prints of one organization. */
export const Status = z
  .object({
    org_id: z.string().meta({ description: 'the organization', examples: ['acme'] }),
    first_day: day('day of the first event, or null'),
    events: count('events stored', 128_400),
    events_of_open_day: count('events stored of days that have not ended', 310),
    days_built: count('days that are built', 120),
    newest_built_day: day('the newest of them, or null'),
    days_stale: count('closed days that wait for a build', 0),
    oldest_stale_day: day('the oldest of these, or null'),
    rejects: z
      .record(z.string(), z.int())
      .meta({ description: 'rejected lines by the rule that they broke', examples: [{ missing_member: 1 }] }),
    silence: z.object(SilenceCounts).meta({ description: 'collectors and agents by their states' }),
    silent_collectors: z
      .array(
        z.object({
          user_id: z.string().meta({ description: 'id of the user', examples: ['ada'] }),
          host: z
            .string()
            .nullable()
            .meta({ description: "name of the collector's machine, or null", examples: ['ada-laptop'] }),
          last_day: DaySchema.meta({
            description: 'day on which it last reported',
            examples: ['2026-06-01'],
          }),
        }),
      )
      .meta({
        description:
          'that nobody has acknowledged, the newest first; empty for those who may not see people by name',
      }),
    silent_agents: z
      .array(
        z.object({
          user_id: z.string().meta({ description: 'id of the user', examples: ['ada'] }),
          agent,
          last_day: DaySchema.meta({
            description: 'day on which it last reported',
            examples: ['2026-06-01'],
          }),
        }),
      )
      .meta({
        description:
          'that nobody has acknowledged, the newest first; empty for those who may not see people by name',
      }),
    without_user: z.array(
      z.object({ agent, events: count("events of the last 14 days that don't say whose they are", 6) }),
    ),
    vendor_reports: z
      .array(
        z.object({
          report: z.string().meta({ description: 'the report of a vendor', examples: ['anthropic-costs'] }),
          pulled_at: z.int().meta({
            description: 'when it was pulled last: Unix milliseconds',
            examples: [1_780_272_908_120],
          }),
          is_late: z.boolean().meta({ description: 'whether that was too long ago', examples: [false] }),
          missed_days: count('days that could not be fetched', 2),
          oldest_missed_day: day('the oldest of these, or null'),
          fault: z
            .string()
            .nullable()
            .meta({
              description: 'the last fault, or null',
              examples: ['Anthropic answers /v1/organizations/cost_report with 500'],
            }),
        }),
      )
      .meta({ description: "vendors' reports that lack something" }),
    data_days: z
      .array(DaySchema)
      .meta({ description: 'built days that have events, oldest first', examples: [['2026-06-01']] }),
  })
  .meta({ id: 'OrganizationStatus' });

/** What is stored and built of the caller's organization. */
export const statusRoutes: FastifyPluginAsyncZod<ApiDeps> = async (app, { store, config, clock }) => {
  app.get(
    '',
    {
      config: { action: 'read analytics', about: aboutEveryone, isProtected: true },
      schema: {
        tags: ['analytics'],
        summary: "What is stored of the organization's events, and which days are built",
        querystring: z.strictObject({}),
        response: { 200: z.object({ data: Status }) },
      },
    },
    async (request) => {
      const { orgId } = request.caller;
      const [found] = await organizationStatus(store, lastClosedDay(clock()), orgId);
      const days = await store.select(readSql('state/data_days.sql'), {
        org_id: orgId,
        from: { day: config.historyStart },
      });
      const status = found ?? { ...NOTHING, org_id: orgId };
      const named = request.protection === undefined ? {} : { silent_collectors: [], silent_agents: [] };
      return { data: { ...status, ...named, data_days: days.map((row) => DaySchema.parse(row.day)) } };
    },
  );
};

/** An organization without events. */
const NOTHING = {
  first_day: null,
  events: 0,
  events_of_open_day: 0,
  days_built: 0,
  newest_built_day: null,
  days_stale: 0,
  oldest_stale_day: null,
  rejects: {},
  silence: {
    live_collectors: 0,
    silent_collectors: 0,
    silent_agents: 0,
    idle_agents: 0,
    acknowledged: 0,
  },
  silent_collectors: [],
  silent_agents: [],
  without_user: [],
  vendor_reports: [],
} as const satisfies Partial<z.infer<typeof Status>>;
