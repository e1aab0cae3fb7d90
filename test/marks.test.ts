import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import type { Mark } from '../src/api/marks.js';
import type { Role } from '../src/api/roles.js';
import { addDays, type Day, dayOf } from '../src/day.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleLines, withLines } from '../src/people/people-file.js';
import { buildApp } from '../src/service/app.js';
import { quoteInstant } from '../src/store/sql-text.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { ending, event, World } from './world.js';

const atEnd = ending();
const FIRST = '2026-04-06' as Day;
const LAST = '2026-06-26' as Day;
/** The stories begin on this Monday: 10 weekdays up to the last day. */
const BEGIN = '2026-06-15' as Day;
/** The first day of the 28 up to the last. */
const MONTH = '2026-05-30' as Day;

const CROWD = Array.from({ length: 14 }, (_, place) => `crowd-${place}`);
/** What each of these people shows. */
const PEOPLE = {
  stuck: 'half of the calls fail, and commits stop',
  tireless: 'half of the calls fail, but commits go on',
  refused: 'half of the calls are refused, and commits stop',
  beginner: 'half of the calls have failed since the first day',
  clumsy: 'half of the calls have always failed, and commits stop',
  designer: 'calls of a server that fails for many, and commits stop',
  absent: 'half of the calls fail, commits stop, and two weeks without any event are in between',
  helped: 'half of the calls failed until two days ago',
  talker: 'half of the calls fail, nothing was ever committed, and turns go without tools',
  lonely: 'half of the calls fail, nothing was ever committed',
} as const;

/** 20 calls of a day, of which every 2nd or every 20th fails. */
function dayOf20(person: string, day: Day): object[] {
  const isLate = day >= BEGIN;
  const works =
    !(person === 'absent' && day >= '2026-06-01' && day < BEGIN) && !(person === 'beginner' && !isLate);
  if (!works) return [];
  const isCrowd = person.startsWith('crowd');
  const isWell = isCrowd || person === 'designer' || (person === 'helped' && day > '2026-06-23') || !isLate;
  const commits = ['talker', 'lonely'].includes(person) ? false : isCrowd || person === 'tireless' || !isLate;
  const at = (hour: number, minute: number) =>
    `${day}T${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}:00Z`;
  const base = { user_id: person, session_id: `${person} ${day}`, agent: 'claude-code' };
  const events: object[] = [
    event(`turn ${person} ${day}`, { ...base, type: 'user_message', timestamp: at(9, 0) }),
  ];
  for (let call = 0; call < 20; call += 1) {
    const isFailing = isWell && person !== 'clumsy' ? call === 3 && day.endsWith('1') : call % 2 === 0;
    events.push(
      event(`call ${person} ${day} ${call}`, {
        ...base,
        ...{ type: 'tool_call', timestamp: at(10, call), tool_name: 'Bash', success: !isFailing },
        ...(person === 'refused' && isFailing && isLate ? { is_stopped: true } : {}),
      }),
    );
  }
  const figma = person === 'designer' || CROWD.indexOf(person) % 3 === 1;
  for (let call = 0; figma && call < 10; call += 1)
    events.push(
      event(`figma ${person} ${day} ${call}`, {
        ...base,
        ...{ type: 'tool_call', timestamp: at(11, call), tool_name: 'mcp__figma__export' },
        success: isLate ? call < 2 : true,
      }),
    );
  const usesJira = CROWD.indexOf(person) === 0 || (isCrowd && day >= MONTH && day >= '2026-06-10');
  if (usesJira)
    events.push(
      event(`jira ${person} ${day}`, {
        ...{
          ...base,
          type: 'tool_call',
          timestamp: at(12, 0),
          tool_name: 'mcp__jira__search',
          success: true,
        },
      }),
    );
  if (commits && Number(day.slice(8)) % 2 === 0)
    events.push(
      event(`commit ${person} ${day}`, { ...base, type: 'git_commit', timestamp: at(13, 0), commit_sha: '' }),
    );
  for (let turn = 0; person === 'talker' && isLate && turn < 4; turn += 1)
    events.push(
      event(`talk ${day} ${turn}`, {
        ...{ ...base, session_id: `talk ${day}`, type: 'user_message', timestamp: at(14, turn) },
      }),
    );
  return events;
}

let world: World;
let app: FastifyInstance;
const keys = new Map<string, string>();

async function marksFor(user: string, query = `?endDate=${LAST}`): Promise<Mark[]> {
  const reply = await app.inject({
    url: `/api/v1/analytics/marks${query}`,
    headers: { authorization: `Bearer ${keys.get(user)}` },
  });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json().data;
}

const named = (marks: readonly Mark[]) => marks.map(({ mark, kind, name }) => `${mark} ${kind} ${name}`);

beforeAll(async () => {
  world = await World.create({ DAYBOOK_RATE_LIMIT: '0' }, atEnd);
  world.now = Date.parse(`${addDays(LAST, 1)}T12:00:00Z`);
  app = buildApp(world, { logs: process.env.LOGS === '1' });
  for (let day = FIRST; day <= LAST; day = addDays(day, 1))
    if (new Date(day).getUTCDay() % 6 !== 0)
      await world.send([...CROWD, ...Object.keys(PEOPLE)].flatMap((person) => dayOf20(person, day)));
  const csv = [...CROWD, ...Object.keys(PEOPLE)].map((person) => `${person},web`);
  const options = { today: dayOf(world.now), replaces: false };
  await replacePeople(
    world.store,
    'acme',
    (before) => withLines(before, peopleLines(['user_id,team', ...csv].join('\n'), 'p.csv'), options),
    { author: 'root' },
    world.now,
  );
  await world.build();
  const users: [Role, string][] = [
    ['owner', 'root'],
    ['manager', 'boss'],
    ['member', 'stuck'],
    ['member', 'crowd-0'],
  ];
  for (const [role, userId] of users)
    keys.set(userId, (await createKey(world.store, { orgId: 'acme', role, userId }, world.now)).key);
});

