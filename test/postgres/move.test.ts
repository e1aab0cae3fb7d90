import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createKey } from '../../src/api/api-keys.js';
import { DATABASE } from '../../src/disk/data-files.js';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { buildApp } from '../../src/service/app.js';
import { dailySql } from '../../src/store/day-builder.js';
import { PostgresSession } from '../../src/store/postgres/postgres-session.js';
import { SHARED_CLOCK } from '../../src/store/state/node.js';
import { ClickHouseServer, type Way } from '../clickhouse/server.js';
import { daybook, ended, servedWith, start } from '../program.js';
import { randomOf } from '../random.js';
import { playsSlow } from '../slow.js';
import { type AtEnd, ending, event, temporaryFolder, undoing, World } from '../world.js';
import { addressOf, postgresDatabase } from './server.js';

/** Of the file in the data folder of the source. */
const SECRET_KEY = 'k'.repeat(43);
const ORGANIZATIONS = ['acme', 'globex', 'initech'];
const DAYS = ['2026-04-30', '2026-05-01', '2026-05-20', '2026-06-10'];
const RANGE = 'startDate=2026-04-30&endDate=2026-06-20';

const atEnd = ending();
/** A data folder that is never opened, only copied. */
let kept: string;
/** The keys of owners, by organization. */
const keys = new Map<string, string>();
/** What the service on it answered. */
let answers: Record<string, Record<string, string>>;

/** The events of an organization on four days of three months, the later ones with what others tell too. */
function eventsOf(orgId: string, name = '') {
  return DAYS.flatMap((day) =>
    ['ada', 'grace', 'hedy', `${orgId}-only`].flatMap((user_id, person) =>
      Array.from({ length: 8 }, (_, at) => {
        const id = `${name}${day}-${user_id}-${at}`;
        const own = {
          timestamp: `${day}T1${at}:00:0${person}.12${at}Z`,
          session_id: `${user_id}-${at < 6 ? day : DAYS[0]}`,
          ...{
            user_id,
            agent: at % 2 === 0 ? 'codex' : 'claude-code',
            user_email: `${user_id}@acme.example`,
          },
          repo: `https://github.com/${orgId}/api`,
        };
        const kinds = [
          { type: 'user_message' },
          {
            type: 'tool_call',
            tool_name: person === 1 ? 'mcp__github__search' : 'Bash',
            success: at < 5,
            duration_ms: 7,
          },
          {
            type: 'model_usage',
            ...{ model: 'gpt-5', input_tokens: 100 * at, output_tokens: 20, cache_read_tokens: 3 },
            ...{ cache_write_tokens: 0, reported_cost_usd: 0.123_456_789 },
          },
          { type: 'file_change', path: `src/${at}.ts`, operation: 'edit', lines_added: at, lines_removed: 1 },
        ];
        return event(id, { ...own, ...kinds[at % kinds.length] });
      }),
    ),
  );
}

type Body = Readonly<Record<string, { readonly example?: unknown }>>;
const { paths } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'docs/openapi.json'), 'utf8')) as {
  paths: Record<
    string,
    Record<string, { requestBody?: { content: Body }; parameters?: readonly { name: string }[] }>
  >;
};

/** The example that the documentation gives of a body. */
function example(method: string, path: string): object {
  return paths[path]?.[method]?.requestBody?.content['application/json']?.example as object;
}

async function ask(
  app: FastifyInstance,
  orgId: string,
  method: 'GET' | 'PUT' | 'POST',
  url: string,
  body?: object,
) {
  const { statusCode, body: text } = await app.inject({
    ...{ method, url, headers: { authorization: `Bearer ${keys.get(orgId)}` } },
    ...(body !== undefined && { payload: body }),
  });
  return { statusCode, text };
}

/** Makes state of all kinds. */
async function fillState(world: World, app: FastifyInstance): Promise<void> {
  const put = async (
    method: 'PUT' | 'POST',
    path: string,
    body: object = example(method.toLowerCase(), path),
  ) => {
    const { statusCode, text } = await ask(app, 'acme', method, path, body);
    expect(statusCode, `${path}: ${text}`).toBeLessThan(300);
    return JSON.parse(text === '' ? '{}' : text);
  };
  await put('PUT', '/api/v0/organization/people');
  await put('PUT', '/api/v0/organization/budgets');
  await put('PUT', '/api/v0/organization/alerts');
  await put('PUT', '/api/v0/organization/vendors');
  await put('PUT', '/api/v0/organization/privacy', { mode: 'open', smallestGroup: 3, auditors: ['ada'] });
  await put('PUT', '/api/v0/organization/enterprise-controls', {
    settings: { env: { TOKEN: "sécret's \\ $x" } },
  });
  const { id } = await put('POST', '/api/v0/computers');
  await put('POST', `/api/v0/computers/${id}/files/a.txt/create-upload`, { sizeBytes: 5 });
  await put('POST', '/api/v1/events/heartbeat');
  await put('POST', '/api/organization/maturity-level-reports');
  await put('POST', '/api/v1/api-keys');
  await world.store.run([
    {
      sql: `INSERT INTO vendor_bills
        SELECT 'acme', 'anthropic-costs', 'anthropic', CAST('2026-06-10' AS DATE), 'claude', 123456789.123456789, NULL, CAST(12 AS BIGINT), ''`,
    },
    // More than go together.
    {
      sql: `INSERT INTO access_log
        SELECT 'acme', row, instant(row * 1000), 'key', NULL, '::1', '/api', 'user', 'it''s \\ "ada"', NULL, NULL, 200 FROM range(1234) AS rows (row)`,
    },
  ]);
}

