import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import fs, { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import type { Role } from '../src/api/roles.js';
import { Acknowledged } from '../src/ingest/acknowledged.js';
import { BODY_LINES } from '../src/ingest/body-check.js';
import { digestOfBody, nameOf } from '../src/ingest/body-name.js';
import { Inbox, InboxFull } from '../src/ingest/inbox.js';
import { refusalOfBody } from '../src/ingest/request-body.js';
import { buildApp } from '../src/service/app.js';
import type { Batch, BatchFile, Store } from '../src/store/store.js';
import { ulid } from '../src/ulid.js';
import { ending, event, lines, World } from './world.js';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
}

/** A service of its own with a key, and what sends bodies to it. */
async function service(role: Role = 'ingest', environment: Record<string, string> = {}) {
  const world = await World.create(environment);
  const { key } = await createKey(world.store, { orgId: 'acme', role }, world.now);
  const app = buildApp(world);
  return { world, app, send: sender(app, key) };
}

let world: World;
let app: FastifyInstance;
const atEnd = ending();
beforeAll(async () => {
  world = await World.create({}, atEnd);
  app = buildApp(world);
});

let organizations = 0;

/** A new organization of the service of all tests, what sends bodies with a key of it, and what it has stored then. */
async function newOrganization(role: Role = 'ingest', userId?: string) {
  organizations += 1;
  const orgId = `org-${organizations}`;
  const { key } = await createKey(world.store, { orgId, role, userId }, world.now);
  return { orgId, send: sender(app, key), stored: () => stored(world, orgId) };
}

function sender(app: FastifyInstance, key: string) {
  return async (payload: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/v1/events',
      payload,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson', ...headers },
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  };
}

async function stored(world: World, orgId = 'acme'): Promise<unknown[]> {
  await world.inbox.drain(world.store);
  const rows = await world.store.select(
    'SELECT event_id FROM events WHERE org_id = $org_id ORDER BY event_id',
    { org_id: orgId },
  );
  return rows.map(({ event_id }) => event_id);
}

