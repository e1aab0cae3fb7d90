import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { certificateFor } from './certificate.js';
import { preloading } from './faults/preloaded.js';
import { Refused } from './faults/refused.js';
import {
  falseServer,
  Laptop,
  network,
  notingPrograms,
  proxyTo,
  SECRET,
  sessionLines,
  tablesOf,
  tablesOfIngest,
} from './laptop.js';
import { startProvider, submitForms } from './openid.js';
import { CLI, ended, hasTerminal, keyOf, served, servedWith, startInTerminal, typing } from './program.js';
import { until } from './service.js';
import { playsSlow } from './slow.js';
import { temporaryFolder } from './world.js';

const IS_LONG = playsSlow();

/** A service with an empty database, and a member's key. */
async function service(user = 'ada') {
  const data = join(temporaryFolder(), 'data');
  const { child, url } = await served(data);
  return { data, child, url, key: await keyOf(data, 'member', '--user', user) };
}

async function stopped(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'close');
}

describe('collect', () => {
  test('gives a server the day tables that an ingest of the same files gives', async () => {
    const { data, child, url, key } = await service();
    const laptop = new Laptop('ada').work();
    // One that is packed, one with a fault, and one that is empty.
    laptop.append(laptop.session('odd'), `${sessionLines('odd', 2).join('\n')}\n{"type":"user"}\nno JSON\n`);
    laptop.append(laptop.session('empty'), '');
    writeFileSync(`${laptop.session('packed')}.gz`, gzipSync(sessionLines('packed', 3).join('\n')));
    const first = await laptop.send(url, key);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const [, sent] = /^(\d+) events sent, 7 files read\. 1 rejected\.$/m.exec(first.stdout) ?? [];
    const news = [...first.stdout.matchAll(/^ {2}([a-z-]+) +(\d+) events?, \d+ files?$/gm)];
    expect(news.map(([, source]) => source)).toContain('claude-code');
    expect(news.reduce((sum, [, , events]) => sum + Number(events), 0)).toBe(Number(sent));
    expect(await laptop.send(url, key)).toMatchObject({ code: 0, stdout: 'Nothing is new.\n' });
    await stopped(child);
    const tables = await tablesOf(data);
    expect(tables.length).toBeGreaterThan(10);
    expect(tables).toEqual(await tablesOfIngest([laptop]));
  });

  test('says where to look when no agent is here', async () => {
    const server = await falseServer(() => undefined);
    expect(await new Laptop('ada').send(server.url, 'k')).toEqual({
      code: 0,
      stdout:
        'No agent has sessions here. If one keeps them in another folder, set its variable, such as CLAUDE_CONFIG_DIR.\n',
      stderr: '',
    });
  });

  test('sends of a file that has grown only what is new', async () => {
    const server = await falseServer(() => undefined);
    const laptop = new Laptop('ada');
    const lines = sessionLines('s', 10);
    laptop.append(laptop.session('s'), `${lines.slice(0, 20).join('\n')}\n${lines[20]?.slice(0, 50)}`);
    await laptop.send(server.url, 'k');
    laptop.append(laptop.session('s'), `${lines[20]?.slice(50)}\n${lines.slice(21).join('\n')}\n`);
    await laptop.send(server.url, 'k');
    // A copy has nothing new.
    laptop.append(laptop.session('copy'), `${lines.join('\n')}\n`);
    const ids = server.got
      .filter(({ path }) => path.endsWith('/events'))
      .map(({ body }) =>
        body
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line).event_id as string),
      );
    expect(ids).toHaveLength(2);
    const [first = [], second = []] = ids;
    expect(second.length).toBeGreaterThan(0);
    expect(second.filter((id) => first.includes(id))).toEqual([]);
    expect(new Set([...first, ...second]).size).toBe(first.length + second.length);
  });

  test('sends and keeps no text of prompts, answers, files and outputs', async () => {
    const server = await falseServer(({ path }) => (path.endsWith('/events') ? { status: 503 } : undefined));
    const laptop = new Laptop('ada').work();
    laptop.append(laptop.session('cut'), `${SECRET}\n{"type":"user","message":{"content":"${SECRET}`);
    expect(await laptop.send(server.url, 'k', '--wait', '0')).toMatchObject({ code: 1 });
    const kept = laptop.kept();
    expect(Object.keys(kept).filter((path) => path.endsWith('.ndjson.gz'))).not.toEqual([]);
    for (const path of Object.keys(kept)) expect(statSync(path).mode & 0o077, path).toBe(0);
    const everything = [...Object.values(kept), ...server.got.map(({ body }) => body)].join('\n');
    expect(everything).toContain('tool-ada-0-1');
    expect(everything).not.toContain('swordfish');
  });

  test('loads no database when nothing is new', async () => {
    const server = await falseServer(() => undefined);
    const laptop = new Laptop('ada').work();
    const trap = join(temporaryFolder(), 'trap.cjs');
    writeFileSync(
      trap,
      "process.on('exit', () => { if (process.report.getReport().sharedObjects.some((path) => /duckdb/.test(path))) console.log('has DuckDB'); });",
    );
    const run = () =>
      laptop.collect(['--server', server.url], { DAYBOOK_KEY: 'k', NODE_OPTIONS: `--require ${trap}` });
    expect((await run()).stdout).toContain('has DuckDB');
    server.got.length = 0;
    expect((await run()).stdout).toBe('Nothing is new.\n');
    expect(server.got.map(({ path }) => path)).toEqual(['/api/v1/events/heartbeat']);
  });

  test('says once an hour that it works, also when nothing is new, but not on its first run', async () => {
    const { data, child, url, key } = await service();
    const laptop = new Laptop('ada').work(1);
    const heartbeats = async () => {
      const { heartbeat_at, collector_id } = await laptop.status();
      return { heartbeat_at, collector_id };
    };
    await laptop.send(url, key);
    const first = await heartbeats();
    expect(first).toEqual({ heartbeat_at: null, collector_id: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect((await laptop.send(url, key)).stdout).toBe('Nothing is new.\n');
    const second = await heartbeats();
    expect(second).toEqual({ heartbeat_at: expect.any(Number), collector_id: first.collector_id });
    await laptop.send(url, key);
    expect(await heartbeats()).toEqual(second);
    const [path = ''] = laptop.paths(/status\.json$/);
    const before = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...before, heartbeat_at: second.heartbeat_at - 3_600_000 }));
    await laptop.send(url, key);
    expect((await heartbeats()).heartbeat_at).toBeGreaterThan(second.heartbeat_at);
    const owner = await keyOf(data, 'owner');
    const asked = await fetch(`${url}/api/v1/analytics/silence?state=live`, {
      headers: { authorization: `Bearer ${owner}` },
    });
    expect(await asked.json()).toMatchObject({
      data: [{ user_id: 'ada', kind: 'collector', name: first.collector_id, state: 'live' }],
      meta: { live_collectors: 1, silent_collectors: 0 },
    });
    await stopped(child);
  });

  test('works with a service that knows no signs of life, and asks it no more than once an hour', async () => {
    const server = await falseServer(({ path }) =>
      path.endsWith('/heartbeat') ? { status: 404, body: { detail: 'no endpoint' } } : undefined,
    );
    const laptop = new Laptop('ada').work(1);
    await laptop.send(server.url, 'k');
    for (const _ of [1, 2])
      expect(await laptop.send(server.url, 'k')).toEqual({
        code: 0,
        stdout: 'Nothing is new.\n',
        stderr: '',
      });
    expect(server.got.filter(({ path }) => path.endsWith('/heartbeat'))).toHaveLength(1);
    const [heartbeat] = server.got.filter(({ path }) => path.endsWith('/heartbeat'));
    expect(JSON.parse(heartbeat?.body ?? '')).toMatchObject({
      user_id: 'ada',
      agents: [
        { agent: 'claude-code', changed_at: expect.any(Number) },
        { agent: 'gemini-cli', changed_at: expect.any(Number) },
      ],
    });
  });

  test('leaves out what it may not read, and says so', async () => {
    const server = await falseServer(() => undefined);
    const laptop = new Laptop('ada').work(1);
    laptop.append(laptop.session('secret'), 'x');
    chmodSync(laptop.session('secret'), 0);
    const { code, stdout } = await laptop.send(server.url, 'k');
    if (process.getuid?.() === 0) return;
    expect(code).toBe(1);
    expect(stdout).toContain(
      `${laptop.session('secret')} is left out, because its permissions keep it from being read.`,
    );
  });

  test('leaves out what would never end, names it, and sends the rest', async () => {
    const server = await falseServer(() => undefined);
    const laptop = new Laptop('ada').work(1);
    const droid = join(laptop.home, '.factory', 'sessions');
    laptop.append(join(droid, 'a.jsonl'), '{}\n');
    execFileSync('mkfifo', [join(droid, 'a.settings.json')]);
    const path = join(laptop.home, '.local', 'share', 'opencode', 'opencode.db');
    laptop.append(path, '');
    const database = new DatabaseSync(path);
    database.exec(`CREATE TABLE session (id); CREATE TABLE part (id, message_id, time_updated, data);
      CREATE VIEW message AS WITH RECURSIVE r (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM r)
        SELECT 'm' AS id, 's' AS session_id, a AS time_updated, '{}' AS data FROM r WHERE a < 0`);
    database.close();
    const left_out = [
      `${join(droid, 'a.settings.json')} is left out, because it is a pipe and not a file.`,
      `${path} is left out, because its table message is not a table (view).`,
    ];
    const first = await laptop.send(server.url, 'k');
    expect(first).toMatchObject({ code: 1, stderr: '' });
    for (const sentence of left_out) expect(first.stdout).toContain(sentence);
    expect(await laptop.status()).toMatchObject({ failed_files: 0, left_out_files: 2, left_out });
    expect((await laptop.status()).events_sent).toBeGreaterThan(0);
    expect((await laptop.collect(['status'])).stdout).toMatch(/^ +left out +2 files$/m);
    // Both are looked at again.
    rmSync(join(droid, 'a.settings.json'));
    rmSync(path);
    expect(await laptop.send(server.url, 'k')).toMatchObject({ code: 0 });
    expect(await laptop.status()).toMatchObject({ left_out_files: 0, left_out: [] });
  });

  test('tries a file again if the disk and not the file is at fault', async (context) => {
    const server = await falseServer(() => undefined);
    const laptop = new Laptop('ada').work(1);
    await laptop.send(server.url, 'k');
    const [status = ''] = laptop.paths(/status\.json$/);
    // The lines of a file that is cut off are written here.
    const disk = Refused.in(join(dirname(status), 'work', 'lines'), join(temporaryFolder(), 'refused'));
    if (disk === undefined) return context.skip('Only gcc on Linux can compile what this needs.');
    const packed = `${laptop.session('packed')}.gz`;
    writeFileSync(packed, gzipSync(sessionLines('packed', 3).join('\n')).subarray(0, -9));
    laptop.append(laptop.session('whole'), sessionLines('whole', 3).join('\n'));
    const collect = () => laptop.collect(['--server', server.url], { DAYBOOK_KEY: 'k', ...preloading(disk) });
    disk.fail('EIO');
    const failing = await collect();
    expect(failing).toMatchObject({ code: 1, stderr: '' });
    expect(failing.stdout).toMatch(/^[1-9]\d* events sent, 1 file read\. /);
    expect(failing.stdout).toContain(` ${packed} can't be read now (EIO): the next run tries again.\n`);
    expect(await laptop.status()).toMatchObject({ failed_files: 0 });
    disk.fail();
    expect(await collect()).toMatchObject({ code: 0, stdout: expect.stringContaining('1 file read.') });
  });

  test('sends everything again when it is asked to', async () => {
    const server = await falseServer(() => undefined);
    const laptop = new Laptop('ada').work();
    const [first, again] = [
      await laptop.send(server.url, 'k'),
      await laptop.send(server.url, 'k', '--again'),
    ];
    expect(again.stdout).toBe(first.stdout);
  });
});

