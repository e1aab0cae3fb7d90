import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANSWERS, GROUPS } from '../src/api/answer-names.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import {
  CLI,
  daybook,
  ended,
  hasTerminal,
  keyOf,
  runHere,
  served,
  start,
  startInTerminal,
  typing,
} from './program.js';
import { testSamples } from './samples.js';
import { playsSlow } from './slow.js';
import { temporaryFolder } from './world.js';

const HISTORY = { DAYBOOK_HISTORY_START: '2024-01-01' };

/** Every report that events give rows, with every --group-by; first the one that is a table only if it is asked for. */
const REPORTS = ANSWERS.filter((answer) => answer !== 'vendor_lines')
  .toSorted((one, other) => Number(other === 'focus') - Number(one === 'focus'))
  .flatMap((answer) =>
    [undefined, ...GROUPS[answer]].map((group) => [
      answer,
      ...(group === undefined ? [] : ['--group-by', group]),
      ...(answer === 'focus' ? ['--format', 'table'] : []),
    ]),
  );

const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0;

/** What commands print in a terminal of some width, one after the other. */
async function inTerminal(
  columns: number,
  commands: readonly (readonly string[])[],
  env: Record<string, string> = {},
): Promise<string> {
  const lines = commands.map((args) => `node ${CLI} ${args.join(' ')}`);
  const child = startInTerminal([`stty cols ${columns}`, ...lines].join(' && '), env);
  return (await ended(child)).stdout.replaceAll('\r\n', '\n');
}

/** The longest of the lines, without what colours them. */
function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => [...stripVTControlCharacters(line)].length));
}

/** Expects every report on a data folder to fit 120 columns, and 80 where nothing says how many there are. */
async function expectFit(data: string, range: readonly string[], inTerminals: number): Promise<void> {
  const reports = REPORTS.map((report) => ['--data', data, 'report', ...report, ...range]);
  // One width after the other, from one report to the next; in slow tests each report in both.
  for (const [place, args] of reports.entries())
    for (const columns of playsSlow() ? [80, 120] : [place % 2 === 0 ? 80 : 120]) {
      const env = { ...HISTORY, ...(columns === 80 ? {} : { COLUMNS: String(columns) }) };
      const { code, stdout } = await runHere(args, { env });
      const fits = widest(stdout) <= columns;
      expect({ code, fits }, `${args} in ${columns}`).toEqual({ code: 0, fits: true });
      expect(stdout.split('\n').length, args.join(' ')).toBeGreaterThan(3);
    }
  if (!hasTerminal) return;
  for (const columns of [80, 120]) {
    const some = reports.slice(-inTerminals);
    const stdout = await inTerminal(columns, some, HISTORY);
    expect(stdout.split('\u001b[1m')).toHaveLength(some.length + 1);
    expect(widest(stdout)).toBeLessThanOrEqual(columns);
    // It isn't just narrow.
    expect(widest(stdout)).toBeGreaterThan(columns - 10);
  }
}

/** A data folder with a part of the sample, and its days. */
let data: string;
beforeAll(async () => {
  const folder = temporaryFolder(afterAll);
  data = join(folder, 'data');
  const sample = join(PACKAGE_ROOT, 'data', 'sample');
  for (const user of ['entireio-cli', 'claude-code-log']) {
    const args = ['--org', 'acme', '--source', 'claude-code', '--user', user, join(sample, user)];
    expect((await runHere(['--data', data, 'ingest', ...args], { cwd: folder })).code).toBe(0);
  }
  const calls = join(folder, 'calls.ndjson');
  const session = { timestamp: '2026-04-18T12:00:00Z', session_id: 's1', user_id: 'entireio-cli' };
  const called = [
    { event_id: 'call', type: 'tool_call', tool_name: 'mcp__github__get_issue' },
    {
      event_id: 'usage',
      type: 'model_usage',
      model: 'claude-sonnet-4-5',
      input_tokens: 10,
      output_tokens: 5,
    },
    {
      ...{ event_id: 'reported', type: 'model_usage', agent: 'claude-code', channel: 'vendor_api' },
      ...{ session_id: '', model: 'claude-sonnet-4-5', input_tokens: 12, output_tokens: 5 },
    },
  ];
  writeFileSync(calls, called.map((event) => JSON.stringify({ ...session, ...event })).join('\n'));
  expect((await runHere(['--data', data, 'ingest', '--org', 'acme', calls], { cwd: folder })).code).toBe(0);
  expect((await runHere(['--data', data, 'build'], { cwd: folder })).code).toBe(0);
});

