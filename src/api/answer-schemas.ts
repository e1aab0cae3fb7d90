import { z } from 'zod';
import { DaySchema } from '../day.js';
import { ANSWERS, type Answer, fileOf, GROUPS, hasRowPages, isPaged, isTotals } from './answer-names.js';
import { shapesOf } from './answer-shape.js';

/** The rows in a file of `sql/answer`; `TokensByModelRow` is the name of those in `tokens_by_model`. */
function rowOf(file: string): z.ZodType {
  const id = `${file.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Row`;
  return z
    .strictObject(Object.fromEntries(shapesOf(file).map(({ name, schema }) => [name, schema])))
    .meta({ id });
}

function byAnswer(schemaOf: (answer: Answer) => z.ZodType) {
  return Object.fromEntries(ANSWERS.map((answer) => [answer, schemaOf(answer)])) as Record<Answer, z.ZodType>;
}

const DAYS = byAnswer((answer) => rowOf(fileOf(answer)));

const Instant = z.iso.datetime({ precision: 3 });
const instant = (description: string) => ({ description, examples: ['2026-06-08T00:15:04.000Z'] });

const Range = {
  org_id: z.string().meta({ description: 'the organization', examples: ['acme'] }),
  start_date: DaySchema,
  end_date: DaySchema.meta({ format: 'date', examples: ['2026-06-07'] }),
};

/** The newest build of the days in the answer; null if there are none. */
const Meta = {
  ...Range,
  data_refreshed_at: Instant.nullable().meta(
    instant('when the newest of these days was built; null when none is'),
  ),
};

const Page = {
  has_more: z.boolean().meta({ description: 'whether there are more users or rows', examples: [true] }),
  next_cursor: z
    .string()
    .nullable()
    .meta({ description: 'what to send as cursor for the next page', examples: ['ada'] }),
};

function answerOf(answer: Answer): z.ZodType {
  const days = z.array(DAYS[answer]);
  const files = new Set(isTotals(answer) ? [] : GROUPS[answer].map((group) => fileOf(answer, group)));
  const groups = [...files].map((file) => z.array(rowOf(file)));
  const data = groups.length === 0 ? days : z.union([days, ...groups]);
  return z.object({
    data,
    meta: z.object(isPaged(answer) || hasRowPages(answer) ? { ...Meta, ...Page } : Meta),
  });
}

/** The answer of each endpoint. */
export const Answers = byAnswer(answerOf);

/** The caller's own rows of `/users`. */
export const MeAnswer = z.object({ data: z.array(DAYS.users), meta: z.object(Meta) });

const number = (description: string, example: number) =>
  z.number().meta({ description, examples: [example] });

/** Where the caller's numbers stand among those of all. */
export const PlaceAnswer = z.object({
  data: z
    .array(
      z.object({
        measure: z.string().meta({ description: 'the member of the summary', examples: ['sessions'] }),
        own: number('your number', 14),
        below: number('share of the others whose number is lower', 0.75),
        p10: number('10th percentile of the others: the mean of the 5 numbers around it', 2),
        median: number('median of the others, in the same way', 9),
        p90: number('90th percentile of the others, in the same way', 31),
        people: z.int().meta({ description: 'people who were active in the range', examples: [24] }),
      }),
    )
    .meta({ description: 'empty if fewer than 10 others were active in the range, or you were not' }),
  meta: z.object(Range),
});

const silenceCount = (description: string, example: number) =>
  z
    .int()
    .min(0)
    .meta({ description, examples: [example] });

/** How many collectors and agents report, and how many don't. */
export const SilenceCounts = {
  live_collectors: silenceCount('collectors that report', 231),
  silent_collectors: silenceCount('collectors that are silent, and nobody has said why', 2),
  silent_agents: silenceCount('agents of people that are silent, and nobody has said why', 1),
  idle_agents: silenceCount('agents that have stopped with nothing left to send', 4),
  acknowledged: silenceCount('silent collectors and agents of which somebody knows why', 3),
};

/** Which collectors and agents are silent. */
export const SilenceAnswer = z.object({
  data: z.array(rowOf('silence')).meta({ description: 'empty for those who may not see people by name' }),
  meta: z.object({ org_id: Range.org_id, ...SilenceCounts }),
});

/** What of the budgets of a month is spent. */
export const BudgetsAnswer = z.object({
  data: z.array(rowOf('budgets')),
  meta: z.object({
    org_id: Range.org_id,
    month: z.string().meta({ description: 'the month, in UTC', examples: ['2026-06'] }),
    unbuilt_days: z.array(DaySchema).meta({
      description: 'days of the month that are over and not built: their costs are estimated',
      examples: [[]],
    }),
  }),
});

/** Ours: the open day so far: one row of each answer, and one for each active user. */
export const TodayAnswer = z.object({
  data: z.object({
    tokens: DAYS.tokens,
    tools: DAYS.tools,
    activity: DAYS.activity,
    productivity: DAYS.productivity,
    users: z.array(DAYS.users),
    summary: DAYS.summary,
  }),
  meta: z.object({
    ...Range,
    final: z.literal(false).meta({ description: 'the day is not over', examples: [false] }),
    counted_at: Instant.meta(instant('when it was counted')),
  }),
});