describe('whose events they are', () => {
  test('the key says, or --user', async () => {
    const { data, url, key } = await service();
    const laptop = new Laptop('ada').work(1);
    const member = await laptop.send(url, key, '--user', 'bob');
    expect(member).toMatchObject({
      code: 2,
      stderr: 'This key sends only events of ada: leave --user out.\n',
    });
    const machine = await keyOf(data, 'ingest');
    expect(await laptop.send(url, machine)).toMatchObject({
      code: 2,
      stderr: 'This key belongs to no user: say with --user whose sessions these are.\n',
    });
    expect(await laptop.send(url, machine, '--user', 'ci')).toMatchObject({ code: 0 });
    expect(await laptop.status()).toMatchObject({ org_id: 'acme', user_id: 'ci', events_rejected: 0 });
  });

  test('a key that is wrong is an error that says what to do', async () => {
    const { url } = await service();
    expect(await new Laptop('ada').work(1).send(url, 'dbk_wrong')).toEqual({
      code: 2,
      stdout: '',
      stderr: `${url} answers 401: The API key is unknown, expired or revoked: create one on the service's machine with "daybook keys create".\n`,
    });
  });

  test('without a server or a key the error says how to name them', async () => {
    expect(await new Laptop('ada').collect([])).toMatchObject({
      code: 2,
      stderr:
        'Name the service with --server (or DAYBOOK_URL) and its key with --key (or DAYBOOK_KEY), or run "daybook collect install" once.\n',
    });
  });

  test('what waits for one organization never goes to another', async () => {
    let isUp = false;
    const server = await falseServer(({ path, headers }) => {
      if (!path.endsWith('/sender')) return isUp ? undefined : { status: 503 };
      const org_id = headers.authorization === 'Bearer one' ? 'acme' : 'globex';
      return { status: 200, body: { org_id, user_id: 'ada', is_only_user: true } };
    });
    const laptop = new Laptop('ada').work(1);
    expect(await laptop.send(server.url, 'one', '--wait', '0')).toMatchObject({ code: 1 });
    isUp = true;
    server.got.length = 0;
    const { stdout } = await laptop.send(server.url, 'two');
    const sent = server.got.filter(({ path }) => path.endsWith('/events'));
    expect(sent.every(({ headers }) => headers.authorization === 'Bearer two')).toBe(true);
    const lines = sent.flatMap(({ body }) => body.trimEnd().split('\n'));
    expect(stdout).toContain(`${lines.length} events sent`);
    expect(new Set(lines).size).toBe(lines.length);
  });
});

