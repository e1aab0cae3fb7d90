import { beforeAll, expect, it } from 'vitest';
import type { Row } from '../../src/store/store.js';
import {
  COMMON_OPTIONAL,
  event,
  idsOf,
  line,
  lineWith,
  type Members,
  OPTIONAL,
  REQUIRED,
  rejectsOf,
  sharedWorld,
  TYPES,
} from './event.js';

interface Case {
  what: string;
  text: string;
  reason: string;
  /** The member that the detail must name. */
  member?: string;
}

const EVERY = { event_id: 'babbage', type: 'user_message', timestamp: 1, user_id: 'ada', session_id: 's' };

/** An event with one member changed; undefined takes it out. */
const changed = (type: string, member: string, value: unknown, reason: string): Case => ({
  what: `a ${type} with ${member} ${value === undefined ? 'missing' : JSON.stringify(value).slice(0, 40)}`,
  text: line(`${type}-${member}`, { type, [member]: value }),
  reason,
  member,
});
const out = (member: string, value: unknown, type = 'user_message') =>
  changed(type, member, value, 'value_out_of_range');
const raw = (what: string, text: string, reason: string): Case => ({ what, text, reason });

/** A value of every JSON type but the one that is right. */
function wrong(right: unknown): unknown[] {
  const all: unknown[] = ['seven', 7, 1.5, true, [right], { is: right }];
  // A number that isn't whole is another kind of number, unless the right one isn't whole either.
  return all.filter((value) => typeof value !== typeof right || (value === 1.5 && Number.isInteger(right)));
}

const MISSING: Case[] = [
  ...Object.keys(EVERY).map((member) => ({ type: 'user_message', member })),
  ...TYPES.flatMap((type) => Object.keys(REQUIRED[type] ?? {}).map((member) => ({ type, member }))),
].flatMap(({ type, member }) => [
  changed(type, member, undefined, 'missing_member'),
  changed(type, member, null, 'missing_member'),
]);

const WRONG: Case[] = [
  ...Object.entries({ ...EVERY, ...COMMON_OPTIONAL })
    .filter(([member]) => member !== 'timestamp')
    .map(([member, right]) => ({ type: 'user_message', member, right })),
  ...TYPES.flatMap((type) =>
    Object.entries({ ...REQUIRED[type], ...OPTIONAL[type] }).map(([member, right]) => ({
      type,
      member,
      right,
    })),
  ),
].flatMap(({ type, member, right }) =>
  wrong(right).map((value) => changed(type, member, value, 'wrong_type')),
);

const RANGE: Case[] = [
  out('event_id', ''),
  out('event_id', 'é'.repeat(201)),
  out('user_id', ''),
  out('user_id', 'u'.repeat(129)),
  out('session_id', ''),
  out('session_id', 's'.repeat(129)),
  ...['', 'Web', '9-lives', '-web', 'web ui', 'web_ui', 'wéb', 'web\n', `v${'s'.repeat(32)}`].map((client) =>
    out('client', client),
  ),
  ...['', 'auto', 'off', 'Manual', 'manual '].map((mode) => out('autonomy_mode', mode)),
  ...['repo', 'git_branch', 'cwd'].map((member) => out(member, 'x'.repeat(2049))),
  ...['', 'otlp', 'Log'].map((channel) => out('channel', channel)),
  out('request_id', 'r'.repeat(201), 'model_usage'),
  ...['', 'delete', 'Edit'].map((operation) => out('operation', operation, 'file_change')),
  ...[
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
    'cache_write_1h_tokens',
  ].flatMap((member) => [
    out(member, -1, 'model_usage'),
    ...['9223372036854775808'].map((digits) => ({
      ...out(member, Number(digits), 'model_usage'),
      text: lineWith(`huge ${member}`, member, digits, { type: 'model_usage' }),
    })),
  ]),
];

