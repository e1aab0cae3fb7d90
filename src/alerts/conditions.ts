import { totalsSql } from '../api/answer-rows.js';
import { budgetRows, preparedBudgets } from '../api/budget-rows.js';
import { guardedRange } from '../api/guarded-range.js';
import { addDays, type Day, lastClosedDay, laterDay } from '../day.js';
import { readSql, withSources } from '../store/sql-text.js';
import type { Holding } from '../store/state/alert-log.js';
import { silenceCounts, silenceSql } from '../store/state/silence.js';
import type { Row, Store } from '../store/store.js';
import type { Condition } from './alert-settings.js';

/** How long after a day's end it should be built: milliseconds. */
const BUILT_WITHIN_MS = 12 * 60 * 60 * 1000;
/** The weeks in which days are compared with the same weekday. */
const WEEKS = 8;
/** The shares of a budget that are told. */
const LEVELS = [1, 0.8, 0.5] as const;

/** The conditions that are told once for each subject: their subject is a day or a month. */
export const TOLD_ONCE: readonly Condition[] = ['dear_day', 'budget'];

/** What an organization's conditions are read with. */
export interface Asked {
  readonly store: Store;
  readonly orgId: string;
  readonly historyStart: Day;
  /** How many people a group has at least that is told of; undefined where people may be told apart. */
  readonly floor: number | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

type Found = Holding & { readonly condition: Condition };

function of(condition: Condition, subject: string, facts: Row, userId = ''): Found {
  return { condition, subject, userId, facts: facts as Holding['facts'] };
}

/** All conditions that hold for an organization: what its messages tell, and no more than they may. */
export async function conditionsOf(asked: Asked): Promise<Found[]> {
  return [...(await ofDays(asked)), ...(await ofBudgets(asked)), ...(await ofSilence(asked))];
}

/** What sql/report/alert_facts.sql finds. */
async function ofDays({ store, orgId, historyStart, floor, now }: Asked): Promise<Found[]> {
  const last = lastClosedDay(now);
  const first = laterDay(addDays(last, -7 * WEEKS), historyStart);
  if (last < first) return [];
  const range = { from: first, to: last, historyStart };
  const guarded = floor === undefined ? {} : await guardedRange(store, orgId, floor, range);
  const { text, parameters } = totalsSql('costs', { orgId, ...range, ...guarded });
  const [row = {}] = await store.select(withSources(readSql('report/alert_facts.sql'), { cost_row: text }), {
    ...parameters,
    ...{ first: { day: first }, last: { day: last }, week: { day: addDays(last, -6) } },
    overdue: { day: lastClosedDay(now - BUILT_WITHIN_MS) },
  });
  const { day_usd, baseline_usd, baseline_days, unpriced_ratio, rejected_ratio } = row;
  const found: Found[] = [];
  if (row.is_dear === 1)
    found.push(of('dear_day', last, { day: last, day_usd, baseline_usd, baseline_days } as Row));
  if (row.is_unpriced === 1) found.push(of('unpriced', '', { unpriced_ratio } as Row));
  if (row.is_rejected === 1)
    found.push(of('rejected', '', { rejected_ratio, rejected: row.rejected } as Row));
  if (Number(row.unbuilt_days) > 0)
    found.push(of('unbuilt_day', '', { days: row.unbuilt_days, first_day: row.first_unbuilt_day } as Row));
  return found;
}

/** Budgets of this month: the highest share that is spent, and a forecast above. */
async function ofBudgets({ store, orgId, historyStart, floor, now }: Asked): Promise<Found[]> {
  const prepared = await preparedBudgets(store, { orgId, floor }, historyStart, now);
  const rows = await store.snapshot((select) => budgetRows(select, prepared));
  return rows.flatMap((row): Found[] => {
    const { month, scope, name, budget_usd, spent_usd, spent_ratio, forecast_usd, state } = row;
    const subject = [month, scope, name ?? ''].join(' ');
    const facts = { month, scope, name, budget_usd, spent_usd, forecast_usd } as Row;
    // Of people together, only how many are above is known.
    if (Number(row.people_above) > 0)
      return [of('budget', `${subject} people`, { ...facts, people_above: row.people_above } as Row)];
    if (spent_ratio === null || spent_ratio === undefined) return [];
    const userId = scope === 'person' ? String(name ?? '') : '';
    const level = LEVELS.find((share) => Number(spent_ratio) >= share);
    const isTold = state === 'may_not_hold' && Number(forecast_usd) > Number(budget_usd);
    return [
      ...(level === undefined
        ? []
        : [of('budget', `${subject} ${100 * level}`, { ...facts, level }, userId)]),
      ...(isTold ? [of('budget', `${subject} forecast`, { ...facts, level: null }, userId)] : []),
    ];
  });
}

/** Collectors and agents that are silent. Where people may not be told apart, how many. */
async function ofSilence({ store, orgId, floor, now }: Asked): Promise<Found[]> {
  const last = lastClosedDay(now);
  const select = store.select.bind(store);
  if (floor !== undefined) {
    const { silent_collectors, silent_agents } = (await silenceCounts(select, [orgId], last))(orgId);
    return silent_collectors + silent_agents === 0
      ? []
      : [of('silent', '', { silent_collectors, silent_agents })];
  }
  const { text, parameters } = silenceSql([orgId], last, ['silent']);
  return (await select(text, parameters)).map(({ user_id, kind, name, host, last_day }) =>
    of(
      'silent',
      [kind, user_id, name].join(' '),
      { user_id, kind, name, host, last_day } as Row,
      String(user_id),
    ),
  );
}