describe('POST /api/v1/events', () => {
  test('takes lines, and answers with the facts; blank lines count for nothing', async () => {
    const { send, stored } = await newOrganization();
    const { status, body } = await send(lines([event('1'), '', event('2'), '  ']));
    expect({ status, body }).toEqual({ status: 200, body: { accepted: 2, rejected: 0, errors: [] } });
    expect(await stored()).toEqual(['1', '2']);
    expect(world.inbox.depth).toEqual({ bytes: 0, files: 0 });
  });

  test('takes a JSON array, written in any way', async () => {
    const { send, stored } = await newOrganization();
    const json = { 'content-type': 'application/json; charset=utf-8' };
    const { body } = await send(JSON.stringify([event('1'), event('2', { cwd: 'a\nb' }), 5], null, 2), json);
    expect(body).toEqual({
      accepted: 2,
      rejected: 1,
      errors: [{ line: 3, code: 'not_an_object', detail: 'The line must be a JSON object.' }],
    });
    expect((await send('[]', json)).body).toEqual({ accepted: 0, rejected: 0, errors: [] });
    for (const bad of ['{"a":1}', '[{"a":1},', '', 'null', '[1] 2', `${JSON.stringify([event('3')])}x`])
      expect((await send(bad, json)).status).toBe(400);
    expect(await stored()).toEqual(['1', '2']);
  });

  test('names the first hundred lines that were rejected, takes the others, and keeps why', async () => {
    const { orgId, send, stored } = await newOrganization();
    const bad = Array.from({ length: 120 }, (_, index) => event(`bad${index}`, { user_id: 7 }));
    const { body } = await send(lines([event('1'), ...bad, '{', event('2')]));
    expect(body).toMatchObject({ accepted: 2, rejected: 121 });
    const errors = body.errors as { line: number }[];
    expect(errors).toHaveLength(100);
    expect(errors[0]).toEqual({ line: 2, code: 'wrong_type', detail: 'user_id must be a string.' });
    expect(await stored()).toEqual(['1', '2']);
    const rejects = await world.store.select(
      'SELECT reason, count(*) AS lines FROM rejects WHERE org_id = $org_id GROUP BY reason ORDER BY reason',
      { org_id: orgId },
    );
    expect(rejects).toEqual([
      { reason: 'not_json', lines: 1 },
      { reason: 'wrong_type', lines: 120 },
    ]);
  });

  test('a line that is too long is rejected, and those around it are taken', async () => {
    const { send, stored } = await newOrganization();
    const { body } = await send(lines([event('1'), event('long', { cwd: 'x'.repeat(1 << 20) }), event('2')]));
    expect(body).toMatchObject({
      accepted: 2,
      rejected: 1,
      errors: [{ line: 2, code: 'line_too_long', detail: 'The line must be at most 1 MiB long.' }],
    });
    expect(await stored()).toEqual(['1', '2']);
  });

  test('unpacks gzip, and refuses other encodings and what is not packed as it says', async () => {
    const { send, stored } = await newOrganization();
    expect((await send(gzipSync(lines([event('1')])), { 'content-encoding': 'gzip' })).body.accepted).toBe(1);
    expect((await send('plain', { 'content-encoding': 'gzip' })).status).toBe(400);
    // A frame of zstd that asks for 1 GiB of memory.
    const frame = Buffer.from('28b52ffd00a00900000a', 'hex');
    const refused = await send(frame, { 'content-encoding': 'zstd' });
    expect(refused.status).toBe(415);
    expect(refused.body.detail).toBe('The Content-Encoding must be identity or gzip.');
    expect((await send('plain', { 'content-encoding': 'br' })).status).toBe(415);
    expect((await send(lines([event('3')]), { 'content-type': 'text/csv' })).status).toBe(415);
    expect(await stored()).toEqual(['1']);
  });

  test('refuses bodies over 16 MiB as sent and 64 MiB unpacked, and has taken nothing', async () => {
    const { send, stored } = await newOrganization();
    const one = `${JSON.stringify(event('1'))}\n`;
    expect((await send(one.repeat(Math.ceil((16 << 20) / one.length) + 1))).status).toBe(413);
    const bomb = gzipSync(Buffer.alloc((64 << 20) + 1, ' '));
    expect((await send(bomb, { 'content-encoding': 'gzip' })).status).toBe(413);
    expect(await stored()).toEqual([]);
    expect(readdirSync(join(world.config.data, 'inbox', 'incoming'))).toEqual([]);
    const most = gzipSync(Buffer.alloc(64 << 20, ' '));
    expect((await send(most, { 'content-encoding': 'gzip' })).body).toMatchObject({ rejected: 0 });
  });

  test('leaves nothing of a body that it refuses before its file is open', async () => {
    const { send } = await newOrganization();
    const { open } = fs;
    let opened = 0;
    const opening = vi.spyOn(fs, 'open').mockImplementation((...all: unknown[]) => {
      const done = all.pop() as (...result: unknown[]) => void;
      const then = (...result: unknown[]) => {
        opened += 1;
        done(...result);
      };
      setTimeout(() => Reflect.apply(open, fs, [...all, then]), 50);
    });
    onTestFinished(() => opening.mockRestore());
    expect((await send('plain', { 'content-encoding': 'gzip' })).status).toBe(400);
    await expect.poll(() => opened).toBeGreaterThan(0);
    await expect.poll(() => readdirSync(join(world.config.data, 'inbox', 'incoming'))).toEqual([]);
  });

  test('refuses bodies of more than 100,000 lines or elements, however short or wide they are', async () => {
    const { send, stored } = await newOrganization();
    const packed = { 'content-encoding': 'gzip' };
    for (const line of ['{\n', '\n', '1\r\n']) {
      const { status, body } = await send(gzipSync(line.repeat(BODY_LINES + 1)), packed);
      expect({ status, detail: body.detail }).toEqual({
        status: 413,
        detail: 'A body must have at most 100000 lines, or elements of an array: send it in parts.',
      });
    }
    const json = { ...packed, 'content-type': 'application/json' };
    expect((await send(gzipSync(`[${'0,'.repeat(BODY_LINES)}0]`), json)).status).toBe(413);
    expect((await send(gzipSync(`${'\n'.repeat(BODY_LINES - 1)}{`), packed)).body).toMatchObject({
      rejected: 1,
      errors: [{ line: BODY_LINES }],
    });
    // Commas of texts and of what is nested count for nothing.
    const many = `[${'1,'.repeat(490_000)}1]`;
    for (const [body, headers] of [
      [`${many}\n`.repeat(8), packed],
      [`[${`${many},`.repeat(7)}${many}]`, json],
    ] as const)
      expect((await send(gzipSync(body), headers)).body).toMatchObject({ accepted: 0, rejected: 8 });
    const nested = `[${`[${'0,'.repeat(BODY_LINES)}0],"${'\\",'.repeat(BODY_LINES)}"`}]`;
    expect((await send(gzipSync(nested), json)).body).toMatchObject({ accepted: 0, rejected: 2 });
    expect(await stored()).toEqual([]);
  });

  test('looks at a body with faults piece by piece, with the numbers of its lines', async () => {
    const { send, stored } = await newOrganization();
    const wide = (id: string) => event(id, { cwd: 'x'.repeat(1900), other: 'y'.repeat(900_000) });
    const sent = Array.from({ length: 4 }, (_, index) => wide(`wide-${index}`));
    const { body } = await send(gzipSync(lines([...sent, '{', ...sent, event('late', { user_id: 7 })])), {
      'content-encoding': 'gzip',
    });
    expect(body).toMatchObject({
      accepted: 8,
      rejected: 2,
      errors: [
        { line: 5, code: 'not_json' },
        { line: 10, code: 'wrong_type' },
      ],
    });
    expect(await stored()).toHaveLength(4);
  });

  test('stops looking at a body when its sender has gone, and goes on with the others', async () => {
    const { orgId, send } = await newOrganization();
    const gone = new AbortController();
    const receiving = world.inbox.receive(Readable.from([Buffer.from(lines(['{', event('1')]))]), {
      requestId: 'gone',
      orgId,
      onlyUsers: null,
      encoding: 'identity',
      isArray: false,
      keepsText: true,
      gone: gone.signal,
    });
    gone.abort();
    const [left, stayed] = await Promise.allSettled([receiving, send(lines(['{', event('2')]))]);
    expect(left).toMatchObject({ status: 'rejected', reason: { name: 'Gone' } });
    // It is no failure of the service, which its log would have to tell.
    const { reason } = left as PromiseRejectedResult;
    const log = { error: vi.fn() } as unknown as FastifyBaseLogger;
    expect(refusalOfBody(reason, log)).toMatchObject({ status: 400 });
    expect(stayed).toMatchObject({ value: { body: { accepted: 1, rejected: 1 } } });
    expect(readdirSync(join(world.config.data, 'inbox', 'incoming'))).toEqual([]);
  });

  test('counts once what is sent again, in the same body, in another, and after it was settled', async () => {
    const { send, stored } = await newOrganization();
    const body = lines([event('1'), event('1'), event('2')]);
    for (let round = 0; round < 3; round += 1) {
      expect((await send(body)).body).toMatchObject({ accepted: 3, rejected: 0 });
      if (round === 1) await world.inbox.drain(world.store);
    }
    expect(await stored()).toEqual(['1', '2']);
  });

  test("a member sends only the own user's events: with one of another nothing is taken", async () => {
    const { orgId, send, stored } = await newOrganization('member', 'ada');
    expect((await send(lines([event('1')]))).status).toBe(200);
    const refused = await send(lines([event('2'), event('3', { user_id: 'grace' })]));
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toMatch(/only events of its own user_id, ada:/);
    // Also where lines are looked at one by one.
    expect((await send(lines([event('2'), '{', event('3', { user_id: 'grace' })]))).status).toBe(403);
    expect(await stored()).toEqual(['1']);
    const { key } = await createKey(world.store, { orgId, role: 'member' }, world.now);
    expect((await sender(app, key)(lines([event('4')]))).status).toBe(403);
  });

  test('a guest sends nothing, and an org_id of another organization is rejected', async () => {
    expect((await (await newOrganization('guest')).send(lines([event('1')]))).status).toBe(403);
    const { body } = await (await newOrganization('owner')).send(lines([event('1', { org_id: 'globex' })]));
    expect(body).toMatchObject({ accepted: 0, rejected: 1, errors: [{ code: 'org_mismatch' }] });
  });

  test('organizations that send at once each get their own', async () => {
    const people = ['acme', 'globex', 'initech'];
    await Promise.all(
      people.map(async (orgId) => {
        const { key } = await createKey(world.store, { orgId, role: 'ingest' }, world.now);
        const send = sender(app, key);
        const answers = await Promise.all(
          Array.from({ length: 5 }, (_, index) =>
            send(lines([event(`${orgId}${index}`), index === 2 ? '{' : ''])),
          ),
        );
        for (const [index, { body }] of answers.entries())
          expect(body).toMatchObject({ accepted: 1, rejected: index === 2 ? 1 : 0 });
      }),
    );
    await world.inbox.drain(world.store);
    const rows = await world.store.select(
      "SELECT org_id, count(*) AS events, min(event_id) AS least FROM events WHERE org_id IN ('acme', 'globex', 'initech') GROUP BY org_id ORDER BY org_id",
    );
    expect(rows).toEqual(people.map((org_id) => ({ org_id, events: 5, least: `${org_id}0` })));
  });

  test('is a 503 with Retry-After while as much waits as may, and takes more once that is settled', async () => {
    const { world, send } = await service('ingest', { DAYBOOK_INBOX_MB: '1' });
    const filler = lines(
      Array.from({ length: 1000 }, (_, index) => event(`f${index}`, { cwd: 'x'.repeat(1200) })),
    );
    expect((await send(filler)).status).toBe(200);
    const full = await send(lines([event('1')]));
    expect(full.status).toBe(503);
    expect(full.headers['retry-after']).toBe('5');
    await world.inbox.drain(world.store);
    expect((await send(lines([event('1')]))).status).toBe(200);
  });

  test('is a 503 for the organization whose events fill the room alone: others have theirs, also after a restart', async () => {
    const { world, send } = await service('ingest', { DAYBOOK_INBOX_MB: '1' });
    const { key } = await createKey(world.store, { orgId: 'globex', role: 'ingest' }, world.now);
    const half = (first: string) =>
      lines(Array.from({ length: 500 }, (_, index) => event(`${first}${index}`, { cwd: 'x'.repeat(1200) })));
    const other = { authorization: `Bearer ${key}` };
    expect((await send(half('a'))).status).toBe(200);
    expect((await send(lines([event('1')]))).status).toBe(503);
    expect((await send(lines([event('1')]), other)).status).toBe(200);
    await world.inbox.close();
    const next = Inbox.open({ ...world.config, inboxMb: 1 }, world.clock);
    const receipt = { requestId: 'req_2', receivedAt: world.now };
    await expect(next.receiveChecked(['{}'], { ...receipt, orgId: 'acme' })).rejects.toThrow(InboxFull);
    await next.receiveChecked(['{}'], { ...receipt, orgId: 'initech' });
    await next.close();
  });
});