describe('a server that takes nothing', () => {
  test('is asked again when it wants, also by the next run', async () => {
    let isUp = false;
    const server = await falseServer(({ path }) =>
      isUp || path.endsWith('/sender') ? undefined : { status: 429, headers: { 'retry-after': '3600' } },
    );
    const laptop = new Laptop('ada').work(1);
    const before = Date.now();
    const { code, stdout } = await laptop.send(server.url, 'k');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^0 events sent, \d files read\. \d+ events wait for the next run\. http\S+ answers 429\.$/m,
    );
    const { not_before, waiting_events } = await laptop.status();
    expect(not_before).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(waiting_events).toBeGreaterThan(0);
    isUp = true;
    const requests = server.got.length;
    expect(await laptop.send(server.url, 'k')).toMatchObject({ code: 1 });
    expect(server.got).toHaveLength(requests);
    // The clock was an hour ahead until now.
    const [status = ''] = laptop.paths(/status\.json$/);
    writeFileSync(
      status,
      readFileSync(status, 'utf8').replace(/"not_before":\d+/, `"not_before":${Date.now() + 7_200_000}`),
    );
    expect(await laptop.send(server.url, 'k')).toMatchObject({ code: 0 });
  });

  test('is left to the next run if it wants to be asked later than this one tries', async () => {
    let answers = 0;
    const server = await falseServer(() => {
      answers += 1;
      return answers === 1 ? { status: 503, headers: { 'retry-after': '9999999' } } : undefined;
    });
    const laptop = new Laptop('ada').work(1);
    expect(await laptop.send(server.url, 'k')).toEqual({
      code: 1,
      stdout: '',
      stderr: `${server.url} answers 503: start the service, or correct --server.\n`,
    });
    expect(answers).toBe(1);
  });

  test('gets what waits but for a body that is damaged, which is told and set aside', async () => {
    let isUp = false;
    const server = await falseServer(({ path }) =>
      isUp || path.endsWith('/sender') ? undefined : { status: 503 },
    );
    const laptop = new Laptop('ada').work(1);
    expect(await laptop.send(server.url, 'k', '--wait', '0')).toMatchObject({ code: 1 });
    const [body = '', ...others] = laptop.paths(/\.ndjson\.gz$/).sort();
    expect(others).not.toEqual([]);
    isUp = true;
    const bytes = readFileSync(body);
    bytes.fill(7, bytes.length >> 1, (bytes.length >> 1) + 4);
    writeFileSync(body, bytes);
    const damaged = await laptop.send(server.url, 'k');
    expect(damaged).toMatchObject({ code: 1, stderr: '' });
    const sentence = `${body}.damaged is damaged, and was left out: send its events again with "daybook collect --again".`;
    expect(damaged.stdout).toMatch(/^[1-9]\d* events sent, 0 files read\. /);
    expect(damaged.stdout).toContain(sentence);
    expect(await laptop.status()).toMatchObject({ waiting_events: 0, waiting_bytes: 0, problem: sentence });
    expect(laptop.paths(/spool/)).toEqual([`${body}.damaged`]);
    const next = await laptop.send(server.url, 'k');
    expect(next).toMatchObject({ code: 0, stdout: '0 events sent, 0 files read.\n' });
    expect(await laptop.send(server.url, 'k', '--again')).toMatchObject({ code: 0 });
  });

  test('and says why shows in the status', async () => {
    const problem = { detail: 'The API key is revoked.', requestId: 'req_1' };
    const server = await falseServer(({ path }) =>
      path.endsWith('/sender') ? undefined : { status: 401, body: problem },
    );
    const laptop = new Laptop('ada').work(1);
    const sentence = `${server.url} answers 401: The API key is revoked.`;
    expect(await laptop.send(server.url, 'k')).toEqual({ code: 2, stdout: '', stderr: `${sentence}\n` });
    const { waiting_events, problem: told } = await laptop.status();
    expect(told).toBe(sentence);
    expect(waiting_events).toBeGreaterThan(0);
  });

  test('gets what waits once it is there', async () => {
    let refusals = 2;
    const server = await falseServer(({ path }) => {
      if (path.endsWith('/sender') || refusals === 0) return undefined;
      refusals -= 1;
      return { status: refusals === 1 ? 500 : 200, body: 'Log in to the hotel' };
    });
    const laptop = new Laptop('ada').work(1);
    expect(await laptop.send(server.url, 'k')).toMatchObject({ code: 0 });
    expect(await laptop.status()).toMatchObject({ waiting_events: 0, problem: null });
  });

  test('gets what waits although a proxy has refused it in its place', async () => {
    const refusals = [{ status: 404 }, { status: 403, body: { detail: 'Forbidden.' } }];
    let isFirst = true;
    const server = await falseServer(({ path }) => {
      if (path.endsWith('/sender')) return undefined;
      // However often the first run asks.
      return isFirst ? { status: 302 } : refusals.shift();
    });
    const laptop = new Laptop('ada').work(1);
    const first = await laptop.send(server.url, 'k', '--wait', '0');
    expect(first.code).toBe(1);
    expect(first.stdout).toContain(
      `${server.url} answers 302, but the answer isn't from Daybook: check the proxy in front of it.\n`,
    );
    isFirst = false;
    expect(await laptop.send(server.url, 'k')).toMatchObject({ code: 0, stderr: '' });
    expect(refusals).toEqual([]);
    expect(await laptop.status()).toMatchObject({ waiting_events: 0, problem: null });
  });

  test('leaves files unread when as much waits as may', async () => {
    const { data, child, url, key } = await service();
    const net = await network();
    net.lead(url);
    const laptop = new Laptop('ada').work(1);
    expect(await laptop.send(net.url, key)).toMatchObject({ code: 0 });
    net.lead('http://127.0.0.1:1');
    laptop.work(4, 30);
    const small = ['--spool', '0.002', '--wait', '0'];
    laptop.append(laptop.session('more'), `${sessionLines('more', 5).join('\n')}\n`);
    await laptop.send(net.url, key, ...small);
    laptop.append(laptop.session('most'), `${sessionLines('most', 5).join('\n')}\n`);
    const full = await laptop.send(net.url, key, ...small);
    expect(full).toMatchObject({ code: 1 });
    expect(full.stdout).toContain('0 files read.');
    expect(full.stdout).toMatch(
      /As much waits in \S+ as may: the rest is read when the server has taken some of it\./,
    );
    net.lead(url);
    expect(await laptop.send(net.url, key, ...small, '--wait', '300')).toMatchObject({ code: 0 });
    expect(await laptop.status()).toMatchObject({ waiting_events: 0, events_rejected: 0, problem: null });
    await stopped(child);
    expect(await tablesOf(data)).toEqual(await tablesOfIngest([laptop]));
  });

  test('gets smaller bodies where it takes no larger ones', async () => {
    const server = await falseServer(({ body }) => (body.length > 4000 ? { status: 413 } : undefined));
    const laptop = new Laptop('ada').work();
    const { code, stdout } = await laptop.send(server.url, 'k');
    expect(code).toBe(0);
    const taken = server.got.filter(({ path, body }) => path.endsWith('/events') && body.length <= 4000);
    const lines = taken.flatMap(({ body }) => body.trimEnd().split('\n'));
    expect(stdout).toContain(`${lines.length} events sent`);
    expect(stdout.match(/refuses a body of \d+ bytes \(413\), so events go in smaller parts/g)).toHaveLength(
      1,
    );
    expect(new Set(lines).size).toBe(lines.length);
  });

  test('and was never there is named', async () => {
    const url = 'http://127.0.0.1:1';
    const sentence = `${url} can't be reached (ECONNREFUSED): start the service, or correct --server.\n`;
    const laptop = new Laptop('ada').work(1);
    expect(await laptop.send(url, 'k', '--wait', '0')).toEqual({ code: 1, stdout: '', stderr: sentence });
    expect(await laptop.collect(['install', '--server', url], { DAYBOOK_KEY: 'k' })).toEqual({
      code: 1,
      stdout: '',
      stderr: sentence,
    });
  });

  test('is named when it is another program', async () => {
    const server = await falseServer(() => ({ status: 404 }));
    expect(await new Laptop('ada').work(1).send(server.url, 'k')).toMatchObject({
      code: 2,
      stderr: `${server.url} answers 404, and is not the address of a Daybook service: correct --server.\n`,
    });
  });
});

