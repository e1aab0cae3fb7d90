import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../src/api/app.js';
import { createKey } from '../src/api/keys.js';
import type { Role } from '../src/api/roles.js';
import { Inbox } from '../src/ingest/inbox.js';
import { ending, World } from './world.js';

const event = (id: string, more: object = {}) => ({
  event_id: id,
  type: 'user_message',
  timestamp: '2026-06-10T10:00:00Z',
  user_id: 'ada',
  session_id: 's1',
  ...more,
});
const lines = (events: readonly unknown[]) =>
  events.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n');

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
    expect(body).toMatchObject({ accepted: 2, rejected: 1, errors: [{ line: 2, code: 'line_too_long' }] });
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
    expect((await send(gzipSync(Buffer.alloc(64 << 20, ' ')), { 'content-encoding': 'gzip' })).status).toBe(
      200,
    );
    expect(await stored()).toEqual([]);
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

  test('a member sends only the own user’s events: with one of another nothing is taken', async () => {
    const { orgId, send, stored } = await newOrganization('member', 'ada');
    expect((await send(lines([event('1')]))).status).toBe(200);
    const refused = await send(lines([event('2'), event('3', { user_id: 'grace' })]));
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toMatch(/own user_id, ada, only/);
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
});

describe('what a fall leaves', () => {
  test('acknowledged events are there after it, and are settled by the next process', async () => {
    const { world, send } = await service();
    await send(lines([event('1'), '{']));
    await world.inbox.close();
    const next = Inbox.open(world.config.data, 10, world.clock);
    expect(next.depth.files).toBe(1);
    await next.drain(world.store);
    await next.close();
    expect(await world.store.select('SELECT event_id FROM events')).toEqual([{ event_id: '1' }]);
    expect(await world.store.select('SELECT count(*) AS rejects FROM rejects')).toEqual([{ rejects: 1 }]);
  });

  test('a batch that was settled and not removed is not settled again', async () => {
    const { world, send } = await service();
    await send(lines([event('1'), event('1'), '{']));
    const failing = Object.create(world.store, {
      settle: {
        value: async (...args: Parameters<typeof world.store.settle>) => {
          await world.store.settle(...args);
          throw new Error('the power fails here');
        },
      },
    });
    await expect(world.inbox.drain(failing)).rejects.toThrow('the power');
    expect(readdirSync(join(world.config.data, 'inbox', 'settling'))).toHaveLength(1);
    await world.inbox.close();
    const next = Inbox.open(world.config.data, 10, world.clock);
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
      settle: { value: () => Promise.reject(new Error('no space')) },
    });
    await expect(world.inbox.drain(failing)).rejects.toThrow('no space');
    await send(lines([event('2')]));
    expect(await stored(world)).toEqual(['1', '2']);
  });

  test('nothing of a body that was being received is left', async () => {
    const { world, send } = await service();
    const folder = join(world.config.data, 'inbox', 'incoming');
    await send(lines([event('1')]));
    expect(readdirSync(folder)).toEqual([]);
    expect(
      readFileSync(
        join(
          world.config.data,
          'inbox',
          'ready',
          'acme',
          readdirSync(join(world.config.data, 'inbox', 'ready', 'acme'))[0] ?? '',
        ),
        'utf8',
      ),
    ).toContain('"event_id":"1"');
  });
});
