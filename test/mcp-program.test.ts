import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays } from '../src/day.js';
import { ANSWER_BYTES, ANSWER_ROWS } from '../src/mcp/fitted-answer.js';
import { Agent, ERAS, type Said } from './mcp-client.js';
import { CLI, daybook, ended, keyOf, served, start, TODAY } from './program.js';
import { until } from './service.js';
import { temporaryFolder } from './world.js';

const DAY = addDays(TODAY, -1);
const RANGE = { startDate: DAY, endDate: DAY };
const USERS = { sql: 'SELECT user_id FROM users ORDER BY ALL' };
/** It takes longer than any test. */
const LONG = { sql: 'SELECT sum(hash(range)) AS found FROM range(1000000000000)' };

let folder: string;
let data: string;

beforeAll(() => {
  folder = temporaryFolder(afterAll);
  data = join(folder, 'data');
  const run = (...args: string[]) => execFileSync('node', [CLI, '--data', data, ...args], { cwd: folder });
  for (const [orgId, ...users] of [
    ['acme', 'ada', 'bob'],
    ['globex', 'eve'],
  ]) {
    const file = join(folder, `${orgId}.ndjson`);
    const lines = users.map((user_id) =>
      JSON.stringify({
        event_id: user_id,
        type: 'tool_call',
        timestamp: `${DAY}T10:00:00Z`,
        user_id,
        session_id: `of ${user_id}`,
        tool_name: 'Edit',
      }),
    );
    writeFileSync(file, `${lines.join('\n')}\n`);
    run('ingest', '--org', String(orgId), file);
  }
  run('build');
});

/** What the tools say of the data, whichever way they are called. */
async function expectTools(agent: Agent): Promise<void> {
  expect((await agent.tools()).map(({ name }) => name)).toEqual([
    'report',
    'coverage',
    'summary',
    'changes',
    'costs',
    'silence',
    'budgets',
    'sql',
    'tables',
  ]);
  const users = (await agent.call('report', { answer: 'users', ...RANGE })).json.data;
  expect(users).toMatchObject([{ user_id: 'ada' }, { user_id: 'bob' }]);
  expect((await agent.call('coverage', RANGE)).json.data).toMatchObject([
    { user_id: 'ada' },
    { user_id: 'bob' },
  ]);
  const meta = { snapshot: { newest_day: expect.stringMatching(/^2/), published_at: expect.any(String) } };
  expect((await agent.call('sql', USERS)).json).toEqual({
    data: [{ user_id: 'ada' }, { user_id: 'bob' }],
    meta,
  });
  const params = {
    ...USERS,
    sql: 'SELECT user_id FROM users WHERE user_id = $user',
    params: { user: 'bob' },
  };
  expect((await agent.call('sql', params)).json).toEqual({ data: [{ user_id: 'bob' }], meta });
  expect((await agent.call('tables', { name: 'users' })).json.data).toMatchObject([{ name: 'users' }]);
  expect(await agent.call('sql', { sql: 'SELECT * FROM nothing' })).toMatchObject({
    isError: true,
    text: 'There is no table nothing: SHOW TABLES lists the tables.',
  });
  for (const sql of ["SELECT * FROM read_csv('/etc/passwd')", 'DROP TABLE users', 'SELECT 1; SELECT 2'])
    expect(await agent.call('sql', { sql }), sql).toMatchObject({ isError: true });
}

test.each(ERAS)('the program answers from the data folder alone (%s)', async (era) => {
  const agent = await Agent.started(['--data', data, 'mcp', '--org', 'acme'], {}, era);
  await expectTools(agent);
  expect(await agent.call('report', { answer: 'today' })).toMatchObject({
    isError: true,
    text: 'Only a service counts the open day: start "daybook serve", and ask again.',
  });
});

test('the program goes through the service that runs on the data folder', async () => {
  const agent = await Agent.started(['--data', data, 'mcp', '--org', 'acme']);
  expect((await agent.call('sql', USERS)).isError).toBe(false);
  await served(data);
  await expectTools(agent);
  expect((await agent.call('report', { answer: 'today' })).json.meta).toMatchObject({
    org_id: 'acme',
    final: false,
  });
});

test('the program asks a service elsewhere, and so does an agent itself', async () => {
  const key = await keyOf(data, 'manager');
  const { url } = await served(data);
  const file = join(folder, 'key');
  writeFileSync(file, `${key}\n`);
  await expectTools(await Agent.started(['mcp', '--server', url, '--key-file', file]));
  for (const era of ERAS) await expectTools(await Agent.at(url, key, era));
});

test('a member sees own numbers, and no others', async () => {
  const key = await keyOf(data, 'member', '--user', 'ada');
  const { url } = await served(data);
  const agent = await Agent.started(['mcp', '--server', url], { DAYBOOK_KEY: key });
  expect((await agent.call('report', { answer: 'me', ...RANGE })).json.data).toMatchObject([
    { user_id: 'ada' },
  ]);
  expect(await agent.call('report', { answer: 'users', ...RANGE })).toMatchObject({
    isError: true,
    text: 'A credential of role member may not read analytics: use a credential of role owner or manager.',
  });
  expect((await agent.call('sql', USERS)).text).toContain('may not run SQL');
});

