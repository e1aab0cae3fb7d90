import { beforeAll, expect, it } from 'vitest';
import type { Row } from '../../src/store/store.js';
import { NOW } from '../world.js';
import { event, eventsOf, line, lineWith, rejectsOf, sharedWorld } from './event.js';

const DAY_MS = 86_400_000;
const at = (text: string): number => Date.parse(text);

/** A timestamp, and the instant and day that are stored of it. */
const ACCEPTED: [timestamp: string | number, occurred_at: number, day: string][] = [
  ['2026-06-15T10:00:00Z', at('2026-06-15T10:00:00.000Z'), '2026-06-15'],
  ['2026-06-15t10:00:00z', at('2026-06-15T10:00:00.000Z'), '2026-06-15'],
  ['2026-06-15T10:00:00.5Z', at('2026-06-15T10:00:00.500Z'), '2026-06-15'],
  ['2026-06-15T10:00:00.05Z', at('2026-06-15T10:00:00.050Z'), '2026-06-15'],
  ['2026-06-15T10:00:00.123Z', at('2026-06-15T10:00:00.123Z'), '2026-06-15'],
  ['2026-06-15T10:00:00+00:00', at('2026-06-15T10:00:00.000Z'), '2026-06-15'],
  ['2026-06-15T10:00:00-00:00', at('2026-06-15T10:00:00.000Z'), '2026-06-15'],
  ['2026-06-15T01:00:00+02:00', at('2026-06-14T23:00:00.000Z'), '2026-06-14'],
  ['2026-06-15T23:00:00-02:00', at('2026-06-16T01:00:00.000Z'), '2026-06-16'],
  ['2026-06-15T05:15:00.25+05:45', at('2026-06-14T23:30:00.250Z'), '2026-06-14'],
  ['2026-06-15T10:00:00+14:00', at('2026-06-14T20:00:00.000Z'), '2026-06-14'],
  ['2026-06-15T12:00:00-12:00', at('2026-06-16T00:00:00.000Z'), '2026-06-16'],
  ['2026-06-15T10:00:00+23:59', at('2026-06-14T10:01:00.000Z'), '2026-06-14'],
  ['2026-06-15T23:59:59.9994Z', at('2026-06-15T23:59:59.999Z'), '2026-06-15'],
  ['2026-06-15T23:59:59.9999Z', at('2026-06-15T23:59:59.999Z'), '2026-06-15'],
  ['2026-06-15T23:59:59.999999999999999999Z', at('2026-06-15T23:59:59.999Z'), '2026-06-15'],
  ['2026-06-16T00:59:59.9999999+01:00', at('2026-06-15T23:59:59.999Z'), '2026-06-15'],
  ['2026-06-15T10:00:00.0009Z', at('2026-06-15T10:00:00.000Z'), '2026-06-15'],
  ['2024-02-29T12:00:00Z', at('2024-02-29T12:00:00.000Z'), '2024-02-29'],
  ['2020-01-01T00:00:00Z', at('2020-01-01T00:00:00.000Z'), '2020-01-01'],
  [at('2020-01-01T00:00:00.000Z'), at('2020-01-01T00:00:00.000Z'), '2020-01-01'],
  [at('2026-06-15T23:59:59.999Z'), at('2026-06-15T23:59:59.999Z'), '2026-06-15'],
  [NOW + DAY_MS, NOW + DAY_MS, '2026-07-11'],
  ['2026-07-11T14:00:00.000+02:00', NOW + DAY_MS, '2026-07-11'],
  ['2026-07-11T12:00:00.0009Z', NOW + DAY_MS, '2026-07-11'],
];

const BAD = [
  '',
  'yesterday',
  'infinity',
  'epoch',
  '1781517600000',
  '2026-06-15',
  '2026-06-15T10:00:00',
  '2026-06-15T10:00Z',
  '2026-06-15 10:00:00Z',
  '2026-06-15T10:00:00 Z',
  ' 2026-06-15T10:00:00Z',
  '2026-06-15T10:00:00Z\n',
  '2026-06-15T10:00:00+0200',
  '2026-06-15T10:00:00+02',
  '2026-06-15T10:00:00,5Z',
  '2026-06-15T10:00:00.Z',
  '2026-06-15T10:00:00 Europe/Berlin',
  '+2026-06-15T10:00:00Z',
  '26-06-15T10:00:00Z',
  '20260615T100000Z',
  '2026-166T10:00:00Z',
  '2026-W25-1T10:00:00Z',
  '٢٠٢٦-06-15T10:00:00Z',
  '2026-00-15T10:00:00Z',
  '2026-13-15T10:00:00Z',
  '2026-06-00T10:00:00Z',
  '2026-06-31T10:00:00Z',
  '2026-02-29T10:00:00Z',
  '2100-02-29T10:00:00Z',
  '2026-06-15T24:00:00Z',
  '2026-06-15T25:00:00Z',
  '2026-06-15T10:60:00Z',
  '2026-06-15T23:59:60Z',
  '2026-06-15T10:00:61Z',
  '2026-06-15T10:00:00+24:00',
  '2026-06-15T10:00:00+02:60',
];

