import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { DataType, type Table, tableFromIPC, Vector } from 'apache-arrow';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ANSWERS, fileOf, GROUPS } from '../src/api/answer-names.js';
import { columnsOf, readReport } from '../src/api/answer-rows.js';
import { shapesOf } from '../src/api/answer-shape.js';
import { createKey } from '../src/api/api-keys.js';
import { arrowBytes } from '../src/arrow/arrow-stream.js';
import type { Day } from '../src/day.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { CLAUDE_CODE } from '../src/ingest/source.js';
import { buildApp } from '../src/service/app.js';
import { ending, World } from './world.js';

const atEnd = ending();

const ARROW = 'application/vnd.apache.arrow.stream';
const WEEKS = 'startDate=2026-01-14&endDate=2026-07-09';

/** Every question of the analytics endpoints. */
const PATHS = ANSWERS.flatMap((answer) =>
  [undefined, ...GROUPS[answer]].map((group) => ({
    answer,
    group,
    path: `${answer}?${WEEKS}${group === undefined ? '' : `&group_by=${group}`}`,
  })),
);

let world: World;
let app: FastifyInstance;
let key: string;

async function get(path: string, accept: string, headers: Record<string, string> = {}) {
  const answer = await app.inject({
    url: path.startsWith('/') ? path : `/api/v1/analytics/${path}`,
    headers: { authorization: `Bearer ${key}`, accept, ...headers },
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: answer.body,
    bytes: answer.rawPayload,
    json: () => answer.json(),
  };
}

/** Values as JSON has them: the library has objects of its own for rows, lists and maps. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Vector) return [...value].map(plain);
  const members = (value as { toJSON: () => Record<string, unknown> }).toJSON();
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, plain(member)]));
}

/** The rows of a stream of Arrow; days, instants and decimals as JSON has them. */
function rowsOf(table: Table): unknown[] {
  const scales = table.schema.fields.flatMap(({ name, type }) =>
    DataType.isDecimal(type) ? [[name, type.scale] as const] : [],
  );
  return table.toArray().map((row) => {
    const members = plain(row) as Record<string, unknown>;
    for (const [name, scale] of scales)
      if (row[name] !== null) members[name] = Number(`${String(row[name])}e-${scale}`);
    const instant = (at: unknown) => new Date(Number(at)).toISOString();
    for (const name of ['date', 'month', 'data_begins'])
      if (members[name] != null) members[name] = instant(members[name]).slice(0, 10);
    for (const name of ['built_at', 'first_built_at'])
      if (name in members) members[name] = instant(members[name]);
    for (const one of (members.restatements ?? []) as Record<string, unknown>[])
      one.built_at = instant(one.built_at);
    return members;
  });
}

/** Expects that a schema says of everything that has no members of its own what it is, with an example. */
function expectDescribed(
  { items, properties, anyOf, ...schema }: z.core.JSONSchema.BaseSchema,
  where: string,
): void {
  const [nullable] = anyOf ?? [];
  if (nullable?.properties !== undefined) expectDescribed(nullable, where);
  else if (typeof items === 'object' && !Array.isArray(items)) expectDescribed(items, where);
  else if (properties !== undefined)
    for (const [name, member] of Object.entries(properties))
      expectDescribed(Object(member), `${where}.${name}`);
  else
    expect(schema, where).toMatchObject({ description: expect.any(String), examples: [expect.anything()] });
}

/** The fields of the lines of CSV. */
function fieldsOf(text: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
    if (end === '\r\n') lines.push([]);
  }
  return lines.slice(0, -1);
}

