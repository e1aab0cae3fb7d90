import { z } from 'zod';
import { addDays, MS_PER_DAY } from '../day.js';
import { PullFault } from './vendor-client.js';
import { type Report, reportSource } from './vendor-report.js';

const count = z.number().int().min(0).default(0);
const maybe = z.number().int().min(0).nullish();

/** A page of usage events: https://cursor.com/docs/account/teams/admin-api. Some teams get them under another name. */
const UsagePage = z
  .object({
    totalUsageEventsCount: z.number().int().min(0),
    usageEvents: z.array(z.unknown()).optional(),
    usageEventsDisplay: z.array(z.unknown()).optional(),
  })
  .transform(({ usageEvents, usageEventsDisplay, totalUsageEventsCount: total }) => ({
    total,
    events: usageEvents ?? usageEventsDisplay,
  }))
  .pipe(
    z.object({
      total: z.number(),
      events: z.array(
        z.object({
          timestamp: z.coerce.number().int().min(0),
          model: z.string().min(1),
          userEmail: z.string().min(1).nullish(),
          userId: z.union([z.string(), z.number()]).nullish(),
          chargedCents: z.number().min(0).nullish(),
          isHeadless: z.boolean().nullish(),
          // Missing where a request isn't counted in tokens.
          tokenUsage: z
            .object({
              inputTokens: count,
              outputTokens: count,
              cacheReadTokens: count,
              cacheWriteTokens: count,
              totalCents: z.number().min(0).nullish(),
            })
            .nullish(),
        }),
      ),
    }),
  );

/** How many events are asked for at a time. */
const EVENTS = 500;

/** Each call of a model by the people of a team, with its tokens. */
export const CURSOR_USAGE: Report = {
  vendor: 'cursor',
  source: reportSource('cursor-usage'),
  revisedDays: 7,
  fetch: async (client, day) => {
    const [startDate, end] = [Date.parse(day), Date.parse(addDays(day, 1))];
    const asked = (page: number) => ({
      ...{ method: 'POST' as const, path: '/teams/filtered-usage-events' },
      body: { startDate, endDate: end - 1, page, pageSize: EVENTS },
    });
    let seen = 0;
    const pages = await client.pages(UsagePage, asked(1), ({ total, events }, number) => {
      seen += events.length;
      return seen < total && events.length > 0 ? asked(number + 1) : undefined;
    });
    const total = pages[0]?.total ?? 0;
    if (seen !== total || pages.some((page) => page.total !== total))
      throw new PullFault(`Cursor has ${total} usage events of ${day}, and answers ${seen}`);
    return pages
      .flatMap(({ events }) => events)
      .map(({ timestamp, model, userEmail, userId, chargedCents, isHeadless, tokenUsage }) => {
        if (timestamp < startDate || timestamp >= startDate + MS_PER_DAY)
          throw new PullFault(`Cursor answers events of another day when it is asked for ${day}`);
        const email = userEmail?.toLowerCase() ?? null;
        return {
          ...{ email, user: email ?? `cursor:${userId ?? 'unknown'}`, timestamp, model },
          ...{ isHeadless: isHeadless ?? null, tokens: tokenUsage ?? null },
          // Calls that a plan includes are charged with 0.
          cents: chargedCents ?? tokenUsage?.totalCents ?? null,
        };
      });
  },
};

/** A page of daily usage: a row for each person, also for those who did nothing. */
const DailyPage = z.object({
  data: z.array(
    z.object({
      userId: z.union([z.string(), z.number()]),
      day: z.string().nullish(),
      date: z.number().int().nullish(),
      email: z.string().min(1).nullish(),
      acceptedLinesAdded: maybe,
      acceptedLinesDeleted: maybe,
      composerRequests: maybe,
      chatRequests: maybe,
      agentRequests: maybe,
      cmdkUsages: maybe,
    }),
  ),
  pagination: z.object({ hasNextPage: z.boolean() }).nullish(),
});

/** How many people are asked for at a time. */
const PEOPLE = 1000;

/** The day of each person of a team: requests, and lines that were accepted. */
export const CURSOR_DAILY: Report = {
  vendor: 'cursor',
  source: reportSource('cursor-daily'),
  revisedDays: 7,
  fetch: async (client, day) => {
    const [startDate, end] = [Date.parse(day), Date.parse(addDays(day, 1))];
    const asked = (page: number) => ({
      ...{ method: 'POST' as const, path: '/teams/daily-usage-data' },
      body: { startDate, endDate: end - 1, page, pageSize: PEOPLE },
    });
    const pages = await client.pages(DailyPage, asked(1), ({ data, pagination }, number) => {
      if (pagination?.hasNextPage !== true) return undefined;
      if (data.length === 0) throw new PullFault('Cursor says that there is another page of nobody');
      return asked(number + 1);
    });
    return pages
      .flatMap(({ data }) => data)
      .map(({ userId, day: told, date, email: address, ...row }) => {
        const of = told ?? (date == null ? day : new Date(date).toISOString().slice(0, 10));
        if (of !== day) throw new PullFault(`Cursor answers for ${of} when it is asked for ${day}`);
        const email = address?.toLowerCase() ?? null;
        const { composerRequests, chatRequests, agentRequests, cmdkUsages } = row;
        const requests = [composerRequests, chatRequests, agentRequests, cmdkUsages];
        return {
          ...{ day, email, user: email ?? `cursor:${userId}` },
          prompts: requests.reduce<number>((sum, one) => sum + (one ?? 0), 0),
          ...{ added: row.acceptedLinesAdded ?? null, deleted: row.acceptedLinesDeleted ?? null },
        };
      });
  },
};
