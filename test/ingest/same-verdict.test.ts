import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Verdict } from '../../src/ingest/body-check.js';
import { COMMON, MEMBERS, type Members, TYPES as TYPE_MEMBERS } from '../../src/ingest/event-members.js';
import {
  event,
  eventsOf,
  line,
  lineWith,
  rejectsOf,
  type Members as Sent,
  sharedWorld,
  TYPES,
} from './event.js';
import { mutated } from './mutated.js';

const given = sharedWorld();
const NOW = Date.parse('2026-07-10T12:00:00Z');

/** Values at the edges of what members can be, as JSON. */
const EDGES = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '1',
    '-1',
    '-0',
    '-0.0',
    '1.0',
    '5.0',
    '1.5',
    '1e2',
    '1e3',
    '1E+2',
    '1e-3',
    '1e400',
  ],
  ...['[]', '{}', '[[{"a":[]}]]', '00', '0x1', 'nul', '.5', '1.', '""', '"x"', '"12"', '"true"'],
  ...['100000000000', '100000000001', '-100000000000', '-100000000001', '100000000000.5', '1e11', '1e12'],
  ...['9007199254740993', '9223372036854775808', '18446744073709551616', '123456789012345678901234567890'],
  ...[String.raw`"a\nb"`, String.raw`"\\"`, String.raw`"\""`, String.raw`"\t/"`, String.raw`"\u0061"`],
  ...[String.raw`"\u0000"`, String.raw`"\ud83d\ude00"`, String.raw`"\ud83d"`, String.raw`"\ude00"`],
  ...[String.raw`"\\ud83d"`, String.raw`"\ude00\ud83d"`, String.raw`"\uD83Dx"`, String.raw`"\x"`],
  ...[
    '"\t"',
    '"\u007f"',
    '"\u00a0"',
    '"\ufeff"',
    '"\u2028"',
    '"/"',
    '" /"',
    '"/review"',
    '"\u00a0/x"',
    '"//x"',
  ],
  ...[
    '"a--b"',
    '"Terminal"',
    '"create"',
    '"spec"',
    '"acme"',
    '"same"',
    '"hook"',
    '"otlp"',
    '"terminal-ui\\n"',
  ],
  ...[128, 129, 200, 201, 320, 321, 2048, 2049].flatMap((length) =>
    ['a', 'é', '😀'].map((character) => JSON.stringify(character.repeat(length))),
  ),
];