describe('what a fall leaves', () => {
  test('acknowledged events are there after it, and are settled by the next process', async () => {
    const { world, send } = await service();
    await send(lines([event('1'), '{']));
    await world.inbox.close();
    const next = Inbox.open({ ...world.config, inboxMb: 10 }, world.clock);
    expect(next.depth.files).toBe(1);
    await next.drain(world.store);
    await next.close();
    expect(await world.store.select('SELECT event_id FROM events')).toEqual([{ event_id: '1' }]);
    expect(await world.store.select('SELECT count(*) AS rejects FROM rejects')).toEqual([{ rejects: 1 }]);
  });

  test('a batch that was settled and not removed is not settled again', async () => {
    const { world, send } = await service();
    await send(lines([event('1'), event('1'), '{']));
    let isGone = false;
    const failing = Object.create(world.store, {
      settle: {
        value: async (...args: Parameters<typeof world.store.settle>) => {
          await world.store.settle(...args);
          isGone = true;
          throw new Error('the power fails here');
        },
      },
      select: {
        value: (...args: Parameters<Store['select']>) =>
          isGone ? Promise.reject(new Error('and here')) : world.store.select(...args),
      },
    });
    await expect(world.inbox.drain(failing)).rejects.toThrow('the power');
    expect(readdirSync(join(world.config.data, 'inbox', 'settling'))).toHaveLength(1);
    await world.inbox.close();
    const next = Inbox.open({ ...world.config, inboxMb: 10 }, world.clock);
    await next.drain(world.store);
    expect(readdirSync(join(world.config.data, 'inbox', 'settling'))).toEqual([]);
    await next.close();
    expect(
      await world.store.select(
        'SELECT sum(accepted) AS a, sum(duplicates) AS d, sum(rejected) AS r, count(*) AS n FROM batches',
      ),
    ).toEqual([{ a: 1, d: 1, r: 1, n: 1 }]);
  });

  test('a batch that could not be settled stays, and goes in with the next try', async () => {
    const { world, send } = await service();
    await send(lines([event('1')]));
    const failing = Object.create(world.store, {
      settle: { value: () => Promise.reject(new Error('IO Error: No space left on device')) },
    });
    await expect(world.inbox.drain(failing)).rejects.toThrow('No space');
    expect(world.inbox.setAside).toEqual([]);
    await send(lines([event('2')]));
    expect(await stored(world)).toEqual(['1', '2']);
  });

  test('nothing of a body that was being received is left', async () => {
    const { world, send } = await service();
    const folder = join(world.config.data, 'inbox', 'incoming');
    await send(lines([event('1')]));
    expect(readdirSync(folder)).toEqual([]);
    const ready = join(world.config.data, 'inbox', 'ready');
    expect(readFileSync(join(ready, readdirSync(ready)[0] ?? ''), 'utf8')).toContain('"event_id":"1"');
  });
});

