import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { Bucket, type Content, type Listed } from '../../src/objects/bucket.js';
import { withCredentials } from './s3-credentials.js';
import { type Fault, S3Server } from './s3-server.js';

let server: S3Server;
let bucket: Bucket;
beforeEach(async () => {
  server = await S3Server.start();
  onTestFinished(() => server.close());
  withCredentials(onTestFinished);
  bucket = new Bucket({ bucket: 'bucket', prefix: 'in/', region: 'eu-central-1', endpoint: server.url });
});

/** Plays faults on the next requests, one each. */
function play(...faults: Fault[]): void {
  server.faultOf = () => faults.shift();
}

async function listed(start: string): Promise<Listed[]> {
  const all = [];
  for await (const one of bucket.list(start)) all.push(one);
  return all;
}

const read = (key: string) => bucket.text(key, 1000);

/** A content in two pieces. */
const PIECES: Content = {
  bytes: 6,
  pieces: async function* () {
    yield Buffer.from('abc');
    yield Buffer.from('def');
  },
};

test('an object is written, read, measured, listed and removed', async () => {
  await bucket.put('a b/ü&c', PIECES);
  expect(server.keys()).toEqual(['in/a b/ü&c']);
  expect(await read('a b/ü&c')).toBe('abcdef');
  expect(await bucket.size('a b/ü&c')).toBe(6);
  expect(await listed('a')).toEqual([{ key: 'a b/ü&c', bytes: 6 }]);
  expect(await listed('b')).toEqual([]);
  await bucket.put('d', '');
  await bucket.remove(['a b/ü&c', 'd', 'never']);
  expect(server.keys()).toEqual([]);
  await bucket.remove(['never']);
  expect([await read('a'), await bucket.size('a')]).toEqual([undefined, undefined]);
});

test('a list has more than a page, in order', async () => {
  for (let one = 0; one < 2100; one += 1) server.objects.set(`in/${one}`, Buffer.from('x'));
  server.objects.set('other/1', Buffer.from('x'));
  const keys = (await listed('')).map(({ key }) => key);
  expect(keys).toEqual(Array.from({ length: 2100 }, (_, one) => String(one)).sort());
  expect(server.counts.LIST).toBe(3);
  await bucket.remove(keys);
  expect(server.keys()).toEqual(['other/1']);
});

test('an object that is there is never replaced by a new one', async () => {
  expect(await bucket.putNew('a', 'first')).toBe(true);
  expect(await bucket.putNew('a', 'second')).toBe(false);
  expect(await read('a')).toBe('first');
});

test('of two that write one object at once, one does', async () => {
  server.delayOf = () => 20;
  const made = await Promise.all(['first', 'second', 'third'].map((text) => bucket.putNew('a', text)));
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(await read('a')).toBe(['first', 'second', 'third'][made.indexOf(true)]);
});

test('a new object whose answer was lost is there, and is one’s own', async () => {
  play('lost answer');
  expect(await bucket.putNew('a', 'mine')).toBe(true);
  expect(server.counts.PUT).toBe(2);
});

test('a request is sent again after a fault that passes', async () => {
  for (const fault of ['slow down', 'cut', 'lost answer'] as const) {
    play(fault, fault);
    await bucket.put('a', fault);
    expect(server.objects.get('in/a')?.toString()).toBe(fault);
    play(fault);
    expect(await read('a')).toBe(fault);
    play(fault);
    expect(await listed('')).toHaveLength(1);
    play(fault);
    await bucket.remove(['a']);
    expect(server.keys()).toEqual([]);
  }
});

test('a request that keeps failing ends with a sentence', async () => {
  server.faultOf = () => 'slow down';
  await expect(read('a')).rejects.toThrow('The object store failed (SlowDown: SlowDown).');
  expect(server.counts.GET).toBe(4);
});

test('of a request with a limit, a try that takes too long is given up for another one, and the last with the request', async () => {
  server.delayOf = () => (server.counts.PUT === 1 ? 600_000 : 0);
  await bucket.put('a', 'x', { allMs: 600_000, eachMs: 1000 });
  expect(server.counts.PUT).toBeGreaterThan(1);
  expect(await read('a')).toBe('x');
  server.delayOf = () => 600_000;
  const limited = bucket.put('a', 'x', { allMs: 300, eachMs: 600_000 });
  await expect(limited).rejects.toThrow(/^The object store failed \(/);
});

test('a refusal is not tried again', async () => {
  const other = new Bucket({ bucket: 'other', prefix: '', region: 'eu-central-1', endpoint: server.url });
  await expect(other.put('a', 'x')).rejects.toMatchObject({ status: 404, code: 'NoSuchBucket' });
  await expect(other.text('a', 10)).rejects.toThrow('NoSuchBucket');
  expect(server.counts).toEqual({ PUT: 1, GET: 1 });
});

test('an object is read no further than it may be, and bytes that differ on their way are not stored', async () => {
  await bucket.put('a', 'x'.repeat(2000));
  await expect(read('a')).rejects.toThrow('more than 1000 bytes');
  let isSecond = false;
  const changing: Content = {
    bytes: 1,
    pieces: async function* () {
      yield Buffer.from(isSecond ? 'b' : 'a');
      isSecond = true;
    },
  };
  await expect(bucket.put('b', changing)).rejects.toThrow('BadDigest');
  expect(server.keys()).toEqual(['in/a']);
});
