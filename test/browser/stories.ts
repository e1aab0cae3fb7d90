import { createKey } from '../../src/api/api-keys.js';
import { addDays, type Day } from '../../src/day.js';
import { replacePeople } from '../../src/people/people-change.js';
import { peopleLines, withLines } from '../../src/people/people-file.js';
import { type Budget, changeBudgets } from '../../src/store/state/budget-revisions.js';
import { type AtEnd, event } from '../world.js';
import { LAST, Site } from './browser.js';

/** A dollar's worth of input tokens of claude-opus-4-5. */
const DOLLAR = 1_000_000 / 5;

export const CROWD = Array.from({ length: 14 }, (_, place) => `crowd-${place}`);
/** The stories: who gets stuck, what begins to fail, what spreads, and whose laptop goes silent. */
export const STUCK = { user: 'quiet-plover', since: '2026-06-22' as Day };
export const FAILING = { server: 'figma', since: '2026-06-29' as Day };
export const SPREADS = { server: 'jira', since: '2026-06-15' as Day };
export const NEW_SKILL = { skill: 'release-notes', since: '2026-06-24' as Day };
export const SILENT = { user: 'hazel-tern', last: '2026-06-26' as Day };
export const BUDGETS: readonly Budget[] = [
  { scope: 'organization', name: null, usd: 500 },
  { scope: 'team', name: 'payments', usd: 75 },
  { scope: 'team', name: 'web', usd: 1000 },
  { scope: 'person', name: null, usd: 400 },
];

const isWeekday = (day: Day) => new Date(day).getUTCDay() % 6 !== 0;

/** The weekdays from May 4 to the newest day. */
export const DAYS: readonly Day[] = Array.from({ length: 66 }, (_, place) =>
  addDays('2026-05-04' as Day, place),
).filter((day) => day <= LAST && isWeekday(day));

export const PEOPLE = [...CROWD, STUCK.user, SILENT.user];

/** What a person's work of a day costs, in dollars. */
export function dollarsOf(person: string, day: Day): number {
  if (person === SILENT.user) return day <= SILENT.last ? 1 : 0;
  return person === STUCK.user ? 1 : 2;
}

export function teamOf(person: string): string | undefined {
  if (person === SILENT.user) return undefined;
  return CROWD.indexOf(person) % 2 === 0 ? 'payments' : 'web';
}

export const usesFigma = (person: string) => CROWD.indexOf(person) % 3 === 1;
export const usesJira = (person: string, day: Day) =>
  person === 'crowd-0' || (CROWD.includes(person) && day >= SPREADS.since);
export const usesSkill = (person: string, day: Day) => CROWD.includes(person) && day >= NEW_SKILL.since;

/** What a person's agent does on a day. */
function dayOfWork(person: string, day: Day): object[] {
  if (person === SILENT.user && day > SILENT.last) return [];
  const place = CROWD.indexOf(person);
  const isStuck = person === STUCK.user && day >= STUCK.since;
  const base = { user_id: person, session_id: `${person} ${day}`, agent: 'claude-code' };
  const at = (hour: number, minute: number) =>
    `${day}T${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}:00Z`;
  const call = (tool_name: string, hour: number, count: number, isGood: (call: number) => boolean) =>
    Array.from({ length: count }, (_, index) =>
      event(`${tool_name} ${person} ${day} ${index}`, {
        ...{ ...base, type: 'tool_call', timestamp: at(hour, index), tool_name, success: isGood(index) },
      }),
    );
  const usage = (model: string, input_tokens: number) =>
    event(`${model} ${person} ${day}`, {
      ...{ ...base, type: 'model_usage', timestamp: at(9, 1), model, input_tokens, output_tokens: 0 },
    });
  return [
    event(`turn ${person} ${day}`, { ...base, timestamp: at(9, 0) }),
    usage('claude-opus-4-5', dollarsOf(person, day) * DOLLAR),
    ...(place === 2 ? [usage('inhouse-coder', 1000)] : []),
    ...call('Bash', 10, 20, (index) => (isStuck ? index % 2 === 1 : !(index === 3 && day.endsWith('1')))),
    ...(usesFigma(person)
      ? call('mcp__figma__export', 11, 10, (index) => day < FAILING.since || index < 2)
      : []),
    ...(usesJira(person, day) ? call('mcp__jira__search', 12, 1, () => true) : []),
    ...(usesSkill(person, day)
      ? [
          event(`skill ${person} ${day}`, {
            ...{ ...base, type: 'skill_use', timestamp: at(13, 0), skill_name: NEW_SKILL.skill },
          }),
        ]
      : []),
    ...(!isStuck && Number(day.slice(8)) % 2 === 0
      ? [event(`commit ${person} ${day}`, { ...base, type: 'git_commit', timestamp: at(14, 0) })]
      : []),
  ];
}

/** A service on which all stories have happened. */
export async function siteOfStories(atEnd: AtEnd, budgets = BUDGETS): Promise<Site> {
  const site = await Site.start(atEnd, {
    events: DAYS.flatMap((day) => PEOPLE.flatMap((person) => dayOfWork(person, day))),
  });
  const { world } = site;
  const { store } = world;
  const csv = PEOPLE.flatMap((person) => {
    const team = teamOf(person);
    return team === undefined ? [] : [`${person},${team}`];
  });
  const options = { today: addDays(LAST, 1), replaces: false };
  const lines = peopleLines(['user_id,team', ...csv].join('\n'), 'people.csv');
  await replacePeople(
    store,
    'acme',
    (before) => withLines(before, lines, options),
    { author: 'root' },
    world.now,
  );
  await changeBudgets(store, 'acme', () => budgets, 'root', world.now);
  const present = world.now;
  world.now = Date.parse(`${SILENT.last}T17:00:00Z`);
  const { key } = await createKey(
    store,
    { orgId: 'acme', role: 'member', userId: SILENT.user },
    Date.parse('2026-01-01'),
  );
  await fetch(`${site.url}/api/v1/events/heartbeat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ collector_id: 'c1', host: 'hazel-laptop', version: '0.2.0', agents: [] }),
  });
  world.now = present;
  await world.build();
  await site.publish();
  return site;
}