test('what is wrong is said in a sentence', async () => {
  const says = async (args: string[], env: Record<string, string> = {}): Promise<string> => {
    const { text, isError } = await (await Agent.started(args, env)).call('sql', USERS);
    expect(isError).toBe(true);
    return text;
  };
  expect(await says(['--data', data, 'mcp'])).toBe('Name an organization with --org: acme, globex.');
  expect(await says(['--data', data, 'mcp', '--org', 'acm'])).toMatch(/^There is no organization acm: /);
  expect(await says(['--data', join(folder, 'nothing'), 'mcp'])).toMatch(/^There is no database in /);
  const { url } = await served(data);
  expect(await says(['mcp', '--server', url], { DAYBOOK_KEY: 'dbk_wrong' })).toBe(
    `The API key is unknown, expired or revoked: create one on the service's machine with "daybook keys create".`,
  );
  expect(await says(['mcp', '--server', 'http://127.0.0.1:9'], { DAYBOOK_KEY: 'dbk_wrong' })).toMatch(
    /^The service http:\/\/127\.0\.0\.1:9 can't be reached \(ECONNREFUSED\): /,
  );
  for (const [args, sentence] of [
    [['mcp', '--server', url], /^Give an API key/],
    [['mcp', '--server', url, '--key-file', join(folder, 'none')], /^The file .* can't be read/],
    [['mcp', '--server', url, '--org', 'acme'], /^--org can't be combined with --server/],
    [['mcp', '--key-file', 'key'], /^--key-file needs --server/],
  ] as const) {
    const { code, stdout, stderr } = await daybook(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(sentence);
  }
});

test('rows of SQL are cut to what an agent can read, and the rest can be had', async () => {
  const agent = await Agent.started(['--data', data, 'mcp', '--org', 'acme']);
  const many = await agent.call('sql', { sql: 'SELECT range AS n FROM range(100000) ORDER BY n' });
  expect(many.json.data).toHaveLength(ANSWER_ROWS);
  expect(many.json.cut[0]).toMatch(/^Only the first 500 rows are here: .* continue with OFFSET 500\.$/);
  const wide = await agent.call('sql', {
    sql: "SELECT range AS n, repeat('x', 1000) AS x FROM range(100000) ORDER BY n",
  });
  expect(Buffer.byteLength(wide.text)).toBeLessThanOrEqual(ANSWER_BYTES);
  const count = wide.json.data.length;
  expect(wide.json.cut[0]).toContain(`Only the first ${count} rows are here`);
  const next = await agent.call('sql', {
    sql: `SELECT range AS n FROM range(100000) ORDER BY n LIMIT 1 OFFSET ${count}`,
  });
  expect(next.json.data[0].n).toBe(wide.json.data.at(-1).n + 1);
  expect(await agent.call('sql', { sql: "SELECT repeat('x', 100000) AS x" })).toMatchObject({
    isError: true,
    text: 'The first row alone has more than 31 KiB: select fewer columns.',
  });
  // Digits that JavaScript's numbers don't have.
  expect((await agent.call('sql', { sql: 'SELECT 9007199254740993 AS n' })).text).toContain(
    '{"data":[{"n":9007199254740993}],',
  );
  expect((await agent.call('sql', { sql: 'SELECT 1 AS n WHERE false' })).json.data).toEqual([]);
});

test('a cancelled request ends its query, whichever way it came', async () => {
  const key = await keyOf(data, 'manager');
  const child = start(['--data', data, 'serve', '--port', '0'], {
    env: { DAYBOOK_BUILD_AT: 'off', DAYBOOK_SQL_QUERIES_PER_ORG: '1', DAYBOOK_SQL_TIME_S: '600' },
  });
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const urlOf = () => /Daybook serves on (http:\S+) from/.exec(text)?.[1];
  await until(() => urlOf() !== undefined);
  const url = String(urlOf());
  const is = ({ isError }: Said) => !isError;
  for (const agent of [
    await Agent.started(['--data', data, 'mcp', '--org', 'acme']),
    await Agent.started(['mcp', '--server', url], { DAYBOOK_KEY: key }),
    await Agent.at(url, key, 'auto'),
  ]) {
    const stop = new AbortController();
    let long: Promise<Said> | undefined;
    const begin = () => {
      long = agent.call('sql', LONG, stop.signal);
      // One of the others may be in its way.
      long.then(begin, () => undefined);
    };
    begin();
    // No other query of the organization is answered as long as it runs.
    await until(async () => !is(await agent.call('sql', USERS)));
    stop.abort();
    await expect(long).rejects.toThrow();
    await until(async () => is(await agent.call('sql', USERS)));
    // So does an answer that is cut.
    const cut = await agent.call('sql', { sql: 'SELECT range AS n FROM range(1000000000000)' });
    expect(cut.json.data).toHaveLength(ANSWER_ROWS);
    await until(async () => is(await agent.call('sql', USERS)));
  }
});

test('standard output has the protocol alone, and the program ends with its input', async () => {
  const child = start(['--data', data, 'mcp', '--org', 'acme']);
  child.stdin?.write('this is no message\n');
  child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await until(() => text.includes('"id":1'));
  const { code } = await ended(child);
  expect(code).toBe(0);
  for (const line of text.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});
