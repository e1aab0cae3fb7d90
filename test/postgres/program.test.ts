import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ClickHouseServer } from '../clickhouse/server.js';
import { daybook, servedWith } from '../program.js';
import { until } from '../service.js';
import { ending, event, lines, temporaryFolder } from '../world.js';
import { postgresDatabase } from './server.js';

const atEnd = ending();
let env: Record<string, string>;
beforeAll(async () => {
  const server = await ClickHouseServer.start(atEnd);
  env = {
    DAYBOOK_STORE: server.store,
    DAYBOOK_STATE: await postgresDatabase(atEnd),
    DAYBOOK_SECRET_KEY: 'k'.repeat(32),
  };
});

test('two nodes serve what either of them was sent, with keys that a command made', async () => {
  const folder = temporaryFolder(onTestFinished);
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  const made = await daybook(
    ['--data', first, 'keys', 'create', '--org', 'acme', '--role', 'owner', '--user', 'ada', '--json'],
    { env },
  );
  expect(made.stderr).not.toMatch(/error/i);
  const { key } = JSON.parse(made.stdout);
  const sent = join(folder, 'events.ndjson');
  writeFileSync(sent, lines([event('1'), event('2', { user_id: 'grace' })]));
  expect(await daybook(['--data', first, 'ingest', sent, '--org', 'acme'], { env })).toMatchObject({
    code: 0,
  });
  expect(await daybook(['--data', second, 'build'], { env })).toMatchObject({ code: 0 });
  const logged = ['', ''];
  for (const [index, data] of [first, second].entries()) {
    const { url, child } = await servedWith(env, data);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      logged[index] += text;
    });
    const answer = await fetch(`${url}/api/v1/analytics/users?startDate=2026-06-10&endDate=2026-06-10`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(200);
    const { data: users } = (await answer.json()) as { data: { user_id: string }[] };
    expect(users.map(({ user_id }) => user_id).sort()).toEqual(['ada', 'grace']);
  }
  const warning =
    "Other nodes run too, and can't reach what is in this node's data folder: set DAYBOOK_INBOX, DAYBOOK_LAKE, and DAYBOOK_OBJECTS to a bucket.";
  await until(() => logged[1]?.includes(warning) === true);
  expect(logged[0]).not.toContain(warning);
});

test('a database that has state itself, and one without, are refused where the setting says otherwise', async () => {
  const data = join(temporaryFolder(onTestFinished), 'data');
  const { DAYBOOK_STORE = '' } = env;
  expect(await daybook(['--data', data, 'status'], { env: { DAYBOOK_STORE } })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/has data only: set DAYBOOK_STATE/),
  });
  expect(
    await daybook(['--data', data, 'status'], { env: { DAYBOOK_STATE: env.DAYBOOK_STATE ?? '' } }),
  ).toMatchObject({ code: 2, stderr: expect.stringMatching(/only with ClickHouse as the store/) });
});

test('an address that is none is told without what it is', async () => {
  const { DAYBOOK_STORE = '', DAYBOOK_SECRET_KEY = '' } = env;
  for (const DAYBOOK_STATE of [
    'mysql://ada:secret@host/x',
    'postgres://ada:secret@host',
    'postgres://ada:secret@host/x?sslmode=maybe',
  ]) {
    const { code, stderr } = await daybook(['config'], { env: { DAYBOOK_STORE, DAYBOOK_STATE } });
    expect([code, stderr]).toEqual([
      2,
      'DAYBOOK_STATE must be store or postgres://user:password@host:5432/database.\n',
    ]);
  }
  const { stdout } = await daybook(['config'], {
    env: { DAYBOOK_STORE, DAYBOOK_SECRET_KEY, DAYBOOK_STATE: 'postgres://ada:secret@host/x' },
  });
  expect(stdout).toContain('postgres://ada:***@host/x');
  expect(stdout).not.toContain('secret@host/x');
});
