import type { FastifyInstance } from 'fastify';
import { beforeAll, expect, test } from 'vitest';
import type { Adopted } from '../src/api/adoption.js';
import { createKey } from '../src/api/api-keys.js';
import { buildApp } from '../src/service/app.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { ending, event, World } from './world.js';

const atEnd = ending();
const PEOPLE = Array.from({ length: 12 }, (_, place) => `person-${place}`);

let world: World;
let app: FastifyInstance;
let key: string;

async function adoption(startDate: string, endDate: string): Promise<Adopted[]> {
  const reply = await app.inject({
    url: `/api/v1/analytics/adoption?startDate=${startDate}&endDate=${endDate}`,
    headers: { authorization: `Bearer ${key}` },
  });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json().data;
}

/** Some people use something on a day, each by the place in PEOPLE. */
function uses(day: string, what: { readonly server: string } | { readonly skill: string }, places: number[]) {
  return places.map((place) => {
    const user_id = PEOPLE[place];
    const timestamp = `${day}T10:00:00Z`;
    const shared = { user_id, session_id: `${user_id} ${day}`, timestamp };
    return 'server' in what
      ? event(`${user_id} ${day} ${what.server}`, {
          ...{ ...shared, type: 'tool_call', tool_name: `mcp__${what.server}__get` },
        })
      : event(`${user_id} ${day} ${what.skill}`, { ...shared, type: 'skill_use', skill_name: what.skill });
  });
}

beforeAll(async () => {
  world = await World.create({ DAYBOOK_RATE_LIMIT: '0' }, atEnd);
  app = buildApp(world, { logs: process.env.LOGS === '1' });
  await world.send([
    // Everybody is active in each week: Mondays of June are 1, 8, 15 and 22.
    ...['2026-05-26', '2026-06-02', '2026-06-09', '2026-06-16'].flatMap((day) =>
      PEOPLE.map((user_id) =>
        event(`${user_id} ${day}`, {
          ...{
            type: 'user_message',
            user_id,
            session_id: `${user_id} ${day}`,
            timestamp: `${day}T09:00:00Z`,
          },
        }),
      ),
    ),
    ...uses('2026-05-26', { server: 'Jira' }, [0]),
    ...uses('2026-06-02', { server: 'jira' }, [0, 1, 2, 3]),
    // Twice in a week is once.
    ...uses('2026-06-03', { server: 'jira' }, [1]),
    ...uses('2026-06-09', { server: 'jira' }, [0, 1, 2, 4, 5]),
    ...uses('2026-06-16', { server: 'jira' }, [5, 6]),
    ...uses('2026-06-09', { skill: 'release-notes' }, [7, 8]),
  ]);
  await world.build();
  ({ key } = await createKey(world.store, { orgId: 'acme', role: 'manager', userId: 'boss' }, world.now));
});

test('users of a range, newly, and again', async () => {
  expect(await adoption('2026-06-01', '2026-06-17')).toEqual([
    {
      ...{ kind: 'mcp_server', name: 'jira', users: 7, active_ratio: 7 / 12 },
      // All but the one of May. Of the four of June 1 three come again; the week of June 15 isn't whole.
      ...{ new_users: 6, kept_ratio: 0.75 },
      weeks: [
        { week: '2026-06-01', users: 4 },
        { week: '2026-06-08', users: 5 },
        { week: '2026-06-15', users: 2 },
      ],
    },
    {
      ...{
        kind: 'skill',
        name: 'release-notes',
        users: 2,
        active_ratio: 2 / 12,
        new_users: 2,
        kept_ratio: null,
      },
      weeks: [{ week: '2026-06-08', users: 2 }],
    },
  ]);
});

test('of the first days nobody is called new', async () => {
  const [jira] = await adoption('2026-05-26', '2026-06-17');
  expect(jira).toMatchObject({ users: 7, new_users: null, kept_ratio: 0.75 });
});

test('managers of a protected organization see no few people', async () => {
  await changePrivacy(
    world.store,
    'acme',
    () => ({ mode: 'protected', smallestGroup: 5, auditors: [] }),
    'root',
    world.now,
  );
  expect(await adoption('2026-06-01', '2026-06-17')).toEqual([
    {
      ...{ kind: 'mcp_server', name: 'jira', users: 7, active_ratio: 7 / 12 },
      ...{ new_users: null, kept_ratio: null },
      weeks: [{ week: '2026-06-08', users: 5 }],
    },
  ]);
});
