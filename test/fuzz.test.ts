import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { may, Role } from '../src/api/roles.js';
import { dayOf } from '../src/day.js';
import { ask } from './ask.js';
import { character, FUZZ_SEED } from './hostile.js';
import { type Operation, okOf, queryOf, type Schema } from './reference.js';
import { Service } from './service.js';
import { ending } from './world.js';

const atEnd = ending();

/**
 * Requests that nobody would write, made from the document of the service: right, almost right and senseless. Whatever comes, the
 * answer is one that the document has, it is never a 5xx, and the schemas of the document decide what is taken. For many more:
 *
 *   FUZZ_REQUESTS=5000 FUZZ_SEED=7 npx vitest run test/fuzz.test.ts
 */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 40);
/** A request without an answer by then has none coming. */
const HANGS_MS = 60_000;
const RUNS = { seed: FUZZ_SEED, numRuns: REQUESTS, timeout: HANGS_MS };

/** Where there are no parameters to choose, fewer requests say as much. */
function runsOf(operation: Operation) {
  return queryOf(operation).length === 0 ? { ...RUNS, numRuns: Math.ceil(REQUESTS / 6) } : RUNS;
}

let service: Service;
const keys: Partial<Record<Role, string>> = {};
beforeAll(async () => {
  service = await Service.start({}, atEnd);
  for (const role of Role.options) keys[role] = await service.keyOf(role);
  const people = [
    'ada',
    'Ö',
    '😀'.repeat(128),
    '__proto__',
    "'; --",
    '2026-06-01',
    '\u0000',
    '%',
    '<script>',
  ];
  await service.world.send(
    people.flatMap((user_id, index) =>
      ['2026-06-01', '2026-06-30'].map((day) => ({
        event_id: `${index} ${day}`,
        type: 'tool_call',
        timestamp: `${day}T10:00:00Z`,
        user_id,
        session_id: 's',
        tool_name: user_id,
      })),
    ),
  );
  await service.world.build();
});

const PROTOTYPE = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'then'];
const SENSELESS = [
  ...PROTOTYPE,
  '',
  ' ',
  '\u0000',
  '\r\n',
  'null',
  'undefined',
  'NaN',
  '-0',
  '1e1',
  '0x10',
  '05',
  '+5',
  ' 5',
  '１',
  '1.0',
  '99999999999999999999',
  '[]',
  '{}',
  "' OR 1 = 1; --",
  '$org_id',
  '%s%n',
  '../../etc/passwd',
  '\u202eada',
  'e\u0301',
  '😀'.repeat(128),
  '😀'.repeat(129),
  'x'.repeat(4000),
  '2026-02-30',
  '2026-13-01',
  '2026-6-1',
  '02026-06-01',
  '2026-06-01T00:00:00Z',
  '+002026-06-01',
  '٢٠٢٦-٠٦-٠١',
];
const text = fc.string({ unit: character, maxLength: 40 });
const senseless = fc.oneof(fc.constantFrom(...SENSELESS), text);

/** Text that is what a schema says. */
function right({
  type,
  format,
  minimum,
  maximum,
  minLength,
  maxLength,
  ...schema
}: Schema): fc.Arbitrary<string> {
  if (schema.items !== undefined) return right(schema.items as Schema);
  if (schema.const !== undefined) return fc.constant(String(schema.const));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.map(String));
  if (type === 'integer')
    return fc.bigInt({ min: BigInt(Number(minimum)), max: BigInt(Number(maximum ?? 1e30)) }).map(String);
  if (format === 'date') {
    const [min, max] = [new Date('2025-12-01'), new Date('2026-08-01')];
    return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10));
  }
  const most = Number(maxLength ?? 40);
  // The longest in characters is longer yet in the units of UTF-16.
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.string({ unit: character, minLength: Number(minLength ?? 0), maxLength: most }),
    },
    { weight: 1, arbitrary: fc.constant('😀'.repeat(most)) },
  );
}

/** Text with a character more, less or another. */
function almost(of: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(of, fc.nat(), fc.nat({ max: 1 }), fc.string({ unit: character, maxLength: 1 }))
    .map(([value, at, less, more]) => {
      const characters = [...value];
      characters.splice(at % (characters.length + 1), less, more);
      return characters.join('');
    });
}