describe('daybook report', () => {
  test('fits 80 and 120 columns, in a terminal and in a pipe', () =>
    expectFit(data, ['--from', '2026-02-01', '--to', '2026-04-30'], 3));

  testSamples('transcripts', 'fits with everything that real agents wrote', async (folder) => {
    const all = join(temporaryFolder(), 'data');
    const names: Record<string, string> = { 'factory-droid': 'droid' };
    for (const agent of readdirSync(folder)) {
      const source = names[agent] ?? agent;
      for (const project of readdirSync(join(folder, agent))) {
        const args = ['--org', 'acme', '--source', source, '--user', project, join(folder, agent, project)];
        expect((await runHere(['--data', all, 'ingest', ...args], { env: HISTORY })).code, project).toBe(0);
      }
    }
    expect((await runHere(['--data', all, 'build'], { env: HISTORY })).code).toBe(0);
    await expectFit(all, ['--from', '2025-01-01'], REPORTS.length);
  });

  test('needs neither an organization nor days, and says what it shows', async () => {
    const run = (...args: string[]) => runHere(['--data', data, 'report', ...args]);
    const byDefault = await run('users');
    expect(byDefault.stdout).toMatch(/^users of acme, 2026-03-20 to 2026-04-18\nuser_id +date .*\n/);
    expect(byDefault.stdout).toMatch(/\n\(\d+ of 24 columns: --wide shows all\)\n$/);
    const wide = await run('users', '--wide');
    expect(wide.stdout.split('\n')[1]?.split(/ +/)).toHaveLength(24);
    expect(wide.stdout).not.toContain('…');
    const json = JSON.parse((await run('users', '--format', 'json')).stdout);
    expect(Object.keys(json[0])).toHaveLength(24);
    const none = await run('users', '--from', '2026-05-01', '--to', '2026-05-31', '--format', 'csv');
    expect(none.stdout.split('\r\n')).toHaveLength(2);
    expect(none.stderr).toMatch(
      /^acme has no events from 2026-05-01 to 2026-05-31: its \d+ days with events are between 2026-01-28 and 2026-04-18\.\n$/,
    );
    const byRepo = await run('summary', '--group-by', 'repo');
    expect(byRepo.stdout).toMatch(/\ngroup_key .*\n\(none\) /);
    expect(await run('users', '--org', 'acne')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'There is no organization acne: the known one is acme.\n',
    });
  });

  test('has colours only where they are wanted', async () => {
    const args = (...more: string[]) => ['--data', data, ...more, 'report', 'activity'];
    const isColoured = async (env: Record<string, string>, ...more: string[]) =>
      (await runHere(args(...more), { env })).stdout.includes('\u001b[');
    expect(await isColoured({})).toBe(false);
    expect(await isColoured({ FORCE_COLOR: '1' })).toBe(true);
    expect(await isColoured({ FORCE_COLOR: '1' }, '--no-color')).toBe(false);
    if (!hasTerminal) return;
    expect(await inTerminal(80, [args()])).toContain('\u001b[1m');
    expect(await inTerminal(80, [args()], { NO_COLOR: '1' })).not.toContain('\u001b[');
  });
});

test('daybook prices check names the models without a price, and ends with 1', async () => {
  const check = (...more: string[]) => runHere(['--data', data, 'prices', 'check', ...more]);
  expect(await check()).toEqual({
    code: 0,
    stdout: 'The price list has a price for all tokens of all built days.\n',
    stderr: '',
  });
  const own = join(temporaryFolder(), 'data');
  const events = join(temporaryFolder(), 'events.ndjson');
  const usage = { type: 'model_usage', model: 'stranger', input_tokens: 10, output_tokens: 20 };
  writeFileSync(
    events,
    JSON.stringify({
      event_id: 'e1',
      timestamp: '2026-06-08T12:00:00Z',
      user_id: 'ada',
      session_id: 's1',
      ...usage,
    }),
  );
  expect((await runHere(['--data', own, 'ingest', '--org', 'acme', events])).code).toBe(0);
  expect((await runHere(['--data', own, 'build'])).code).toBe(0);
  const unpriced = await runHere(['--data', own, 'prices', 'check']);
  expect(unpriced).toMatchObject({ code: 1, stderr: '' });
  expect(unpriced.stdout).toMatch(
    /^model_id .*\nstranger +2026-06-08 +2026-06-08 +30 +not listed +100\.00 %\n1 model /,
  );
  const json = await runHere(['--data', own, 'prices', 'check', '--json']);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject([{ model_id: 'stranger', unpriced_tokens: 30, ratio: 1 }]);
});