describe('a proxy', () => {
  const SERVER = 'daybook.acme.test';

  test('that the environment names is the way to the service, with and without TLS', async () => {
    const { cert, key } = certificateFor(`DNS:${SERVER}`, temporaryFolder());
    for (const scheme of ['https', 'http']) {
      const pair = { cert: readFileSync(cert), key: readFileSync(key) };
      const server = await falseServer(() => undefined, scheme === 'https' ? pair : undefined);
      const proxy = await proxyTo(server.url, 'ada:s e');
      const { port } = new URL(proxy.url);
      const laptop = new Laptop('ada', { NODE_EXTRA_CA_CERTS: cert }).work();
      const collect = (variables: Record<string, string>) =>
        laptop.collect(['--server', `${scheme}://${SERVER}`, '--wait', '0'], {
          DAYBOOK_KEY: 'k',
          ...variables,
        });
      // It has no scheme, as many are written.
      const refused = await collect({ [`${scheme.toUpperCase()}_PROXY`]: `127.0.0.1:${port}` });
      expect(refused).toEqual({
        code: 2,
        stdout: '',
        stderr: `${scheme}://${SERVER} can't be reached: the proxy http://127.0.0.1:${port} wants a name and a password (407): put them into its address, as http://ada:secret@proxy.acme.example:3128.\n`,
      });
      expect(await collect({ [`${scheme}_proxy`]: `http://ada:s%20e@127.0.0.1:${port}` })).toMatchObject({
        code: 0,
      });
      expect(new Set(proxy.asked)).toEqual(
        new Set(
          scheme === 'https'
            ? [`CONNECT ${SERVER}:443`]
            : [`GET http://${SERVER}/api/v1/events/sender`, `POST http://${SERVER}/api/v1/events`],
        ),
      );
      // What is in a tunnel is nobody's business.
      if (scheme === 'https') expect(proxy.asked).toHaveLength(2);
      expect(server.got.map(({ path }) => path)).toEqual([
        '/api/v1/events/sender',
        '/api/v1/events',
        '/api/v1/events',
      ]);
      expect(server.got.every(({ headers }) => headers.authorization === 'Bearer k')).toBe(true);
    }
  });

  test('is not for this machine, and for no address in NO_PROXY', async () => {
    const server = await falseServer(() => undefined);
    const nowhere = 'http://127.0.0.1:1';
    const laptop = new Laptop('ada', { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere }).work(1);
    expect(await laptop.send(server.url, 'k')).toMatchObject({ code: 0 });
    const other = ['--server', `http://${SERVER}`, '--wait', '0'];
    expect((await laptop.collect(other, { DAYBOOK_KEY: 'k' })).stderr).toBe(
      `http://${SERVER} can't be reached through the proxy ${nowhere} (ECONNREFUSED): start the service, or correct --server.\n`,
    );
    const direct = await laptop.collect(other, { DAYBOOK_KEY: 'k', NO_PROXY: 'localhost,.acme.test' });
    expect(direct.stderr).toMatch(/^http:\/\/daybook\.acme\.test can't be reached \((ENOTFOUND|EAI_AGAIN)\)/);
  });

  test('of another kind is refused', async () => {
    const laptop = new Laptop('ada', { ALL_PROXY: 'socks5://127.0.0.1:1080' }).work(1);
    expect(await laptop.send(`https://${SERVER}`, 'k')).toEqual({
      code: 2,
      stdout: '',
      stderr: `HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names a proxy that can't be used for https://${SERVER}: it must be an address as http://proxy.acme.example:3128. To use none, put ${SERVER} into NO_PROXY.\n`,
    });
  });
});

describe('killed at any moment', () => {
  test('it loses nothing, and nothing counts twice', async () => {
    const { data, child, url, key } = await service();
    const laptop = new Laptop('ada').work(IS_LONG ? 60 : 12, 40);
    const deaths = IS_LONG ? 25 : 8;
    for (let death = 0; death < deaths; death += 1) {
      const run = laptop.start(['--server', url], { DAYBOOK_KEY: key });
      // From before it has read anything to after it has sent something.
      await wait(100 + Math.random() * 900);
      await stopped(run, 'SIGKILL');
      laptop.append(laptop.session(`later-${death}`), `${sessionLines(`later-${death}`, 3).join('\n')}\n`);
    }
    for (const [path, content] of Object.entries(laptop.kept()))
      expect(content.includes('swordfish'), path).toBe(false);
    expect(await laptop.send(url, key)).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(laptop.folder).filter((name) => name === 'work')).toEqual([]);
    await stopped(child);
    expect(await tablesOf(data)).toEqual(await tablesOfIngest([laptop]));
  });

  test('two at a time are one', async () => {
    const server = await falseServer(({ path }) => (path.endsWith('/events') ? { status: 503 } : undefined));
    const laptop = new Laptop('ada').work(1);
    const first = laptop.start(['--server', server.url, '--watch', '--every', '1'], { DAYBOOK_KEY: 'k' });
    await once(first.stdout ?? first, 'data');
    const { code, stdout } = await laptop.send(server.url, 'k');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Another daybook collect works in /);
    await stopped(first);
    expect(first.exitCode).toBe(0);
    expect((await laptop.send(server.url, 'k', '--wait', '0')).stdout).toContain('wait for the next run');
  });
});

