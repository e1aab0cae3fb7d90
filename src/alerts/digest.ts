import { z } from 'zod';
import { addDays, type Day } from '../day.js';
import type { AskRoute } from '../mcp/ask-route.js';
import { countOf, dayName, dollars, type Message, percent, silentSentence } from './message.js';

/** How many bytes of an answer are read: those of a few rows have far fewer. */
const ANSWER_BYTES = 1 << 20;
/** How long one answer may take: nobody waits for the message. */
const ANSWER_MS = 60_000;
/** How many names of a kind have moved most. */
const MOVERS = 3;
/** Smaller changes aren't told: USD. */
const SMALL_USD = 1;

const Row = z.object({
  group_key: z.string().nullable(),
  cost_usd: z.number().nullable(),
  active_users: z.number(),
  failed_call_ratio: z.number().nullable(),
  previous: z.object({ cost_usd: z.number().nullable(), active_users: z.number() }).nullable(),
  data_begins: z.string().nullable(),
});
const Step = z.object({ step: z.string(), usd: z.number() });
const Budget = z.object({
  scope: z.string(),
  name: z.string().nullable(),
  state: z.string().nullable(),
  budget_usd: z.number(),
  spent_usd: z.number().nullable(),
});
const Silence = z.object({ silent_collectors: z.number(), silent_agents: z.number() });

/** What the steps of a change are called. */
const STEPS: Readonly<Record<string, string>> = {
  new_teams: 'new teams',
  people: 'how many people',
  tokens: 'how much each of them used',
  models: 'which models',
  prices: 'prices',
};

/** Whose week a digest tells. */
export interface Digest {
  readonly orgId: string;
  /** A Monday. */
  readonly week: Day;
  /** '' for all of the organization. */
  readonly team: string;
}

/** Dollars with what they changed by. */
function changed(now: number | null, before: number | null | undefined): string {
  const by = (now ?? 0) - (before ?? 0);
  return before === undefined ? dollars(now ?? 0) : `${dollars(now ?? 0)} (${signed(by)})`;
}

function signed(usd: number): string {
  return `${usd < 0 ? '−' : '+'}${dollars(Math.abs(usd))}`;
}

/**
 * The digest of a week: what it cost and why that changed, who and what moved most, and what needs a look. It asks the service's own routes for
 * somebody who may see no people by name, so it tells nobody more than these do, and names no person.
 */
export async function digestMessage(
  { orgId, week, team }: Digest,
  { id, url, ask }: { readonly id: string; readonly url: string | undefined; readonly ask: AskRoute },
): Promise<Message> {
  const end = addDays(week, 6);
  const range = { startDate: week, endDate: end, ...(team === '' ? {} : { team }) };
  /** What a route answers; undefined where it may not tell. */
  const read = async (
    path: string,
    query: Record<string, string>,
  ): Promise<{ data: unknown; meta: unknown } | undefined> => {
    const { status, text, isWhole } = await ask(
      {
        method: 'GET',
        path: `/api/v1/analytics/${path}?${new URLSearchParams(query)}`,
        accept: 'application/json',
        bytes: ANSWER_BYTES,
      },
      AbortSignal.timeout(ANSWER_MS),
    );
    if (status === 403) return undefined;
    if (status !== 200 || !isWhole) throw new Error(`${path} answers ${status}: ${text.slice(0, 200)}`);
    return JSON.parse(text);
  };
  const rowsOf = async (query: Record<string, string>) =>
    z.array(Row).parse((await read('summary', { ...range, compare: 'previous', ...query }))?.data ?? []);
  const [all] = await rowsOf({});
  const title = `${team === '' ? orgId : team}, the week of ${dayName(week)} – ${dayName(end)}`;
  const about = { id, kind: 'digest' as const, orgId, title, url };
  if (all === undefined)
    return { ...about, lines: ['There is nothing that may be told of this week.'], data: { week, team } };
  const isCompared = all.previous !== null;
  const steps = isCompared ? z.array(Step).parse((await read('changes', range))?.data ?? []) : [];
  const lines = [
    `It cost ${changed(all.cost_usd, all.previous?.cost_usd)}, of ${countOf(all.active_users, 'person').replace('persons', 'people')}.`,
    ...(isCompared
      ? []
      : [
          `It isn't compared with the week before${all.data_begins === null ? '' : `: data begins ${dayName(all.data_begins)}`}.`,
        ]),
    ...reasonOf(steps),
    ...(all.failed_call_ratio === null ? [] : [`${percent(all.failed_call_ratio)} of tool calls failed.`]),
  ];
  const kinds = team === '' ? ['team', 'repo', 'model'] : ['repo', 'model'];
  for (const kind of isCompared ? kinds : []) {
    const movers = (await rowsOf({ group_by: kind, sort: 'change:abs', limit: String(MOVERS) })).filter(
      ({ cost_usd, previous }) =>
        previous !== null && Math.abs((cost_usd ?? 0) - (previous.cost_usd ?? 0)) >= SMALL_USD,
    );
    if (movers.length > 0)
      lines.push(
        `${{ team: 'Teams', repo: 'Repositories', model: 'Models' }[kind]} that changed most: ${movers
          .map(
            ({ group_key, cost_usd, previous }) =>
              `${group_key || '(none)'} ${changed(cost_usd, previous?.cost_usd)}`,
          )
          .join(', ')}.`,
      );
  }
  const budgets = z.array(Budget).parse((await read('budgets', { month: end.slice(0, 7) }))?.data ?? []);
  for (const { scope, name, state, budget_usd, spent_usd } of budgets) {
    const isOwn = team === '' ? scope !== 'person' : scope === 'team' && name === team;
    if (isOwn && (state === 'above' || state === 'may_not_hold'))
      lines.push(
        `The budget of ${name ?? 'the organization'} ${state === 'above' ? 'is spent' : 'may not hold'}: ${dollars(spent_usd)} of ${dollars(budget_usd)}.`,
      );
  }
  if (team === '') {
    const { silent_collectors, silent_agents } = Silence.parse((await read('silence', {}))?.meta);
    if (silent_collectors + silent_agents > 0) lines.push(silentSentence(silent_collectors, silent_agents));
  }
  return { ...about, lines, data: { week, team: team === '' ? null : team } };
}

/** Most of the reason for a change. */
function reasonOf(steps: readonly z.infer<typeof Step>[]): string[] {
  const parts = steps
    .filter(({ step, usd }) => STEPS[step] !== undefined && Math.abs(usd) >= SMALL_USD)
    .sort((one, other) => Math.abs(other.usd) - Math.abs(one.usd));
  return parts.length === 0
    ? []
    : [`The change is made of ${parts.map(({ step, usd }) => `${STEPS[step]} ${signed(usd)}`).join(', ')}.`];
}
