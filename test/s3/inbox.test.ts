import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createKey } from '../../src/api/api-keys.js';
import { BucketWriter } from '../../src/ingest/bucket-writer.js';
import { Inbox } from '../../src/ingest/inbox.js';
import { buildApp } from '../../src/service/app.js';
import { readConfig } from '../../src/settings/config.js';
import { groupOf } from '../../src/store/group.js';
import { type Batch, newestBatch, type Store } from '../../src/store/store.js';
import { gate } from '../gate.js';
import { playsSlow } from '../slow.js';
import { ending, event, lines, temporaryFolder, World } from '../world.js';
import { withCredentials } from './s3-credentials.js';
import { type Asked, type Fault, S3Server } from './s3-server.js';

const atEnd = ending();
let world: World;
let server: S3Server;
const keys = new Map<string, string>();
const ORGANIZATIONS = ['acme', 'globex', 'initech', 'umbrella', 'hooli'];

beforeAll(async () => {
  withCredentials(atEnd);
  world = await World.create({}, atEnd);
  for (const orgId of ORGANIZATIONS)
    keys.set(orgId, (await createKey(world.store, { orgId, role: 'ingest' }, world.now)).key);
});

/** Each test has its own events, which come after those of the tests before. */
let tests = 0;
let since = 0;
beforeEach(async () => {
  tests += 1;
  since = await newestBatch(world.store);
  server = await S3Server.start();
  onTestFinished(() => server.close());
});

/** Does work for a group unless another node leads that, and answers whether it did. */
type Leading = (group: number, work: () => Promise<unknown>) => Promise<boolean>;