beforeAll(async () => {
  world = await World.create({}, atEnd);
  for (const userId of ['claude-code-log', 'entireio-cli'])
    await world.ingest([join(PACKAGE_ROOT, 'data/sample', userId)], { source: CLAUDE_CODE, userId });
  const name = 'Grete, "die Gründliche" 🦊';
  await world.send([
    ...['ada', name, 'grace'].map((user_id, index) => ({
      event_id: `u${index}`,
      type: 'user_message',
      timestamp: `2026-06-0${index + 1}T09:00:00Z`,
      session_id: 's1',
      user_id,
      ...(index === 0
        ? {}
        : { user_email: `${index}@acme.example`, client: `a-client-of-a-long-name-${index}` }),
    })),
    ...[
      { event_id: 'call', type: 'tool_call', tool_name: 'mcp__github__get_issue' },
      {
        event_id: 'usage',
        type: 'model_usage',
        model: 'claude-sonnet-4-5',
        input_tokens: 10,
        output_tokens: 5,
      },
    ].map((event) => ({ ...event, timestamp: '2026-06-01T09:01:00Z', session_id: 's1', user_id: 'ada' })),
    {
      ...{ event_id: 'told', type: 'model_usage', channel: 'vendor_api', timestamp: '2026-06-01T00:00:00Z' },
      ...{ session_id: '', user_id: 'ada', model: 'claude-sonnet-4-5', input_tokens: 12, output_tokens: 5 },
    },
    { event_id: 'nothing', type: 'user_message', timestamp: '2026-06-04T09:00:00Z' },
  ]);
  await world.build();
  // What came late restates a day.
  await world.send([
    {
      event_id: 'late',
      type: 'tool_call',
      timestamp: '2026-06-01T10:00:00Z',
      session_id: 's1',
      user_id: 'ada',
      tool_name: 'Edit',
    },
  ]);
  world.now += 60_000;
  await world.build();
  app = buildApp(world);
  afterAll(() => app.close());
  key = (await createKey(world.store, { orgId: 'acme', role: 'owner', userId: 'ada' }, world.now)).key;
});

describe.each(PATHS)('the rows of $path', ({ answer, group, path }) => {
  test('are the same as Arrow and as JSON', async () => {
    const json = (await get(path, 'application/json')).json();
    const { status, headers, bytes } = await get(path, ARROW);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe(ARROW);
    const table = tableFromIPC(bytes);
    expect(table.schema.fields.map(({ name }) => name)).toEqual(columnsOf(answer, group));
    // No vendor is pulled here.
    if (answer !== 'vendor_lines') expect(json.data.length).toBeGreaterThan(0);
    expect(rowsOf(table)).toEqual(json.data);
    const meta = Object.entries(json.meta).filter(([, value]) => value !== null);
    expect(Object.fromEntries(table.schema.metadata)).toEqual(
      Object.fromEntries(meta.map(([name, value]) => [name, String(value)])),
    );
  });

  test('are the same as CSV and as JSON', async () => {
    const { data } = (await get(path, 'application/json')).json();
    const { headers, text } = await get(path, 'text/csv');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    const [header, ...lines] = fieldsOf(text);
    expect(header).toEqual(columnsOf(answer, group));
    const told = (value: unknown) =>
      value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
    const rows: unknown[][] = data.map((row: object) => Object.values(row));
    // A small number has an exponent in either form, but not in a text of JavaScript.
    const plainly = (field: string, value: unknown) =>
      typeof value === 'number' ? String(Number(field)) : field;
    expect(
      lines.map((line, row) => line.map((field, column) => plainly(field, rows[row]?.[column]))),
    ).toEqual(rows.map((row) => row.map(told)));
  });

  test('are what the text of the answer says that they are', async () => {
    const range = { orgId: 'acme', from: '2026-06-01' as Day, to: '2026-06-10' as Day, groupBy: group };
    const [names, types] = await world.store.snapshot(async (select, readColumns) => {
      const { results } = await readReport(select, readColumns, answer, 'arrow', range);
      const { value } = await results[Symbol.asyncIterator]().next();
      return [value.columnNames(), value.columnTypes().map(String)];
    });
    const shapes = shapesOf(fileOf(answer, group));
    expect(shapes.map(({ name }) => name)).toEqual(names);
    expect(shapes.map(({ type }) => String(type))).toEqual(types);
    for (const { name, schema } of shapes) expectDescribed(z.toJSONSchema(schema), name);
  });

  test('have a schema also where there are none', async () => {
    const empty = path.replace(WEEKS, 'startDate=2026-01-14&endDate=2026-01-14');
    const table = tableFromIPC((await get(empty, ARROW)).bytes);
    expect(table.numRows).toBe(0);
    expect(table.schema.fields.map(({ name }) => name)).toEqual(columnsOf(answer, group));
    expect((await get(empty, 'text/csv')).text).toBe(`${columnsOf(answer, group).join(',')}\r\n`);
  });
});