describe('with another collect meanwhile', () => {
  test('a watcher goes on, also with what that has left', async () => {
    let isUp = false;
    const server = await falseServer(({ path }) =>
      isUp || path.endsWith('/sender') ? undefined : { status: 503 },
    );
    const laptop = new Laptop('ada').work(1);
    await laptop.send(server.url, 'k', '--wait', '0');
    const bodies = laptop.paths(/\.ndjson\.gz$/).map((path) => [path, readFileSync(path)] as const);
    isUp = true;
    const watcher = laptop.start(['--server', server.url, '--watch', '--every', '1'], { DAYBOOK_KEY: 'k' });
    const hasEnded = () => watcher.exitCode !== null;
    const taken = () => server.got.filter(({ path }) => path.endsWith('/events')).length;
    // Its first round may find that it is too early to ask the server again.
    await until(() => hasEnded() || laptop.paths(/\.ndjson\.gz$/).length === 0);
    const before = taken();
    for (const [path, bytes] of bodies) {
      writeFileSync(`${path}.new`, bytes);
      renameSync(`${path}.new`, path);
    }
    const [mark = ''] = laptop.paths(/running$/);
    rmSync(mark);
    await until(() => hasEnded() || (taken() === before + bodies.length && existsSync(mark)));
    expect(hasEnded()).toBe(false);
  });

  test('a body that it has sent is left out', async () => {
    let isUp = false;
    const laptop = new Laptop('ada').work(1);
    const server = await falseServer(({ path }) => {
      if (path.endsWith('/sender')) return undefined;
      if (!isUp) return { status: 503 };
      for (const body of laptop.paths(/\.ndjson\.gz$/)) rmSync(body);
      return undefined;
    });
    await laptop.send(server.url, 'k', '--wait', '0');
    expect(laptop.paths(/\.ndjson\.gz$/).length).toBeGreaterThan(1);
    isUp = true;
    expect(await laptop.send(server.url, 'k')).toMatchObject({ code: 0, stderr: '' });
    expect(await laptop.status()).toMatchObject({ waiting_events: 0, waiting_bytes: 0, problem: null });
  });
});