/** Paths of an organization's answers that most rows are in. */
const OF_DATA = ['summary', 'users', 'tools']
  .map((answer) => `/api/v1/analytics/${answer}`)
  .concat('/api/v1/api-keys');

/** What a service answers of an organization to those paths, or to all that reads. */
async function answersOf(
  app: FastifyInstance,
  orgId: string,
  chosen?: readonly string[],
): Promise<Record<string, string>> {
  const all = Object.keys(paths).filter(
    // Not what a process or the moment tells of itself.
    (path) =>
      paths[path]?.get !== undefined && !/\{|^\/(healthz|readyz|openapi)|\/(status|audit)$/.test(path),
  );
  const found: Record<string, string> = {};
  for (const path of chosen ?? all) {
    const takesRange = paths[path]?.get?.parameters?.some(({ name }) => name === 'startDate');
    const range = takesRange === true ? `?${RANGE}` : '';
    const { statusCode, text } = await ask(app, orgId, 'GET', path + range);
    // The use of a key is noted some time later.
    found[path] = `${statusCode} ${text.replaceAll(/"(requestId|last_used_on)":("[^"]*"|null)/g, '')}`;
  }
  return found;
}

/** The same of all organizations: everything of the first one, and the data of the others. */
async function allAnswersOf(app: FastifyInstance): Promise<Record<string, Record<string, string>>> {
  const [first = '', ...others] = ORGANIZATIONS;
  const found = { [first]: await answersOf(app, first) };
  for (const orgId of others) found[orgId] = await answersOf(app, orgId, OF_DATA);
  return found;
}

const dataOf = (orgId: string) => (app: FastifyInstance) => answersOf(app, orgId, OF_DATA);

beforeAll(async () => {
  const { atEnd: atClose, undo } = undoing();
  const data = join(temporaryFolder(atEnd), 'data');
  const world = await World.create(
    { DAYBOOK_DATA: data, DAYBOOK_RATE_LIMIT: '0' },
    atClose,
    dailySql,
    'DuckDB',
  );
  writeFileSync(join(data, 'secret.key'), `${SECRET_KEY}\n`, { mode: 0o600 });
  for (const orgId of ORGANIZATIONS)
    keys.set(orgId, (await createKey(world.store, { orgId, role: 'owner', userId: 'ada' }, world.now)).key);
  const app = buildApp(world);
  atClose(() => app.close());
  for (const orgId of ORGANIZATIONS)
    await world.send([...eventsOf(orgId), '{"broken', '{"type":"x"}'], { orgId });
  await fillState(world, app);
  await world.build();
  // Days that were built again, and events that replace others.
  world.now += 60_000;
  await world.send([event('late', { timestamp: `${DAYS[2]}T23:00:00Z`, user_id: 'grace' })], {
    orgId: 'acme',
  });
  await world.send(eventsOf('globex').slice(0, 20), { orgId: 'globex' });
  await world.build();
  // What isn't built yet.
  await world.send([event('open', { timestamp: '2026-07-10T09:00:00Z' })]);
  await app.close();
  await undo();
  expect(
    await ended(start(['--data', data, 'people', 'erase', 'hedy', '--org', 'initech', '--apply'], { atEnd })),
  ).toMatchObject({ code: 0 });
  kept = data;
  // A copy, since a service notes which keys are used.
  const copy = join(temporaryFolder(atEnd), 'data');
  cpSync(data, copy, { recursive: true });
  answers = await onService(copy, {}, allAnswersOf);
});

/** Does something with a service on a data folder. */
async function onService<T>(
  data: string,
  env: Record<string, string>,
  work: (app: FastifyInstance, world: World) => Promise<T>,
): Promise<T> {
  const { atEnd: atClose, undo } = undoing();
  try {
    const world = await World.create(
      { DAYBOOK_DATA: data, DAYBOOK_RATE_LIMIT: '0', ...env },
      atClose,
      dailySql,
      'DuckDB',
    );
    const app = buildApp(world);
    atClose(() => app.close());
    return await work(app, world);
  } finally {
    await undo();
  }
}

/** A copy of the data folder, and empty databases. */
class Place {
  private constructor(
    readonly data: string,
    readonly server: ClickHouseServer,
    readonly env: Record<string, string>,
    readonly state: PostgresSession,
    private readonly end: AtEnd,
  ) {}

  static async make(end: AtEnd = onTestFinished): Promise<Place> {
    const data = join(temporaryFolder(end), 'data');
    cpSync(kept, data, { recursive: true });
    const server = await ClickHouseServer.start(end);
    const address = await postgresDatabase(end);
    const state = PostgresSession.of(addressOf(address));
    end(() => state.close());
    const env = { DAYBOOK_STORE: server.store, DAYBOOK_STATE: address, DAYBOOK_SECRET_KEY: SECRET_KEY };
    return new Place(data, server, env, state, end);
  }

  /** Moves into the databases that a file names. */
  move(env: Record<string, string> = this.env) {
    const file = join(this.data, '..', 'nodes.env');
    writeFileSync(
      file,
      Object.entries(env)
        .map(([name, value]) => `${name}="${value}"\n`)
        .join(''),
    );
    return ended(start(['--data', this.data, 'move', '--to', file], { atEnd: this.end }));
  }

  /** A move that is killed at a statement to ClickHouse, of which it is told how manyeth it is. Answers whether there was one. */
  async moveUntil(isEnd: (query: string, place: number) => boolean, way: Way): Promise<boolean> {
    const child = start(['--data', this.data, 'move'], { env: this.env });
    let statements = 0;
    let isKilled = false;
    this.server.way = (query) => {
      statements += 1;
      if (isKilled || !isEnd(query, statements)) return 'answered';
      isKilled = child.kill('SIGKILL');
      return way;
    };
    await ended(child);
    this.server.way = () => 'answered';
    // As a minute later.
    if (isKilled) await this.state.run([{ sql: 'UPDATE leases SET expires_at = clock_timestamp()' }]);
    return isKilled;
  }

  /** Asks the ClickHouse server. */
  async ofServer(sql: string): Promise<void> {
    const answer = await fetch(this.server.url, { method: 'POST', body: sql });
    expect(answer.status, await answer.text()).toBe(200);
  }

  /** A node on the databases. */
  get node(): string {
    return join(this.data, '..', 'node');
  }
}

const MOVED =
  /^\d+ events and \d+ built days of 3 organizations are moved\.\nAll \d+ digests are the same in both stores\.\n/;

describe('a moved store', () => {
  let place: Place;
  beforeAll(async () => {
    place = await Place.make(atEnd);
    const before = readFileSync(join(place.data, DATABASE));
    expect(await place.move()).toMatchObject({ code: 0, stdout: expect.stringMatching(MOVED) });
    expect(readFileSync(join(place.data, DATABASE)).equals(before)).toBe(true);
  });

  test('answers as the service did', async () => {
    expect(Object.keys(answers.acme ?? {}).length).toBeGreaterThan(40);
    expect(answers.acme?.['/api/v1/analytics/users']).toMatch(/^200 .*"user_id":"grace"/);
    expect(answers.acme?.['/api/v0/organization/enterprise-controls']).toMatch(/^200 .*"TOKEN":"\*\*\*"/);
    expect(await onService(place.node, place.env, allAnswersOf)).toEqual(answers);
  });

  test('is not moved twice', async () => {
    expect(await place.move()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^All of it was moved before/),
    });
  });

  test('goes on as the old one would have', async () => {
    const more = async (app: FastifyInstance, world: World) => {
      await world.send([...eventsOf('acme', 'more-'), ...eventsOf('acme').slice(0, 9)], { orgId: 'acme' });
      await world.send([event('open', { timestamp: '2026-07-09T09:00:00Z' })], { orgId: 'initech' });
      const { statusCode, text } = await ask(app, 'acme', 'PUT', '/api/v0/organization/people', {
        people: [{ userId: 'ada', aliases: ['grace'] }],
      });
      expect(statusCode, text).toBe(200);
      world.now += 60_000;
      const days = await world.build();
      const digests = await world.store.select(
        'SELECT org_id, day, table_name, row_count, digest FROM digests ORDER BY org_id, day, table_name',
      );
      return { days: days.length, digests };
    };
    const there = await onService(place.node, place.env, more);
    expect(there.days).toBeGreaterThan(0);
    expect(there).toEqual(await onService(place.data, {}, more));
  });
});

