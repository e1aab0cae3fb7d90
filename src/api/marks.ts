import { z } from 'zod';
import { addDays, type Day, DaySchema, laterDay } from '../day.js';
import { nameText } from '../input/name-text.js';
import { readSql, withSources } from '../store/sql-text.js';
import { closedNamesOf } from '../store/state/closed-names.js';
import type { Row, Store } from '../store/store.js';
import { teamsOf } from './answer-rows.js';

/** How many days marks look back on. */
const DAYS_BACK = 180;

const whole = (description: string, example: number) =>
  z
    .int()
    .nullable()
    .meta({ description: `${description}; null for other marks`, examples: [example] });
const share = (description: string, example: number) =>
  z
    .number()
    .nullable()
    .meta({ description: `${description}; null for other marks`, examples: [example] });

/** What needs a look. */
export const Mark = z.strictObject({
  mark: z.enum(['stuck', 'failing', 'spreading']).meta({
    description: 'stuck, of a person or team; failing, of a server or tool; spreading, of a server or skill',
    examples: ['stuck'],
  }),
  kind: z
    .enum(['person', 'team', 'mcp_server', 'tool', 'skill'])
    .meta({ description: 'what is marked', examples: ['person'] }),
  name: z.string().meta({ description: 'the user, team, server, tool or skill', examples: ['ada'] }),
  team: z
    .string()
    .nullable()
    .meta({ description: 'the team of a person; null without one, and for other marks', examples: ['web'] }),
  since: DaySchema.nullable().meta({
    description: 'the day on which it began; null for a team',
    format: 'date',
    examples: ['2026-11-09'],
  }),
  days: whole('weekdays with calls since then', 14),
  users: whole('people in it: with failed calls, or who use it, or who are stuck', 12),
  failed_calls: whole('failed calls since then', 412),
  calls_with_outcome: whole('calls since then that are known to have succeeded or failed', 998),
  failed_call_ratio: share('the first by the second', 0.41),
  ratio_before: share('the same of the 20 weekdays before', 0.04),
  ratio_of_all: share('the median of all people in their last 10 weekdays', 0.04),
  users_before: whole('users of the 28 days before', 41),
  new_users: whole('users who never used it before', 61),
  hidden_by: z
    .string()
    .nullable()
    .meta({
      description: 'who said that it needs no look, or a pseudonym; null if nobody did',
      examples: ['grace'],
    }),
  hidden_at: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'when they said so', examples: ['2026-11-20T10:00:00.000Z'] }),
  reasons: z
    .array(z.string())
    .meta({ description: 'why, in sentences', examples: [['41% of 998 calls failed.']] }),
});
export type Mark = z.infer<typeof Mark>;

/** The marks of one day. */
export const MarksAnswer = z.object({
  data: z.array(Mark),
  meta: z.object({
    org_id: z.string().meta({ description: 'the organization', examples: ['acme'] }),
    end_date: DaySchema.meta({ format: 'date', examples: ['2026-11-26'] }),
  }),
});

/** The mark that needs no look. */
export const HiddenMarkBody = z.strictObject({
  user_id: nameText(128).meta({ description: 'id of the user who is marked', examples: ['ada'] }),
});

/** Whether there was a mark to hide. */
export const HiddenMarkAnswer = z.object({
  data: z.object({
    is_hidden: z
      .boolean()
      .meta({ description: 'false if the user isn’t stuck, so that nothing was noted', examples: [true] }),
  }),
});

/** A request for the marks of one day. */
export interface MarksRequest {
  readonly orgId: string;
  readonly day: Day;
  /** The first day that is served. */
  readonly historyStart: Day;
  /** The only user whose mark is asked for: then there are no others. */
  readonly ownId?: string | undefined;
  /** How many people a mark has at least, if its reader may not see people by name. */
  readonly floor?: number | undefined;
  /** What the answer says of a user. */
  readonly nameOf?: ((userId: string) => string) | undefined;
}

const NOTHING = {
  ...{ team: null, since: null, days: null, users: null, failed_calls: null, calls_with_outcome: null },
  ...{ failed_call_ratio: null, ratio_before: null, ratio_of_all: null, users_before: null, new_users: null },
  ...{ hidden_by: null, hidden_at: null },
} satisfies Partial<Mark>;

function percent(value: unknown): string {
  return `${(100 * Number(value)).toFixed(1).replace(/\.0$/, '')}%`;
}

/** The numbers that a row of the store has, by their names. */
function numbersOf(row: Row, ...names: readonly (keyof Mark)[]): Partial<Mark> {
  return Object.fromEntries(names.map((name) => [name, row[name] === null ? null : Number(row[name])]));
}