describe('laptops that watch', () => {
  test('give a server that is killed twice, over a network that is cut, all that agents write', async () => {
    const data = join(temporaryFolder(), 'data');
    let { child, url } = await served(data);
    const net = await network();
    net.lead(url);
    const laptops: Laptop[] = [];
    const watching: ChildProcess[] = [];
    const [sessions, prompts, rounds] = IS_LONG ? [40, 100, 30] : [3, 20, 8];
    for (const user of IS_LONG ? ['ada', 'bob', 'cyd', 'dan', 'eve'] : ['ada', 'bob']) {
      const laptop = new Laptop(user).work();
      const key = await keyOf(data, 'member', '--user', user);
      laptops.push(laptop);
      watching.push(laptop.start(['--server', net.url, '--watch', '--every', '1'], { DAYBOOK_KEY: key }));
    }
    // Lines come in pieces, wherever they are cut.
    const files = laptops.flatMap((laptop) =>
      Array.from({ length: sessions }, (_, index) => {
        const name = `${laptop.user}-long-${index}`;
        const text = `${sessionLines(name, prompts).join('\n')}\n`;
        return { laptop, path: laptop.session(name), text, at: 0, step: Math.ceil(text.length / rounds) };
      }),
    );
    for (let round = 0; round < rounds; round += 1) {
      for (const file of files) {
        file.laptop.append(file.path, file.text.slice(file.at, file.at + file.step));
        file.at += file.step;
      }
      await wait(500 + Math.random() * 1000);
      net.cut();
      if (round === Math.floor(rounds / 3) || round === Math.floor((2 * rounds) / 3)) {
        await stopped(child, 'SIGKILL');
        ({ child, url } = await served(data));
        net.lead(url);
      }
    }
    for (const one of watching) expect(one.exitCode).toBe(null);
    await Promise.all(watching.map((one) => stopped(one)));
    for (const laptop of laptops) {
      const key = await keyOf(data, 'member', '--user', laptop.user);
      expect(await laptop.send(net.url, key)).toMatchObject({ code: 0, stderr: '' });
      expect(await laptop.status()).toMatchObject({ waiting_events: 0, events_rejected: 0, problem: null });
    }
    await stopped(child);
    const tables = await tablesOf(data);
    expect(tables.length).toBeGreaterThan(10);
    expect(tables).toEqual(await tablesOfIngest(laptops));
  });
});

