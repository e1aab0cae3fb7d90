import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createKey } from '../src/api/api-keys.js';
import { Signer } from '../src/computers/address-signer.js';
import { PROTOCOL } from '../src/computers/agent-message.js';
import { Relay } from '../src/computers/agent-relay.js';
import { LocalObjects } from '../src/computers/object-storage.js';
import { Transfers } from '../src/computers/transfer.js';
import { Uploads } from '../src/computers/upload.js';
import { Completed } from '../src/computers/upload-routes.js';
import { Controls } from '../src/controls/control-revisions.js';
import { SecretKey } from '../src/controls/secret-key.js';
import { buildApp } from '../src/service/app.js';
import { gate } from './gate.js';
import { FUZZ_SEED, isName, isPath, name, path, wellFormed } from './hostile.js';
import { type Agent, type Ask, Service, until } from './service.js';
import { playsSlow } from './slow.js';
import { ending, storeName, temporaryFolder, World } from './world.js';

const atEnd = ending();

let service: Service;
/** One that waits a second, for requests and for agents. */
let hasty: Service;
let computer: { id: string; agentToken: string };
let agent: Agent;
let ada: Ask;
beforeAll(async () => {
  service = await Service.start({}, atEnd);
  hasty = await Service.start({ DAYBOOK_TIMEOUT_S: '1', DAYBOOK_AGENT_TIMEOUT_S: '1' }, atEnd);
  computer = await service.computer();
  agent = await service.agent(computer);
  ada = service.as('member', 'ada');
});

const files = (name: string) => `/computers/${computer.id}/files/${encodeURIComponent(name)}`;
const ANY = '6f1c9a52-3b1e-4c59-9f6a-0d2f6a1b7c11';

/** Names, and whether they are accepted: each rule by itself, from both sides of each bound. */
const NAMES: [string, string, boolean][] = [
  ['one character', 'a', true],
  ['255 characters', 'a'.repeat(255), true],
  ['256 characters', 'a'.repeat(256), false],
  ['255 characters beyond the first 65,536', '😀'.repeat(255), true],
  ['256 of them', '😀'.repeat(256), false],
  ['a space', ' ', false],
  ['white space of other kinds', '\u00a0\u2003\ufeff', false],
  ['a character amid white space', ' a ', true],
  ['a slash', 'a/b', false],
  ['a backslash', 'a\\b', false],
  ['one dot inside', 'a.b', true],
  ['two dots apart', '.a.', true],
  ['two dots in a row', 'a..b', false],
  ['two dots', '..', false],
  ['the control character 0x00', 'a\u0000', false],
  ['the control character 0x1f', 'a\u001f', false],
  ['the space after it, 0x20', 'a\u0020', true],
  ['the character before 0x7f', 'a~', true],
  ['the control character 0x7f', 'a\u007f', false],
  ['the character after it, 0x80', 'a\u0080', true],
  ['a line break', 'a\nb', false],
  ['a name that Windows keeps for itself', 'con', true],
  ['a colon and a star', 'a:*?', true],
  ['a hyphen first', '-rf', true],
];

const PATHS: [string, string, boolean][] = [
  ['one character', 'a', true],
  ['510 characters', 'ab/'.repeat(170), true],
  ['511 characters', `${'ab/'.repeat(170)}a`, false],
  ['nothing', '', false],
  ['a space', ' ', false],
  ['a space in a folder', 'a/ ', true],
  ['a slash first', '/a', false],
  ['a backslash first', '\\a', false],
  ['a backslash inside', 'a\\b', false],
  ['two slashes', 'a//b', false],
  ['two slashes at the end', 'a//', false],
  ['a slash at the end', 'a/', true],
  ['a dot', '.', false],
  ['a dot first', './a', false],
  ['a dot inside', 'a/./b', false],
  ['a dot last', 'a/.', false],
  ['a dot and a slash last', 'a/./', false],
  ['a name that begins with a dot', '.a/.b', true],
  ['a name that ends with a dot', 'a./b.', true],
  ['two dots', '..', false],
  ['two dots inside', 'a/../b', false],
  ['two dots in a name', 'a..b', false],
  ['three dots', 'a/...', false],
  ['the control character 0x00', 'a\u0000', false],
  ['the control character 0x1f', 'a/\u001fb', false],
  ['the control character 0x7f', 'a\u007f', false],
  ['the character after it, 0x80', 'a\u0080', true],
  ['a line break and a dot', 'a\n/.', false],
];

