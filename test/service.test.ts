import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { get as getTls, Agent as TlsAgent } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { addDays } from '../src/day.js';
import { DATABASE } from '../src/disk/data-files.js';
import { Inbox } from '../src/ingest/inbox.js';
import { readConfig } from '../src/settings/config.js';
import { controlPath } from '../src/socket/control-socket.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { CLI, runHere, TODAY } from './program.js';
import { until } from './service.js';
import { temporaryFolder } from './world.js';

const DAY = addDays(TODAY, -3);
const SECRET = 'a shared secret of more than thirty-two characters';

/** The program on a data folder of its own, in processes that come and go. */
class Service {
  readonly folder = temporaryFolder();
  readonly data = join(this.folder, 'data');
  url = '';
  log = '';
  child: ChildProcess | undefined;

  private environment(more: Record<string, string>): Record<string, string | undefined> {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('DAYBOOK_'));
    return { ...Object.fromEntries(inherited), DAYBOOK_DATA: this.data, DAYBOOK_RATE_LIMIT: '0', ...more };
  }

  constructor() {
    mkdirSync(this.data);
    copyFileSync(inject('emptyDatabase'), join(this.data, DATABASE));
  }

  /** What a command says that does what it is to do. */
  async run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runHere(args, { env: { DAYBOOK_DATA: this.data } });
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  async key(role = 'owner'): Promise<string> {
    const made = await this.run('keys', 'create', '--org', 'acme', '--role', role, '--json');
    return (JSON.parse(made) as { key: string }).key;
  }

  async start(environment: Record<string, string> = {}): Promise<ChildProcess> {
    const child = spawn('node', [CLI, 'serve', '--port', '0'], {
      cwd: this.folder,
      env: this.environment({ DAYBOOK_BUILD_AT: 'off', ...environment }),
    });
    this.child = child;
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.log += chunk;
    });
    let text = '';
    for await (const chunk of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      text += chunk;
      const [, url] = /serves on (\S+) from/.exec(text) ?? [];
      if (url !== undefined) {
        child.stdout.resume();
        this.url = url;
        return child;
      }
    }
    throw new Error(`the service ended: ${this.log}`);
  }

  /** The ids of the stored events, once this process, another one, has settled all that waits. */
  async stored(): Promise<string[]> {
    const config = readConfig({ DAYBOOK_DATA: this.data });
    const store = await DuckDbStore.open(config.data, { ...config, now: Date.now() });
    const inbox = Inbox.open(config, Date.now);
    try {
      await inbox.drain(store);
      const rows = await store.select('SELECT event_id FROM events ORDER BY event_id');
      return rows.map(({ event_id }) => String(event_id));
    } finally {
      await inbox.close();
      await store.close();
    }
  }
}

async function ended(child: ChildProcess, signal?: NodeJS.Signals): Promise<number | null> {
  const over = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : [child.exitCode];
  if (signal !== undefined) child.kill(signal);
  const [code] = (await over) as [number | null];
  return code;
}

const ids = (body: number, events: number) =>
  Array.from({ length: events }, (_, index) => `e-${String(body).padStart(5, '0')}-${index}`);
const lines = (names: readonly string[]) =>
  names
    .map((event_id) =>
      JSON.stringify({
        event_id,
        type: 'user_message',
        timestamp: `${DAY}T10:00:00Z`,
        user_id: `user-${event_id.at(-1)}`,
        session_id: 's',
      }),
    )
    .join('\n');