const TIMESTAMPS = [
  ...['2026-06-15T10:00:00Z', '2026-06-15T10:00:00.1Z', '2020-01-01T00:00:00Z', '2026-07-11T12:00:00.000Z'],
  ...['2019-12-31T23:59:59.999Z', '2026-07-11T12:00:00.001Z', '2026-02-29T10:00:00Z', '2024-02-29T10:00:00Z'],
  ...[
    '2026-06-15T24:00:00Z',
    '2026-06-15T10:00:60Z',
    '2026-06-31T10:00:00Z',
    '2026-06-15t10:00:00z',
    '2026-06-15',
  ],
  ...['2026-06-15T10:00:00+02:00', '2026-06-15T10:00:00.1234Z', '2026-06-15T10:00:00.9999999Z'],
  ...['2026-06-15T00:00:00+23:59', '2026-06-15T23:59:59.9996-23:59', '2026-06-15T10:00:00+24:00'],
  ...['2026-06-15T10:00:00-00:00', '2026-06-15T10:00:00+0200', '2026-06-15T10:00Z', '2026-06-15 10:00:00Z'],
  ...['2026-06-15T10:00:00.Z', '2026-00-15T10:00:00Z', '2026-13-15T10:00:00Z', '2026-06-00T10:00:00Z'],
  ...['0000-00-00T00:00:00Z', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00'],
  ...['0099-12-31T00:00:00Z', '1900-02-29T00:00:00Z', '2000-02-29T00:00:00Z', '9999-12-31T23:59:59.999Z'],
  ...['9999-12-31T23:59:59-01:00', '10000-01-01T00:00:00Z', '+2026-06-15T10:00:00Z', '２026-06-15T10:00:00Z'],
  ...['2026-06-15T10:00:00Z ', '2026-06-15T10:00:00Z\n', ' 2026-06-15T10:00:00Z', '', 'now', '1781517600000'],
  ...[Date.UTC(2020), Date.UTC(2020) - 1, NOW + 86_400_000, NOW + 86_400_001, -1, 0, 1e15, -1e15, 1e300, 1.5],
  ...[253_402_300_799_999, 253_402_300_800_000, -62_135_596_800_000, -62_135_596_800_001, 5_662_310_400_000],
];

/** Lines as odd as can be, though each is a text in UTF-8. */
const ODD = [
  ...[
    '{}',
    '[]',
    '1',
    'null',
    '"x"',
    '{',
    '}',
    'nul',
    '\ufeff{}',
    '\u00a0{}',
    '\u2028{}',
    '{}{}',
    '{} {}',
    '{},',
  ],
  ...[
    '{"event_id"}',
    '{"event_id":}',
    "{'event_id':1}",
    '{event_id:1}',
    '{"a":1}//',
    '/**/{}',
    '{"a":\u000b1}',
  ],
  ...[' ', '\t', '\r', '\u000b', '\f', ' \t'].flatMap((space) => [
    `${space}${line('before')}`,
    `${line('behind')}${space}`,
    line('within').replace(':', `:${space}`),
  ]),
  line('nested', { x: JSON.parse(`${'['.repeat(2000)}${']'.repeat(2000)}`) }),
  line('unknown', { __proto__: null, constructor: 1, toString: 'x', '': 0, 'a.b': 1, $: 2 }),
  lineWith('proto', 'x', '1').replace('"x"', '"__proto__"'),
  lineWith('infinite', 'x', '1e999'),
  lineWith('half deep inside', 'x', `${'['.repeat(3900)}"\\ud800"${']'.repeat(3900)}`),
  lineWith('half in a name', 'x', '1').replace('"x"', String.raw`"\ud800"`),
  ...['constructor', 'toString', '__proto__', 'hasOwnProperty'].map((type) => line('odd type', { type })),
];

/** Whether a line has a member of events twice: JavaScript takes the last, the reader of files the first. */
function hasTwice(text: string): boolean {
  return Object.keys(MEMBERS).some((name) => text.split(`"${name}"`).length > 2);
}

interface Judged {
  readonly events: Sent[];
  readonly rejects: Sent[];
}

/** What a world has stored of an organization's lines, without where they came from. */
async function judgedOf(orgId: string): Promise<Judged> {
  const rejects = await rejectsOf(given.world, orgId);
  return {
    events: await eventsOf(given.world, orgId),
    rejects: rejects.map(({ source: _, ...reject }) => ({
      ...reject,
      detail: String(reject.detail).replace(orgId, 'it'),
    })),
  };
}

/** What is not the same of two, the first few. */
function differences(one: Judged, other: Judged): unknown[] {
  const rows = ({ events, rejects }: Judged) => [...events, ...rejects].map((row) => JSON.stringify(row));
  const [ones, others] = [rows(one), rows(other)];
  const longer = ones.length > others.length ? ones : others;
  return longer
    .map((_, index) => [ones[index], others[index]])
    .filter(([a, b]) => a !== b)
    .slice(0, 5);
}

let sent = 0;

/** Sends lines as a file and as a body, in two organizations, and answers what is stored of each. */
async function bothWays(lines: readonly string[]): Promise<{ file: Judged; body: Judged; verdict: Verdict }> {
  const { world } = given;
  sent += 1;
  const [fileOrg, bodyOrg] = [`file-${sent}`, `body-${sent}`];
  const text = lines.map((one) => `${one}\n`).join('');
  await world.ingest([world.file(`lines-${sent}.ndjson`, text)], { orgId: fileOrg });
  const verdict = await world.inbox.receive(Readable.from([Buffer.from(text)]), {
    requestId: `req${sent}`,
    orgId: bodyOrg,
    onlyUsers: null,
    encoding: 'identity',
    isArray: false,
    keepsText: true,
    gone: new AbortController().signal,
  });
  await world.inbox.drain(world.store);
  return { file: await judgedOf(fileOrg), body: await judgedOf(bodyOrg), verdict };
}

beforeAll(() => {
  given.world.now = NOW;
});

describe('a line gets the same verdict, reason, sentence and columns from a file and in a body', () => {
  test('at the edges of every member', async () => {
    const edged = TYPES.flatMap((type) =>
      Object.keys({ ...COMMON, ...(TYPE_MEMBERS as Record<string, Members>)[type] }).flatMap((name) =>
        EDGES.map((value, index) => lineWith(`${type}-${name}-${index}`, name, value, { type })),
      ),
    );
    const timed = TIMESTAMPS.map((timestamp, index) => line(`t-${index}`, { timestamp }));
    // Together they are larger than a body can be.
    const middle = Math.floor(edged.length / 2);
    const counts = { events: 0, rejects: 0 };
    const reasons = new Set<unknown>();
    for (const lines of [edged.slice(0, middle), [...edged.slice(middle), ...timed]]) {
      const { file, body, verdict } = await bothWays(lines);
      expect(differences(file, body)).toEqual([]);
      expect(verdict.rejected).toBe(file.rejects.length);
      counts.events += file.events.length;
      counts.rejects += file.rejects.length;
      for (const { reason } of file.rejects) reasons.add(reason);
    }
    expect(counts.events).toBeGreaterThan(2000);
    expect(counts.rejects).toBeGreaterThan(2000);
    expect(reasons.size).toBeGreaterThan(6);
  });

  test('with several faults at once', async () => {
    const wrong = ['event_id', 'type', 'timestamp', 'user_id', 'session_id', 'client', 'org_id', 'channel'];
    const values = [undefined, null, 7, 'no such-', true];
    const lines = TYPES.flatMap((type, at) =>
      wrong.flatMap((one, index) =>
        wrong.map((other, nth) =>
          JSON.stringify({
            ...event(`${at}-${index}-${nth}`, { type }),
            ...Object.fromEntries(
              Object.keys((TYPE_MEMBERS as Record<string, Members>)[type] ?? {}).map((name, place) => [
                name,
                values[(place + at + index) % values.length],
              ]),
            ),
            [one]: values[(index + nth) % values.length],
            [other]: values[(at + nth) % values.length],
          }),
        ),
      ),
    );
    const { file, body } = await bothWays(lines);
    expect(differences(file, body)).toEqual([]);
    expect(file.rejects.length).toBeGreaterThan(500);
  });

  test.each([3, 4, 5])('when it is odd, or spoiled anywhere (seed %i)', async (seed) => {
    const lines = [...ODD, ...mutated(seed, 4000).map(String)].filter(
      (text) => !text.includes('\n') && !hasTwice(text),
    );
    const { file, body } = await bothWays(lines);
    expect(differences(file, body)).toEqual([]);
    expect(file.events.length).toBeGreaterThan(100);
  });
});

test('what JSON leaves open is read by who reads it', async () => {
  const { file, body } = await bothWays([
    line('a member twice').replace('{', '{"cwd":"/first",').replace(/}$/, ',"cwd":"/last"}'),
    line('a comma at the end').replace(/}$/, ',}'),
    lineWith('no number', 'x', 'NaN'),
  ]);
  const cwd = ({ events }: Judged) => events.map((one) => [one.event_id, one.cwd]);
  expect(cwd(file)).toEqual([
    ['a comma at the end', null],
    ['a member twice', '/first'],
    ['no number', null],
  ]);
  expect(cwd(body)).toEqual([['a member twice', '/last']]);
  expect(body.rejects).toMatchObject([{ reason: 'not_json' }, { reason: 'not_json' }]);
});
