import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { sessionLines } from './laptop.js';
import { daybook, start } from './program.js';
import { answerEndlessly, serverThat } from './watched-server.js';
import { temporaryFolder } from './world.js';

const KEY = `dbk_${'x'.repeat(43)}`;
const TOKEN = `dba_${'y'.repeat(43)}`;

/** A sequence that a terminal obeys, one of another spelling, and one that changes the direction of what follows. */
const ESCAPES = '\u001b]0;title\u0007\u001b[31m\u009b2J\u202e';
const OBEYED = /(?!\n)\p{C}/u;

function json(answer: ServerResponse, body: object, status = 200): void {
  answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A home folder with a session of an agent in it. */
function home(): string {
  const folder = temporaryFolder();
  const sessions = join(folder, '.claude', 'projects', 'p');
  mkdirSync(sessions, { recursive: true });
  writeFileSync(join(sessions, 'a.jsonl'), `${sessionLines('a', 1, folder).join('\n')}\n`);
  return folder;
}

const SENDER = { org_id: 'acme', user_id: 'ada', is_only_user: true };

const SQL = ['sql', 'SELECT 1', '--key', '-'] as const;

/** The commands that send a key to the service that they are told. */
const CLIENTS: readonly (readonly string[])[] = [
  ['collect', '--wait', '0'],
  ['hooks', 'install', '--agent', 'claude-code', '--yes', '--key', KEY],
  ['me'],
  ['status', '--key', '-'],
  ['report', 'tokens', '--key', '-'],
  SQL,
  [...SQL, '--format', 'csv'],
  [...SQL, '--format', 'json'],
  ['computers', 'list'],
  ['computers', 'create', 'box'],
  ['readiness', 'check', '--submit', '--repo', 'https://git.acme.test/a'],
];

/** Runs such a command, in a home folder. */
function client(args: readonly string[], { url, folder = home() }: { url: string; folder?: string }) {
  const [noun = '', ...rest] = args;
  const words = noun === 'computers' ? [noun, '--server', url, ...rest] : [...args, '--server', url];
  if (noun === 'readiness') mkdirSync(join(folder, '.git'));
  return daybook(words, {
    cwd: folder,
    env: { HOME: folder, DAYBOOK_KEY: KEY, DAYBOOK_SQL_ANSWER_MB: '8' },
    input: args.includes('-') ? KEY : '',
  });
}

describe('a server that a client asks', () => {
  const endings = [...CLIENTS.map((args) => [200, args] as const), [400, ['me']], [400, SQL]] as const;
  for (const [status, args] of endings)
    test(`can't fill the memory of "daybook ${args.join(' ')}" with a ${status} without end`, async () => {
      const { url, written } = await serverThat((_, answer) => answerEndlessly(answer, status));
      const { code, stderr } = await client(args, { url });
      expect(code).toBeGreaterThan(0);
      expect(stderr.length).toBeLessThan(1000);
      // The longest answer that is read, and what is under way in sockets.
      expect(written()).toBeLessThan(48 << 20);
    });

  test('gets no key by leading a client to another address', async () => {
    const thief = await serverThat((_, answer) => json(answer, {}));
    for (const args of CLIENTS) {
      const { url, asked } = await serverThat((_, answer) => {
        answer.writeHead(307, { location: `${thief.url}/stolen` }).end();
      });
      await client(args, { url });
      expect(asked.length, args.join(' ')).toBeGreaterThan(0);
    }
    expect(thief.asked).toEqual([]);
  });

  test('prints nothing that a terminal obeys', async () => {
    const folder = home();
    const { url } = await serverThat(({ method, url: path = '' }, answer) => {
      if (path.endsWith('/events/sender'))
        return json(answer, { ...SENDER, org_id: `a${ESCAPES}`, user_id: `u${ESCAPES}` });
      if (path.endsWith('/events'))
        return json(answer, { accepted: 0, rejected: 1, errors: [{ detail: ESCAPES }] });
      json(answer, { detail: `no ${ESCAPES}`, requestId: 'r' }, method === 'GET' ? 403 : 400);
    });
    const expectHarmless = (args: readonly string[], printed: string) => {
      expect(printed, args.join(' ')).toMatch(/\\u001b/);
      expect(printed, args.join(' ')).not.toMatch(OBEYED);
    };
    for (const args of CLIENTS) {
      const isCollect = args[0] === 'collect';
      const { stdout, stderr } = await client(args, { url, folder: isCollect ? folder : home() });
      expectHarmless(args, `${stdout}${stderr}`);
    }
    const status = ['collect', 'status'];
    const { stdout } = await daybook(status, { cwd: folder, env: { HOME: folder } });
    expectHarmless(status, stdout);
  });

  test("can't have the agent of a computer print it either", async () => {
    const { server, url } = await serverThat((_, answer) => json(answer, {}, 404));
    const welcome = { type: 'welcome', computerId: 'c', name: `n${ESCAPES}`, heartbeatMs: 60_000 };
    const sockets = new WebSocketServer({ server, handleProtocols: ([first = '']) => first });
    sockets.on('connection', (socket) => socket.on('message', () => socket.send(JSON.stringify(welcome))));
    const child = start(['agent', '--server', url, '--workspace', temporaryFolder()], {
      env: { DAYBOOK_AGENT_TOKEN: TOKEN },
    });
    const [said] = await once(child.stdout?.setEncoding('utf8') ?? child, 'data');
    expect(String(said)).toMatch(/^Connected .*\\u001b/);
    expect(String(said)).not.toMatch(OBEYED);
  });

  test('is left at pages without rows', async () => {
    const { url, asked } = await serverThat(({ url: path = '' }, answer) =>
      json(
        answer,
        path.includes('/status')
          ? { data: { org_id: 'acme', data_days: ['2026-06-01'] } }
          : { data: [], meta: { org_id: 'acme', next_cursor: 'more' } },
      ),
    );
    expect(await client(['report', 'users', '--key', '-'], { url })).toMatchObject({ code: 0 });
    expect(asked).toHaveLength(2);
  });

  test('is named in a sentence when it answers something else', async () => {
    const many = Array.from({ length: 10_000 }, () => ({ day: 1 }));
    const { url } = await serverThat((_, answer) => json(answer, { data: many, meta: {}, computers: many }));
    const others = [
      ['me'],
      ['status', '--key', '-'],
      ['report', 'users', '--key', '-'],
      ['computers', 'list'],
    ];
    for (const args of others) {
      const { code, stderr } = await client(args, { url });
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: `The service ${url} gives an answer that this version of Daybook doesn't know: check its address, and install the same version here.\n`,
      });
    }
  });
});