test('a move that is killed again and again goes on, and leaves nothing twice', async () => {
  const place = await Place.make();
  const seed = Date.now() % 1_000_000;
  const random = randomOf(seed);
  const ways = ['answered', 'broken off', 'hung up'] as const;
  // Statements by which state is published, pieces are copied, looked for, and compared.
  const copies = [/^INSERT INTO \w+ .* FORMAT Parquet$/, /^SELECT count\(\*\) AS rows/];
  const again = playsSlow() ? copies : [];
  const kinds = [/^INSERT INTO \w+_rows .* VALUES /, ...copies, ...again, /unordered_digest/];
  for (const [kills, kind] of kinds.entries()) {
    let passed = Math.floor(random() * 6);
    const way = ways[Math.floor(random() * ways.length)] ?? 'answered';
    const isKilled = await place.moveUntil((query) => kind.test(query) && passed-- === 0, way);
    expect({ isKilled, kills, seed }).toEqual({ isKilled: true, kills, seed });
    // Nobody sees a part of it.
    if (kills === 1)
      expect(await daybook(['--data', place.node, 'build'], { env: place.env })).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^A store is being moved into the databases .*\n$/),
      });
  }
  const { code, stdout, stderr } = await place.move();
  expect({ code, stderr, seed }).toEqual({ code: 0, stderr: '', seed });
  expect(stdout).toMatch(MOVED);
  expect(await onService(place.node, place.env, dataOf('initech'))).toEqual(answers.initech);
});