describe('a schedule', () => {
  /** The files below a home, but those that collecting keeps. */
  const filesIn = (home: string) =>
    Object.fromEntries(
      readdirSync(home, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => /systemd|LaunchAgents|task\.xml/.test(path))
        .map((path) => [
          path.slice(home.length + 1),
          readFileSync(path, path.endsWith('task.xml') ? 'utf16le' : 'utf8')
            .replaceAll(process.execPath, '<node>')
            .replaceAll(CLI, '<cli>')
            .replaceAll(home, '<home>')
            .replaceAll('\r', ''),
        ]),
    );

  const installed = async (scheduler: string, programs: ReturnType<typeof notingPrograms>) => {
    const server = await falseServer(() => undefined);
    const laptop = new Laptop('ada', {
      PATH: programs.path,
      CLAUDE_CONFIG_DIR: '/srv/ada & "co"',
      NODE_EXTRA_CA_CERTS: '',
    });
    const install = () =>
      laptop.collect(['install', '--scheduler', scheduler, '--server', server.url], { DAYBOOK_KEY: 'k' });
    return { server, laptop, install };
  };

  test.each([
    ['systemd', 'systemctl'],
    ['launchd', 'launchctl'],
    ['schtasks', 'schtasks'],
  ])('of %s is written, begun and taken away again', async (scheduler, program) => {
    const programs = notingPrograms([program]);
    const { server, laptop, install } = await installed(scheduler, programs);
    expect(await install()).toMatchObject({ code: 0, stderr: '' });
    const plain = (texts: readonly string[]) =>
      texts.map((text) => text.replaceAll(laptop.home, '<home>').replace(/gui\/\d+/, 'gui/<uid>'));
    const written = Object.entries(filesIn(laptop.home)).map(([path, text]) => `# ${path}\n\n${text}`);
    await expect(
      [...written, `# ${program}\n\n${plain(programs.calls()).join('\n')}\n`].join('\n'),
    ).toMatchFileSnapshot(`schedules/${scheduler}.txt`);
    expect(statSync(join(laptop.folder, 'connection.json')).mode & 0o777).toBe(0o600);
    // What the schedule starts needs no options.
    expect(await laptop.collect([], { CLAUDE_CONFIG_DIR: '' })).toMatchObject({ code: 0 });
    expect(server.got.every(({ headers }) => headers.authorization === 'Bearer k')).toBe(true);
    const again = await install();
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(await laptop.collect(['uninstall', '--scheduler', scheduler])).toMatchObject({ code: 0 });
    expect(filesIn(laptop.home)).toEqual({});
    expect(existsSync(join(laptop.folder, 'connection.json'))).toBe(false);
    expect((await laptop.collect(['uninstall', '--scheduler', scheduler])).stdout).toBe(
      'No schedule was installed.\n',
    );
  });

  test('can get its key from a person who signs in with a browser', async () => {
    const people = { ada: { org_id: 'acme', role: 'manager' } };
    const provider = await startProvider(people, 'http://localhost/sign-in/callback', undefined, {
      hasDevices: true,
    });
    const { url } = await servedWith(provider, join(temporaryFolder(), 'data'));
    const programs = notingPrograms(['systemctl']);
    const laptop = new Laptop('ada', { PATH: programs.path }).work(1);
    const child = laptop.start(['install', '--scheduler', 'systemd', '--server', url, '--sign-in']);
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      said += part;
    });
    const running = ended(child);
    await until(() => /user_code=\S+\n/.test(said));
    expect(said).toMatch(/^ {2}code \w{4}-\w{4}$/m);
    const [address = ''] = /http\S+user_code=\S+/.exec(said) ?? [];
    await submitForms(address, { login: 'ada', password: 'anything' });
    const { code, stdout } = await running;
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining(`Every 5 minutes new events of ada go to ${url}.`),
    });
    expect((await laptop.collect([])).stdout).toMatch(/^\d+ events sent, 2 files read\.$/m);
    const { key } = JSON.parse(readFileSync(join(laptop.folder, 'connection.json'), 'utf8'));
    const own = await fetch(`${url}/api/v1/caller`, { headers: { authorization: `Bearer ${key}` } });
    expect(await own.json()).toMatchObject({ data: { org_id: 'acme', role: 'member', user_id: 'ada' } });
    if (!hasTerminal) return;
    // In a terminal nobody has to ask for it.
    const other = new Laptop('ada', { PATH: programs.path });
    const type = typing(
      startInTerminal(`node ${CLI} collect install --scheduler systemd --server ${url}`, {
        ...{ HOME: other.home, XDG_CONFIG_HOME: '', PATH: programs.path },
      }),
    );
    const shown = await type('', /user_code=\S+\r\n/);
    const [another = ''] = /http\S+user_code=\S+/.exec(shown) ?? [];
    await submitForms(another, { login: 'ada', password: 'anything' });
    await type('', /new events of ada go to/);
  });

  test('says how to give a key where nobody can sign in with a browser', async () => {
    const { url } = await service();
    const { code, stderr } = await new Laptop('ada').collect(['install', '--server', url, '--sign-in']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `${url} answers 404: This service has no sign-in by browser: its operator sets up OpenID Connect with the device flow (docs/openid-connect.md), or makes an API key with "daybook keys create".\n`,
    });
    const older = await falseServer(() => ({ status: 404 }));
    const { stderr: of } = await new Laptop('ada').collect(['install', '--server', older.url, '--sign-in']);
    expect(of).toBe(
      `${older.url} has no sign-in by browser (404): correct --server, or ask for an API key and pass it with --key -.\n`,
    );
  });

  test('that the system refuses is not there', async () => {
    const { laptop, install } = await installed('systemd', notingPrograms(['systemctl'], ['systemctl']));
    expect(await install()).toMatchObject({
      code: 2,
      stderr:
        '"systemctl --user daemon-reload" fails (no bus), so nothing was installed: have another program run "daybook collect", or keep "daybook collect --watch" running.\n',
    });
    expect(filesIn(laptop.home)).toEqual({});
    expect(existsSync(join(laptop.folder, 'connection.json'))).toBe(false);
  });

  test('with a key that is wrong is not installed', async () => {
    const { url } = await service();
    const laptop = new Laptop('ada');
    const { code, stderr } = await laptop.collect(['install', '--server', url], { DAYBOOK_KEY: 'wrong' });
    expect(code).toBe(2);
    expect(stderr).toContain('answers 401');
    expect(existsSync(laptop.folder)).toBe(false);
  });

  test.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'of systemd is one that systemd takes',
    async () => {
      const { laptop, install } = await installed('systemd', notingPrograms(['systemctl']));
      await install();
      const units = join(laptop.home, '.config', 'systemd', 'user');
      const { status, stderr } = spawnSync(
        'systemd-analyze',
        ['verify', '--user', ...readdirSync(units).map((name) => join(units, name))],
        { env: { ...process.env, XDG_RUNTIME_DIR: laptop.home } },
      );
      expect(String(stderr)).toBe('');
      expect(status).toBe(0);
    },
  );
});