/** Sends a body, and answers its status; undefined when no answer came. */
async function send(url: string, key: string, body: string): Promise<number | undefined> {
  try {
    const answer = await fetch(`${url}/api/v1/events`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}

/** Sends a head and a part of a body, and lets the connection be. */
function sendPart(url: string, key: string, part: string) {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.write(
    `POST /api/v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/x-ndjson\r\ncontent-length: 100000\r\n\r\n${part}`,
  );
  return socket;
}

describe('a stop', () => {
  test('finishes what it has begun: what was acknowledged is there, and new connections are refused', async () => {
    const service = new Service();
    const key = await service.key();
    const child = await service.start();
    const acknowledged: string[] = [];
    const sent: string[] = [];
    const statuses = new Set<number | undefined>();
    let body = 0;
    let isStopped = false;
    const over = ended(child);
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let status: number | undefined = 200; status === 200; ) {
          const names = ids(body++, 20);
          sent.push(...names);
          status = await send(service.url, key, lines(names));
          statuses.add(status);
          if (status === 200) acknowledged.push(...names);
          if (acknowledged.length > 400 && !isStopped) {
            isStopped = true;
            child.kill('SIGTERM');
          }
        }
      }),
    );
    expect(await over).toBe(0);
    expect([...statuses].every((status) => status === 200 || status === 503 || status === undefined)).toBe(
      true,
    );
    expect(await send(service.url, key, lines(['after']))).toBeUndefined();
    const stored = await service.stored();
    expect(stored).toEqual([...new Set(stored)]);
    expect(stored).toEqual(expect.arrayContaining(acknowledged));
    expect(sent).toEqual(expect.arrayContaining(stored));
  });

  test('answers the request that is under way, and ends with 0', async () => {
    const service = new Service();
    const key = await service.key();
    const child = await service.start();
    const body = lines(ids(1, 100));
    const [head, tail] = [body.slice(0, 1000), body.slice(1000)];
    const { port, hostname } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.write(
      `POST /api/v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/x-ndjson\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${head}`,
    );
    // Another request, sent after the head, is answered: so the head is there.
    await fetch(`${service.url}/readyz`);
    const over = ended(child, 'SIGTERM');
    // Until nothing new is taken; what comes before that counts like any other.
    const taken = new Set<string>();
    await until(async () => {
      const status = await send(service.url, key, lines(['another']));
      if (status === 200) taken.add('another');
      return status === undefined;
    });
    socket.write(tail);
    await once(socket, 'close');
    expect(answer).toContain('HTTP/1.1 200');
    expect(answer).toContain('{"accepted":100,"rejected":0,"errors":[]}');
    expect(await over).toBe(0);
    expect(await service.stored()).toEqual([...ids(1, 100), ...taken].sort());
  });

  test('cuts off who never ends, within the time limit; a second signal ends it at once', async () => {
    const service = new Service();
    const key = await service.key();
    const child = await service.start({ DAYBOOK_TIMEOUT_S: '1' });
    const slow = sendPart(service.url, key, '{');
    await fetch(`${service.url}/readyz`);
    expect(await ended(child, 'SIGTERM')).toBe(0);
    slow.destroy();
    const next = await service.start({ DAYBOOK_TIMEOUT_S: '3600' });
    const other = sendPart(service.url, key, '{');
    await fetch(`${service.url}/readyz`);
    next.kill('SIGTERM');
    await until(async () => (await fetch(`${service.url}/healthz`).catch(() => undefined)) === undefined);
    expect(await ended(next, 'SIGTERM')).toBe(143);
    other.destroy();
    expect(await service.stored()).toEqual([]);
  });

  test('during a build leaves whole days, and the next build makes the others', async () => {
    const service = new Service();
    const names = Array.from({ length: 60 }, (_, index) => index);
    const file = join(service.folder, 'days.ndjson');
    writeFileSync(
      file,
      names
        .map((index) =>
          JSON.stringify({
            event_id: `d-${index}`,
            type: 'user_message',
            timestamp: `${addDays(TODAY, index - 60)}T10:00:00Z`,
            user_id: 'ada',
            session_id: 's',
          }),
        )
        .join('\n'),
    );
    await service.run('ingest', '--org', 'acme', file);
    const child = await service.start({ DAYBOOK_BUILD_AT: '00:15' });
    expect(await ended(child, 'SIGTERM')).toBe(0);
    await service.run('build');
    const { organizations } = JSON.parse(await service.run('status', '--json')) as {
      organizations: { days_stale: number; days_built: number }[];
    };
    expect(organizations[0]?.days_stale).toBe(0);
    expect(organizations[0]?.days_built).toBeGreaterThanOrEqual(60);
  });
});

