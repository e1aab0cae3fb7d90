import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { METHODS, STATUS_CODES } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import fastify from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { SignJWT } from 'jose';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createKey, revokeKey } from '../src/api/api-keys.js';
import { Authenticator } from '../src/api/auth.js';
import { ApiError, ERRORS, type ErrorStatus, type Family, familyOf, PROBLEMS } from '../src/api/errors.js';
import { may, Role } from '../src/api/roles.js';
import { family } from '../src/api/route-family.js';
import { Controls } from '../src/controls/control-revisions.js';
import { SecretKey } from '../src/controls/secret-key.js';
import { PACKED_BYTES, UNPACKED_BYTES } from '../src/ingest/body.js';
import { buildApp } from '../src/service/app.js';
import { type Asked, ask, type Given, statusAfterSending } from './ask.js';
import { expectNoLeak, type Operation, okOf, queryOf } from './reference.js';
import { Service } from './service.js';
import { ending, World } from './world.js';

const atEnd = ending();

/** The sentences that were seen, by operation and status. */
const seen = new Map<string, Set<string>>();

/** Fails unless an answer is this error, as docs/api.md, "Errors", and the reference say. */
function expectError(service: Service, operation: Operation, given: Given, status: ErrorStatus): string {
  const context = `${operation.method} ${operation.path}: ${given.text.slice(0, 200)}`;
  expect(given.status, context).toBe(status);
  service.reference.expectKept(operation, given);
  expectHeaders(given);
  const { detail } = JSON.parse(given.text);
  const key = `${operation.operationId} ${status}`;
  seen.set(key, (seen.get(key) ?? new Set()).add(detail));
  return detail;
}

/** Fails unless an answer is this error in its family's shape. Of paths and methods that the document doesn't have. */
function expectProblem(given: Given, status: ErrorStatus, shape: Family = 'v1'): void {
  expect(given.status, given.text).toBe(status);
  expect(given.headers['content-type']).toBe('application/json; charset=utf-8');
  const body = JSON.parse(given.text);
  expect(body).toEqual({
    title: STATUS_CODES[status],
    detail: expect.stringMatching(/^[A-Z].*\.$/),
    status,
    ...(shape === 'v1' ? { requestId: given.headers['x-request-id'] } : {}),
  });
  expect(given.headers['x-request-id']).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/);
  expectHeaders(given);
  expectNoLeak(given.text, JSON.stringify(given.headers));
}

/** What an error of some statuses always has. */
function expectHeaders({ status, headers }: Given): void {
  if (status === 401) expect(headers['www-authenticate']).toBe('Bearer');
  if (status === 405) expect(headers.allow).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  if (status === 429 || status === 503) expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
}

let service: Service;
beforeAll(async () => {
  service = await Service.start({}, atEnd);
});

/** Errors of OTLP have a shape of their own: test/otlp has them. */
const isOfApi = ({ path }: Operation) => !path.startsWith('/otlp/');

/** Plays something with each operation for which it makes sense, and fails when there is none. */
async function each(
  play: (operation: Operation) => Promise<void>,
  applies: (operation: Operation) => boolean = () => true,
  of = service,
): Promise<void> {
  const chosen = of.operations.filter(applies).filter(isOfApi);
  expect(chosen.length).toBeGreaterThan(0);
  for (const operation of chosen) await play(operation);
}

/** Of those that a path doesn't have, the ones that are also asked without a credential. */
const USUAL_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const isSecured = ({ isOpen }: Operation) => !isOpen;
const takesJson = ({ bodies }: Operation) => Object.hasOwn(bodies, 'application/json');
/** Members that some examples don't have. */
const OPTIONAL = ['source', 'hostId', 'params', 'as_of', 'modelUsed'];
/** Events are judged one by one. */
const takesOneJson = (operation: Operation) => takesJson(operation) && !takesPacked(operation);
const takesPacked = ({ path }: Operation) => path === '/api/v1/events';