test('daybook prices update prints what changes before it counts, with a service and without one', async () => {
  const own = join(temporaryFolder(), 'data');
  const events = join(temporaryFolder(), 'events.ndjson');
  const usage = { type: 'model_usage', model: 'claude-new-1', input_tokens: 1_000_000, output_tokens: 0 };
  const at = { event_id: 'e1', timestamp: '2026-06-08T12:00:00Z', user_id: 'ada', session_id: 's1' };
  writeFileSync(events, JSON.stringify({ ...at, ...usage }));
  const run = (...args: string[]) => runHere(['--data', own, ...args]);
  const list = (input_mtok: number) => {
    const path = join(temporaryFolder(), 'list.json');
    const match = { equals: 'claude-new-1' };
    const models = [{ id: 'claude-new-1', match, prices: { input_mtok, output_mtok: 15 } }];
    writeFileSync(path, JSON.stringify([{ id: 'anthropic', models }]));
    return path;
  };
  // Before there is a database as well.
  const first = await run('prices', 'update', '--from', list(3), '--dry-run');
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toMatch(
    /claude-new-1 +2000-01-01 +input unknown → 3, output unknown → 15\n1 change from/,
  );
  expect(existsSync(join(own, 'fetched-prices.json'))).toBe(false);
  await run('ingest', '--org', 'acme', events);
  await run('build');
  expect((await run('prices', 'check')).stdout).toContain(
    'run "daybook prices update" to fetch newer prices',
  );
  expect((await run('prices', 'update', '--from', list(3))).stdout).toContain('they count now');
  expect((await run('prices', 'check')).code).toBe(0);
  expect((await run('prices', 'update', '--from', list(3))).stdout).toMatch(/ changes no price\.\n$/);
  const { url } = await served(own);
  expect((await run('prices', 'update', '--from', list(2))).stdout).toContain('input 3 → 2');
  const key = await keyOf(own, 'manager');
  const asked = await daybook(
    [
      'sql',
      "SELECT count(*) AS n FROM prices WHERE model_id = 'claude-new-1'",
      '--format',
      'csv',
      '--server',
      url,
      '--key',
      '-',
    ],
    { input: `${key}\n` },
  );
  expect(asked.stdout).toBe('n\r\n2\r\n');
});