describe('a file name', () => {
  for (const [what, name, isTaken] of NAMES)
    test(`with ${what} is ${isTaken ? 'taken' : 'a 400'}`, async () => {
      const { status, body } = await ada('POST', `${files(name)}/create-upload`, { sizeBytes: 1 });
      expect(status).toBe(isTaken ? 200 : 400);
      if (!isTaken)
        expect(body).toEqual({ title: 'Bad Request', detail: expect.stringContaining('fileName'), status });
      const completion = { transferId: ANY, sessionId: 's' };
      expect((await ada('POST', `${files(name)}/complete-upload`, completion)).status).toBe(
        isTaken ? 404 : 400,
      );
    });
});

describe('a destPath', () => {
  for (const [what, destPath, isTaken] of PATHS)
    test(`with ${what} is ${isTaken ? 'taken' : 'a 400'}`, async () => {
      const completion = { transferId: ANY, sessionId: 's', destPath };
      const { status, body } = await ada('POST', `${files('a')}/complete-upload`, completion);
      expect(status).toBe(isTaken ? 404 : 400);
      if (!isTaken)
        expect(body).toEqual({ title: 'Bad Request', detail: expect.stringContaining('destPath'), status });
    });
});

describe('other members', () => {
  const created: [object, number][] = [
    [{ sizeBytes: 0 }, 200],
    [{ sizeBytes: -1 }, 400],
    [{ sizeBytes: 1.5 }, 400],
    [{ sizeBytes: 2 ** 31 }, 200],
    [{ sizeBytes: 2 ** 31 + 1 }, 400],
    [{ sizeBytes: '1' }, 400],
    [{}, 400],
    [{ sizeBytes: 1, contentType: 'text/plain' }, 200],
    [{ sizeBytes: 1, contentType: '' }, 400],
    [{ sizeBytes: 1, contentType: ' ' }, 400],
    [{ sizeBytes: 1, name: 'b' }, 400],
  ];
  for (const [body, status] of created)
    test(`create-upload answers ${status} to ${JSON.stringify(body)}`, async () => {
      expect((await ada('POST', `${files('a')}/create-upload`, body)).status).toBe(status);
    });

  const completed: [object, number][] = [
    [{ transferId: ANY, sessionId: 's' }, 404],
    [{ transferId: 'x', sessionId: 's' }, 400],
    [{ transferId: ANY, sessionId: '' }, 400],
    [{ transferId: ANY }, 400],
    [{ sessionId: 's' }, 400],
    [{ transferId: ANY, sessionId: 's', destPath: null }, 400],
    [{ transferId: ANY, sessionId: 's', overwrite: true }, 400],
  ];
  for (const [body, status] of completed)
    test(`complete-upload answers ${status} to ${JSON.stringify(body)}`, async () => {
      expect((await ada('POST', `${files('a')}/complete-upload`, body)).status).toBe(status);
    });
});