test('status says what was sent when', async () => {
  const server = await falseServer(() => undefined);
  const laptop = new Laptop('ada').work(1);
  const ALONE = 'Not installed: it runs only when it is started. "daybook collect install" changes that.';
  expect((await laptop.collect(['status'])).stdout).toBe(`${ALONE}\n\nNothing was collected yet.\n`);
  await laptop.send(server.url, 'k');
  const { stdout } = await laptop.collect(['status']);
  expect(
    stdout.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, '<time>').replace(server.url, '<server>'),
  ).toMatchInlineSnapshot(`
    "Not installed: it runs only when it is started. "daybook collect install" changes that.

    <server>, organization acme, user ada
      last run    <time>
      last sent   <time>
      sent        57 events, 0 rejected
      waiting     0 events
      newest      <time>  57 events
    "
  `);
  truncateSync(laptop.session('ada-0'), 0);
  expect((await laptop.send(server.url, 'k')).stdout).toBe('0 events sent, 1 file read.\n');
});

test('the service serves the package of the collector, which npm unpacks', async () => {
  const laptop = temporaryFolder();
  const answer = await fetch(`${(await service()).url}/collector.tgz`);
  expect(answer.headers.get('content-disposition')).toMatch(/filename="daybook-collector-[\d.]+\.tgz"/);
  writeFileSync(join(laptop, 'collector.tgz'), Buffer.from(await answer.arrayBuffer()));
  expect(spawnSync('tar', ['-xzf', 'collector.tgz'], { cwd: laptop }).status).toBe(0);
  const { name, bin } = JSON.parse(readFileSync(join(laptop, 'package', 'package.json'), 'utf8'));
  expect({ name, bin }).toEqual({ name: 'daybook-collector', bin: { daybook: 'dist/collector-cli.js' } });
});

test('the package of the collector has all that it needs', async () => {
  const server = await falseServer(() => undefined);
  const folder = join(temporaryFolder(), 'package');
  const { status } = spawnSync('node', [join(PACKAGE_ROOT, 'scripts', 'collector.js'), folder]);
  expect(status).toBe(0);
  const { dependencies, bundleDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  // npm fetches these alone.
  const fetched = Object.keys(dependencies).filter((name) => !bundleDependencies.includes(name));
  expect(fetched).toEqual(['@duckdb/node-api']);
  for (const name of fetched) {
    mkdirSync(join(folder, 'node_modules', dirname(name)), { recursive: true });
    symlinkSync(join(PACKAGE_ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const cli = join(folder, 'dist', 'collector-cli.js');
  const { stdout: help } = spawnSync('node', [cli, '--help'], { encoding: 'utf8' });
  expect([...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name)).toEqual(
    expect.arrayContaining(['collect', 'run', 'hooks', 'me', 'readiness', 'agent']),
  );
  for (const command of ['hooks send', 'me', 'readiness check', 'agent', 'run'])
    expect(spawnSync('node', [cli, ...command.split(' '), '--help']).status, command).toBe(0);
  const other = spawnSync('node', [cli, 'keys', 'list'], { encoding: 'utf8' });
  expect([other.status, other.stderr]).toEqual([
    2,
    expect.stringMatching(/^This package has the commands collect, .*, and not keys: all others run on /),
  ]);
  const checked = spawnSync('node', [cli, 'readiness', 'check', folder, '--json'], { encoding: 'utf8' });
  expect(JSON.parse(checked.stdout)).toBeDefined();
  const laptop = new Laptop('ada', {}, cli).work();
  laptop.append(join(laptop.home, '.local', 'share', 'opencode', 'opencode.db'), '');
  const { code, stdout, stderr } = await laptop.send(server.url, 'k');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  // The last one is empty, which only SQLite can tell.
  expect(stdout).toMatch(/^\d+ events sent, 5 files read\. 1 rejected\.$/m);
  // A run is counted by a store, with its prices.
  const usage = { input_tokens: 100_000, output_tokens: 10_000 };
  const line = {
    ...{
      type: 'assistant',
      uuid: 'u',
      sessionId: 'run',
      requestId: 'r',
      timestamp: new Date(Date.now() + 3_600_000),
    },
    message: { id: 'm', role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage },
  };
  const words = ['sh', '-c', `printf '%s\\n' "$0" >> ${laptop.session('run')}`, JSON.stringify(line)];
  const ran = await ended(laptop.program(['run', '--', ...words]));
  expect(ran.stderr).toMatch(/^total +100,000 +10,000 +0 +0 +0\.450$/m);
});