describe('the Accept header', () => {
  const CSV = 'text/csv; charset=utf-8';
  const JSON_TYPE = 'application/json; charset=utf-8';
  test.each([
    ['text/csv', CSV],
    ['Text/CSV; header=present', CSV],
    ['text/csv;charset=utf-8;q=0.9, application/json;q=0.8', CSV],
    ['text/csv;q=0.5, application/json', JSON_TYPE],
    ['application/json, text/csv', JSON_TYPE],
    ['text/csv;q=0', JSON_TYPE],
    ['text/csv, */*;q=0.1', CSV],
    [`text/csv;q=0.9, ${ARROW}`, ARROW],
    ['*/*', JSON_TYPE],
    ['text/html,application/xhtml+xml', JSON_TYPE],
    ['text/*', JSON_TYPE],
    ['', JSON_TYPE],
    [',;=q', JSON_TYPE],
  ])('of %j gives %s', async (accept, type) => {
    const { status, headers } = await get(`productivity?${WEEKS}`, accept);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe(type);
    expect(headers.vary).toBe('authorization, cookie, accept, accept-encoding');
  });

  test('changes nothing about errors, or about the open day', async () => {
    const wrong = await get('users?startDate=never', ARROW);
    expect(wrong.status).toBe(400);
    expect(wrong.headers['content-type']).toBe(JSON_TYPE);
    const today = await get('today', 'text/csv');
    expect(today.headers).toMatchObject({
      'content-type': JSON_TYPE,
      vary: 'authorization, cookie, accept-encoding',
    });
  });
});

test('each form has a tag, a HEAD and a compressed body of its own', async () => {
  const path = `tokens?${WEEKS}`;
  const forms = ['application/json', 'text/csv', ARROW];
  const given = await Promise.all(forms.map((form) => get(path, form)));
  const tags = given.map(({ headers }) => String(headers.etag));
  expect(new Set(tags).size).toBe(3);
  for (const [index, form] of forms.entries()) {
    for (const [other, tag] of tags.entries()) {
      const again = await get(path, form, { 'if-none-match': tag });
      expect(again.status).toBe(other === index ? 304 : 200);
    }
    const zipped = await get(path, form, { 'accept-encoding': 'gzip' });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(zipped.bytes).equals(given[index]?.bytes ?? Buffer.of())).toBe(true);
    const head = await app.inject({
      method: 'HEAD',
      url: `/api/v1/analytics/${path}`,
      headers: { authorization: `Bearer ${key}`, accept: form },
    });
    expect(head.body).toBe('');
    for (const name of ['etag', 'content-type', 'content-length'])
      expect(head.headers[name]).toBe(given[index]?.headers[name]);
  }
});

test('pages of CSV and Arrow say in a Link where the next one is', async () => {
  const range = 'startDate=2026-06-01&endDate=2026-06-10';
  const { data } = (await get(`users?${range}`, 'application/json')).json();
  for (const form of ['text/csv', ARROW]) {
    const users: unknown[] = [];
    let path: string | undefined = `/api/v1/analytics/users?${range}&limit=1`;
    while (path !== undefined) {
      const { headers, bytes, text } = await get(path, form);
      users.push(
        ...(form === ARROW
          ? tableFromIPC(bytes)
              .toArray()
              .map(({ user_id }) => user_id)
          : fieldsOf(text)
              .slice(1)
              .map(([user]) => user)),
      );
      path = /^<(.*)>; rel="next"$/.exec(String(headers.link))?.[1];
    }
    expect(users).toEqual(data.map(({ user_id }: { user_id: string }) => user_id));
    expect(users.length).toBeGreaterThan(2);
  }
  expect((await get(`users?${range}&limit=1`, 'application/json')).headers.link).toBeUndefined();
  // Behind a proxy the path is another.
  const config = { ...world.config, publicUrl: 'https://acme.example/daybook/' };
  const proxied = buildApp({ ...world, clock: world.clock, config });
  const { headers } = await proxied.inject({
    url: `/api/v1/analytics/users?${range}&limit=1`,
    headers: { authorization: `Bearer ${key}`, accept: 'text/csv' },
  });
  await proxied.close();
  expect(headers.link).toMatch(/^<https:\/\/acme\.example\/daybook\/api\/v1\/analytics\/users\?.*cursor=/);
});

