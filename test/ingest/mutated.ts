import { randomOf } from '../random.js';
import { COMMON_OPTIONAL, line, OPTIONAL, OWN_MEMBERS, TYPES } from './event.js';

const { org_id: _, ...COMMON } = COMMON_OPTIONAL;
const MEMBERS = [
  'event_id',
  'type',
  'timestamp',
  'user_id',
  'session_id',
  ...Object.keys(COMMON_OPTIONAL),
  ...OWN_MEMBERS,
];
const VALUES = [
  ...['null', 'true', '0', '-0', '-1', '1.5', '1e3', '1e400', '9007199254740993', '18446744073709551616'],
  ...[
    '""',
    '"x"',
    '"\\u0000"',
    '"\\ud83d\\ude00"',
    '"2026-06-15T10:00:00+01:00"',
    '[]',
    '{}',
    '[[{"a":[]}]]',
  ],
  JSON.stringify('long'.repeat(600)),
];
const BYTES = [
  0x00, 0x09, 0x0d, 0x22, 0x2c, 0x3a, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x7f, 0x80, 0xc3, 0xed, 0xff,
];

type Random = () => number;
const pick = <T>(random: Random, from: readonly [T, ...T[]] | readonly T[]): T =>
  from[Math.floor(random() * from.length)] as T;

/** Ways to spoil a line; many of them leave it valid. */
const MUTATIONS: ((bytes: Buffer, random: Random) => Buffer)[] = [
  (bytes) => bytes,
  (bytes, random) => bytes.subarray(0, Math.floor(random() * bytes.length)),
  (bytes, random) => bytes.subarray(Math.floor(random() * bytes.length)),
  (bytes, random) => {
    const at = Math.floor(random() * bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + Math.floor(random() * 3))]);
  },
  (bytes, random) => {
    const at = Math.floor(random() * bytes.length);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from([pick(random, BYTES)]), bytes.subarray(at)]);
  },
  (bytes, random) => {
    const copy = Buffer.from(bytes);
    copy[Math.floor(random() * copy.length)] = pick(random, BYTES);
    return copy;
  },
  (bytes, random) => {
    const text = bytes.toString();
    return Buffer.from(`{"${pick(random, MEMBERS)}":${pick(random, VALUES)},${text.slice(1)}`);
  },
  (bytes, random) => {
    const text = bytes.toString();
    return Buffer.from(`${text.slice(0, -1)},"${pick(random, MEMBERS)}":${pick(random, VALUES)}}`);
  },
  (bytes, random) => {
    const members = JSON.parse(bytes.toString()) as Record<string, unknown>;
    delete members[pick(random, Object.keys(members))];
    return Buffer.from(JSON.stringify(members));
  },
  (bytes, random) => {
    const name = pick(random, MEMBERS);
    const members = { ...(JSON.parse(bytes.toString()) as Record<string, unknown>), [name]: '<here>' };
    return Buffer.from(JSON.stringify(members).replace('"<here>"', pick(random, VALUES)));
  },
  (bytes) => Buffer.concat([bytes, bytes]),
  () => Buffer.from(''),
  () => Buffer.from(' \t\r'),
];

/** Lines, most of them spoiled, the same for the same seed. */
export function mutated(seed: number, count: number): Buffer[] {
  const random = randomOf(seed);
  return Array.from({ length: count }, () => {
    const type = pick(random, TYPES);
    // A few ids, so that there are duplicates.
    const event_id = `${type}-${Math.floor(random() * 40)}`;
    const bytes = Buffer.from(line(event_id, { type, ...COMMON, ...OPTIONAL[type] }));
    return pick(random, MUTATIONS)(bytes, random);
  });
}