const credential = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Role>('owner') },
  { weight: 3, arbitrary: fc.constantFrom(...Role.options) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

/** What can stand in a header: any byte but those that end it. */
const header = fc
  .oneof(
    fc.constantFrom(
      'gzip',
      'zstd',
      'identity',
      'br',
      'application/json',
      'text/csv',
      '*/*',
      '"',
      ...PROTOTYPE,
    ),
    fc.string({
      unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)),
      maxLength: 40,
    }),
  )
  .map((value) => value.replaceAll('\u007f', ''));
const headers = fc.dictionary(
  fc.constantFrom(
    'accept',
    'accept-encoding',
    'if-none-match',
    'origin',
    'range',
    'x-request-id',
    'cookie',
    'te',
  ),
  header,
  { maxKeys: 3 },
);

/** The status that the document gives a request, where its schemas alone decide. */
function expectedOf(
  operation: Operation,
  role: Role | undefined,
  pairs: readonly (readonly [string, string])[],
): number | undefined {
  const action = service.actions.get(`${operation.method} ${operation.path}`);
  if (!operation.isOpen && role === undefined) return 401;
  if (!operation.isOpen && action !== undefined && role !== undefined && !may(role, action)) return 403;
  const isOfEvents = operation.path === '/api/v1/events';
  const takesBody = Object.keys(operation.bodies).length > 0;
  // A body is looked at before parameters are; that of events goes another way.
  if (takesBody && !isOfEvents) return undefined;
  const parameters = queryOf(operation);
  const isKnown = pairs.every(([name]) => parameters.some((parameter) => parameter.name === name));
  if (!isKnown) return 400;
  const values = new Map<string, string>();
  for (const { name, schema, required } of parameters) {
    const given = pairs.filter(([one]) => one === name).map(([, value]) => value);
    const isList = schema.type === 'array';
    if ((given.length > 1 && !isList) || (given.length === 0 && required === true)) return 400;
    const [value] = given;
    if (value === undefined) continue;
    if (isList && service.reference.faultsOf(schema, given).length > 0) return 400;
    values.set(name, given.every((one) => one === value) ? value : given.join(' '));
    if (isList) continue;
    const isNumber = schema.type === 'integer' && String(Number(value)) === value;
    if (service.reference.faultsOf(schema, isNumber ? Number(value) : value).length > 0) return 400;
  }
  // No schema of one parameter says this: docs/api.md, "Analytics".
  const [start, end] = [values.get('startDate'), values.get('endDate')];
  if (end !== undefined && ((start ?? end) > end || end >= dayOf(service.world.now))) return 400;
  // They choose among groups, as their descriptions say.
  if (['search', 'group_keys'].some((name) => values.has(name)) && !values.has('group_by')) return 400;
  // A comparison with a month is of days in one month, without an interval, and changes come of comparisons.
  const isOfMonth = start?.slice(0, 7) === end?.slice(0, 7) && !values.has('interval');
  if (values.get('compare') === 'month' && !isOfMonth) return 400;
  if (values.get('sort')?.startsWith('change') === true && !values.has('compare')) return 400;
  // Which texts are cursors of totals says no schema.
  if (values.has('cursor') && ['/summary', '/costs'].some((end) => operation.path.endsWith(end)))
    return undefined;
  // Nothing has this id.
  if (values.has('startAfter')) return 400;
  // A member sees only its own user's numbers.
  const user = values.get('user_id');
  if (user !== undefined && user !== 'ada' && role !== undefined && !may(role, 'read analytics')) return 403;
  // Which tables there are says no schema.
  if (operation.path === '/api/v1/sql/tables' && values.has('name')) return undefined;
  // What there is at a path with names in it is no matter of parameters.
  return takesBody || operation.path.includes('{') ? undefined : okOf(operation);
}

async function expectAnswer(
  operation: Operation,
  role: Role | undefined,
  query: string,
  more: { headers?: Record<string, string>; body?: string | Buffer } = {},
  expected?: number,
): Promise<number> {
  const authorization = role === undefined ? {} : { authorization: `Bearer ${keys[role]}` };
  const own = service.reference.path(operation);
  const path = query === '' ? own : `${own}?${query}`;
  const given = await ask(service.url, path, {
    method: operation.method,
    ...more,
    headers: { ...more.headers, ...authorization },
  });
  expect(given.status, `${path} ${given.text.slice(0, 300)}`).toBeLessThan(500);
  // What can't be read is of no route.
  if (!given.text.includes('This is not a request of HTTP/1.1'))
    service.reference.expectKept(operation, given);
  if (expected !== undefined) expect(given.status, given.text.slice(0, 300)).toBe(expected);
  return given.status;
}