describe('what was acknowledged is judged by the time of that moment', () => {
  const DAY_MS = 86_400_000;
  const at = (instant: number) => ({ timestamp: new Date(instant).toISOString() });

  test.each([
    ['behind', -30 * DAY_MS],
    ['ahead', 30 * DAY_MS],
  ])('with a clock that is %s afterwards', async (_, moved) => {
    const { world, send } = await service();
    // The second body isn't plain, so that the rules of sql/ingest judge it at both times.
    const bodies = ['', ' '].map((space, index) =>
      lines([
        event(`now-${index}`, at(world.now)),
        event(`soon-${index}`, at(world.now + DAY_MS)),
        event(`later-${index}`, at(world.now + DAY_MS + 1)),
        `${space}${JSON.stringify(event(`end-${index}`))}`,
      ]),
    );
    for (const body of bodies)
      expect((await send(body)).body).toMatchObject({
        accepted: 3,
        rejected: 1,
        errors: [{ line: 3, code: 'timestamp_in_future' }],
      });
    const [day] = await world.store.select('SELECT CAST(instant($now) AS DATE) AS day', { now: world.now });
    world.now += moved;
    expect(await stored(world)).toEqual(['end-0', 'end-1', 'now-0', 'now-1', 'soon-0', 'soon-1']);
    expect(
      await world.store.select('SELECT reason, line_no, line LIKE $later AS is_later FROM rejects', {
        later: '%later%',
      }),
    ).toEqual(Array(2).fill({ reason: 'timestamp_in_future', line_no: 3, is_later: true }));
    // What has no day of its own counts on the day on which it came.
    await send('{');
    world.now -= moved;
    await world.inbox.drain(world.store);
    const [reject] = await world.store.select("SELECT day FROM rejects WHERE reason = 'not_json'");
    expect(Date.parse(String(reject?.day)) - Date.parse(String(day?.day))).toBe(moved);
  });
});