test('whatever is cut or killed, what is sent until it is acknowledged counts exactly once', async () => {
  const service = new Service();
  const key = await service.key();
  const bodies = Array.from({ length: 60 }, (_, body) => ids(body, 10));
  const left = new Set(bodies.keys());
  for (let life = 0; left.size > 0; life += 1) {
    const child = await service.start();
    const over = once(child, 'exit');
    let answers = 0;
    // Each life ends after another number of answers, in the middle of others; the last one sends the rest.
    const end = life < 3 ? 1 + ((life * 7) % 11) : Number.POSITIVE_INFINITY;
    await Promise.all(
      Array.from({ length: 5 }, async (_, lane) => {
        for (const body of [...left].filter((one) => one % 5 === lane)) {
          const text = lines(bodies[body] as string[]);
          // A connection that is cut in the middle of a body, now and then.
          if (body % 4 === life % 4) {
            const socket = sendPart(service.url, key, text.slice(0, text.length / 2));
            setImmediate(() => socket.destroy());
          }
          const status = await send(service.url, key, text);
          if (status === 200) {
            answers += 1;
            // As if the answer were lost, every fifth one is sent again.
            if (body % 5 !== 0 || life > 1) left.delete(body);
          }
          if (answers >= end) child.kill('SIGKILL');
          if (status === undefined) return;
        }
      }),
    );
    if (left.size > 0) child.kill('SIGKILL');
    else child.kill('SIGTERM');
    await over;
  }
  expect(await service.stored()).toEqual(bodies.flat().sort());
  await service.run('build');
  const quality = JSON.parse(
    await service.run('report', 'quality', '--org', 'acme', '--from', DAY, '--to', DAY, '--format', 'json'),
  ) as { events: number; accepted: number }[];
  expect(quality[0]).toMatchObject({ events: 600, accepted: 600 });
  const [activity] = JSON.parse(
    await service.run('report', 'activity', '--org', 'acme', '--from', DAY, '--to', DAY, '--format', 'json'),
  ) as { user_messages: number }[];
  expect(activity?.user_messages).toBe(600);
});