describe('every route', () => {
  test('answers the request of its examples as the document says', () =>
    each(async (operation) => {
      const given = await service.send(operation);
      expect(given.status, given.text).toBe(okOf(operation));
      service.reference.expectKept(operation, given);
    }));

  test('is a 401 without a valid credential, whatever else is wrong', async () => {
    const { world } = service;
    const expired = await service.keyOf('owner', world.now);
    const { key: revoked, key_id } = await createKey(
      world.store,
      { orgId: 'acme', role: 'owner' },
      world.now,
    );
    await revokeKey(world.store, key_id, world.now);
    await each(async (operation) => {
      for (const authorization of [
        '',
        'Bearer',
        'Bearer ',
        `Basic ${service.key}`,
        service.key,
        'Bearer dbk_none',
        `Bearer dbk_${'a'.repeat(43)}`,
        'Bearer a.b.c',
        `Bearer ${expired}`,
        `Bearer ${revoked}`,
        `Bearer ${'x'.repeat(8000)}`,
      ]) {
        const wrong = { query: { timezone: 'utc' }, headers: { authorization, 'content-type': 'text/csv' } };
        expectError(service, operation, await service.send(operation, wrong), 401);
      }
    }, isSecured);
  });

  test('is a 403 for a role that may not, before the request is looked at, and for an address that is not signed', async () => {
    let refused = 0;
    for (const role of Role.options) {
      const authorization = `Bearer ${await service.keyOf(role)}`;
      await each(async (operation) => {
        const action = service.actions.get(`${operation.method} ${operation.path}`);
        if (action === undefined || may(role, action)) {
          expect((await service.send(operation, { headers: { authorization } })).status).toBe(
            okOf(operation),
          );
        } else {
          const wrong = {
            query: { timezone: 'utc' },
            headers: { authorization, 'content-type': 'text/csv' },
          };
          expectError(service, operation, await service.send(operation, wrong), 403);
          refused += 1;
        }
      }, isSecured);
    }
    expect(refused).toBeGreaterThan(0);
    const isSigned = (operation: Operation) => queryOf(operation).some(({ name }) => name === 'signature');
    await each(async (operation) => {
      const signature = queryOf(operation).find(({ name }) => name === 'signature')?.example;
      const given = await service.send(operation, { query: { signature: String(signature) } });
      expectError(service, operation, given, 403);
    }, isSigned);
  });

  test('is a 405 with what is allowed for every other method of HTTP, after the credential', () =>
    each(async (operation) => {
      const { path, isOpen } = operation;
      const there = service.operations.filter((one) => one.path === path).map(({ method }) => method);
      const allow = [...there, ...(there.includes('GET') ? ['HEAD'] : [])].sort();
      for (const other of METHODS.filter((one) => !allow.includes(one) && one !== 'CONNECT')) {
        // What agents fetch is in no document.
        if (path.startsWith('/api/v0/transfers') && ['GET', 'HEAD'].includes(other)) continue;
        const send = (headers: Asked['headers']) =>
          ask(service.url, service.reference.path(operation), {
            method: other,
            headers: { 'content-type': 'x', ...headers },
          });
        const given = await send({ authorization: `Bearer ${service.key}` });
        const shown = String(given.headers.allow).split(', ');
        expect(shown, `${other} ${path} ${given.text}`).toEqual(expect.arrayContaining(allow));
        if (other === 'HEAD') expect(given.status).toBe(405);
        else expectProblem(given, 405, familyOf(path));
        if (!isOpen && USUAL_METHODS.includes(other)) expect((await send({})).status).toBe(401);
      }
    }));

  test('is a 400 for a parameter that there is not', () =>
    each(async (operation) => {
      for (const name of ['timezone', '__proto__', 'constructor', 'toString', '', 'a.b', 'ünïcode', '[]']) {
        const given = await service.send(operation, { query: { [name]: 'x' } });
        expect(expectError(service, operation, given, 400)).toContain(`There is no parameter ${name}`);
      }
      expectError(
        service,
        operation,
        await service.send(operation, { query: { timezone: ['a', 'b'] } }),
        400,
      );
    }));

  test('is a 400 for a parameter that is missing, empty, wrong or there twice', () =>
    each(
      async (operation) => {
        for (const { name, required, example, schema } of queryOf(operation)) {
          const isList = schema.type === 'array';
          const wrong: (string | string[])[] = [
            '',
            ' ',
            '\u0000'.repeat(200),
            isList ? [...[example].flat().map(String), ''] : [String(example), String(example)],
          ];
          for (const value of wrong) {
            const given = await service.send(operation, { query: { [name]: value } });
            // Of a text of any kind white space is a value too.
            if (given.status === 200) {
              expect(value).toBe(' ');
              continue;
            }
            const detail = expectError(service, operation, given, 400);
            expect(detail).toContain(name);
            if (Array.isArray(value) && !isList)
              expect(detail).toBe(`The parameter ${name} must be given once, not 2 times.`);
          }
          if (required !== true) continue;
          const given = await service.send(operation, { query: { [name]: undefined } });
          expect(expectError(service, operation, given, 400)).toContain(`${name} is required`);
        }
      },
      (operation) => queryOf(operation).length > 0,
    ));

  test('that takes a body is a 400 for JSON that is none', () =>
    each(async (operation) => {
      for (const body of ['{', '', '[1,', '{"a":1}', '"text"', '\u0000', '[1] 2'])
        expectError(
          service,
          operation,
          await service.send(operation, { body, headers: { 'content-type': 'application/json' } }),
          400,
        );
    }, takesJson));

  test('that takes a body is a 400 that says what is accepted for members of another type', () =>
    each(async (operation) => {
      const example: Record<string, unknown> = JSON.parse(String(service.bodyOf(operation).content));
      for (const name of [...Object.keys(example), ...OPTIONAL]) {
        for (const value of [7.5, '', ' ', '\u0000', {}, { kind: 'x' }, [[]], true]) {
          const body = JSON.stringify({ ...example, [name]: value });
          const headers = { 'content-type': 'application/json' };
          const given = await service.send(operation, { body, headers });
          if (given.status < 300) continue;
          const detail = expectError(service, operation, given, 400);
          expect(detail).not.toContain('reference');
          expect(detail).toMatch(/must|There is no member/);
        }
      }
    }, takesOneJson));

  test('that takes a body is a 400 for JSON that is nested too deeply, in whichever member', () =>
    each(async (operation) => {
      const example: object = JSON.parse(String(service.bodyOf(operation).content));
      for (const value of [
        `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
        `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
      ]) {
        for (const name of [...Object.keys(example), 'unknown', '__proto__', '"\\']) {
          const texts = Object.entries(example)
            .filter(([known]) => known !== name)
            .map(([known, member]) => `${JSON.stringify(known)}:${JSON.stringify(member)},`);
          const body = `{${texts.join('')}${JSON.stringify(name)}:${value}}`;
          const headers = { 'content-type': 'application/json' };
          const given = await service.send(operation, { body, headers });
          expect(expectError(service, operation, given, 400)).toContain('100 levels');
        }
      }
    }, takesOneJson));

  test("that takes a body is a 415 for other types of it, for none, and for a packing that it doesn't know", () =>
    each(async (operation) => {
      for (const type of [
        'text/csv',
        'application/xml',
        'application/jsonx',
        'garbage',
        '',
        '/',
        '\u00e9/x',
      ]) {
        const given = await service.send(operation, { headers: { 'content-type': type } });
        expectError(service, operation, given, 415);
      }
      for (const packing of ['br', 'x', '', 'gzip, gzip', '__proto__'])
        expectError(
          service,
          operation,
          await service.send(operation, { headers: { 'content-encoding': packing } }),
          415,
        );
      for (const more of [{}, { 'content-length': '0' }, { 'transfer-encoding': 'chunked' }]) {
        const headers = { authorization: `Bearer ${service.key}`, ...more };
        const path = service.reference.path(operation);
        const given = await ask(service.url, path, { method: operation.method, headers });
        expectError(service, operation, given, 415);
      }
    }, takesJson));

  test('that takes a body is a 413 for one that is too large, as sent or unpacked', () => {
    const body = Buffer.alloc(PACKED_BYTES + 1, ' ');
    return each(async (operation) => {
      expectError(service, operation, await service.send(operation, { body }), 413);
      if (!takesPacked(operation)) return;
      const bomb = gzipSync(Buffer.alloc(UNPACKED_BYTES + 1, ' '));
      const headers = { 'content-encoding': 'gzip' };
      const isPackable = Object.hasOwn(operation.bodies, 'application/x-ndjson');
      const packed = await service.send(operation, { body: bomb, headers });
      expectError(service, operation, packed, isPackable ? 413 : 415);
      const broken = await service.send(operation, { body: 'not packed', headers });
      expectError(service, operation, broken, 400);
    }, takesJson);
  });

  test('that takes a body answers a client that sends all of a body that is too large before it reads', async () => {
    const body = Buffer.alloc(PACKED_BYTES + (1 << 20), ' ');
    const send = (method: string, path: string, type: string) =>
      statusAfterSending(
        service.url,
        [
          `${method} ${path} HTTP/1.1`,
          `authorization: Bearer ${service.key}`,
          `content-type: ${type}`,
          'connection: close',
        ],
        body,
      );
    await each(async (operation) => {
      const { type = '' } = service.bodyOf(operation);
      expect(await send(operation.method, service.reference.path(operation), type)).toBe(413);
    }, takesJson);
    const unsigned = `/api/v0/transfers/${randomUUID()}?expires=1&signature=${'x'.repeat(43)}`;
    expect(await send('PUT', unsigned, 'application/octet-stream')).toBe(403);
    expect(await send('POST', '/nothing', 'application/octet-stream')).toBe(404);
  });

  test('is a 400 where the path is written wrong, and a 404 below it, after the credential', () =>
    each(async (operation) => {
      const { isOpen } = operation;
      const path = service.reference.path(operation);
      const shape = familyOf(path);
      const headers = { authorization: `Bearer ${service.key}` };
      for (const wrong of ['/%zz', '/%', '/%c3%28'])
        expectProblem(await ask(service.url, `${path}${wrong}`, { headers }), 400, shape);
      for (const nothing of [
        // Exporters may write a slash behind an address of OTLP.
        ...(shape === 'otlp' ? [] : ['/', '//']),
        '/nothing',
        `/${'x'.repeat(5000)}`,
        '/%00',
        '/..%2f..%2fetc/passwd',
      ]) {
        const { status } = await ask(service.url, `${path}${nothing}`);
        expectProblem(await ask(service.url, `${path}${nothing}`, { headers }), 404, shape);
        // Below an address that is signed are paths of the others.
        expect(status).toBe(isOpen && shape === 'v1' ? 404 : 401);
      }
    }));

  test('is a 431 for headers or a path that are too large', () =>
    each(async (operation) => {
      const large = { headers: { 'x-large': 'x'.repeat(20_000) } };
      expectError(service, operation, await service.send(operation, large), 431);
      const long = await ask(service.url, `${operation.path}?${'x'.repeat(20_000)}`, {
        method: operation.method,
      });
      expectError(service, operation, long, 431);
    }));

  test('is a 429 with Retry-After for a credential that has sent too much, also where there is nothing', async () => {
    const limited = await Service.start({ DAYBOOK_RATE_LIMIT: '1', DAYBOOK_TRUST_PROXY: '127.0.0.1' });
    await each(
      async (operation) => {
        const key = await limited.keyOf('owner');
        const headers = { authorization: `Bearer ${key}` };
        expect((await limited.send(operation, { headers })).status).toBe(okOf(operation));
        const given = await limited.send(operation, { headers });
        // One key can send the telemetry of thousands of people.
        if (limited.actions.get(`${operation.method} ${operation.path}`) === 'send events') {
          expect(given.status).toBe(okOf(operation));
          return;
        }
        expectError(limited, operation, given, 429);
        expect(Number(given.headers['retry-after'])).toBeGreaterThan(0);
        const path = limited.reference.path(operation);
        const shape = familyOf(path);
        expectProblem(await ask(limited.url, `${path}/nothing`, { headers }), 429, shape);
        expectProblem(await ask(limited.url, path, { method: 'PROPFIND', headers }), 429, shape);
      },
      isSecured,
      limited,
    );
    // Without a valid credential it is the address that counts: here a proxy tells of one for each.
    let addresses = 0;
    for (const operation of limited.operations.filter(({ isOpen }) => isOpen)) {
      addresses += 1;
      const headers = { 'x-forwarded-for': `10.0.0.${addresses}`, authorization: 'Bearer dbk_guess' };
      expect((await limited.send(operation, { headers })).status).toBe(okOf(operation));
      const again = await limited.send(operation, { headers });
      // A flood from the address of a health check must not make the service look broken.
      if (['/healthz', '/readyz'].includes(operation.path)) expect(again.status).toBe(200);
      else expectError(limited, operation, again, 429);
    }
    for (let guess = 0; guess < 2; guess += 1) await ask(limited.url, '/api/v1/analytics/tokens');
    expectProblem(await ask(limited.url, '/api/v1/analytics/tokens'), 429);
  });

  test('is a 500 that says nothing of its cause when the store or the disk fails', async () => {
    const failing = await Service.start();
    // The service has read the keys before its store is gone; another one has not.
    await failing.send(failing.operations.find(isSecured) as Operation);
    const { world } = failing;
    const select = () => Promise.reject(new Error('the secret cause'));
    const store = Object.assign(Object.create(world.store) as typeof world.store, { select });
    const other = buildApp({ store, config: world.config, clock: world.clock, inbox: world.inbox });
    onTestFinished(() => other.close());
    const otherUrl = await other.listen({ host: '127.0.0.1', port: 0 });
    rmSync(join(failing.world.config.data, 'inbox'), { recursive: true });
    await failing.world.store.close();
    failing.isWhole = false;
    await each(
      async (operation) => {
        // Who sends events may send them again.
        const isOfEvents = operation.method === 'POST' && /^\/api\/v1\/(events|hooks)$/.test(operation.path);
        expectError(failing, operation, await failing.send(operation), isOfEvents ? 503 : 500);
        const headers = { authorization: `Bearer ${failing.key}` };
        const path = failing.reference.path(operation);
        const { method } = operation;
        expectProblem(await ask(otherUrl, path, { method, headers }), 500, familyOf(path));
        expectProblem(await ask(otherUrl, `${path}/nothing`, { headers }), 500, familyOf(path));
      },
      // SQL reads the lake: both ask the store for nothing but the key.
      (operation) => isSecured(operation) && !/^\/api\/v1\/(sql|events\/sender)/.test(operation.path),
      failing,
    );
    for (const operation of failing.operations.filter(({ isOpen }) => isOpen)) {
      const given = await failing.send(operation);
      const isOfStore = operation.path.startsWith('/api/v0/transfers');
      expect(given.status).toBe(operation.path === '/readyz' ? 503 : isOfStore ? 500 : 200);
      failing.reference.expectKept(operation, given);
    }
  });

  test('is a 503 with Retry-After while JWTs can not be checked', async () => {
    const alone = await Service.start({
      DAYBOOK_JWT_JWKS: 'http://127.0.0.1:9/keys',
      DAYBOOK_JWT_ISSUER: 'https://login.acme.test',
      DAYBOOK_JWT_AUDIENCE: 'daybook',
    });
    const token = await new SignJWT({ sub: 'ada', org_id: 'acme', role: 'owner' })
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer('https://login.acme.test')
      .setAudience('daybook')
      .setExpirationTime(alone.world.now / 1000 + 60)
      .sign((await crypto.subtle.generateKey(RSA, false, ['sign', 'verify'])).privateKey);
    await each(
      async (operation) => {
        const given = await alone.send(operation, { headers: { authorization: `Bearer ${token}` } });
        expectError(alone, operation, given, 503);
        expect(given.headers['retry-after']).toBe('5');
      },
      isSecured,
      alone,
    );
  });
});