describe('from another machine', () => {
  test('report, status and sql ask a service with a key on standard input, and say the same as at the service', async () => {
    const { url } = await served(data);
    const here = (...args: string[]) => runHere(['--data', data, ...args]);
    const key = await keyOf(data, 'manager');
    const away = (...args: string[]) =>
      daybook([...args, '--server', url, '--key', '-'], { input: `${key}\n` });

    for (const report of [...ANSWERS.map((answer) => [answer]), ...REPORTS.slice(-2)]) {
      const local = await here('report', ...report);
      expect(await away('report', ...report), report.join(' ')).toEqual(local);
    }
    const one = ['--interval', 'month', '--sort', 'tool_calls:asc', '--compare', 'previous', '--limit', '3'];
    const users = ['--user', 'entireio-cli', '--user', 'nobody'];
    const filters = [...users, '--model', 'claude-sonnet-4-5', '--agent', '(none)'];
    const more = [
      '--repo',
      '(none)',
      '--client',
      '(none)',
      '--mcp-server',
      'github',
      '--tool',
      'mcp__github__get_issue',
    ];
    const filtered = [
      'report',
      'summary',
      '--group-by',
      'user',
      '--format',
      'json',
      ...one,
      ...filters,
      ...more,
    ];
    const [own] = JSON.parse((await here(...filtered)).stdout);
    expect(own).toMatchObject({ date: '2026-04-01', group_key: 'entireio-cli', tool_calls: 1 });
    for (const args of [filtered, ['report', 'costs', '--limit', '2', ...filters, ...more]])
      expect(await away(...args), args.join(' ')).toEqual(await here(...args));
    const rows = await away('report', 'users', '--format', 'csv');
    expect(rows).toEqual(await here('report', 'users', '--format', 'csv'));
    const none = ['report', 'tools', '--from', '2026-05-01', '--to', '2026-05-02'];
    expect(await away(...none)).toEqual(await here(...none));
    expect((await away('report', 'users', '--org', 'globex')).stderr).toMatch(/^This key belongs to acme: /);

    const [status] = JSON.parse((await here('status', '--json')).stdout).organizations;
    expect(JSON.parse((await away('status', '--json')).stdout)).toEqual({ organizations: [status] });
    expect((await away('status')).stdout).toMatch(/^org_id +.*\nacme /);

    const query =
      'select user_id, sum(tool_calls) as tool_calls from users where day >= $from group by 1 order by 1';
    const from = ['--param', 'from=2026-02-10'];
    for (const format of ['json', 'csv']) {
      const rows = await away('sql', query, ...from, '--format', format);
      expect(rows).toEqual(await here('sql', query, ...from, '--format', format));
      expect(rows.stdout).toContain('claude-code-log');
    }
    expect((await away('sql', query, ...from)).stdout).toMatch(/^user_id +tool_calls\n.*\n.*\n\(2 rows, /);
    const output = join(temporaryFolder(), 'rows.parquet');
    expect((await away('sql', query, ...from, '--format', 'parquet', '-o', output)).code).toBe(0);
    const read = await here('sql', '--write', `select count(*) as n from '${output}'`, '--format', 'csv');
    expect(read.stdout).toBe('n\r\n2\r\n');
    expect((await away('sql', query)).stderr).toMatch(
      /^The parameter \$from has no value: .* --param from=VALUE\.\n$/,
    );
    expect((await away('sql', 'select nothing')).stderr).toMatch(/nothing/);
    expect((await away('sql', 'select * from range(1500)')).stdout).toMatch(
      /\n\(more than 1000 rows, the first 1000 /,
    );
  });

  test('a key is never an argument, and refusals say what to do', async () => {
    const run = (args: string[], input = '', env = {}) =>
      input === '' && !args.includes('-') ? runHere(args, { env }) : daybook(args, { input, env });
    const given = await run(['report', 'users', '--key', 'dbk_secret']);
    expect(given).toMatchObject({ code: 2, stdout: '' });
    expect(given.stderr).toMatch(
      /^Other users of this machine can see arguments: .*"--key -", or set DAYBOOK_KEY\.\n$/,
    );
    expect(given.stderr).not.toContain('dbk_secret');
    expect((await run(['report', 'users', '--key', '-'])).stderr).toMatch(/^Standard input has no API key/);
    expect((await run(['sql', '--key', '-'], 'dbk_x')).stderr).toMatch(/^Standard input has the key/);
    const lost = await run(['status', '--server', 'http://127.0.0.1:1'], '', { DAYBOOK_KEY: 'dbk_x' });
    expect(lost.stderr).toMatch(/can't be reached \(ECONNREFUSED\): start it, or name another address/);
    const { url } = await served(data);
    const unknown = await run(['status', '--server', url, '--key', '-'], 'dbk_unknown');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/^The API key is unknown/) });
    const member = await keyOf(data, 'member', '--user', 'ada');
    const refused = await run(['report', 'users', '--server', url], '', { DAYBOOK_KEY: member });
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/role member/) });
  });

  test('me shows own numbers alone, also with the connection of the collector', async () => {
    const { url } = await served(data);
    const key = await keyOf(data, 'member', '--user', 'entireio-cli');
    const range = ['--from', '2026-02-01', '--to', '2026-02-28'];
    const me = await daybook(['me', ...range, '--server', url, '--key', '-'], { input: key });
    expect(me.stderr).toBe('');
    expect(me.stdout).toMatch(/^entireio-cli of acme, 2026-02-01 to 2026-02-28\ndate .* sessions/m);
    expect(me.stdout).not.toContain('claude-code-log');
    const totals = ['--user', 'entireio-cli', ...range, '--format', 'json'];
    const [total] = JSON.parse((await runHere(['--data', data, 'report', 'summary', ...totals])).stdout);
    const [, names = '', values = ''] = /\nall of these days\n(.*)\n(.*)\n/.exec(me.stdout) ?? [];
    expect(names.split(/ +/).slice(0, 4)).toEqual(['cost_usd', 'unpriced_tokens', 'sessions', 'user_turns']);
    expect(values.trim().split(/ +/).slice(0, 4)).toEqual([
      total.cost_usd.toFixed(2),
      ...[total.unpriced_tokens, total.sessions, total.user_turns].map(String),
    ]);
    expect(widest(me.stdout)).toBeLessThanOrEqual(80);
    const asKey = { env: { DAYBOOK_KEY: key, DAYBOOK_URL: url } };
    expect(await runHere(['me', ...range], asKey)).toEqual(me);
    const rows = await runHere(['--data', data, 'report', 'users', ...range, '--format', 'json']);
    const own = JSON.parse(rows.stdout).filter(
      ({ user_id }: { user_id: string }) => user_id === 'entireio-cli',
    );
    expect(JSON.parse((await runHere(['me', ...range, '--json'], asKey)).stdout)).toEqual(own);
    expect((await runHere(['me'], asKey)).stdout).toMatch(/^acme has no numbers of yours from /);

    const home = temporaryFolder();
    mkdirSync(join(home, '.daybook', 'collect'), { recursive: true });
    const connection = join(home, '.daybook', 'collect', 'connection.json');
    expect((await daybook(['me', ...range], { env: { HOME: home } })).stderr).toMatch(
      /^Name the service with --server/,
    );
    writeFileSync(connection, JSON.stringify({ server: url, key }));
    expect(await daybook(['me', ...range], { env: { HOME: home } })).toEqual(me);

    const nobody = await runHere(['me', '--server', url], {
      env: { DAYBOOK_KEY: await keyOf(data, 'owner') },
    });
    expect(nobody).toMatchObject({ code: 2, stderr: expect.stringMatching(/^This key belongs to no user/) });
  });
});