const REJECTED: [reason: string, timestamps: (string | number | boolean | object)[]][] = [
  ['bad_timestamp', BAD],
  [
    'timestamp_in_future',
    [
      NOW + DAY_MS + 1,
      '2026-07-11T12:00:00.001Z',
      '2026-07-11T14:00:00.001+02:00',
      '9999-12-31T23:59:59.999Z',
    ],
  ],
  [
    'value_out_of_range',
    [
      at('2020-01-01T00:00:00.000Z') - 1,
      '2019-12-31T23:59:59.9999Z',
      '2020-01-01T00:00:00+00:01',
      0,
      -1,
      1_781_517_600,
    ],
  ],
  ['wrong_type', [1_781_517_600_000.5, true, ['2026-06-15T10:00:00Z'], { ms: 1_781_517_600_000 }]],
];
const CASES = REJECTED.flatMap(([reason, timestamps]) =>
  timestamps.map((timestamp) => ({ reason, text: JSON.stringify(timestamp) })),
);

const given = sharedWorld();
let stored: Row[];
let rejects: Row[];

beforeAll(async () => {
  await given.world.send([
    ...CASES.map(({ text }, index) => lineWith(`rejected-${index}`, 'timestamp', text)),
    ...ACCEPTED.map(([timestamp], index) => event(`accepted-${index}`, { timestamp })),
  ]);
  stored = await eventsOf(given.world, 'acme');
  rejects = await rejectsOf(given.world, 'acme');
});

it.each(ACCEPTED.map((one, index) => [...one, index] as const))(
  'takes %j as the instant %i of %s',
  (_timestamp, occurred_at, day, index) => {
    expect(stored.filter(({ event_id }) => event_id === `accepted-${index}`)).toEqual([
      expect.objectContaining({ occurred_at, day }),
    ]);
  },
);

it.each(CASES.map(({ text, reason }, index) => [text, reason, index] as const))(
  'rejects %s as %s',
  (_text, reason, index) => {
    expect(rejects.filter(({ line_no }) => line_no === index + 1)).toEqual([
      expect.objectContaining({ reason, detail: expect.stringMatching(/^timestamp must be .*\.$/) }),
    ]);
  },
);

it('rejects integers that no calendar holds, and takes the lines around them', async () => {
  const orgId = 'hopper';
  const huge = ['9223372036854775807', '-9223372036854775808', '18446744073709551615', '253402300800000'];
  const lines = huge.map((digits) => lineWith(digits, 'timestamp', digits));
  const settled = await given.world.send([line('first'), ...lines, line('last')], { orgId });
  expect(settled).toMatchObject({ accepted: 2, duplicates: 0, rejected: 4 });
  const reasons = (await rejectsOf(given.world, orgId)).map(({ reason }) => reason);
  for (const reason of reasons)
    expect(['bad_timestamp', 'timestamp_in_future', 'value_out_of_range']).toContain(reason);
});

it('keeps the limit of 24 hours by the time of arrival, whatever came before', async () => {
  const orgId = 'lamarr';
  const { world } = given;
  const later = event('later', { timestamp: NOW + DAY_MS + 1 });
  expect(await world.send([later], { orgId })).toMatchObject({ accepted: 0, rejected: 1 });
  world.now += 1;
  expect(await world.send([later], { orgId })).toMatchObject({ accepted: 1, rejected: 0 });
  world.now = NOW;
});

it('counts a reject on the day of its timestamp, and where that is not valid on the day of its arrival', async () => {
  const orgId = 'johnson';
  const timestamps = ['2026-06-15T10:00:00Z', '2026-06-31T10:00:00Z', 253_402_300_800_000];
  await given.world.send(
    timestamps.map((timestamp) => event('johnson', { timestamp, client: 'No Client' })),
    { orgId },
  );
  expect((await rejectsOf(given.world, orgId)).map(({ day }) => day)).toEqual([
    '2026-06-15',
    '2026-07-10',
    '2026-07-10',
  ]);
});