test('the log has one line for each request, with its id and without its query, and no key, token or secret', async () => {
  const service = new Service();
  const key = await service.key();
  const jwt = (secret: string) =>
    new SignJWT({ org_id: 'acme', role: 'owner' })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('ada')
      .setIssuer('issuer')
      .setAudience('daybook')
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(secret));
  const [token, forged] = [await jwt(SECRET), await jwt(`${SECRET} of another`)];
  const child = await service.start({
    DAYBOOK_LOG_LEVEL: 'trace',
    DAYBOOK_JWT_SECRET: SECRET,
    DAYBOOK_JWT_ISSUER: 'issuer',
    DAYBOOK_JWT_AUDIENCE: 'daybook',
  });
  const path = '/api/v1/analytics/activity?startDate=2026-06-01&endDate=2026-06-02';
  const statuses: number[] = [];
  const requestIds: (string | null)[] = [];
  for (const credential of [key, token, forged, 'dbk_wrong']) {
    const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${credential}` } });
    statuses.push(answer.status);
    requestIds.push(answer.headers.get('x-request-id'));
  }
  expect(statuses).toEqual([200, 200, 401, 401]);
  await send(service.url, key, '{"a":1}');
  for (const wrong of [`/nothing/${key}?secret`, '/%zz?secret', '/healthz?secret', '/healthz', '/readyz']) {
    const answer = await fetch(service.url + wrong);
    if (wrong.startsWith('/healthz') || wrong === '/readyz') continue;
    statuses.push(answer.status);
    requestIds.push(answer.headers.get('x-request-id'));
  }
  expect(statuses.slice(4)).toEqual([404, 400]);
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname).end(
    'GET /api/v0/computers?secret HTTP/1.1\r\nwrong\r\n\r\n',
  );
  await once(socket.resume(), 'close');
  await ended(child, 'SIGTERM');
  for (const secret of [key, token, forged, SECRET, 'dbk_wrong', 'startDate', '?secret'])
    expect(service.log).not.toContain(secret);
  const lines = service.log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const requests = lines.filter(({ msg }) => msg === 'request');
  // One line each, none for health checks, and one of what is no request.
  expect(requests.map(({ path, status }) => `${status} ${path}`)).toEqual([
    ...['200', '200', '401', '401'].map((status) => `${status} /api/v1/analytics/activity`),
    '200 /api/v1/events',
    '404 /nothing/dbk_***',
    '400 /%zz',
    '400 /api/v0/computers',
  ]);
  for (const requestId of requestIds)
    expect(requests.filter(({ reqId }) => reqId === requestId)).toMatchObject([
      { method: 'GET', ip: '127.0.0.1', ms: expect.any(Number) },
    ]);
  expect(lines.filter(({ msg }) => /incoming|completed/.test(msg))).toEqual([]);
});

test('serves HTTPS with a certificate and key by their paths', async () => {
  const service = new Service();
  const [cert, pem] = [join(service.folder, 'cert.pem'), join(service.folder, 'key.pem')];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-keyout',
      pem,
      '-out',
      cert,
    ],
    { stdio: 'ignore' },
  );
  const key = await service.key();
  const child = await service.start({ DAYBOOK_TLS_CERT: cert, DAYBOOK_TLS_KEY: pem });
  expect(service.url).toMatch(/^https:/);
  const agent = new TlsAgent({ ca: readFileSync(cert) });
  const status = await new Promise((resolve, reject) => {
    getTls(
      `${service.url}/api/v1/analytics/users?startDate=2026-06-01&endDate=2026-06-02`,
      { agent, headers: { authorization: `Bearer ${key}` } },
      (answer) => {
        answer.resume();
        resolve([answer.statusCode, answer.headers['strict-transport-security'] !== undefined]);
      },
    ).on('error', reject);
  });
  expect(status).toEqual([200, true]);
  await expect(fetch(service.url)).rejects.toThrow();
  await ended(child, 'SIGTERM');
});

test('limits what one credential asks, and says so in the standard headers', async () => {
  const service = new Service();
  const [key, other] = [await service.key(), await service.key()];
  await service.start({ DAYBOOK_RATE_LIMIT: '3' });
  const ask = (credential: string) =>
    fetch(`${service.url}/api/v1/analytics/users?startDate=2026-06-01&endDate=2026-06-02`, {
      headers: { authorization: `Bearer ${credential}` },
    });
  for (const remaining of ['2', '1', '0']) {
    const answer = await ask(key);
    expect([
      answer.status,
      answer.headers.get('ratelimit-limit'),
      answer.headers.get('ratelimit-remaining'),
    ]).toEqual([200, '3', remaining]);
  }
  const refused = await ask(key);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask(other)).status).toBe(200);
});

test('a build counts all that was acknowledged before it, with and without a service, and says when it can not', async () => {
  const service = new Service();
  const key = await service.key();
  const child = await service.start();
  const messages = async () => {
    const args = ['report', 'activity', '--org', 'acme', '--from', DAY, '--to', DAY, '--format', 'json'];
    return JSON.parse(await service.run(...args))[0].user_messages;
  };
  expect(await send(service.url, key, lines(ids(1, 3)))).toBe(200);
  await service.run('build');
  expect(await messages()).toBe(3);
  // What Daybook didn't put there is in nobody's way, and isn't passed over in silence.
  writeFileSync(join(service.data, 'inbox', 'ready', '.DS_Store'), '');
  expect(await service.run('build')).toBe(
    'Every closed day is up to date except for files that are set aside in the inbox.\n',
  );
  expect(await send(service.url, key, lines(ids(2, 4)))).toBe(200);
  await ended(child, 'SIGKILL');
  const ready = join(service.data, 'inbox', 'ready');
  renameSync(ready, `${ready}-aside`);
  writeFileSync(ready, 'not a folder');
  await expect(service.run('build')).rejects.toThrow(
    /^build: No day was built, because .* could not be settled \(.*\)\. Remove the cause and run "daybook build" again\.$/m,
  );
  rmSync(ready);
  renameSync(`${ready}-aside`, ready);
  await service.run('build');
  expect(await messages()).toBe(7);
});

test('cuts off who sends a head or a body too slowly, and takes nothing of it', async () => {
  const service = new Service();
  const key = await service.key();
  await service.start({ DAYBOOK_TIMEOUT_S: '1' });
  const { port, hostname } = new URL(service.url);
  const head = connect(Number(port), hostname);
  head.write('GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ');
  const body = sendPart(service.url, key, '{"event_id":');
  const write = () => {
    for (const socket of [head, body]) if (socket.writable) socket.write('a');
  };
  // After what has come is read: a write to a closed connection would lose the answer.
  const drip = setInterval(() => setImmediate(write), 100);
  onTestFinished(() => clearInterval(drip));
  let text = '';
  head.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  head.on('error', () => undefined);
  body.resume();
  await Promise.all([once(head, 'close'), once(body, 'close')]);
  expect(text).toContain('HTTP/1.1 408');
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
});

test('Ctrl-C of a command that a server does says that the server goes on', async () => {
  const service = new Service();
  // A server that never comes to an end with it.
  const server = createServer().listen(controlPath(service.data));
  onTestFinished(() => void server.close());
  const { DAYBOOK_DATA: _, ...env } = process.env;
  const command = spawn('node', [CLI, '--data', service.data, 'build'], { cwd: service.folder, env });
  let stderr = '';
  command.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  await once(server, 'request');
  expect(await ended(command, 'SIGINT')).toBe(130);
  expect(stderr).toContain('The service continues the work');
});