describe('daybook sql', () => {
  test('runs every file of the cookbook as it is', async () => {
    const folder = join(PACKAGE_ROOT, 'sql', 'cookbook');
    const range = ['--param', 'from=2026-01-28', '--param', 'to=2026-07-15'];
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThanOrEqual(15);
    for (const file of files) {
      const args = ['--data', data, 'sql', '--org', 'acme', '-f', join(folder, file), ...range];
      const { code, stdout, stderr } = await runHere(args, { env: { COLUMNS: '80' } });
      expect({ code, stderr }, file).toEqual({ code: 0, stderr: '' });
      expect(stdout, file).toMatch(/\(\d+ rows?, /);
      expect(widest(stdout), file).toBeLessThanOrEqual(80);
    }
  });

  test('takes SQL from a file, standard input or an argument, with parameters', async () => {
    const file = join(temporaryFolder(), 'one.sql');
    const sql = "select $name || '!' as greeting, cast($n as bigint) + 1 as n, '$nothing' as text limit $n";
    writeFileSync(file, `${sql};\n-- $none\nselect 1 as one`);
    const params = ['--param', "name=Ada = it's", '--param', 'n=4', '--format', 'csv'];
    const row = "greeting,n,text\r\nAda = it's!,5,$nothing\r\n";
    const run = (args: string[], input?: string) =>
      daybook(['--data', data, 'sql', ...params, ...args], { input: input ?? '' });
    expect((await run(['-f', file])).stdout).toBe(`${row}one\r\n1\r\n`);
    expect((await run([sql])).stdout).toBe(row);
    expect((await run(['-'], sql)).stdout).toBe(row);
    expect((await run([], sql)).stdout).toBe(row);
    expect((await daybook(['--data', data, 'sql', sql])).stderr).toMatch(
      /^The parameter \$name has no value/,
    );
    expect((await run(['--param', 'x'])).stderr).toMatch(/It must be name=value/);
  });
});

test('what is asked of a running service is printed without loading the database', async () => {
  const { url } = await served(data);
  const key = await keyOf(data, 'owner');
  for (const args of [
    ['--data', data, 'report', 'users'],
    ['--data', data, 'status'],
    ['report', 'users', '--server', url],
    ['me', '--server', url],
  ]) {
    const folder = temporaryFolder();
    // The engine of JavaScript lists there what it has loaded.
    await daybook(args, { env: { NODE_V8_COVERAGE: folder, DAYBOOK_KEY: key } });
    const loaded = readdirSync(folder).flatMap((file) => {
      const { result } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        result: { url: string }[];
      };
      return result.map((one) => one.url);
    });
    expect(loaded.filter((one) => one.endsWith('/dist/terminal/terminal.js'))).toHaveLength(1);
    expect(loaded.filter((one) => /duckdb|fastify/.test(one))).toEqual([]);
    // What other commands need isn't loaded either, as dozens of files would be.
    expect(loaded.filter((one) => one.includes('/dist/')).length, args.join(' ')).toBeLessThan(50);
  }
});