describe('a file that is sent', () => {
  test('is in the workspace, whole, and the same call again answers the same', async () => {
    const bytes = Buffer.alloc(3_000_000, 'daybook');
    const { transferId, complete } = await service.sent(computer.id, 'whole.bin', bytes);
    const first = await complete({ destPath: 'made/on the way/' });
    expect(first.status).toBe(200);
    expect(Completed.parse(first.body)).toEqual({ transferId, fileName: 'whole.bin', byteLength: 3_000_000 });
    expect((await complete({ destPath: 'made/on the way' })).body).toEqual(first.body);
    const inCapitals = { destPath: 'made/on the way', transferId: transferId.toUpperCase() };
    expect((await complete(inCapitals)).body).toEqual(first.body);
    const folder = join(agent.workspace, 'made', 'on the way');
    expect(readFileSync(join(folder, 'whole.bin')).equals(bytes)).toBe(true);
    expect(readdirSync(folder)).toEqual(['whole.bin']);
    expect(readdirSync(join(service.world.config.data, 'objects'))).toEqual(['incoming']);
    const elsewhere = await complete({ destPath: 'elsewhere' });
    expect(elsewhere.body).toMatchObject({
      status: 404,
      detail: expect.stringContaining('another destPath'),
    });
  });

  test('can be empty, and goes into the workspace itself without a destPath', async () => {
    const { complete } = await service.sent(computer.id, 'empty', '');
    expect((await complete()).body).toMatchObject({ byteLength: 0 });
    expect(readFileSync(join(agent.workspace, 'empty'), 'utf8')).toBe('');
  });

  test('is written once, however often it is completed at once', async () => {
    const { complete } = await service.sent(computer.id, 'once', 'once');
    const answers = await Promise.all(Array.from({ length: 10 }, () => complete()));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  test('can be sent again before it is completed: the last bytes count', async () => {
    const { body } = await ada('POST', `${files('again')}/create-upload`, { sizeBytes: 1 });
    for (const bytes of ['a', 'b']) await fetch(body.uploadUrl, { method: 'PUT', body: bytes });
    const completion = { transferId: body.transferId, sessionId: 's' };
    expect((await ada('POST', `${files('again')}/complete-upload`, completion)).status).toBe(200);
    expect(readFileSync(join(agent.workspace, 'again'), 'utf8')).toBe('b');
    const late = await fetch(body.uploadUrl, { method: 'PUT', body: 'c' });
    expect(late.status).toBe(404);
  });

  test('is a 409 where a file is already, also one of the same bytes, which stays as it is', async () => {
    const first = await service.sent(computer.id, 'there', 'same');
    expect((await first.complete()).status).toBe(200);
    for (const bytes of ['same', 'other']) {
      service.world.now += 1;
      const { complete } = await service.sent(computer.id, 'there', bytes);
      const { status, body } = await complete();
      expect(body).toEqual({
        title: 'Conflict',
        detail: expect.stringContaining('never replaced'),
        status: 409,
      });
      expect(status).toBe(409);
    }
    expect(readFileSync(join(agent.workspace, 'there'), 'utf8')).toBe('same');
    mkdirSync(join(agent.workspace, 'folder'));
    symlinkSync('nowhere', join(agent.workspace, 'link'));
    for (const name of ['folder', 'link', '.']) {
      const { complete } = await service.sent(computer.id, name, 'x');
      expect((await complete()).status).toBe(409);
    }
  });

  test('that was written while the answer was lost is not written again', async () => {
    const { transferId, complete } = await service.sent(computer.id, 'lost', 'lost');
    expect((await complete()).status).toBe(200);
    // As if the service had fallen before it noted what the agent had done.
    await service.world.store.run([
      {
        sql: 'UPDATE transfers SET dest_path = NULL, completed_at = NULL WHERE transfer_id = $id',
        parameters: { id: transferId },
      },
    ]);
    writeFileSync(join(service.world.config.data, 'objects', transferId), 'lost');
    expect((await complete()).status).toBe(200);
    expect(readFileSync(join(agent.workspace, 'lost'), 'utf8')).toBe('lost');
  });
});

describe('an upload that fails', () => {
  test('without its bytes, or with too few or too many, is a 424, and can be made good', async () => {
    const { body } = await ada('POST', `${files('bytes')}/create-upload`, { sizeBytes: 3 });
    const complete = () =>
      ada('POST', `${files('bytes')}/complete-upload`, { transferId: body.transferId, sessionId: 's' });
    expect((await complete()).body).toEqual({
      title: 'Failed Dependency',
      detail: expect.stringContaining('PUT'),
      status: 424,
    });
    for (const bytes of ['ab', 'abcd', '']) {
      const put = await fetch(body.uploadUrl, { method: 'PUT', body: bytes });
      expect(put.status).toBe(400);
      expect((await complete()).status).toBe(424);
    }
    for (const bytes of ['ab', 'abcd']) {
      // Without a length in the head it is counted as it comes.
      const stream = new Blob([bytes]).stream();
      const put = await fetch(body.uploadUrl, { method: 'PUT', body: stream, duplex: 'half' } as RequestInit);
      expect(put.status).toBe(400);
    }
    expect((await fetch(body.uploadUrl, { method: 'PUT', body: 'abc' })).status).toBe(204);
    expect((await complete()).status).toBe(200);
  });

  test('where the agent may not write, or meets a file or a link to the outside, is a 424 that says so', async () => {
    writeFileSync(join(agent.workspace, 'file'), '');
    symlinkSync('..', join(agent.workspace, 'out'));
    symlinkSync('made', join(agent.workspace, 'in'));
    mkdirSync(join(agent.workspace, 'made'), { recursive: true });
    for (const [destPath, why] of [
      ['file/x', /not a folder/],
      ['out/x', /outside/],
      ['x'.repeat(256), /longer than the file system allows/],
    ] as const) {
      const { complete } = await service.sent(computer.id, 'x', 'x');
      const { status, body } = await complete({ destPath });
      expect(body.detail).toMatch(why);
      expect(status).toBe(424);
    }
    const inside = await service.sent(computer.id, 'by-link', 'x');
    expect((await inside.complete({ destPath: 'in' })).status).toBe(200);
    expect(readFileSync(join(agent.workspace, 'made', 'by-link'), 'utf8')).toBe('x');
    expect(readdirSync(join(agent.workspace, '..'))).toEqual(['inside']);
    if (process.getuid?.() === 0) return;
    mkdirSync(join(agent.workspace, 'closed'));
    chmodSync(join(agent.workspace, 'closed'), 0o500);
    const { complete } = await service.sent(computer.id, 'x', 'x');
    expect((await complete({ destPath: 'closed' })).status).toBe(424);
  });

  test('while the computer is not connected is a 503, and goes on when it is', async () => {
    const other = await service.computer();
    const { complete } = await service.sent(other.id, 'late', 'late');
    const { status, headers, body } = await complete();
    expect(body).toEqual({
      title: 'Service Unavailable',
      detail: expect.stringContaining('daybook agent'),
      status,
    });
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('5');
    const awake = await service.agent(other);
    expect((await complete()).status).toBe(200);
    expect(readFileSync(join(awake.workspace, 'late'), 'utf8')).toBe('late');
  });

  test('while the computer does not answer in time is a 503, and can be repeated', async () => {
    const slow = hasty;
    const other = await slow.computer();
    const mute = new WebSocket(`${slow.url.replace('http', 'ws')}/api/v0/relay/agent`, PROTOCOL, {
      headers: { authorization: `Bearer ${other.agentToken}` },
    });
    onTestFinished(() => mute.terminate());
    mute.on('open', () => mute.send(JSON.stringify({ type: 'hello', hostname: 'mute', version: '1' })));
    const shown = async () => (await slow.as('member', 'ada')('GET', `/computers/${other.id}`)).body;
    await until(async () => (await shown()).connectedAt !== null);
    const { complete } = await slow.sent(other.id, 'a', 'a');
    const { status, body } = await complete();
    expect(body.detail).toMatch(/in time/);
    expect(status).toBe(503);
    await slow.agent(other);
    // A second is short for this one too, when the machine is busy.
    await until(async () => (await complete()).status === 200);
  });

  test('for a reason within the service is a 500 that does not show it', async () => {
    const { transferId, complete } = await service.sent(computer.id, 'broken', 'broken');
    const path = join(service.world.config.data, 'objects', transferId);

    rmSync(path);
    symlinkSync(path, path);
    const { status, body } = await complete();
    expect(status).toBe(500);
    expect(body.detail).not.toContain(path);
    expect(body).toEqual({ title: 'Internal Server Error', detail: expect.any(String), status: 500 });
  });

  test('is a 404 once it has expired, and its address a 403', async () => {
    const late = await Service.start();
    const other = await late.computer();
    const { body } = await late.as('member', 'ada')('POST', `/computers/${other.id}/files/a/create-upload`, {
      sizeBytes: 1,
    });
    expect(body.expiresAt).toBe(late.world.now + 15 * 60_000);
    const { complete } = await late.sent(other.id, 'a', 'a');
    late.world.now += 15 * 60_000;
    expect((await fetch(body.uploadUrl, { method: 'PUT', body: 'a' })).status).toBe(403);
    expect((await complete()).body).toMatchObject({
      status: 404,
      detail: expect.stringContaining('expired'),
    });
  });
});

describe('the address for the bytes', () => {
  test('permits sending them and nothing else: no other transfer, no reading, no later end', async () => {
    const one = (await ada('POST', `${files('one')}/create-upload`, { sizeBytes: 1 })).body;
    const two = (await ada('POST', `${files('two')}/create-upload`, { sizeBytes: 1 })).body;
    const url = new URL(one.uploadUrl);
    const changed = (change: (url: URL) => void) => {
      const other = new URL(url);
      change(other);
      return other;
    };
    const attempts: [string, URL, number][] = [
      [
        'PUT',
        changed((it) => {
          it.pathname = it.pathname.replace(one.transferId, two.transferId);
        }),
        403,
      ],
      ['PUT', changed((it) => it.searchParams.set('expires', String(one.expiresAt + 1))), 403],
      ['PUT', changed((it) => it.searchParams.set('signature', 'A'.repeat(43))), 403],
      ['PUT', changed((it) => it.searchParams.delete('signature')), 400],
      ['PUT', changed((it) => it.searchParams.set('role', 'owner')), 400],
      ['GET', url, 403],
      ['PUT', url, 204],
      ['GET', url, 403],
    ];
    for (const [method, to, status] of attempts) {
      const answer = await fetch(to, { method, ...(method === 'PUT' ? { body: 'x' } : {}) });
      expect(answer.status).toBe(status);
      if (status !== 204)
        expect(Object.keys((await answer.json()) as object)).toEqual(['title', 'detail', 'status']);
    }
  });
});

describe('who may send a file', () => {
  const rows: [string, string, object, (number | undefined)[]][] = [
    ['of its own', 'ada', {}, [200, 200, 200, 403, 403]],
    ['of a service account', 'ada', { serviceAccountId: 'ci' }, [200, 200, 403, 403, 403]],
    ['of another person', 'eve', {}, [403, 403, 403, 403, 403]],
  ];
  for (const [what, userId, more, statuses] of rows)
    test(`to a computer ${what}`, async () => {
      const name = `box-${what.replaceAll(' ', '-')}`;
      const made = await service.as('owner', 'ada')('POST', '/computers', {
        name,
        remoteUser: 'ada',
        ...more,
      });
      expect(made.status).toBe(201);
      const roles = ['owner', 'manager', 'member', 'guest', 'ingest'] as const;
      for (const [index, role] of roles.entries()) {
        const ask = service.as(role, userId);
        const path = `/computers/${made.body.id}/files/a`;
        const created = await ask('POST', `${path}/create-upload`, { sizeBytes: 1 });
        expect([role, created.status]).toEqual([role, statuses[index]]);
        const completed = await ask('POST', `${path}/complete-upload`, { transferId: ANY, sessionId: 's' });
        expect([role, completed.status]).toEqual([role, statuses[index] === 200 ? 404 : 403]);
        if (created.status === 403)
          expect(created.body).toEqual({
            title: 'Forbidden',
            detail: expect.stringContaining(role),
            status: 403,
          });
      }
    });

  test('nobody from where the organization takes no requests, whatever token or signature they have', async () => {
    const owner = service.as('owner', 'olga', 'walled');
    const { body: made } = await owner('POST', '/computers', { name: 'box', remoteUser: 'olga' });
    const { body } = await owner('POST', `/computers/${made.id}/files/x/create-upload`, { sizeBytes: 1 });
    const { store, config } = service.world;
    // As if it came from elsewhere: nobody can lock out the address that they have.
    await new Controls(store, new SecretKey(config), service.world.clock).replace(
      'walled',
      { networkPolicy: { allowedIps: ['192.0.2.1'] } },
      { id: 'olga', email: '', name: '' },
    );
    const refusal = "The organization doesn't allow requests from 127.0.0.1.";
    const put = await fetch(body.uploadUrl, { method: 'PUT', body: 'x' });
    expect([put.status, await put.json()]).toMatchObject([403, { detail: refusal }]);
    const agent = await fetch(`${service.url}/api/v0/relay/agent`, {
      headers: { authorization: `Bearer ${made.agentToken}` },
    });
    expect([agent.status, await agent.json()]).toMatchObject([403, { detail: refusal }]);
  });

  test('nobody of another organization, nor with the transfer of another computer or name', async () => {
    const eve = service.as('owner', 'ada', 'rival');
    const theirs = await eve('POST', '/computers', { name: 'box', remoteUser: 'ada' });
    const { transferId } = await service.sent(computer.id, 'ours', 'ours');
    const completion = { transferId, sessionId: 's' };
    const mine = await service.computer();
    for (const [ask, path] of [
      [eve, `/computers/${computer.id}/files/ours`],
      [eve, `/computers/${theirs.body.id}/files/ours`],
      [ada, `/computers/${mine.id}/files/ours`],
      [ada, `/computers/${computer.id}/files/theirs`],
    ] as const)
      expect((await ask('POST', `${path}/complete-upload`, completion)).body).toMatchObject({ status: 404 });
    expect(
      (await eve('POST', `/computers/${computer.id}/files/a/create-upload`, { sizeBytes: 1 })).status,
    ).toBe(404);
    expect(
      (await fetch(`${service.url}/api/v0${files('a')}/complete-upload`, { method: 'POST' })).status,
    ).toBe(401);
  });
});

describe('odd texts', () => {
  const ODD = [
    '\u0000',
    "'; DROP TABLE transfers; --",
    '\\',
    '\t\n',
    '\ufeff',
    '\ud83d',
    '{a:String}',
    '$id',
    '\\N',
    'x'.repeat(5000),
  ];
  for (const odd of ODD)
    test(`as ${JSON.stringify(odd.slice(0, 40))} are kept or not found, and never a 5xx`, async () => {
      const { transferId, complete } = await service.sent(computer.id, `odd-${ODD.indexOf(odd)}`, 'x');
      expect((await complete({ sessionId: odd })).status).toBe(200);
      const [row] = await service.world.store.select(
        'SELECT session_id = $odd AS is_kept FROM transfers WHERE transfer_id = $id',
        { id: transferId, odd: Buffer.from(odd).toString() },
      );
      expect(Boolean(row?.is_kept)).toBe(true);
      const part = encodeURIComponent(Buffer.from(odd).toString());
      for (const path of [`/computers/${part}`, `/computers/name/${part}`])
        expect((await ada('GET', path)).status).toBe(404);
      expect((await ada('POST', `/computers/${part}/files/a/create-upload`, { sizeBytes: 1 })).status).toBe(
        404,
      );
    });
});

describe('a request that takes its time', () => {
  /** Sends a head and half of a body, and answers the status that comes. */
  const halfOf = (url: string, head: string, body: string, rest: Promise<unknown>) =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname, () =>
        socket.write(`${head}\r\n\r\n${body.slice(0, 1)}`),
      );
      socket.on('error', reject);
      socket.on('data', (data) => {
        resolve(String(data).slice(9, 12));
        socket.destroy();
      });
      void rest.then(() => socket.write(body.slice(1)));
    });

  test('is a 408 after DAYBOOK_TIMEOUT_S, but for the bytes of a file', async () => {
    const quick = hasty;
    const box = await quick.computer();
    const { key } = await createKey(quick.world.store, { orgId: 'acme', role: 'owner' }, quick.world.now);
    const never = new Promise(() => {});
    const post = `POST /api/v0/computers HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 2`;
    const late = halfOf(quick.url, post, '{}', never);
    const { body } = await quick.as('member', 'ada')('POST', `/computers/${box.id}/files/a/create-upload`, {
      sizeBytes: 2,
    });
    const { pathname, search } = new URL(body.uploadUrl);
    // The rest of the file comes when the other request has been given up.
    const put = halfOf(
      quick.url,
      `PUT ${pathname}${search} HTTP/1.1\r\nhost: x\r\ncontent-length: 2`,
      'ab',
      late,
    );
    expect(await late).toBe('408');
    expect(await put).toBe('204');
  });

  test('is read where the rest of it came while the service had no turn', async () => {
    const post = `POST /api/v0/computers HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${hasty.key}\r\ncontent-type: application/json\r\ncontent-length: 2`;
    const rest = gate();
    const heard = once(hasty.app.server, 'request');
    const status = halfOf(hasty.url, post, '{}', rest.opened);
    await heard;
    await setImmediate();
    rest.open();
    await rest.opened;
    const end = performance.now() + 1500;
    while (performance.now() < end);
    expect(await status).toBe('400');
  });
});