describe('in an open organization', () => {
  test('who is stuck, what fails and what spreads are marked, and nobody else', async () => {
    expect(named(await marksFor('boss'))).toEqual([
      'stuck person absent',
      'stuck person stuck',
      'stuck person talker',
      'stuck team web',
      'failing mcp_server figma',
      'spreading mcp_server jira',
    ]);
  });

  test('a mark has its numbers, and sentences made of them', async () => {
    const marks = await marksFor('boss');
    expect(marks.find(({ name }) => name === 'stuck')).toEqual({
      ...{ mark: 'stuck', kind: 'person', name: 'stuck', team: 'web', since: BEGIN, days: 10, users: null },
      ...{ failed_calls: 100, calls_with_outcome: 200, failed_call_ratio: 0.5 },
      ...{ ratio_before: 0.0075, ratio_of_all: 0, users_before: null, new_users: null },
      ...{ hidden_by: null, hidden_at: null },
      reasons: [
        '50% of 200 calls failed on 10 weekdays, after 0.8% on the 20 weekdays before.',
        'The median of 24 people is 0%.',
        'No commit since 2026-06-12, after commits on 10 of 20 weekdays.',
      ],
    });
    expect(marks.find(({ name }) => name === 'figma')).toMatchObject({
      ...{ since: BEGIN, users: 6, failed_calls: 480, calls_with_outcome: 600, failed_call_ratio: 0.8 },
      reasons: ['80% of 600 calls failed, after 0% on the 20 weekdays before.', 'They failed for 6 people.'],
    });
    expect(marks.find(({ name }) => name === 'jira')).toMatchObject({
      ...{ since: '2026-06-10', users: 14, users_before: 1, new_users: 13 },
    });
  });

  test('a mark begins after five weekdays, and ends with its run', async () => {
    const stuckOn = async (day: string) =>
      named(await marksFor('boss', `?endDate=${day}`)).includes('stuck person stuck');
    expect(await stuckOn('2026-06-18')).toBe(false);
    expect(await stuckOn('2026-06-19')).toBe(true);
    expect(await stuckOn('2026-06-21')).toBe(true);
    expect(named(await marksFor('boss', '?endDate=2026-06-12'))).toEqual(['spreading mcp_server jira']);
  });

  test('a member has the own mark alone', async () => {
    expect(named(await marksFor('stuck'))).toEqual(['stuck person stuck']);
    expect(await marksFor('crowd-0')).toEqual([]);
  });

  test('by default it is yesterday', async () => {
    expect(await marksFor('boss', '')).toEqual(await marksFor('boss'));
  });
});

describe('a hidden mark', () => {
  const hide = async (reader: string, user_id: string) => {
    const reply = await app.inject({
      ...{ url: '/api/v1/analytics/marks/hidden', method: 'POST', payload: { user_id } },
      headers: { authorization: `Bearer ${keys.get(reader)}` },
    });
    return reply.statusCode === 200 ? reply.json().data.is_hidden : reply.statusCode;
  };
  const markOf = async (name: string, query?: string) =>
    (await marksFor('boss', query)).find((mark) => mark.kind === 'person' && mark.name === name);

  test('says who hid it and when, and its team counts the others', async () => {
    expect(await hide('stuck', 'stuck')).toBe(403);
    expect(await hide('boss', 'tireless')).toBe(false);
    expect(await hide('boss', 'nobody')).toBe(false);
    expect((await marksFor('boss')).find(({ kind }) => kind === 'team')?.users).toBe(3);
    expect(await hide('boss', 'stuck')).toBe(true);
    const hidden = { hidden_by: 'boss', hidden_at: new Date(world.now).toISOString() };
    expect(await markOf('stuck')).toMatchObject(hidden);
    expect((await marksFor('stuck'))[0]).toMatchObject(hidden);
    expect(await markOf('talker')).toMatchObject({ hidden_by: null, hidden_at: null });
    expect((await marksFor('boss')).find(({ kind }) => kind === 'team')?.users).toBe(2);
  });

  test('ends with its run', async () => {
    // Of the same run, on an earlier day and after it was hidden.
    expect(await markOf('stuck', '?endDate=2026-06-22')).toMatchObject({ hidden_by: 'boss' });
    const rows = (since: string, day: string) =>
      `INSERT INTO hidden_marks VALUES ('acme', 'talker', DATE '${since}', DATE '${day}', ${quoteInstant(world.now)}, 'boss')`;
    // Of a run that had ended before this one began.
    await world.store.append(rows('2026-05-04', '2026-06-12'));
    expect(await markOf('talker')).toMatchObject({ hidden_by: null });
    // Of one that began after the day as of which is asked.
    await world.store.append(rows('2026-06-24', '2026-06-26'));
    expect(await markOf('talker', '?endDate=2026-06-22')).toMatchObject({ hidden_by: null });
  });
});

describe('in a protected organization', () => {
  test('managers see no person, no team of few and no small number', async () => {
    await changePrivacy(
      world.store,
      'acme',
      () => ({ mode: 'protected', smallestGroup: 5, auditors: [] }),
      'root',
      world.now,
    );
    const marks = await marksFor('boss');
    expect(named(marks)).toEqual(['failing mcp_server figma', 'spreading mcp_server jira']);
    expect(marks[0]).toMatchObject({ users: 6, failed_calls: null, calls_with_outcome: null });
    expect(marks[1]).toMatchObject({ users: 14, users_before: null, new_users: null });
    expect(named(await marksFor('stuck'))).toEqual(['stuck person stuck']);
  });
});