test('one’s own rows come in every form', async () => {
  const json = (await get(`me?${WEEKS}`, 'application/json')).json();
  expect(json.data).toHaveLength(1);
  const table = tableFromIPC((await get(`me?${WEEKS}`, ARROW)).bytes);
  expect(rowsOf(table)).toEqual(json.data);
  expect([...table.schema.metadata.keys()]).toEqual(Object.keys(json.meta));
});

test('what a query gives column by column is all of it, or its error', async () => {
  const sql =
    "SELECT CASE WHEN i = 2999999 THEN error('too far') ELSE i END AS i FROM range(3000000) AS r (i)";
  const read = world.store.snapshot((_, readColumns) => readColumns(sql, { days: 'SELECT 1 AS one' }, {}));
  await expect(read).rejects.toThrow('too far');
});

describe('a stream of Arrow', () => {
  test.each([
    ['no rows', 'SELECT 1 AS one WHERE false'],
    [
      'nulls of every type',
      'SELECT CAST(NULL AS BIGINT) AS a, CAST(NULL AS VARCHAR) AS b, CAST(NULL AS BOOLEAN) AS c, CAST(NULL AS VARCHAR[]) AS d, CAST(NULL AS STRUCT(x BIGINT)) AS e, CAST(NULL AS MAP(VARCHAR, BIGINT)) AS f',
    ],
    [
      'numbers and truths in many chunks',
      'SELECT CASE WHEN i % 7 > 0 THEN i END AS i, i / 3 AS third, i % 3 = 0 AS is_third, CAST(i % 100 AS TINYINT) AS tiny FROM range(10000) AS r (i)',
    ],
    [
      'texts short, long, empty and none',
      "SELECT CASE WHEN i % 5 > 0 THEN repeat('Ä🦊', CAST(i % 20 AS INTEGER)) END AS text FROM range(5000) AS r (i)",
    ],
    [
      'lists in lists, some of them null',
      'SELECT CASE WHEN i % 3 > 0 THEN [[i, NULL], NULL, [], range(i % 5)] END AS lists FROM range(3000) AS r (i)',
    ],
    [
      'lists that rows share, and in any order',
      "SELECT j, l FROM (SELECT i, [{ 'n': i, 't': 'a text of some length ' || i }, NULL, { 'n': NULL, 't': '' }] AS l FROM range(5) AS a (i)) AS x JOIN range(4) AS b (j) ON i + j < 6 ORDER BY i % 2, j DESC, i",
    ],
    ['maps', "SELECT MAP { 'k' || i: [i, i + 1], 'another': [] } AS map FROM range(3000) AS r (i)"],
  ])('has %s as the query has them', async (_, sql) => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const expected = await (await connection.run(sql)).getRowObjectsJS();
    const pieces: Uint8Array[] = [];
    const results = async function* () {
      yield await connection.run(sql);
    };
    for await (const piece of arrowBytes(results())) pieces.push(piece);
    const rows = tableFromIPC(Buffer.concat(pieces)).toArray().map(plain);
    const asPlain = (value: unknown): unknown => {
      if (typeof value === 'bigint') return Number(value);
      if (value === null || typeof value !== 'object') return value;
      if (!Array.isArray(value))
        return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, asPlain(one)]));
      const isMap = value.length > 0 && Object.keys(value[0] ?? {}).join() === 'key,value';
      return isMap
        ? Object.fromEntries(value.map((one) => [one.key, asPlain(one.value)]))
        : value.map(asPlain);
    };
    expect(rows).toEqual(expected.map(asPlain));
    connection.closeSync();
  });

  test('goes on from one result to the next', async () => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const pieces: Uint8Array[] = [];
    const results = async function* () {
      for (const rows of [3000, 0, 2]) yield await connection.run(`SELECT range AS i FROM range(${rows})`);
    };
    for await (const piece of arrowBytes(results())) pieces.push(piece);
    const table = tableFromIPC(Buffer.concat(pieces));
    expect(table.batches.map(({ numRows }) => numRows)).toEqual([3002]);
    expect(table.get(3001)?.toJSON()).toEqual({ i: 1n });
    connection.closeSync();
  });

  test('refuses a type that it has no name for', async () => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const results = async function* () {
      yield await connection.run("SELECT INTERVAL '1 day' AS span");
    };
    await expect(arrowBytes(results()).next()).rejects.toThrow('INTERVAL');
    connection.closeSync();
  });
});