describe('what can not be settled is set aside', () => {
  test('whatever it is: the rest is settled, it is reported once, and settled once it can be', async () => {
    const { world, send } = await service();
    const inbox = join(world.config.data, 'inbox');
    const textOf = (id: string) =>
      `${JSON.stringify({ ...event(id), $line: 1, $at: Date.parse(event(id).timestamp) })}\n`;
    const name = (id: string) =>
      nameOf({
        requestId: `req_${id}`,
        receivedAt: world.now,
        orgId: 'acme',
        digest: digestOfBody(hash('sha256', textOf(id))),
      });
    await send(lines([event('1')]));
    await world.inbox.close();
    for (const folder of ['incoming/folder', 'ready/.illegal', 'ready/acme', `settling/T/${name('folder')}`])
      mkdirSync(join(inbox, folder), { recursive: true });
    for (const file of ['incoming/body', 'ready/.DS_Store', 'ready/acme/.DS_Store', 'settling/.DS_Store'])
      writeFileSync(join(inbox, file), '');
    writeFileSync(join(inbox, 'ready', '.illegal', `req_${ulid(world.now)}.ndjson`), lines([event('no')]));
    symlinkSync('nowhere', join(inbox, 'ready', name('link')));
    execFileSync('mkfifo', [join(inbox, 'settling', 'T', name('pipe'))]);
    writeFileSync(join(inbox, 'settling', 'T', name('body')), textOf('body'));
    const next = Inbox.open({ ...world.config, inboxMb: 10 }, world.clock);
    const reported: string[] = [];
    next.start(world.store, {
      failed: (error) => expect.unreachable(String(error)),
      setAside: ({ path }) => reported.push(path),
    });
    const aside = [
      'ready/.DS_Store',
      'ready/.illegal',
      'ready/acme',
      `ready/${name('link')}`,
      'settling/.DS_Store',
      `settling/T/${name('folder')}`,
      `settling/T/${name('pipe')}`,
    ].map((path) => join(inbox, path));
    for (let drains = 0; drains < 3; drains += 1) await next.drain(world.store);
    expect(reported.sort()).toEqual(aside);
    expect(next.setAside.map(({ path }) => path).sort()).toEqual(aside);
    expect((await Acknowledged.look(world.config.data, world.clock)).map(({ path }) => path).sort()).toEqual(
      aside,
    );
    expect(new Set(next.setAside.map(({ reason }) => reason))).toEqual(
      new Set(['Daybook did not put it there']),
    );
    expect(next.depth).toEqual({ bytes: 0, files: 0 });
    expect(await stored(world)).toEqual(['1', 'body']);
    const scraped = buildApp({ ...world, inbox: next });
    expect((await scraped.inject('/metrics')).body).toContain('daybook_inbox_set_aside 7\n');
    for (const path of [`ready/${name('link')}`, `settling/T/${name('pipe')}`]) {
      rmSync(join(inbox, path));
      writeFileSync(join(inbox, path), textOf(path.includes('link') ? 'link' : 'pipe'));
    }
    for (const path of ['ready/.DS_Store', 'ready/acme']) rmSync(join(inbox, path), { recursive: true });
    await next.drain(world.store);
    expect(await stored(world)).toEqual(['1', 'body', 'link', 'pipe']);
    expect(next.setAside).toHaveLength(3);
    expect(readdirSync(join(inbox, 'ready'))).toEqual(['.illegal']);
    await next.close();
  });

  const damages: [string, (bytes: Buffer) => Buffer][] = [
    [
      'another digit',
      (bytes) => Buffer.from(bytes.toString().replace('"input_tokens":10', '"input_tokens":90')),
    ],
    ['no last line', (bytes) => bytes.subarray(0, bytes.lastIndexOf('\n', -2) + 1)],
    ['no bytes', () => Buffer.alloc(0)],
  ];
  for (const [what, damage] of damages) {
    test(`also a body that has ${what} on disk: it is counted once it is as it was acknowledged`, async () => {
      const { world, send } = await service();
      const tokens = { type: 'model_usage', model: 'sonnet-4', input_tokens: 10, output_tokens: 5 };
      await send(lines([event('1', tokens), event('2', tokens)]));
      world.now += 1;
      await send(lines([event('3', tokens)]));
      const inbox = join(world.config.data, 'inbox');
      const [name = ''] = readdirSync(join(inbox, 'ready')).sort();
      const whole = readFileSync(join(inbox, 'ready', name));
      const damaged = damage(whole);
      expect(damaged).not.toEqual(whole);
      writeFileSync(join(inbox, 'ready', name), damaged);
      await world.inbox.drain(world.store);
      expect(await stored(world)).toEqual(['3']);
      const [entry] = world.inbox.setAside;
      expect(entry?.reason).toBe('it is damaged: its bytes are not those that were acknowledged');
      writeFileSync(entry?.path ?? '', whole);
      await world.inbox.drain(world.store);
      expect(await stored(world)).toEqual(['1', '2', '3']);
      expect(world.inbox.setAside).toEqual([]);
    });
  }

  test('also a file that makes the store fail: it is found among others, and none is settled twice', async () => {
    const { world, send } = await service();
    for (let index = 0; index < 9; index += 1, world.now += 1) await send(lines([event(`${index}`)]));
    let fails = true;
    const sizes: number[] = [];
    const failing: Store = Object.create(world.store, {
      settle: {
        value: async (batch: Batch) => {
          sizes.push(batch.files.length);
          const isBad = ({ path }: BatchFile) => readFileSync(path, 'utf8').includes('"event_id":"6"');
          if (fails && batch.files.some(isBad)) throw new Error('Invalid Input Error: secret');
          await world.store.settle(batch);
          // The answer of a batch can be lost after it was settled.
          if (batch.files.length === 2) throw new Error('ECONNRESET');
        },
      },
    });
    await world.inbox.drain(failing);
    const ids = ['0', '1', '2', '3', '4', '5', '7', '8'];
    const eventIds = async () =>
      (await world.store.select('SELECT event_id FROM events ORDER BY event_id')).map((row) => row.event_id);
    expect(await eventIds()).toEqual(ids);
    expect(sizes).toEqual([9, 5, 4, 2, 1, 1, 2]);
    expect(world.inbox.setAside.map(({ reason }) => reason)).toEqual([
      "the store can't settle it (Invalid Input Error)",
    ]);
    // It rests for a minute, and others don't wait for it.
    fails = false;
    await send(lines([event('9')]));
    await world.inbox.drain(failing);
    expect(await eventIds()).toEqual([...ids, '9']);
    world.now += 60_000;
    await world.inbox.drain(failing);
    expect(await eventIds()).toEqual([...ids.slice(0, 6), '6', ...ids.slice(6), '9']);
    expect(world.inbox.setAside).toEqual([]);
    expect(readdirSync(join(world.config.data, 'inbox', 'settling'))).toEqual([]);
    const [all] = await world.store.select('SELECT sum(duplicates) AS d, sum(accepted) AS a FROM batches');
    expect(all).toEqual({ d: 0, a: 10 });
  });

  test('and is not lost where a process is killed between the parts of a batch', async () => {
    const { world, send } = await service();
    for (let index = 0; index < 4; index += 1, world.now += 1) await send(lines([event(`${index}`)]));
    let settled = 0;
    const killed: Store = Object.create(world.store, {
      settle: {
        value: async (batch: Batch) => {
          if (batch.files.length === 4) throw new Error('Out of Memory Error: four are too many');
          settled += 1;
          if (settled === 1) await world.store.settle(batch);
          throw new Error('the power fails here');
        },
      },
      select: {
        value: (...args: Parameters<Store['select']>) =>
          settled > 0 ? Promise.reject(new Error('and here')) : world.store.select(...args),
      },
    });
    await expect(world.inbox.drain(killed)).rejects.toThrow('the power');
    await world.inbox.close();
    const next = Inbox.open({ ...world.config, inboxMb: 10 }, world.clock);
    expect(next.depth.files).toBe(4);
    await next.drain(world.store);
    await next.close();
    expect(
      await world.store.select('SELECT sum(duplicates) AS d, sum(accepted) AS a, count(*) AS n FROM batches'),
    ).toEqual([{ d: 0, a: 4, n: 2 }]);
  });
});