function stuckPerson(row: Row, nameOf: (userId: string) => string): Mark {
  const { commits_stopped, toolless_ratio, toolless_ratio_before } = row;
  const isDry = Number(commits_stopped) === 1;
  return {
    ...NOTHING,
    ...{
      mark: 'stuck',
      kind: 'person',
      name: String(row.user_id),
      team: row.team === '' ? null : String(row.team),
    },
    ...{ since: row.since as Day, days: Number(row.run_days) },
    ...numbersOf(
      row,
      'failed_calls',
      'calls_with_outcome',
      'failed_call_ratio',
      'ratio_before',
      'ratio_of_all',
    ),
    hidden_by: row.hidden_by === null ? null : nameOf(String(row.hidden_by)),
    hidden_at: row.hidden_at === null ? null : new Date(Number(row.hidden_at)).toISOString(),
    reasons: [
      `${percent(row.failed_call_ratio)} of ${row.calls_with_outcome} calls failed on ${row.run_days} weekdays, after ${percent(row.ratio_before)} on the 20 weekdays before.`,
      ...(row.ratio_of_all === null
        ? []
        : [`The median of ${row.people} people is ${percent(row.ratio_of_all)}.`]),
      isDry
        ? `No commit since ${row.last_commit_day}, after commits on ${row.commit_days_before} of ${row.days_before} weekdays.`
        : `${percent(toolless_ratio)} of the turns of the last 5 weekdays were in sessions without a tool, after ${percent(toolless_ratio_before)}.`,
    ],
  };
}

function stuckTeam(row: Row): Mark {
  return {
    ...NOTHING,
    ...{ mark: 'stuck', kind: 'team', name: String(row.team) },
    users: Number(row.people),
    reasons: [`${row.people} people of the team are stuck.`],
  };
}

function failing(row: Row): Mark {
  return {
    ...NOTHING,
    ...{ mark: 'failing', kind: row.kind as Mark['kind'], name: String(row.name) },
    ...{ since: row.since as Day, days: Number(row.run_days) },
    ...numbersOf(row, 'users', 'failed_calls', 'calls_with_outcome', 'failed_call_ratio', 'ratio_before'),
    reasons: [
      `${percent(row.failed_call_ratio)} of ${row.calls_with_outcome ?? 'the'} calls failed, after ${percent(row.ratio_before)} on the 20 weekdays before.`,
      `They failed for ${row.users} people.`,
    ],
  };
}

function spreading(row: Row): Mark {
  return {
    ...NOTHING,
    ...{ mark: 'spreading', kind: row.kind as Mark['kind'], name: String(row.name), since: row.since as Day },
    ...numbersOf(row, 'users', 'users_before', 'new_users'),
    reasons: [
      `${row.users} people used it in the last 28 days, ${row.users_before ?? 'at most half of them'} in the 28 days before.`,
      `${row.new_users ?? 'At least 10'} of them never used it before.`,
    ],
  };
}

/** The marks of a day: who is stuck, what fails and what spreads, in this order. */
export async function marksOf(
  store: Store,
  { orgId, day, historyStart, ownId, floor, nameOf = String }: MarksRequest,
): Promise<Mark[]> {
  const teams = teamsOf(await closedNamesOf(store, orgId));
  const failingNames = { failing_names: readSql('report/failing_names.sql') };
  const stuckPeople = {
    ...failingNames,
    stuck_people: readSql('report/stuck_people.sql'),
    mark_hiding: readSql('report/mark_hiding.sql'),
    ...teams.sources,
  };
  const parameters = {
    ...teams.parameters,
    ...{ org_id: orgId, earliest: { day: laterDay(addDays(day, -DAYS_BACK), historyStart) }, to: { day } },
    ...{ floor: floor ?? 1, reader: ownId ?? null },
  };
  return store.snapshot(async (select) => {
    const marks: Mark[] = [];
    const add = async (
      file: string,
      sources: Readonly<Record<string, string>>,
      markOf: (row: Row) => Mark,
    ) => {
      const rows = await select(withSources(readSql(`report/${file}.sql`), sources), parameters);
      marks.push(...rows.map(markOf));
    };
    if (ownId !== undefined || floor === undefined)
      await add('marks_of_people', stuckPeople, (row) => stuckPerson(row, nameOf));
    if (ownId !== undefined) return marks;
    await add('marks_of_teams', stuckPeople, stuckTeam);
    await add('marks_of_names', failingNames, failing);
    await add('spreading_names', { name_use: readSql('report/name_use.sql') }, spreading);
    return marks;
  });
}
