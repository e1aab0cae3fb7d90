import type { Alert, Facts } from '../store/state/alert-log.js';
import type { Condition } from './alert-settings.js';

/** How many alerts a message tells one by one. */
const TOLD_AT_MOST = 20;

/** What is sent one way out. */
export interface Message {
  /** The same in every attempt, so that a receiver can tell a repetition. */
  readonly id: string;
  readonly kind: 'alerts' | 'digest' | 'test';
  readonly orgId: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** The same for programs; only webhooks have it. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Where to see more; undefined if the service doesn't know its address. */
  readonly url: string | undefined;
}

const dollarText = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const percentText = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });
const countText = new Intl.NumberFormat('en-US');
const dayText = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'short', day: 'numeric' });
const weekdayText = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', weekday: 'long' });

export const dollars = (value: unknown): string => dollarText.format(Number(value));
export const percent = (value: unknown): string => percentText.format(Number(value));
export const dayName = (day: unknown): string => dayText.format(Date.parse(String(day)));

/** A number of things in words: `3 days`. */
export function countOf(number: unknown, one: string): string {
  return `${countText.format(Number(number))} ${one}${Number(number) === 1 ? '' : 's'}`;
}

const SCOPES: Readonly<Record<string, string>> = {
  organization: 'The budget of the organization',
  team: 'The budget of the team',
  cost_center: 'The budget of the cost centre',
  person: 'The budget of',
  agent: 'The budget of the agent',
  model: 'The budget of the model',
};

function budgetText({
  scope,
  name,
  budget_usd,
  spent_usd,
  forecast_usd,
  level,
  people_above,
  month,
}: Facts): string {
  if (people_above !== undefined)
    return `${people_above === 1 ? '1 person has' : `${countText.format(Number(people_above))} people have`} spent more than the own budget in ${month}.`;
  const what = `${SCOPES[String(scope)]}${name === null ? '' : ` ${name}`}`;
  return level === null
    ? `${what} may not hold: ${dollars(spent_usd)} of ${dollars(budget_usd)} are spent, and ${month} may end at ${dollars(forecast_usd)}.`
    : `${what} is spent by ${percent(Number(spent_usd) / Number(budget_usd))}: ${dollars(spent_usd)} of ${dollars(budget_usd)} in ${month}.`;
}

/** How many machines and agents are silent, without their names. */
export function silentSentence(collectors: unknown, agents: unknown): string {
  return `${countOf(collectors, 'machine')} and ${countOf(agents, 'agent')} have stopped reporting.`;
}

function silenceText({
  user_id,
  kind,
  name,
  host,
  last_day,
  silent_collectors,
  silent_agents,
}: Facts): string {
  if (user_id === undefined) return silentSentence(silent_collectors, silent_agents);
  const what = kind === 'agent' ? (name === '' ? 'an agent' : name) : (host ?? 'a machine');
  return `${what} of ${user_id} has been silent since ${dayName(last_day)}.`;
}

const SENTENCES: Readonly<Record<Condition, (facts: Facts) => string>> = {
  unbuilt_day: ({ days, first_day }) =>
    `${countOf(days, 'day')} with events ${days === 1 ? "isn't" : "aren't"} built, the first is ${dayName(first_day)}: "daybook status" says why.`,
  dear_day: ({ day, day_usd, baseline_usd, baseline_days }) =>
    `${dayName(day)} cost ${dollars(day_usd)}; a ${weekdayText.format(Date.parse(String(day)))} usually costs ${dollars(baseline_usd)} (the median of ${baseline_days}).`,
  unpriced: ({ unpriced_ratio }) =>
    `${percent(unpriced_ratio)} of the tokens of the last 7 days have no price, so costs are too low: "daybook prices check" lists their models.`,
  rejected: ({ rejected_ratio, rejected }) =>
    `${percent(rejected_ratio)} of the lines of the last 7 days were rejected (${countText.format(Number(rejected))}): the page Trust says why.`,
  budget: budgetText,
  silent: silenceText,
};

/** What an alert says. */
export function sentenceOf({ condition, facts }: Pick<Alert, 'condition' | 'facts'>): string {
  return SENTENCES[condition as Condition](facts);
}

/** What a check tells one way out. */
export function alertsMessage(
  { id, orgId, url }: Pick<Message, 'id' | 'orgId' | 'url'>,
  began: readonly Alert[],
  ended: readonly Alert[],
): Message {
  const told = began.slice(0, TOLD_AT_MOST).map(sentenceOf);
  const rest = began.length - told.length;
  const inData = (state: string) => (alert: Alert) => ({
    condition: alert.condition,
    subject: alert.subject,
    state,
    text: sentenceOf(alert),
    facts: alert.facts,
  });
  return {
    ...{ id, kind: 'alerts', orgId, url },
    title: `${countOf(began.length, 'alert')} of ${orgId}`,
    lines: rest === 0 ? told : [...told, `And ${countOf(rest, 'more alert')}.`],
    data: {
      alerts: [
        ...began.slice(0, TOLD_AT_MOST).map(inData('began')),
        ...ended.slice(0, TOLD_AT_MOST).map(inData('ended')),
      ],
      began: began.length,
      ended: ended.length,
    },
  };
}

/** What the test of a way sends. */
export function testMessage({ id, orgId, url }: Pick<Message, 'id' | 'orgId' | 'url'>): Message {
  return {
    ...{ id, kind: 'test', orgId, url },
    title: `A test of ${orgId}`,
    lines: ['Alerts of Daybook arrive here.'],
    data: {},
  };
}