test('the log has no signature of an address', async () => {
  const world = await World.create();
  let log = '';
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    log += text;
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  const app = buildApp(world, { logs: true });
  await app.inject({ method: 'PUT', url: `/api/v0/transfers/${ANY}?expires=1&signature=hunter2` });
  await app.close();
  spy.mockRestore();
  expect(log).toContain(`"path":"/api/v0/transfers/${ANY}"`);
  expect(log).not.toContain('hunter2');
});

test('what is over is swept away: objects an hour after their end, transfers a week after', async () => {
  const other = await Service.start();
  const box = await other.computer();
  await other.agent(box);
  const done = await other.sent(box.id, 'done', 'done');
  expect((await done.complete()).status).toBe(200);
  await other.sent(box.id, 'never', 'never');
  const { store, clock, config } = other.world;
  const objects = new LocalObjects(join(config.data, 'objects'));
  const transfers = new Transfers(store, clock);
  const uploads = new Uploads(transfers, objects, new Relay(clock), Signer.open(config), 1, clock);
  const left = async () => ({
    objects: readdirSync(join(config.data, 'objects')).length - 1,
    transfers: Number((await store.select('SELECT count(*) AS transfers FROM transfers'))[0]?.transfers),
  });
  await uploads.sweep();
  expect(await left()).toEqual({ objects: 1, transfers: 2 });
  other.world.now += 15 * 60_000 + 3_600_001;
  await uploads.sweep();
  expect(await left()).toEqual({ objects: 0, transfers: 1 });
  expect((await done.complete()).status).toBe(200);
  other.world.now += 7 * 86_400_000;
  await uploads.sweep();
  expect(await left()).toEqual({ objects: 0, transfers: 0 });
});