const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
};

test('events are a 503 with Retry-After while too many wait', async () => {
  const full = await Service.start({ DAYBOOK_INBOX_MB: '1' });
  const operation = full.operations.find(({ path }) => path === '/api/v1/events') as Operation;
  const line = String(operation.bodies['application/x-ndjson']?.example);
  expect((await full.send(operation, { body: line.repeat(10_000) })).status).toBe(200);
  expectError(full, operation, await full.send(operation), 503);
});

test('an answer that has not changed is told of by its tag alone, where the document says so', async () => {
  const tagged = service.operations.filter(({ responses }) => responses[304] !== undefined);
  expect(tagged.length).toBeGreaterThan(6);
  for (const operation of tagged) {
    const given = await service.send(operation, { headers: { 'if-none-match': '*' } });
    expect(given.status, operation.path).toBe(304);
    service.reference.expectKept(operation, given);
  }
});

test('the errors that the document shows are those that come', () => {
  // The others depend on the moment: how long to wait, what is full.
  for (const operation of service.operations.filter(isOfApi)) {
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (!['400', '401', '403', '413', '415', '431'].includes(status)) continue;
      const { detail } = Object(content?.['application/json']?.example);
      expect([...(seen.get(`${operation.operationId} ${status}`) ?? [])], operation.operationId).toContain(
        detail,
      );
    }
  }
});

