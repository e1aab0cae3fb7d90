import { beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../src/store/store.js';
import {
  COMMON_OPTIONAL,
  event,
  eventsOf,
  lineWith,
  type Members,
  OPTIONAL,
  OWN_MEMBERS,
  REQUIRED,
  sharedWorld,
  TYPES,
} from './event.js';

const CHANNELS = ['event', 'log', 'hook', 'otlp_log', 'otlp_span', 'otlp_metric', 'vendor_api'];

/** Values at the bounds, as sent; the member is stored as sent, or as the last element says. */
const ACCEPTED: [what: string, members: Members, stored?: Members][] = [
  ['an event_id of one character', { event_id: 'e' }],
  ['an event_id of 200 characters of two bytes', { event_id: 'é'.repeat(200) }],
  ['an event_id of 200 characters of four bytes', { event_id: '😀'.repeat(200) }],
  ['a user_id of one character', { user_id: 'a' }],
  ['a user_id of 128 characters', { user_id: 'ü'.repeat(128) }],
  ['a session_id of one character', { session_id: 's' }],
  ['a session_id of 128 characters', { session_id: 's'.repeat(128) }],
  ['a user_email that is null', { user_email: null }],
  ['the client terminal-ui', { client: 'terminal-ui' }],
  ['the client web', { client: 'web' }],
  ['the client non-interactive-cli', { client: 'non-interactive-cli' }],
  ['a client of one letter', { client: 'x' }],
  ['a client of 32 characters', { client: `v${'s-9'.repeat(10)}x` }],
  ...['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'].map((mode): [string, Members] => [
    `the autonomy_mode ${mode}`,
    { autonomy_mode: mode },
  ]),
  ...CHANNELS.map((channel): [string, Members] => [`the channel ${channel}`, { channel }]),
  ['a request_id of 200 characters', { type: 'model_usage', request_id: 'ü'.repeat(200) }],
  ['a repo of 2,048 characters', { repo: 'r'.repeat(2048) }],
  ['a git_branch of 2,048 characters', { git_branch: 'ß'.repeat(2048) }],
  ['a cwd of 2,048 characters', { cwd: '/'.repeat(2048) }],
  ['an operation create', { type: 'file_change', operation: 'create' }],
  ['counters of 0', { type: 'model_usage', input_tokens: 0, output_tokens: 0 }],
  ['success true', { type: 'tool_call', success: true }],
  ['an exit_code below 0', { type: 'hook_run', exit_code: -15 }],
  [
    'a command_name with its slash',
    { type: 'slash_command', command_name: '/deploy' },
    { command_name: 'deploy' },
  ],
  ['a command_name with slashes inside', { type: 'slash_command', command_name: 'team/deploy/web' }],
  ['an org_id that agrees', { org_id: 'bounds' }, {}],
  ['members that nobody knows', { mood: { is: ['good', 1.5, null] } }, {}],
  ['a member of another letter case', { Repo: 12, CLIENT: 'web' }, { repo: null, client: null }],
  ['a string with quotes, a line end and a tab', { cwd: 'C:\\engine "new"\n\t' }],
];

const given = sharedWorld();
let rows: Map<string, Row>;
let bounds: Row[];

beforeAll(async () => {
  const { world } = given;
  const nothing = Object.fromEntries(OWN_MEMBERS.map((member) => [member, { not: ['of', 'this', 'type'] }]));
  const settled = await world.send(
    TYPES.flatMap((type) => [
      event(`${type} with what it requires`, { type }),
      event(`${type} with everything`, { type, ...COMMON_OPTIONAL, ...OPTIONAL[type] }),
      event(`${type} with what others have`, { ...nothing, type, ...REQUIRED[type], ...unset(type) }),
      event(`${type} with nulls`, { type, ...nulls(COMMON_OPTIONAL), ...nulls(OPTIONAL[type] ?? {}) }),
    ]),
  );
  expect(settled).toMatchObject({ accepted: 52, duplicates: 0, rejected: 0, byReason: {} });
  rows = new Map((await eventsOf(world, 'acme')).map((row) => [String(row.event_id), row]));
  const lines = ACCEPTED.map(([what, members]) => event(what, members));
  expect(
    await world.send([...lines, lineWith('escaped', 'user_id', '"gr\\u00e5ce"')], { orgId: 'bounds' }),
  ).toMatchObject({
    accepted: ACCEPTED.length + 1,
    rejected: 0,
  });
  bounds = await eventsOf(world, 'bounds');
});

const nulls = (members: Members): Members =>
  Object.fromEntries(Object.keys(members).map((member) => [member, null]));
/** Takes the optional members of a type out, so that only the members of other types are left. */
const unset = (type: string): Members =>
  Object.fromEntries(Object.keys(OPTIONAL[type] ?? {}).map((member) => [member, undefined]));
const own = (members: Members): Members =>
  Object.fromEntries(OWN_MEMBERS.map((member) => [member, members[member] ?? null]));
const { org_id: _, ...commonColumns } = COMMON_OPTIONAL;
/** The common members of an event that has none of its own. */
const absent = { ...nulls(commonColumns), channel: 'event' };

describe.each(TYPES)('%s', (type) => {
  const common = {
    type,
    day: '2026-06-15',
    occurred_at: Date.UTC(2026, 5, 15, 10),
    user_id: 'ada',
    session_id: 'ada-1',
  };

  it('is stored with the members that it requires, the others being NULL', () => {
    const event_id = `${type} with what it requires`;
    expect(rows.get(event_id)).toEqual({
      event_id,
      ...common,
      ...absent,
      ...own(REQUIRED[type] ?? {}),
    });
  });

  it('is stored with all members that it lists', () => {
    const event_id = `${type} with everything`;
    expect(rows.get(event_id)).toEqual({
      event_id,
      ...common,
      ...commonColumns,
      ...own({ ...REQUIRED[type], ...OPTIONAL[type] }),
    });
  });

  it('ignores the members of other types, whatever they hold', () => {
    expect(rows.get(`${type} with what others have`)).toMatchObject(own(REQUIRED[type] ?? {}));
  });

  it('takes null for a member that it does not require', () => {
    expect(rows.get(`${type} with nulls`)).toMatchObject({
      ...absent,
      ...own(REQUIRED[type] ?? {}),
    });
  });
});

it.each(ACCEPTED)('accepts %s', (what, members, stored = members) => {
  const event_id = members.event_id ?? what;
  expect(bounds.filter((row) => row.event_id === event_id)).toEqual([expect.objectContaining(stored)]);
});

it('stores what an escape stands for', () => {
  expect(bounds.find((row) => row.event_id === 'escaped')?.user_id).toBe('gråce');
});

it('counts cache counters that are missing as 0', async () => {
  const [row] = await given.world.store.select(
    'SELECT cache_read_tokens, cache_write_tokens FROM model_usage WHERE event_id = $event_id',
    { event_id: 'model_usage with what it requires' },
  );
  expect(row).toEqual({ cache_read_tokens: 0, cache_write_tokens: 0 });
});