describe('a checkout', () => {
  test('sends no key anywhere with its .env', async () => {
    const { url, asked } = await serverThat((_, answer) => json(answer, {}, 500));
    const env = { DAYBOOK_KEY: KEY, DAYBOOK_AGENT_TOKEN: TOKEN };
    const folder = home();
    const checkout = join(folder, 'checkout');
    mkdirSync(join(checkout, '.git'), { recursive: true });
    const { host, port } = new URL(url);
    const settings = {
      DAYBOOK_URL: url,
      DAYBOOK_STORE: `clickhouse://x:y@${host}/daybook`,
      HTTP_PROXY: url,
      DAYBOOK_PORT: port,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(checkout, '.env'), lines.join(''));
    const others = [['ingest', '--org', 'acme', '--source', 'all'], ['mcp', '--org', 'acme'], ['health']];
    for (const args of [...CLIENTS, ...others]) {
      const input = args.includes('-') ? KEY : '';
      await daybook(args, { cwd: checkout, env: { HOME: folder, ...env }, input });
      expect(asked, args.join(' ')).toEqual([]);
    }
    const agent = start(['agent', '--workspace', 'w'], { cwd: checkout, env });
    await once(agent.stdout ?? agent, 'data');
    expect(asked).toEqual([]);
  });

  test('has a command on the data folder say what it goes without', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, '.env'), 'DAYBOOK_DATA=elsewhere\nDAYBOOK_THREADS=2\nOTHER=1\n');
    const { stderr } = await daybook(['keys', 'list'], { cwd, env: { DAYBOOK_THREADS: '1' } });
    expect(stderr).toMatch(
      /^Only "daybook serve" reads the file \.env here, so this command goes without DAYBOOK_DATA: /,
    );
  });
});

test('a service has the settings in .env, and the commands that it answers have them too', async () => {
  const cwd = temporaryFolder();
  const settings = ['DAYBOOK_HISTORY_START=2026-02-01', 'DAYBOOK_PORT=0', 'DAYBOOK_BUILD_AT=off'];
  writeFileSync(join(cwd, '.env'), settings.join('\n'));
  const child = start(['serve'], { cwd });
  await once(child.stdout ?? child, 'data');
  const args = ['report', 'users', '--org', 'acme', '--from', '2026-01-31'];
  const { stderr } = await daybook(args, { cwd });
  expect(stderr).toMatch(/^Days before 2026-02-01 are not served/);
  expect(stderr).not.toContain('.env');
});

test.runIf(process.platform === 'linux')('no key or token stays in the list of processes', async () => {
  for (const args of [
    ['collect', '--wait', '30', '--key', KEY],
    ['collect', '--wait', '30', `--key=${KEY}`],
    ['--no-color', 'collect', 'run', `--key=${KEY}`, '--wait', '30'],
    ['computers', '--key', KEY, 'list'],
    ['computers', `--key=${KEY}`, 'list'],
    ['computers', 'list', `--key=${KEY}`],
    ['readiness', 'check', '--submit', '--repo', 'https://git.acme.test/a', `--key=${KEY}`],
    ['hooks', 'install', '--agent', 'claude-code', '--yes', `--key=${KEY}`],
    ['agent', '--workspace', 'w', '--token', TOKEN],
    ['agent', '--workspace', 'w', `--token=${TOKEN}`],
  ]) {
    const folder = home();
    mkdirSync(join(folder, '.git'));
    const { server, url } = await serverThat(() => server.emit('asked'));
    server.on('upgrade', () => server.emit('asked'));
    const isAsked = once(server, 'asked');
    const child = start([...args, `--server=${url}`], { cwd: folder, env: { HOME: folder } });
    await isAsked;
    const seen = readFileSync(`/proc/${child.pid}/cmdline`, 'latin1');
    child.kill('SIGKILL');
    expect(seen).toMatch(/^daybook/);
    expect(seen, args.join(' ')).not.toMatch(/xxx|yyy/);
  }
});
