import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Checker } from '../../src/ingest/check.js';
import { TYPES as EVENT_TYPES } from '../../src/ingest/event.js';
import { PlainLines } from '../../src/ingest/plain.js';
import { temporaryFolder } from '../world.js';
import { COMMON_OPTIONAL, event, line, lineWith, OPTIONAL, REQUIRED, TYPES } from './event.js';
import { mutated } from './mutated.js';

const NOW = Date.parse('2026-06-15T12:00:00Z');
const ACME = { orgId: 'acme', onlyUser: null };

/** The verdict on a body that comes in pieces of a size. */
function verdictOn(
  body: string | Buffer,
  sender: typeof ACME | { orgId: string; onlyUser: string } = ACME,
  size = 1 << 20,
) {
  const lines = new PlainLines(sender, NOW);
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) lines.add(bytes.subarray(at, at + size));
  return lines.end();
}

function isTaken(text: string | Buffer): boolean {
  return verdictOn(text) !== undefined;
}

const TIMESTAMPS = [
  ...['2026-06-15T10:00:00Z', '2026-06-15T10:00:00.1Z', '2020-01-01T00:00:00Z', '2026-06-16T12:00:00.000Z'],
  ...['2019-12-31T23:59:59.999Z', '2026-06-16T12:00:00.001Z', '2026-02-29T10:00:00Z', '2024-02-29T10:00:00Z'],
  ...[
    '2026-06-15T24:00:00Z',
    '2026-06-15T10:00:60Z',
    '2026-06-31T10:00:00Z',
    '2026-06-15t10:00:00z',
    '2026-06-15',
  ],
  ...[
    '2026-06-15T10:00:00+02:00',
    '2026-06-15T10:00:00.1234Z',
    '0000-00-00T00:00:00Z',
    '10000-01-01T00:00:00Z',
  ],
  ...[Date.UTC(2020), Date.UTC(2020) - 1, NOW + 86_400_000, NOW + 86_400_001, -1, 0],
];

test('a member of events means the same in all types that have it', () => {
  const seen = new Map<string, string>();
  for (const own of Object.values(EVENT_TYPES)) {
    for (const [name, schema] of Object.entries(own)) {
      const meaning = JSON.stringify(z.toJSONSchema(schema));
      expect(seen.get(name) ?? meaning, name).toBe(meaning);
      seen.set(name, meaning);
    }
  }
});

/** Values at the edges of what members can be, as JSON. */
const EDGES = [
  ...['null', 'true', 'false', '0', '1', '-1', '-0', '00', '1.0', '1e3', '[]', '{}', 'nul', '""', '"x"'],
  ...[
    '100000000000',
    '100000000001',
    '-100000000000',
    '-100000000001',
    '999999999999999',
    '9999999999999999',
  ],
  ...[
    String.raw`"a\nb"`,
    String.raw`"\\"`,
    String.raw`"\""`,
    String.raw`"\t/"`,
    String.raw`"\u0061"`,
    '"\t"',
    '"\u007f"',
  ],
  ...[
    '"/"',
    '" /"',
    '"/review"',
    '"a--b"',
    '"Terminal"',
    '"create"',
    '"spec"',
    '"acme"',
    '"globex"',
    '"\ufeff"',
  ],
  ...[128, 129, 200, 201, 320, 321, 2048, 2049].flatMap((length) =>
    ['a', 'é', '😀'].map((character) => JSON.stringify(character.repeat(length))),
  ),
];

describe('a body of plain lines', () => {
  test('is taken only where the rules of ingest take every line of it', async () => {
    const edged = TYPES.flatMap((type) =>
      Object.keys({
        ...COMMON_OPTIONAL,
        ...REQUIRED[type],
        ...OPTIONAL[type],
        event_id: '',
        user_id: '',
        session_id: '',
        type: '',
      }).flatMap((name) =>
        EDGES.map((value, index) => lineWith(`${type}-${name}-${index}`, name, value, { type })),
      ),
    );
    const timed = TIMESTAMPS.map((timestamp, index) => line(`t-${index}`, { timestamp }));
    const lines = [...mutated(7, 6000).map(String), ...timed, ...edged].filter(
      (text) => text !== '' && isTaken(text),
    );
    expect(lines.length).toBeGreaterThan(4000);
    const folder = temporaryFolder();
    const path = join(folder, 'taken.ndjson');
    writeFileSync(path, lines.map((text) => `${text}\n`).join(''));
    const checker = await Checker.open(join(folder, 'checking'));
    const file = { path, ...ACME, receivedAt: NOW, gone: new AbortController().signal };
    const [verdict = await checker.checkNumbered(file)] = await checker.check([file]);
    await checker.close();
    const wrong = verdict?.errors.map((error) => ({ ...error, text: lines[error.line - 1] }));
    expect(wrong).toEqual([]);
    expect(verdict?.accepted).toBe(lines.length);
  });

  test('is taken as JSON is written by most: every type, with all of its members', () => {
    const { org_id: _, ...common } = COMMON_OPTIONAL;
    const whole = TYPES.map((type) => event(type, { type, ...common, ...OPTIONAL[type] }));
    const compact = whole.map((one) => JSON.stringify(one));
    const spaced = whole.map(
      (one) =>
        `{${Object.entries(one)
          .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
          .join(', ')}}`,
    );
    const verdict = { accepted: TYPES.length, rejected: 0, errors: [], ofOthers: 0 };
    for (const lines of [compact, spaced]) {
      for (const size of [1, 7, 1 << 20]) expect(verdictOn(lines.join('\n'), ACME, size)).toEqual(verdict);
      expect(verdictOn(lines.map((text) => `${text}\n`).join(''))).toEqual(verdict);
    }
  });

  test('counts the events of others', () => {
    const body = Buffer.from(`${line('1')}\n${line('2', { user_id: 'grace' })}\n`);
    expect(verdictOn(body, { orgId: 'acme', onlyUser: 'ada' })).toMatchObject({
      accepted: 2,
      ofOthers: 1,
    });
  });

  test.each([
    ['a member that is there twice', line('1').replace('{', '{"user_id":"grace",')],
    ['a number with a fraction', lineWith('1', 'duration_ms', '5.0', { type: 'tool_call' })],
    ['half of a pair of surrogates', lineWith('1', 'cwd', String.raw`"\ud83d"`)],
    ['bytes that are no text', Buffer.concat([Buffer.from([0xff]), Buffer.from(line('1'))])],
    ['an object within', lineWith('1', 'x', '{"a":1}')],
    ['another organization', line('1', { org_id: 'globex' })],
    ['an empty line', `${line('1')}\n\n${line('2')}`],
    ['an empty organization', line('1', { org_id: '' })],
    ['no line', ''],
    ['a long line', line('1', { x: 'x'.repeat(70_000) })],
    ['a line that is cut off', line('1').slice(0, -1)],
  ])('with %s is left to the rules', (_, text) => {
    expect(isTaken(text)).toBe(false);
    expect(isTaken(line('1'))).toBe(true);
  });
});