interface Bucket {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

/** A server that speaks S3, with a bucket; and the credentials that it takes. */
async function s3Server(): Promise<{ objects: string; files: () => string[] }> {
  const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => Bucket;
  const directory = temporaryFolder();
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'files' }],
  });
  const { port } = await server.run();
  onTestFinished(() => server.close());
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) {
    const before = process.env[name];
    process.env[name] = 'S3RVER';
    onTestFinished(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
  return {
    objects: `s3://files/daybook?region=eu-central-1&endpoint=http://127.0.0.1:${port}`,
    files: () =>
      readdirSync(join(directory, 'files'), { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('object'),
      ),
  };
}

test('files go by way of a bucket: sent there and fetched there, checked, and removed when they have arrived', async () => {
  const { objects, files } = await s3Server();
  const service = await Service.start({ DAYBOOK_OBJECTS: objects }, onTestFinished);
  const ada = service.as('member', 'ada');
  const computer = await service.computer();
  const agent = await service.agent(computer);
  const bytes = Buffer.alloc(3_000_000, 'daybook');
  const path = `/computers/${computer.id}/files/a.bin`;
  const { body } = await ada('POST', `${path}/create-upload`, { sizeBytes: bytes.length });
  const url = new URL(body.uploadUrl);
  expect(url.host).not.toBe(new URL(service.url).host);
  expect(url.searchParams.get('X-Amz-Expires')).toBe('900');
  expect(url.searchParams.get('X-Amz-SignedHeaders')).toContain('content-length');
  const completion = { transferId: body.transferId, sessionId: 's', destPath: 'in' };
  const complete = () => ada('POST', `${path}/complete-upload`, completion);
  expect((await complete()).status).toBe(424);
  expect((await fetch(url, { method: 'PUT', body: bytes })).status).toBe(200);
  expect(files()).toHaveLength(1);
  expect((await complete()).body).toEqual({
    transferId: body.transferId,
    fileName: 'a.bin',
    byteLength: bytes.length,
  });
  expect(readFileSync(join(agent.workspace, 'in', 'a.bin')).equals(bytes)).toBe(true);
  expect(files()).toEqual([]);
  expect((await complete()).status).toBe(200);
  // The service itself takes no bytes then.
  const transfer = `${service.url}/api/v0/transfers/${body.transferId}${url.search}`;
  for (const method of ['PUT', 'GET'])
    expect((await fetch(transfer, { method, ...(method === 'PUT' ? { body: 'x' } : {}) })).status).toBe(401);
});

/** How many names and paths are tried by way of the service: test/workspace.test.ts tries 10,000 without it. */
const HOSTILE = !playsSlow() || storeName() !== 'DuckDB' ? 60 : 10_000;
const AT_ONCE = 20;

test(`of ${HOSTILE} names and paths none gives a 5xx, and the workspace has what was answered with 200`, async () => {
  const own = await service.computer();
  const { workspace, said } = await service.agent(own);
  let tried = 0;
  let written = 0;
  let refused = 0;
  const send = async ([fileName, destPath]: [string, string | undefined]) => {
    // Two of one name in one place are never the same file.
    tried += 1;
    const bytes = String(tried);
    const url = `/computers/${own.id}/files/${encodeURIComponent(fileName)}`;
    const created = await ada('POST', `${url}/create-upload`, { sizeBytes: bytes.length });
    expect(created.status).toBe(isName(fileName) ? 200 : 400);
    if (!isName(fileName)) {
      refused += 1;
      return;
    }
    const { transferId, uploadUrl } = created.body;
    expect((await fetch(uploadUrl, { method: 'PUT', body: bytes })).status).toBe(204);
    const completion = { transferId, sessionId: 's', ...(destPath === undefined ? {} : { destPath }) };
    const { status } = await ada('POST', `${url}/complete-upload`, completion);
    if (destPath !== undefined && !isPath(destPath)) {
      expect(status).toBe(400);
      refused += 1;
      return;
    }
    expect([200, 409, 424]).toContain(status);
    if (status !== 200) return;
    written += 1;
    expect(existsSync(`${workspace}/${destPath ?? ''}/${fileName}`)).toBe(true);
  };
  const some = fc.array(fc.tuple(name.map(wellFormed), path), { minLength: AT_ONCE, maxLength: AT_ONCE });
  const property = fc.asyncProperty(some, async (sent) => {
    await Promise.all(sent.map(send));
  });
  await fc.assert(property, { seed: FUZZ_SEED, numRuns: HOSTILE / AT_ONCE, endOnFailure: true });
  expect(said.some((sentence) => sentence.includes('broke'))).toBe(false);
  expect(written).toBeGreaterThan(HOSTILE / 30);
  expect(refused).toBeGreaterThan(HOSTILE / 20);
  const found = readdirSync(workspace, { recursive: true, withFileTypes: true });
  expect(found.filter((one) => one.isFile())).toHaveLength(written);
  expect(readdirSync(join(workspace, '..'))).toEqual(['inside']);
}, 900_000);