test('rows that differ are told, count for nobody, and are copied again', async () => {
  const place = await Place.make();
  expect(await place.moveUntil((query) => query.includes('unordered_digest'), 'answered')).toBe(true);
  await place.ofServer(
    "ALTER TABLE events_rows UPDATE tool_name = 'Edit' WHERE org_id = 'globex' AND tool_name = 'Bash' AND day = '2026-05-01' SETTINGS mutations_sync = 2",
  );
  await place.ofServer(
    "DELETE FROM users_rows WHERE org_id = 'acme' AND day = '2026-06-10' AND user_id = 'grace'",
  );
  await place.state.run([{ sql: "UPDATE keys SET name = 'another' WHERE org_id = 'acme'" }]);
  const { code, stdout } = await place.move();
  expect(code).toBe(1);
  expect(stdout).toMatch(/globex +2026-05-01 +events +(\d+) +\1\n/);
  expect(stdout).toMatch(/acme +2026-06-10 +users +(\d+) +\d+\n/);
  expect(stdout).toMatch(/ +keys +(\d+) +\1\n/);
  expect(stdout).toMatch(/\n3 of \d+ digests differ, so nothing counts yet\.\n/);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(await daybook(['--data', place.node, 'build'], { env: place.env })).toMatchObject({ code: 2 });
  expect(await place.move()).toMatchObject({ code: 0, stdout: expect.stringMatching(MOVED) });
  expect(await onService(place.node, place.env, dataOf('globex'))).toEqual(answers.globex);
});

test('what is in the way of a move is told in a sentence', async () => {
  const place = await Place.make();
  const refused = async (sentence: RegExp, env: Record<string, string> = place.env) =>
    expect(await place.move(env)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) });
  await refused(/^The store is moved to the databases that nodes will have: set DAYBOOK_STORE/, {});
  await refused(/^DAYBOOK_SECRET_KEY doesn't decrypt the secrets of the store: set it to .*secret\.key/, {
    ...place.env,
    DAYBOOK_SECRET_KEY: 'x'.repeat(40),
  });
  const { child } = await servedWith({}, place.data);
  await refused(/^A service runs on the data folder .*: stop it first\.$/m);
  child.kill('SIGTERM');
  await once(child, 'exit');
  const ready = join(place.data, 'inbox', 'ready');
  mkdirSync(ready, { recursive: true });
  writeFileSync(join(ready, 'body'), '');
  await refused(/^Acknowledged events wait in .* \(1 file\): settle them with "daybook build"/);
  rmSync(ready, { recursive: true });
  expect(
    await daybook(['--data', place.node, 'keys', 'create', '--org', 'other', '--role', 'owner'], {
      env: place.env,
    }),
  ).toMatchObject({ code: 0 });
  await place.state.run([
    { sql: `INSERT INTO nodes VALUES ('one', 'host', 'all', '0.2.0', 0, ${SHARED_CLOCK})` },
  ]);
  await refused(/^A node runs on the databases: stop it, and begin with empty ones\.$/m);
  await place.state.run([{ sql: 'DELETE FROM nodes' }]);
  await refused(
    /^The databases aren't empty, since there are rows in (keys|organizations): name new ones\.$/m,
  );
});
