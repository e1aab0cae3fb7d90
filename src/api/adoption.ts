import { z } from 'zod';
import { type Day, DaySchema } from '../day.js';
import { readSql, withSources } from '../store/sql-text.js';
import type { Row, Store } from '../store/store.js';

/** How many servers and skills an answer has at most. */
const NAMES_AT_MOST = 200;

const people = (description: string, example: number) => z.int().meta({ description, examples: [example] });

/** Who uses an MCP server or a skill. */
export const Adopted = z.strictObject({
  kind: z.enum(['mcp_server', 'skill']).meta({ description: 'what is used', examples: ['mcp_server'] }),
  name: z.string().meta({ description: 'the server, in lower case, or the skill', examples: ['jira'] }),
  users: people('who used it in the range', 102),
  active_ratio: z
    .number()
    .meta({ description: 'users by all people who were active in the range', examples: [0.41] }),
  new_users: people('those who never used it before the range', 44)
    .nullable()
    .meta({
      description: 'those who never used it before the range; null if no day before it is known',
      examples: [44],
    }),
  kept_ratio: z
    .number()
    .nullable()
    .meta({
      description:
        'share of the users of a whole week who used it in the next whole week too; null without such weeks',
      examples: [0.82],
    }),
  weeks: z
    .array(
      z.strictObject({
        week: DaySchema.meta({ description: 'its Monday', format: 'date', examples: ['2026-06-01'] }),
        users: people('who used it in the days of the week that the range has', 31),
      }),
    )
    .meta({ description: 'weeks of the range with users' }),
});
export type Adopted = z.infer<typeof Adopted>;

/** Who uses what, in a range. */
export const AdoptionAnswer = z.object({
  data: z.array(Adopted).meta({ description: `most users first, ${NAMES_AT_MOST} at most` }),
  meta: z.object({
    org_id: z.string().meta({ description: 'the organization', examples: ['acme'] }),
    start_date: DaySchema.meta({ format: 'date', examples: ['2026-06-01'] }),
    end_date: DaySchema.meta({ format: 'date', examples: ['2026-06-30'] }),
  }),
});

export interface AdoptionRequest {
  readonly orgId: string;
  readonly from: Day;
  readonly to: Day;
  /** The first day that is served. */
  readonly historyStart: Day;
  /** How many people a number has at least, if its reader may not see people by name. */
  readonly floor?: number | undefined;
}

/** The MCP servers and skills of a range, the ones with the most users first. */
export async function adoptionOf(
  store: Store,
  { orgId, from, to, historyStart, floor = 1 }: AdoptionRequest,
): Promise<Adopted[]> {
  const sources = { name_use: readSql('report/name_use.sql') };
  const parameters = {
    ...{ org_id: orgId, earliest: { day: historyStart }, from: { day: from }, to: { day: to }, floor },
  };
  return store.snapshot(async (select) => {
    const names = await select(withSources(readSql('report/adoption.sql'), sources), {
      ...parameters,
      limit: NAMES_AT_MOST,
    });
    const weeks = await select(withSources(readSql('report/adoption_weeks.sql'), sources), parameters);
    const keyOf = ({ kind, name }: Row) => `${kind} ${name}`;
    const weeksOf = new Map(names.map((row) => [keyOf(row), [] as Row[]]));
    for (const row of weeks) weeksOf.get(keyOf(row))?.push(row);
    return names.map((row) =>
      Adopted.parse({
        ...{ kind: row.kind, name: row.name, users: Number(row.users), active_ratio: row.active_ratio },
        new_users: row.new_users === null ? null : Number(row.new_users),
        kept_ratio: row.kept_ratio,
        weeks: weeksOf.get(keyOf(row))?.map(({ week, users }) => ({ week, users: Number(users) })),
      }),
    );
  });
}