const OTHER: Case[] = [
  ...['', 'tool_result', 'Tool_Call', 'user_message '].map((type) => ({
    what: `the type ${JSON.stringify(type)}`,
    text: line('of no type', { type }),
    reason: 'unknown_type',
    member: 'type',
  })),
  changed('user_message', 'org_id', 'globex', 'org_mismatch'),
  changed('user_message', 'org_id', 'ACME', 'org_mismatch'),
  changed('user_message', 'org_id', '', 'org_mismatch'),
  ...['[]', `[${line('in an array')}]`, '"ada"', '12', '-1.5', 'true', 'null'].map((text) =>
    raw(`the line ${text.slice(0, 20)}`, text, 'not_an_object'),
  ),
  raw('an empty object', '{}', 'missing_member'),
  raw('words', 'Ada was here', 'not_json'),
  raw('an object that was cut off', line('cut').slice(0, -1), 'not_json'),
  raw('two objects', line('one') + line('two'), 'not_json'),
  raw('two objects with a space between', `${line('one')} ${line('two')}`, 'not_json'),
  raw('an object and a comma', `${line('one')},`, 'not_json'),
  raw('an object and a comment', `${line('one')} // Ada`, 'not_json'),
  raw('single quotes', line('one').replaceAll('"', "'"), 'not_json'),
  raw('a number with a leading zero', lineWith('one', 'score', '012'), 'not_json'),
  raw('a control character in a string', line('one').replace('ada', 'a\u0001da'), 'not_json'),
  raw('a NUL byte behind the object', `${line('one')}\u0000`, 'not_json'),
];

const CASES = [...MISSING, ...WRONG, ...RANGE, ...OTHER];
const FIRST = event('first');
const LAST = event('last');

const given = sharedWorld();
let rejects: Row[];

beforeAll(async () => {
  const settled = await given.world.send([FIRST, ...CASES.map(({ text }) => text), LAST]);
  expect(settled.accepted + settled.duplicates + settled.rejected).toBe(CASES.length + 2);
  rejects = await rejectsOf(given.world, 'acme');
});

it.each(CASES.map((one, index) => [one.what, one.reason, index] as const))(
  'rejects %s as %s',
  (_what, reason, index) => {
    const { text, member } = CASES[index] ?? { text: '' };
    const found = rejects.filter((row) => row.line_no === index + 2);
    expect(found).toEqual([expect.objectContaining({ reason, line: text.slice(0, 2000) })]);
    expect(found[0]?.detail).toMatch(new RegExp(`${member === undefined ? '' : `\\b${member}\\b.*`}\\.$`));
  },
);

it('takes the lines around those that it rejects, and nothing else', async () => {
  expect(await idsOf(given.world, 'acme')).toEqual(['first', 'last']);
});

it('gives the same reasons when the lines stand in a file with a line that is too long', async () => {
  const { world } = given;
  const orgId = 'acme';
  await world.send([...CASES.map(({ text }) => text), 'x'.repeat(1_100_000)], { orgId });
  const again = (await rejectsOf(world, orgId)).slice(rejects.length);
  const plain = (rows: Row[], shift: number) =>
    rows.map(({ line_no, reason, detail, line: text }) => ({
      line_no: Number(line_no) + shift,
      reason,
      detail,
      text,
    }));
  expect(plain(again.slice(0, -1), 1)).toEqual(plain(rejects, 0));
  expect(again.at(-1)).toMatchObject({ line_no: CASES.length + 1, reason: 'line_too_long' });
});

it('counts rejects by reason and shows the first few', async () => {
  const bad: Members = { user_id: '' };
  const settled = await given.world.send(
    ['nonsense', event('one', bad), event('two', bad), event('three', bad), '[]', 'more', event('good')],
    { orgId: 'turing' },
  );
  expect(settled).toMatchObject({
    accepted: 1,
    duplicates: 0,
    rejected: 6,
    byReason: { not_json: 2, not_an_object: 1, value_out_of_range: 3 },
  });
  expect(settled.examples.map(({ line_no, reason }) => [line_no, reason])).toEqual([
    [1, 'not_json'],
    [2, 'value_out_of_range'],
    [3, 'value_out_of_range'],
    [4, 'value_out_of_range'],
    [5, 'not_an_object'],
  ]);
});