/** The store as a node has it that leads some groups. */
function storeOf(leading: Leading): Store {
  const trying: Store['trying'] = async (task, work) => {
    let done: Awaited<ReturnType<typeof work>> | undefined;
    await leading(Number(task.split(' ')[1]), async () => {
      done = await work();
    });
    return done;
  };
  return new Proxy(world.store, {
    get: (target, name) => {
      const member: unknown = name === 'trying' ? trying : Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** A node with a disk of its own and the bucket of all. */
function node({ inboxMb = 100, leading }: { inboxMb?: number; leading?: Leading } = {}) {
  const { inbox: bucket } = readConfig({ DAYBOOK_INBOX: server.address('inbox') });
  const data = join(temporaryFolder(), 'data');
  const inbox = Inbox.open({ data, inboxMb, inbox: bucket }, world.clock);
  const store = leading === undefined ? world.store : storeOf(leading);
  onTestFinished(() => inbox.close());
  const app = buildApp({ ...world, config: world.config, inbox });
  onTestFinished(() => app.close());
  const send = async (ids: readonly string[], orgId = 'acme') => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/v1/events',
      payload: lines(ids.map((id) => event(`${tests}:${id}`))),
      headers: { authorization: `Bearer ${keys.get(orgId)}`, 'content-type': 'application/x-ndjson' },
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  };
  return { inbox, data, store, send, incoming: () => readdirSync(join(data, 'inbox', 'incoming')) };
}

/** Lets senders wait for the bucket for as long as it takes, in one test. */
function patiently(): void {
  const { timeout } = AbortSignal;
  const limits = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(100 * ms));
  onTestFinished(() => limits.mockRestore());
}

/** Holds what is written into the bucket until it is let go. */
function holding(): () => void {
  const { opened, open } = gate();
  server.delayOf = ({ method }) => (method === 'PUT' ? opened : 0);
  return open;
}

/** The events in the store, and what says that something was settled twice. */
async function stored() {
  const rows = await world.store.select(
    'SELECT event_id FROM events WHERE batch > $since ORDER BY event_id',
    {
      since,
    },
  );
  const [batches] = await world.store.select(
    'SELECT coalesce(sum(duplicates), 0) AS d FROM batches WHERE batch > $since',
    { since },
  );
  return { ids: rows.map((row) => String(row.event_id).replace(/^\d+:/, '')), twice: Number(batches?.d) };
}

const at = (start: string) => server.keys(`inbox/${start}`);

test('events are in the bucket when they are acknowledged, and are settled by whichever node', async () => {
  patiently();
  const [first, second] = [node(), node()];
  expect(await first.send(['1', '2'])).toMatchObject({ status: 200, body: { accepted: 2 } });
  expect(await first.send(['3'], 'globex')).toMatchObject({ status: 200 });
  expect(at('ready/')).toHaveLength(2);
  expect(at('')).toHaveLength(2);
  expect(first.incoming()).toEqual([]);
  expect(first.inbox.depth.files).toBe(2);
  await second.inbox.drain(world.store);
  expect(await stored()).toEqual({ ids: ['1', '2', '3'], twice: 0 });
  expect(at('')).toEqual([]);
  expect(second.inbox.depth).toEqual({ bytes: 0, files: 0 });
  await first.inbox.drain(world.store);
  expect(first.inbox.depth).toEqual({ bytes: 0, files: 0 });
  expect(readdirSync(join(second.data, 'inbox')).sort()).toEqual(['incoming', 'ready', 'settling']);
});

test('requests that come while an object is written share the next one', async () => {
  patiently();
  const { send, inbox } = node();
  const letGo = holding();
  const kept = vi.spyOn(BucketWriter.prototype, 'keep');
  onTestFinished(() => kept.mockRestore());
  const ids = Array.from({ length: 64 }, (_, one) => String(100 + one));
  const sent = Promise.all(ids.map((id, one) => send([id], ORGANIZATIONS[one % 5])));
  await expect.poll(() => kept.mock.calls.length).toBe(ids.length);
  letGo();
  expect((await sent).map(({ status }) => status)).toEqual(ids.map(() => 200));
  // However slowly they come: no more than eight are written at once, and the next one has the rest.
  expect(server.counts.PUT).toBeLessThan(12);
  await inbox.drain(world.store);
  expect(await stored()).toEqual({ ids, twice: 0 });
  expect(at('')).toEqual([]);
});

test('small and long bodies share an object, and only long ones have files', async () => {
  patiently();
  const { send, incoming, inbox } = node();
  const many = Array.from({ length: 4000 }, (_, one) => `long-${one}`);
  const files: number[] = [];
  server.faultOf = ({ method }) => {
    if (method === 'PUT') files.push(incoming().length);
    return undefined;
  };
  server.delayOf = ({ method }) => (method === 'PUT' ? 60 : 0);
  const first = send(['first']);
  await expect.poll(() => server.counts.PUT).toBe(1);
  const all = await Promise.all([first, send(['before']), send(many), send(['after'], 'globex')]);
  expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect([files[0], Math.max(...files)]).toEqual([0, 1]);
  expect(incoming()).toEqual([]);
  server.delayOf = () => 0;
  await inbox.drain(world.store);
  expect(await stored()).toEqual({ ids: ['after', 'before', 'first', ...many].sort(), twice: 0 });
  expect(inbox.setAside).toEqual([]);
  expect(at('')).toEqual([]);
});

test('a bucket that takes nothing in time is a 503, and nothing waits or stays on the disk', async () => {
  const { send, incoming, inbox } = node();
  server.faultOf = ({ method }) => (method === 'PUT' ? 'slow down' : undefined);
  const { status, headers, body } = await send(['1']);
  expect([status, headers['retry-after']]).toEqual([503, '5']);
  expect(body.error?.message ?? body.detail).toContain('send them again');
  expect(inbox.depth.files).toBe(0);
  expect(incoming()).toEqual([]);
  server.faultOf = () => undefined;
  expect((await send(['1'])).status).toBe(200);
  await inbox.drain(world.store);
  expect(await stored()).toEqual({ ids: ['1'], twice: 0 });
});

test('an object whose answer was lost for good is settled, and what is sent again counts once', async () => {
  const { send, inbox } = node();
  server.faultOf = ({ method }) => (method === 'PUT' ? 'lost answer' : undefined);
  expect((await send(['1'])).status).toBe(503);
  server.faultOf = () => undefined;
  expect(at('ready/')).toHaveLength(1);
  expect((await send(['1'])).status).toBe(200);
  await inbox.drain(world.store);
  expect((await stored()).ids).toEqual(['1']);
  expect(at('')).toEqual([]);
});

describe('the room of the inbox', () => {
  test('holds over all nodes, each of which knows what the others have once it has looked', async () => {
    patiently();
    const [first, second] = [node({ inboxMb: 1 }), node({ inboxMb: 1 })];
    const ids = Array.from({ length: 4000 }, (_, one) => `event-${one}`);
    expect((await first.send(ids)).status).toBe(200);
    expect((await first.send(['more'])).status).toBe(503);
    expect((await second.send(['before it has looked'])).status).toBe(200);
    second.inbox.start(world.store, { failed: () => {}, setAside: () => {} });
    // Its first drain settles all of it, so both have room.
    await expect.poll(() => at('ready/')).toEqual([]);
    await first.inbox.drain(world.store);
    expect((await first.send(['more'])).status).toBe(200);
  });

  test('a node that may settle nothing knows it too', async () => {
    patiently();
    const [first, other] = [node({ inboxMb: 1 }), node({ inboxMb: 1, leading: async () => false })];
    await first.send(Array.from({ length: 4000 }, (_, one) => `event-${one}`));
    other.inbox.start(other.store, { failed: () => {}, setAside: () => {} });
    await expect.poll(() => other.inbox.depth.files).toBe(1);
    expect((await other.send(['more'])).status).toBe(503);
    expect((await other.send(['of another'], 'globex')).status).toBe(200);
  });

  test('holds on the disk while the bucket is slow', async () => {
    patiently();
    const { send, incoming } = node({ inboxMb: 1 });
    const letGo = holding();
    const ids = Array.from({ length: 4000 }, (_, one) => `event-${one}`);
    const first = send(ids);
    await expect.poll(() => server.counts.PUT).toBe(1);
    expect((await send(ids)).status).toBe(503);
    letGo();
    expect((await first).status).toBe(200);
    expect(incoming()).toEqual([]);
  });
});

describe('nodes that lead some groups each', () => {
  const led =
    (isLed: (group: number) => boolean): Leading =>
    async (group, work) => {
      if (!isLed(group)) return false;
      await work();
      return true;
    };

  test('settle their own, and the last one removes an object', async () => {
    patiently();
    expect(new Set(ORGANIZATIONS.map((orgId) => groupOf(orgId) % 2)).size).toBe(2);
    const even = node({ leading: led((group) => group % 2 === 0) });
    const odd = node({ leading: led((group) => group % 2 === 1) });
    server.delayOf = () => 30;
    await Promise.all(ORGANIZATIONS.map((orgId) => even.send([orgId], orgId)));
    server.delayOf = () => 0;
    const ofEven = ORGANIZATIONS.filter((orgId) => groupOf(orgId) % 2 === 0).sort();
    await even.inbox.drain(even.store);
    expect(await stored()).toEqual({ ids: ofEven, twice: 0 });
    expect(at('ready/').length).toBeGreaterThan(0);
    await even.inbox.drain(even.store);
    await odd.inbox.drain(odd.store);
    expect(await stored()).toEqual({ ids: [...ORGANIZATIONS].sort(), twice: 0 });
    await even.inbox.drain(even.store);
    await odd.inbox.drain(odd.store);
    expect(at('')).toEqual([]);
  });

  test('at the same time, while others send and groups change hands', async () => {
    patiently();
    const leaders = new Map<number, number>();
    const locks = new Map<number, Promise<unknown>>();
    /** A lease that is free when nobody works under it. */
    const leading =
      (own: number): Leading =>
      async (group, work) => {
        if (leaders.get(group) !== own) return false;
        const turn = (locks.get(group) ?? Promise.resolve()).then(work);
        locks.set(
          group,
          turn.catch(() => undefined),
        );
        await turn;
        return true;
      };
    const nodes = [0, 1, 2].map((own) => node({ leading: leading(own) }));
    const sent: string[] = [];
    server.delayOf = () => Math.random() * 20;
    for (let round = 0; round < 8; round += 1) {
      for (let group = 0; group < 16; group += 1) leaders.set(group, (group + round) % 3);
      const sending = ORGANIZATIONS.flatMap((orgId) =>
        nodes.map(async ({ send }, own) => {
          const id = `${orgId}-${round}-${own}`;
          expect((await send([id], orgId)).status).toBe(200);
          sent.push(id);
        }),
      );
      await Promise.all([...sending, ...nodes.map(({ inbox, store }) => inbox.drain(store))]);
    }
    server.delayOf = () => 0;
    for (let round = 0; round < 3; round += 1) for (const { inbox, store } of nodes) await inbox.drain(store);
    expect(await stored()).toEqual({ ids: sent.sort(), twice: 0 });
    expect(at('')).toEqual([]);
  });
});

/** Every request in full, some of them otherwise: the client tries each a few times. */
const STEP = playsSlow() ? 1 : 3;

describe('a node that dies', () => {
  /** A node whose requests to the bucket and to the store all fail after so many, the last of which may have been done. */
  function dying(after: number, last: Fault): { inbox: Inbox; store: Store } {
    let left = after;
    const dies = (): Fault => {
      left -= 1;
      return left > 0 ? undefined : left === 0 ? last : 'cut';
    };
    server.faultOf = dies;
    const call =
      (name: 'settle' | 'select') =>
      async (...args: never[]) => {
        const fault = dies();
        if (fault === 'cut') throw new Error('the node is dead');
        const done = await (world.store[name] as (...all: never[]) => Promise<unknown>).apply(
          world.store,
          args,
        );
        if (fault !== undefined) throw new Error('the node is dead');
        return done;
      };
    const store = Object.create(world.store, {
      settle: { value: call('settle') },
      select: { value: call('select') },
    }) as Store;
    return { inbox: node().inbox, store };
  }

  test.each([
    ['cut', 'cut'],
    ['that was done, and whose answer was lost', 'lost answer'],
  ] as const)(
    'at any request, %s, has lost and doubled nothing',
    async (_, last) => {
      patiently();
      let isWhole = false;
      for (let after = 1; !isWhole; after += STEP) {
        const { send } = node();
        const ids = ORGANIZATIONS.map((orgId) => `${orgId}-${after}`);
        await Promise.all(ORGANIZATIONS.map((orgId) => send([`${orgId}-${after}`], orgId)));
        const { inbox, store } = dying(after, last);
        isWhole = await inbox.drain(store).then(
          () => true,
          () => false,
        );
        server.faultOf = () => undefined;
        const next = node().inbox;
        await next.drain(world.store);
        const all = await stored();
        expect(all.twice, `after ${after}`).toBe(0);
        expect(all.ids, `after ${after}`).toEqual(expect.arrayContaining(ids));
        // Notes of batches may stay until the second list that shows that their objects are gone.
        await next.drain(world.store);
        expect(at(''), `after ${after}`).toEqual([]);
      }
    },
    600_000,
  );
});

describe('what can not be settled', () => {
  const failingOn = (text: string, isFailing = () => true): Store =>
    Object.create(world.store, {
      settle: {
        value: async (batch: Batch) => {
          if (isFailing() && batch.files.some(({ name }) => name.includes(text)))
            throw new Error('Invalid Input Error: secret');
          return world.store.settle(batch);
        },
      },
    });

  test('is kept apart in the bucket, reported once, and settled once it can be', async () => {
    patiently();
    const { send, inbox, data } = node();
    server.delayOf = () => 20;
    await Promise.all(['1', '2', '3', '4', '5', '6'].map((id) => send([id])));
    server.delayOf = () => 0;
    let bad = '';
    let fails = true;
    const probe = Object.create(world.store, {
      settle: {
        value: async (batch: Batch) => {
          bad = bad || String(batch.files[2]?.name);
          if (fails && batch.files.some(({ name }) => name === bad))
            throw new Error('Invalid Input Error: secret');
          return world.store.settle(batch);
        },
      },
    }) as Store;
    const reported: string[] = [];
    inbox.start(probe, {
      failed: (error) => expect.unreachable(String(error)),
      setAside: ({ path }) => reported.push(path),
    });
    await inbox.drain(probe);
    await inbox.drain(probe);
    expect((await stored()).ids).toHaveLength(5);
    expect(at('ready/')).toEqual([]);
    const [key = ''] = at('aside/');
    expect(reported).toEqual([`s3://bucket/${key}`]);
    expect(inbox.setAside.map(({ path, reason }) => ({ path, reason }))).toEqual([
      { path: `s3://bucket/${key}`, reason: "the store can't settle it (Invalid Input Error)" },
    ]);
    const place = readConfig({ DAYBOOK_INBOX: server.address('inbox'), DAYBOOK_DATA: data });
    const looked = await Inbox.look(place, world.clock);
    expect(looked.map(({ path }) => path)).toEqual([`s3://bucket/${key}`]);
    expect(inbox.depth.files).toBe(0);
    fails = false;
    world.now += 60_000;
    await inbox.drain(probe);
    await inbox.drain(probe);
    expect(await stored()).toEqual({ ids: ['1', '2', '3', '4', '5', '6'], twice: 0 });
    expect(inbox.setAside).toEqual([]);
    expect(at('')).toEqual([]);
  });

  test('a body whose bytes have changed, an object that is damaged, and one of somebody else', async () => {
    patiently();
    const { send, inbox } = node();
    await send(['1']);
    const [changed = ''] = at('ready/');
    const bytes = Buffer.from(server.objects.get(changed) ?? '');
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 10) ^ 1, bytes.length - 10);
    server.objects.set(changed, bytes);
    await send(['2']);
    const broken = at('ready/').find((key) => key !== changed) ?? '';
    const whole = server.objects.get(broken) as Buffer;
    server.objects.set(broken, Buffer.from('nothing'));
    server.objects.set('inbox/ready/theirs.txt', Buffer.from('x'));
    await send(['3']);
    for (let drains = 0; drains < 3; drains += 1) await inbox.drain(world.store);
    expect((await stored()).ids).toEqual(['3']);
    expect(inbox.setAside.map(({ reason }) => reason).sort()).toEqual([
      'Daybook did not put it there',
      'it is damaged: its bytes are not those that were acknowledged',
      'it is damaged: its bytes are not those that were acknowledged',
    ]);
    server.objects.set(broken, whole);
    world.now += 60_000;
    await inbox.drain(world.store);
    expect(await stored()).toEqual({ ids: ['2', '3'], twice: 0 });
    expect(at('ready/')).toEqual(['inbox/ready/theirs.txt']);
  });

  test('a store that fails whatever it is given has the next drain go on with the same batch', async () => {
    patiently();
    const { send, inbox } = node();
    for (const id of ['1', '2', '3']) await send([id]);
    const down = Object.create(world.store, {
      select: { value: () => Promise.reject(new Error('the store is down')) },
    }) as Store;
    for (let tries = 0; tries < 5; tries += 1) await expect(inbox.drain(down)).rejects.toThrow('is down');
    expect(at('settling/')).toHaveLength(1);
    expect(inbox.depth.files).toBe(3);
    await inbox.drain(failingOn('none'));
    expect(await stored()).toEqual({ ids: ['1', '2', '3'], twice: 0 });
    expect(at('')).toEqual([]);
  });
});

test('bodies that waited in the folder before are settled too', async () => {
  const { data, inbox } = node();
  await inbox.close();
  const before = Inbox.open({ data, inboxMb: 1 }, world.clock);
  await before.receiveChecked([`${JSON.stringify({ $line: 1, $at: world.now, ...event('old') })}`], {
    requestId: 'req_1',
    orgId: 'acme',
    receivedAt: world.now,
  });
  await before.close();
  const { inbox: bucket } = readConfig({ DAYBOOK_INBOX: server.address('inbox') });
  const after = Inbox.open({ data, inboxMb: 1, inbox: bucket }, world.clock);
  expect(after.depth.files).toBe(1);
  await after.drain(world.store);
  expect((await stored()).ids).toEqual(['old']);
  await after.close();
});

test('objects that Amazon refuses are named in the log, and not to the sender', async () => {
  const { send } = node();
  server.faultOf = (asked: Asked) => (asked.method === 'PUT' ? 'denied' : undefined);
  expect((await send(['1'])).status).toBe(503);
});