/** The operations are known only when the service runs. */
async function eachOperation(play: (operation: Operation) => Promise<void>): Promise<void> {
  expect(service.operations.length).toBeGreaterThanOrEqual(10);
  for (const operation of service.operations) await play(operation);
}

describe('whatever is sent', () => {
  test('parameters are taken as the document says, and only then', async () => {
    const statuses = new Set<number>();
    await eachOperation(async (operation) => {
      const pairs = fc
        .tuple(
          ...queryOf(operation).map(({ name, schema, required, example }) => {
            const good = fc.oneof(
              { weight: 2, arbitrary: fc.constantFrom(...[example].flat().map(String)) },
              { weight: 1, arbitrary: right(schema) },
            );
            const value = fc.oneof(
              { weight: 8, arbitrary: good },
              { weight: 1, arbitrary: almost(good) },
              { weight: 1, arbitrary: senseless },
            );
            const values = fc.array(value, { minLength: required === true ? 1 : 0, maxLength: 1 });
            return fc
              .oneof(
                { weight: 19, arbitrary: values },
                { weight: 1, arbitrary: fc.array(value, { maxLength: 3 }) },
              )
              .map((all) => all.map((one) => [name, one] as const));
          }),
          fc.oneof(
            { weight: 9, arbitrary: fc.constant([]) },
            {
              weight: 1,
              arbitrary: fc.array(fc.tuple(senseless, senseless), { minLength: 1, maxLength: 2 }),
            },
          ),
        )
        .chain((groups) => fc.shuffledSubarray(groups.flat(), { minLength: groups.flat().length }));
      await fc.assert(
        fc.asyncProperty(pairs, credential, headers, async (pairs, role, headers) => {
          const query = new URLSearchParams(
            pairs.map(([name, value]): [string, string] => [name, value]),
          ).toString();
          // What is too long is that first.
          const expected = query.length > 15_000 ? undefined : expectedOf(operation, role, pairs);
          const { 'x-request-id': _, ...others } = headers;
          const { type, content } = service.bodyOf(operation);
          const more =
            type === undefined || content === undefined
              ? { headers: others }
              : { headers: { ...others, 'content-type': type }, body: content };
          statuses.add(await expectAnswer(operation, role, query, more, expected));
        }),
        runsOf(operation),
      );
    });
    expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 400, 401, 403]));
  });

  test('a query that is none has an answer', async () => {
    const characters = fc.constantFrom(...'%&=?#;+[]{}.,:/\\"\'<>^`|~!$@*()-_abcdefABCDEF0123456789\u00ff');
    const query = fc.oneof(
      fc.string({ unit: characters, maxLength: 200 }),
      fc.constantFrom(
        '%',
        '%zz=1',
        '=',
        '&&&',
        '=&=',
        '%00=%00',
        '%ff%fe=1',
        'a[]=1&a[0]=2',
        '?'.repeat(9000),
      ),
    );
    await eachOperation((operation) =>
      fc.assert(
        fc.asyncProperty(query, headers, async (query, headers) => {
          await expectAnswer(operation, 'owner', query, { headers });
        }),
        runsOf(operation),
      ),
    );
  });

  test('a path that is none, or an Authorization header, has an answer', async () => {
    const part = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '%2e%2e',
        '%2f',
        '%00',
        '%',
        '//',
        '\\',
        'api',
        'v1',
        'events',
        'docs',
        'static',
        '*',
      ),
      text.map(encodeURIComponent),
    );
    const path = fc.array(part, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`);
    const authorization = fc.oneof(
      header,
      header.map((value) => `Bearer ${value}`),
      fc.array(header, { minLength: 3, maxLength: 3 }).map((parts) => `Bearer ${parts.join('.')}`),
      text.map(
        (value) => `Bearer dbk_${Buffer.from(value).toString('base64url').padEnd(43, 'x').slice(0, 43)}`,
      ),
      fc.nat({ max: 12_000 }).map((length) => `Bearer ${'x'.repeat(length)}`),
    );
    const prefix = fc.constantFrom(
      '',
      '/api',
      '/api/v0',
      '/api/v0/computers',
      '/api/v0/computers/name',
      '/api/v1',
      '/api/v1/analytics',
      '/docs',
      '/docs/static',
    );
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(prefix, path, authorization, headers, async (prefix, path, authorization, more) => {
        const given = await ask(service.url, `${prefix}${path}`, { headers: { ...more, authorization } });
        seen.add(given.status);
        expect([200, 400, 401, 404]).toContain(given.status);
        if (given.status >= 400) {
          const { title, detail, status, requestId } = JSON.parse(given.text);
          expect(status).toBe(given.status);
          expect([title, detail].join(' ')).toMatch(/^\w.* .*\.$/s);
          expect(requestId).toBe(
            path.startsWith('/v0') || prefix.startsWith('/api/v0')
              ? requestId
              : given.headers['x-request-id'],
          );
        }
      }),
      { ...RUNS, numRuns: REQUESTS * 4 },
    );
    expect([...seen]).toEqual(expect.arrayContaining([400, 401, 404]));
    await eachOperation((operation) =>
      fc.assert(
        fc.asyncProperty(authorization, async (authorization) => {
          const expected = operation.isOpen ? undefined : 401;
          const url = service.reference.url(operation);
          await expectAnswer(
            operation,
            undefined,
            url.split('?')[1] ?? '',
            { headers: { authorization } },
            expected,
          );
        }),
        { ...RUNS, numRuns: Math.ceil(REQUESTS / 4) },
      ),
    );
  });

  test('a body of JSON is taken when its schema says so, and only then', async () => {
    let taken = 0;
    let refused = 0;
    await eachOperation(async (operation) => {
      const media = operation.bodies['application/json'];
      if (media === undefined || operation.path === '/api/v1/events') return;
      const members = Object.entries(Object(media.schema.properties) as Record<string, Schema>);
      const odd = fc.oneof(
        senseless,
        fc.jsonValue(),
        fc.constantFrom(null, '', 0, -1, 1.5, 2 ** 53, true, [], {}),
      );
      const almostRight = fc
        .tuple(fc.constantFrom(...members.map(([name]) => name), 'colour', ...PROTOTYPE), odd)
        .map(([name, value]) => ({ ...Object(media.example), [name]: value }));
      const body = fc.oneof(
        { weight: 4, arbitrary: almostRight },
        { weight: 1, arbitrary: fc.constant(media.example) },
        { weight: 1, arbitrary: fc.jsonValue() },
      );
      await fc.assert(
        fc.asyncProperty(body, async (body) => {
          const given = await service.send(operation, { body: JSON.stringify(body) });
          expect(given.status, given.text).toBeLessThan(500);
          service.reference.expectKept(operation, given);
          // As it is after its way as text.
          const isRight =
            service.reference.faultsOf(media.schema, JSON.parse(JSON.stringify(body))).length === 0;
          if (!isRight) expect(given.status, JSON.stringify(body)).toBe(400);
          if (given.status < 300) taken += 1;
          else refused += 1;
        }),
        { ...RUNS, numRuns: Math.ceil(REQUESTS / 4) },
      );
    });
    expect(taken).toBeGreaterThan(REQUESTS / 12);
    expect(refused).toBeGreaterThan(REQUESTS / 4);
  });

  test('bodies of events are answered with what is in them, and what is accepted is there', async () => {
    const operation = service.operations.find(({ path }) => path === '/api/v1/events') as Operation;
    const line = fc.oneof(
      { weight: 4, arbitrary: event.map((one) => JSON.stringify(one)) },
      { weight: 1, arbitrary: almost(event.map((one) => JSON.stringify(one))) },
      { weight: 1, arbitrary: fc.json() },
      { weight: 1, arbitrary: senseless },
    );
    const bytes = fc.uint8Array({ maxLength: 400 }).map((some) => Buffer.from(some));
    const lines = fc
      .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n', '\n\n', '\u2028'))
      .map(([all, end]) => Buffer.from(all.join(end)));
    const array = fc
      .array(fc.oneof(event, fc.jsonValue()), { maxLength: 8 })
      .map((all) => Buffer.from(JSON.stringify(all)));
    const cut = (of: fc.Arbitrary<Buffer>) =>
      fc.tuple(of, fc.nat()).map(([whole, at]) => whole.subarray(0, at % (whole.length + 1)));
    const body = fc.oneof(
      { weight: 3, arbitrary: lines },
      { weight: 3, arbitrary: array },
      bytes,
      cut(array),
      cut(lines),
    );
    const packing = fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      { weight: 2, arbitrary: fc.constant('gzip') },
      { weight: 1, arbitrary: fc.constantFrom('zstd', 'identity', 'GZIP', 'br') },
      { weight: 1, arbitrary: header },
    );
    const type = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('application/json', 'application/x-ndjson') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('Application/JSON; charset=utf-8', 'text/csv', 'application/json;;'),
      },
      { weight: 1, arbitrary: header },
    );
    const statuses = new Set<number>();
    let accepted = await acceptedSoFar();
    await fc.assert(
      fc.asyncProperty(
        body,
        packing,
        fc.boolean(),
        type,
        credential,
        async (body, packing, isPacked, type, role) => {
          const sent = packing === 'gzip' && isPacked ? gzipSync(body) : body;
          const given = await ask(service.url, operation.path, {
            method: 'POST',
            body: sent,
            headers: {
              ...(role === undefined ? {} : { authorization: `Bearer ${keys[role]}` }),
              'content-type': type,
              ...(packing === undefined ? {} : { 'content-encoding': packing }),
            },
          });
          statuses.add(given.status);
          expect(given.status, given.text).toBeLessThan(500);
          service.reference.expectKept(operation, given);
          const isPlain = packing === undefined || packing === 'identity' || (packing === 'gzip' && isPacked);
          if (given.status === 200) accepted += JSON.parse(given.text).accepted;
          if (!isPlain || role !== 'owner' || !['application/json', 'application/x-ndjson'].includes(type))
            return;
          if (type === 'application/x-ndjson') {
            expect(given.status, given.text).toBe(200);
            return;
          }
          // What is an array by JSON is taken, and each of its elements counted.
          const elements = parsed(body.toString());
          if (!Array.isArray(elements)) return;
          const answer = JSON.parse(given.text);
          expect([given.status, answer.accepted + answer.rejected], given.text).toEqual([
            200,
            elements.length,
          ]);
        },
      ),
      RUNS,
    );
    expect([...statuses].sort()).toEqual([200, 400, 401, 403, 415]);
    expect(await acceptedSoFar()).toBe(accepted);
  });

  test('an event is taken when the schema of events says so, and only then', async () => {
    const operation = service.operations.find(({ path }) => path === '/api/v1/events') as Operation;
    const schema: Schema = Object(operation.bodies['application/json']?.schema.items);
    const events = oneMemberOff();
    // A schema can't say that only events of logs and telemetry may name no session.
    const isNameless = (one: object) =>
      'session_id' in one && one.session_id === '' && (!('channel' in one) || one.channel === 'event');
    const isRight = (one: object) => service.reference.faultsOf(schema, one).length === 0 && !isNameless(one);
    const send = async (sent: readonly object[]) => {
      const body = sent.map((one) => JSON.stringify(one)).join('\n');
      return JSON.parse((await service.send(operation, { body })).text) as {
        accepted: number;
        errors: { line: number; code: string }[];
      };
    };
    /** Those that the service takes. It says how many, so that one question is enough where it takes none. */
    const takenOf = async (sent: readonly object[]): Promise<readonly object[]> => {
      const { accepted } = await send(sent);
      if (accepted === 0 || sent.length === 1) return accepted === 0 ? [] : sent;
      const middle = Math.ceil(sent.length / 2);
      return [...(await takenOf(sent.slice(0, middle))), ...(await takenOf(sent.slice(middle)))];
    };
    const right = events.filter(isRight);
    const wrong = events.filter((one) => !isRight(one));
    expect(Math.min(right.length, wrong.length)).toBeGreaterThan(500);
    const { accepted, errors } = await send(right);
    // Who sends it and when is no matter of a schema.
    const faults = errors.filter(({ code }) => code !== 'org_mismatch' && code !== 'timestamp_in_future');
    expect(faults.map(({ line, code }) => ({ code, event: right[line - 1] }))).toEqual([]);
    expect(accepted).toBe(right.length - errors.length);
    expect(await takenOf(wrong)).toEqual([]);
  });
});

/** How many events came over HTTP until now, copies among them. */
async function acceptedSoFar(): Promise<number> {
  const { inbox, store } = service.world;
  await inbox.drain(store);
  const [stored] = await store.select(
    'SELECT sum(accepted + duplicates) AS accepted FROM batches WHERE token IS NOT NULL',
  );
  return Number(stored?.accepted);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const TYPES: Record<string, object> = {
  session_start: {},
  session_end: { reason: 'logout' },
  user_message: {},
  assistant_message: {},
  model_usage: { model: 'm', input_tokens: 1, output_tokens: 2, cache_read_tokens: 3, cache_write_tokens: 4 },
  tool_call: { tool_name: 'Edit', mcp_server: 's', success: true, duration_ms: 5 },
  file_change: { path: 'a.ts', operation: 'edit', lines_added: 1, lines_removed: 0 },
  git_commit: { commit_sha: 'abc' },
  pull_request: { url: 'https://x.example/1' },
  skill_use: { skill_name: 's' },
  slash_command: { command_name: 'review' },
  hook_run: { hook_event: 'Stop', command: 'c', matcher: '', exit_code: 1, duration_ms: 1, timed_out: false },
};
const COMMON = {
  event_id: '1',
  timestamp: '2026-06-10T10:00:00Z',
  user_id: 'ada',
  session_id: 's',
  user_email: 'ada@acme.example',
  client: 'web',
  autonomy_mode: 'spec',
  org_id: 'acme',
  agent: 'a',
  agent_version: '1',
  repo: 'r',
  git_branch: 'b',
  cwd: '/c',
};
const VALUES: unknown[] = [
  ...[
    null,
    '',
    ' ',
    '/',
    0,
    1,
    -1,
    1.5,
    1e11,
    1e11 + 1,
    -1e11,
    -1e11 - 1,
    1e19,
    1e21,
    true,
    false,
    [],
    {},
    ['a'],
  ],
  ...[
    'x',
    'X',
    'auto-low',
    'Auto-low',
    'create',
    'edit',
    'web',
    'web2',
    '2web',
    'w-',
    'user_message',
    'acme',
    '__proto__',
  ],
  ...[32, 33, 128, 129, 200, 201, 320, 321, 2048, 2049].flatMap((length) =>
    ['a', '😀'].map((one) => one.repeat(length)),
  ),
  ...[
    '2026-06-10T10:00:00.123456+05:30',
    '2026-06-10t10:00:00z',
    '2026-02-30T10:00:00Z',
    '2026-06-10',
    '2026-06-10 10:00:00Z',
  ],
  ...['2026-06-10T24:00:00Z', '2026-06-10T23:59:60Z', '2099-01-01T00:00:00Z', '２026-06-10T10:00:00Z'],
  ...[1577836799999, 1577836800000, 1781000000000, 4102444800000, '\u0000', 'a\u0000b', '\u2028', '\ufffd'],
];

/** Every member with every value, one at a time: those of all types once, those of a type in events of that type. */
function oneMemberOff(): object[] {
  return Object.entries(TYPES).flatMap(([type, own], index) => {
    const whole: Record<string, unknown> = { ...COMMON, type, ...own };
    const names = index === 0 ? Object.keys(whole) : Object.keys(own);
    return names.flatMap((name) => [undefined, ...VALUES].map((value) => ({ ...whole, [name]: value })));
  });
}

/** An event of any type with up to three members that are another, missing or more. */
const event: fc.Arbitrary<Record<string, unknown>> = fc
  .constantFrom(...Object.entries(TYPES))
  .chain(([type, own]) => {
    const whole: Record<string, unknown> = { ...COMMON, type, ...own };
    const name = fc.constantFrom(...Object.keys(whole), 'duration_ms', 'unknown', 'tool_name');
    const change = fc.tuple(name, fc.oneof(fc.constantFrom(...VALUES), fc.constant(undefined)));
    return fc
      .array(change, { maxLength: 3 })
      .map((changes) => ({ ...whole, ...Object.fromEntries(changes) }));
  });
