import { describe, expect, test } from 'vitest';
import { build } from '../src/aggregate/build-days.js';
import { createKey } from '../src/api/api-keys.js';
import { addDays, type Day } from '../src/day.js';
import { CLAUDE_CODE } from '../src/ingest/source.js';
import { buildApp } from '../src/service/app.js';
import { World } from './world.js';

const DAY = '2026-06-10' as Day;

/** A line of Claude Code's transcript. */
function line(type: string, second: number, message: object, more: object = {}): object {
  return {
    type,
    uuid: `${type}-${second}`,
    timestamp: `${DAY}T10:00:0${second}.000Z`,
    sessionId: 's1',
    cwd: '/home/ada/engine',
    version: '2.1.29',
    message,
    ...more,
  };
}

const TRANSCRIPT = [
  line('user', 1, { role: 'user', content: 'a' }),
  line(
    'assistant',
    2,
    {
      id: 'msg_1',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }],
      usage: { input_tokens: 3, output_tokens: 7, cache_read_input_tokens: 100 },
    },
    { requestId: 'req_1' },
  ),
  line('user', 3, { role: 'user', content: 'b' }),
];

/** Payloads of the hooks of the same session: the hook of the second prompt never ran. */
const PAYLOADS = [
  { hook_event_name: 'SessionStart', source: 'startup' },
  { hook_event_name: 'UserPromptSubmit', prompt: 'a' },
  {
    hook_event_name: 'PostToolUse',
    tool_name: 'Read',
    tool_use_id: 'toolu_1',
    tool_input: {},
    tool_response: {},
  },
];

test('a session with a transcript and hooks shows both channels, what gave way, and a prompt that hooks missed', async () => {
  const world = await World.create({ DAYBOOK_RATE_LIMIT: '0' });
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'member', userId: 'ada' }, world.now);
  const owner = await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
  const app = buildApp(world);
  for (const [index, payload] of PAYLOADS.entries()) {
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/api/v1/hooks',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      payload: {
        ...payload,
        ...{ session_id: 's1', payload_id: `p${index}`, timestamp: `${DAY}T10:00:01Z`, agent: 'claude-code' },
      },
    });
    expect(statusCode).toBe(202);
  }
  await world.inbox.drain(world.store);
  const file = world.file('s1.jsonl', TRANSCRIPT.map((one) => `${JSON.stringify(one)}\n`).join(''));
  await world.ingest([file], { source: CLAUDE_CODE, userId: 'ada' });
  await world.build();
  const path = `/api/v1/analytics/coverage?startDate=${DAY}&endDate=${DAY}`;
  const get = (url: string, by: string, accept = 'application/json') =>
    app.inject({ url, headers: { authorization: `Bearer ${by}`, accept } });
  const answer = await get(path, owner.key);
  expect(answer.json()).toMatchObject({
    data: [
      {
        ...{ user_id: 'ada', user_email: null, date: DAY, agent: 'claude-code', events: 7, shadowed: 2 },
        channels: [
          // The tool call has one id in both, and stands once.
          { channel: 'log', events: 5, shadowed: 0, tokens: 110, user_turns: 2 },
          { channel: 'hook', events: 2, shadowed: 2, tokens: 0, user_turns: 1 },
        ],
        ...{ token_difference_ratio: null, turn_difference_ratio: 0.5, disagreements: 1 },
      },
    ],
    meta: { has_more: false, next_cursor: null },
  });
  expect((await get(path, owner.key, 'text/csv')).body).toContain(
    'user_id,user_email,date,agent,events,shadowed,channels,token_difference_ratio,turn_difference_ratio,disagreements,transcripts_deleted\r\nada,,',
  );
  expect((await get(path, key)).statusCode).toBe(403);
});