describe('what is no request', () => {
  /** Sends bytes and answers what comes back until the service hangs up. */
  async function sendBytes(bytes: string, port = Number(new URL(service.url).port)): Promise<Given> {
    const socket = connect(port, '127.0.0.1');
    socket.end(bytes);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    const [first = '', ...lines] = head.split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(': ')[0]?.toLowerCase(), line.slice(line.indexOf(': ') + 2)]),
    );
    return { status: Number(first.split(' ')[1]), headers, text: body };
  }

  test.each([
    'NONSENSE\r\n\r\n',
    'GET\r\n\r\n',
    'FETCH /healthz HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /healthz HTTP/9.9\r\nhost: x\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nhost: x\r\na: \u0000\r\n\r\n',
    'POST /api/v1/events HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /api/v1/events HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n',
    'POST /api/v1/events HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nhost: x\r\na: b\r\n c\r\n\r\n',
    'GET /healthz HTTP/1.1\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nhost:\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nhost: x/y\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nhost: a b\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nhost: x\r\nHOST: x\r\n\r\n',
    'GET /api/v1/analytics/me HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n',
    'POST /api/v1/sql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-type: text/csv\r\n\r\n',
  ])('is a 400 in the shape of all errors: %j', async (bytes) => {
    expectProblem(await sendBytes(bytes), 400);
  });

  test.each([
    ['GET /api/v0/computers HTTP/1.1\r\n\r\n', 400],
    ['GET /api/v0/computers HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n', 400],
    ['GET /api/v0/computers HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n', 400],
    [`GET /api/v0/computers HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    [`GET /api/v0/computers?${'x'.repeat(200_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
  ] as const)('is refused in the shape of v0 below its path: %.60j', async (bytes, status) => {
    expectProblem(await sendBytes(bytes), status, 'v0');
  });

  test('is told what it wants when it speaks HTTP/2, as gRPC does', async () => {
    const given = await sendBytes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    expectProblem(given, 400);
    expect(JSON.parse(given.text).detail).toContain('set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf');
  });

  test('is refused in the shape of the path that it began with, whatever its connection asked for before', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').setEncoding('utf8');
    const [inService] = await once(service.app.server, 'connection');
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(String(await once(socket, 'data'))).toContain('200 OK');
    socket.write('GET /api/v0/computers HTTP/1.1\r\nhost: x\r\nx: ');
    await once(inService, 'data');
    socket.write('x'.repeat(20_000));
    const [answer] = await once(socket, 'data');
    expect(answer).toContain(' 431 ');
    expect(answer).not.toContain('requestId');
  });

  test('is a 200 with an expectation that nobody knows, and with HTTP/1.0 also without a host', async () => {
    const odd = 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: a-miracle\r\n\r\n';
    expect((await sendBytes(odd)).status).toBe(200);
    expect((await sendBytes('GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200);
  });

  test('is a 408 when it takes too long to arrive, in the shape of the path as far as that has come', async () => {
    // Here the server finds at once that a head is late, when it has the beginning of it.
    const app = buildApp(await World.create());
    onTestFinished(() => app.close());
    const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
    app.server.on('connection', (socket) => {
      const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      socket.once('data', () => app.server.emit('clientError', late, socket));
    });
    for (const [path, family] of [
      ['/healthz', 'v1'],
      ['/api/v1/analytics/tokens', 'v1'],
      ['/api/v0/computers', 'v0'],
    ] as const) {
      const given = await sendBytes(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-slow: `, Number(url.port));
      expectProblem(given, 408, family);
      expect(JSON.parse(given.text).detail).toBe(ERRORS[408].detail);
    }
  });

  test('a body that ends in the middle leaves nothing, and the service goes on', async () => {
    const head = `POST /api/v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.key}\r\ncontent-type: application/x-ndjson\r\n`;
    for (const rest of [
      'content-length: 100\r\n\r\n{"event',
      'transfer-encoding: chunked\r\n\r\n5\r\n{"eve\r\n',
    ]) {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      await new Promise<void>((resolve) => socket.write(`${head}${rest}`, () => resolve()));
      socket.destroy();
      expectProblem(await sendBytes(`${head}${rest}`), 400);
    }
    const operation = service.operations.find(takesJson) as Operation;
    expect((await service.send(operation)).status).toBe(okOf(operation));
  });
});

describe('the family of v0', () => {
  /** A service of the smallest route that fails in every way, in a family. */
  async function tiny() {
    const world = await World.create();
    const { store, config, inbox, clock } = world;
    const app = fastify({ genReqId: () => 'req_1' });
    app.setValidatorCompiler(validatorCompiler);
    const routes: Parameters<typeof family>[1] = async (scope) => {
      const Body = z.strictObject({ status: z.int() });
      scope.post(
        '/things',
        { config: { action: 'create computers' }, schema: { body: Body } },
        ({ body }) => {
          if (body.status === 500) throw new Error('the secret cause');
          throw new ApiError(body.status as ErrorStatus, 'This is what happened.');
        },
      );
    };
    const authenticator = new Authenticator(store, config.jwt, clock, { find: async () => undefined });
    const addresses = new Controls(store, new SecretKey(config), clock);
    app.register(family('v0', routes), {
      ...{ store, config, inbox, clock, authenticator, addresses },
      prefix: '/api/v0',
    });
    const { key } = await createKey(store, { orgId: 'acme', role: 'member', userId: 'ada' }, world.now);
    const send = async (
      path: string,
      options: { method?: 'GET' | 'POST'; payload?: unknown; key?: string },
    ) => {
      const answer = await app.inject({
        method: options.method ?? 'POST',
        url: `/api/v0${path}`,
        headers: options.key === '' ? {} : { authorization: `Bearer ${options.key ?? key}` },
        ...(options.payload === undefined ? {} : { payload: options.payload as object }),
      });
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.headers['x-request-id']).toBe('req_1');
      expect(answer.statusCode).toBe(answer.json().status);
      expect(Object.keys(answer.json())).toEqual(['title', 'detail', 'status']);
      expect(PROBLEMS.v0.strict().safeParse(answer.json()).error).toBeUndefined();
      expect(answer.json().title).toBe(STATUS_CODES[answer.statusCode]);
      expectNoLeak(answer.body);
      return answer;
    };
    return { world, send };
  }

  test('has one body for every status, without a request id', async () => {
    const { send } = await tiny();
    for (const status of Object.keys(ERRORS).map(Number)) {
      const { statusCode, headers, body } = await send('/things', { payload: { status } });
      expect(statusCode).toBe(status);
      expect(body).not.toContain('secret');
      if (status !== 500) expect(body).toContain('This is what happened.');
      if (status === 401) expect(headers['www-authenticate']).toBe('Bearer');
      if (status === 429 || status === 503) expect(headers['retry-after']).toBeDefined();
    }
  });

  test('answers what comes before a route does anything the same way', async () => {
    const { world, send } = await tiny();
    const guest = await createKey(world.store, { orgId: 'acme', role: 'guest' }, world.now);
    expect((await send('/things', { key: '' })).statusCode).toBe(401);
    expect((await send('/nothing', { key: '' })).statusCode).toBe(401);
    expect((await send('/things', { key: guest.key })).statusCode).toBe(403);
    expect((await send('/nothing', {})).statusCode).toBe(404);
    const get = await send('/things', { method: 'GET' });
    expect([get.statusCode, get.headers.allow]).toEqual([405, 'POST']);
    expect((await send('/things', { payload: { status: 'x' } })).json().detail).toBe(
      'The member status must be a number.',
    );
    expect((await send('/things', { payload: { status: 400, colour: 'red' } })).json().detail).toBe(
      'There is no member colour: use status.',
    );
    expect((await send('/things', { payload: '{' })).statusCode).toBe(415);
  });
});

test('what is no path of anything is a 404, of v0 in its own shape and after the credential', async () => {
  for (const path of [
    '/assets/nothing',
    '/nothing',
    '/api',
    '/api/v2/x',
    '/docs/nothing',
    '/docs/static/..',
    '/docs/static/../../x',
  ])
    expectProblem(await ask(service.url, path), 404);
  for (const [path, status] of [
    ['/api/v0/nothing', 401],
    ['/api/v0', 401],
    ['/api/v0/%zz', 400],
  ] as const) {
    const given = await ask(service.url, path);
    expect(given.status).toBe(status);
    expect(Object.keys(JSON.parse(given.text))).toEqual(['title', 'detail', 'status']);
    expect(given.headers['x-request-id']).toMatch(/^req_/);
  }
});

test("a browser's preflight is answered before the credential, for pages of the origins that are set and no others", async () => {
  const open = await Service.start({ DAYBOOK_CORS_ORIGINS: 'https://acme.example' });
  const operation = open.operations.find(({ isOpen }) => !isOpen) as Operation;
  const preflight = (url: string, origin: string) =>
    ask(url, operation.path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'DELETE',
        'access-control-request-headers': 'authorization',
      },
    });
  const allowed = await preflight(open.url, 'https://acme.example');
  expect(allowed.status).toBe(204);
  expect(allowed.headers['access-control-allow-origin']).toBe('https://acme.example');
  const methods = String(allowed.headers['access-control-allow-methods']).split(', ');
  expect(methods.sort()).toEqual(
    [...new Set(['HEAD', ...open.operations.map(({ method }) => method)])].sort(),
  );
  const other = await preflight(open.url, 'https://evil.example');
  expect(other.headers['access-control-allow-origin']).toBeUndefined();
  expect((await ask(open.url, operation.path, { method: 'OPTIONS' })).status).toBe(204);
  const given = await open.send(operation, { headers: { origin: 'https://acme.example' } });
  expect(given.status).toBe(okOf(operation));
  expect(given.headers['access-control-allow-origin']).toBe('https://acme.example');
  expectProblem(await preflight(service.url, 'https://acme.example'), 401, familyOf(operation.path));
});