describe('completion', () => {
  const cases: readonly (readonly [line: string, contains: string, not?: string])[] = [
    ['daybook rep', 'report'],
    ['daybook report co', 'coverage', 'config'],
    ['daybook report users --gr', '--group-by'],
    ['daybook report users --format ', 'csv', 'parquet'],
    ['daybook --data x report --format c', 'csv'],
    ['daybook sql --format p', 'parquet'],
    ['daybook keys ', 'revoke', 'report'],
    ['daybook keys create --role o', 'owner'],
    ['daybook collect uninstall --scheduler s', 'systemd'],
    ['daybook completion f', 'fish'],
    ['daybook sql --file /etc/host', '/etc/hosts'],
    ['daybook ingest /etc/host', '/etc/hosts'],
    ['daybook report users --no', '--no-color'],
  ];

  const script = async (shell: string) => {
    const path = join(temporaryFolder(), `daybook.${shell}`);
    const { code, stdout } = await runHere(['completion', shell]);
    expect(code).toBe(0);
    writeFileSync(path, stdout);
    return path;
  };

  /** What a shell completes: a program that gets the script's path and a line. */
  async function expectCompletions(shell: string, program: string): Promise<void> {
    const path = await script(shell);
    for (const [line, contains, not] of cases) {
      const child = start(
        [shell === 'bash' ? '--norc' : shell === 'zsh' ? '-f' : '--no-config', '-c', program],
        {
          program: [shell],
          env: { SCRIPT: path, LINE: line, TERM: 'dumb' },
        },
      );
      const { stdout, stderr } = await ended(child);
      const words = stdout.split(/[\n\t ]+/);
      expect({ line, stderr, words }).toEqual({
        line,
        stderr: '',
        words: expect.arrayContaining([contains]),
      });
      if (not !== undefined) expect(words, line).not.toContain(not);
    }
  }

  test.skipIf(!isInstalled('bash'))('works in bash', () =>
    // As readline calls it: the line cut into words, and the place of the last one.
    expectCompletions(
      'bash',
      `source "$SCRIPT"; read -r -a COMP_WORDS <<< "$LINE"; [[ $LINE == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _daybook; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  );

  test.skipIf(!isInstalled('zsh') || !hasTerminal)('works in zsh', async () => {
    const child = startInTerminal('zsh -f', { SCRIPT: await script('zsh'), TERM: 'dumb' });
    const type = typing(child);
    await type(
      "stty cols 200; autoload -Uz compinit; compinit -u -D; source $SCRIPT; bindkey '^X' list-choices; echo rea''dy\n",
      /\nready/,
    );
    for (const [line, contains, not] of cases) {
      // Lists what can be typed, which is below the line, and clears the line.
      const seen = await type(`${line}\u0018`, new RegExp(`\n[^>%]*${contains.replace('/etc/', '')}`));
      if (not !== undefined) expect(seen, line).not.toMatch(new RegExp(`\n${not}`));
      await type('\u0015', /./);
    }
  });

  test.skipIf(!isInstalled('fish'))('works in fish', () =>
    expectCompletions('fish', 'source $SCRIPT; complete -C "$LINE"'),
  );
});

test.skipIf(!hasTerminal)('a key that is pasted into a terminal keeps no command from ending', async () => {
  const child = startInTerminal(`node ${CLI} me --server http://127.0.0.1:1 --key -`);
  // It may end as soon as it has said why.
  const exit = once(child, 'exit');
  const type = typing(child);
  await type('', /Paste the key, and press Enter:/);
  const seen = await type('dbk_pasted\r', /can't be reached \(ECONNREFUSED\)/);
  expect(seen).not.toContain('dbk_pasted');
  // Nothing more is typed.
  await exit;
});