test('transcripts that an agent has deleted stand in its row, once however often it says so', async () => {
  const world = await World.create({ DAYBOOK_RATE_LIMIT: '0' });
  const owner = await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
  const sweep = (event_id: string, user_id: string, transcripts_deleted: number) => ({
    ...{ event_id, type: 'retention_sweep', timestamp: `${DAY}T10:00:00Z`, user_id, session_id: 's1' },
    ...{ agent: 'claude-code', channel: 'otlp_log', transcripts_deleted, period_days: 30 },
  });
  for (const ids of [
    ['1', '2'],
    ['2', '3'],
  ])
    await world.send(ids.map((id) => sweep(id, 'ada', Number(id))));
  await world.send([{ ...sweep('4', 'grace', 4), type: 'user_message' }]);
  await world.build();
  const answer = await buildApp(world).inject({
    url: `/api/v1/analytics/coverage?startDate=${DAY}&endDate=${DAY}`,
    headers: { authorization: `Bearer ${owner.key}` },
  });
  expect(answer.json()).toMatchObject({
    data: [
      { user_id: 'ada', transcripts_deleted: 1 + 2 + 3 },
      { user_id: 'grace', transcripts_deleted: 0 },
    ],
  });
});

/** A message of a user's agent on a day. */
const message = (user_id: string, day: string, agent: string | undefined = 'codex') => ({
  ...{ event_id: `${user_id}-${day}-${agent}`, type: 'user_message', timestamp: `${day}T10:00:00Z` },
  ...{ user_id, session_id: `s-${day}`, agent },
});

/** The days up to one, so many of them. */
const daysUpTo = (last: string, count: number) =>
  Array.from({ length: count }, (_, back) => addDays(last as Day, -back));

describe('an agent is silent', () => {
  const silent = async (world: World) => {
    const rows = await world.store.select(
      'SELECT user_id, agent, last_day FROM silent_agents ORDER BY user_id',
    );
    return rows.map(({ user_id }) => user_id);
  };

  test('after three closed days from Monday to Friday without any event', async () => {
    const world = await World.create();
    world.now = Date.parse('2026-06-15T12:00:00Z');
    const lasts = daysUpTo('2026-06-12', 11).reverse();
    await world.send(lasts.flatMap((last) => daysUpTo(last, 5).map((day) => message(last, day))));
    const silentOn: [newest: string, from: string][] = [
      ['2026-06-08', '2026-06-04'],
      ['2026-06-09', '2026-06-05'],
      ['2026-06-10', '2026-06-08'],
      ['2026-06-11', '2026-06-09'],
      ['2026-06-12', '2026-06-10'],
      ['2026-06-13', '2026-06-10'],
      ['2026-06-14', '2026-06-10'],
    ];
    for (const [newest, from] of silentOn) {
      await build(world.store, { to: newest as Day }, world.clock);
      expect(await silent(world), newest).toEqual(lasts.filter((last) => last < from));
    }
  });

  test('if it reported on five of the fourteen days before, and another agent of the user does not speak for it', async () => {
    const world = await World.create();
    world.now = Date.parse('2026-06-11T12:00:00Z');
    // The newest day is a Wednesday, so it is silent from 06-08 on, and the 14 days begin on 05-25.
    await world.send([
      ...['2026-05-25', ...daysUpTo('2026-06-07', 4)].map((day) => message('ada', day)),
      ...['2026-05-24', ...daysUpTo('2026-06-07', 4)].map((day) => message('grace', day)),
      ...daysUpTo('2026-06-07', 5).map((day) => message('hedy', day)),
      message('hedy', '2026-06-10', 'claude-code'),
      ...daysUpTo('2026-06-08', 6).map((day) => message('linus', day)),
    ]);
    await world.build();
    expect(await silent(world)).toEqual(['ada', 'hedy']);
    expect((await world.store.select("SELECT * FROM silent_agents WHERE user_id = 'hedy'"))[0]).toMatchObject(
      {
        ...{ org_id: 'acme', agent: 'codex', last_day: '2026-06-07', days: 5 },
      },
    );
  });
});
