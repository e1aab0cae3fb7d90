import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../src/config.js';
import { UsageError } from '../src/exit.js';
import { Service } from './service.js';
import { temporaryFolder } from './world.js';

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
});

test('with a bucket the service itself takes no bytes', async () => {
  const { objects } = await s3Server();
  const service = await Service.start({ DAYBOOK_OBJECTS: objects }, onTestFinished);
  const ada = service.as('member', 'ada');
  const computer = await service.computer();
  const { body: one } = await ada('POST', `/computers/${computer.id}/files/one/create-upload`, {
    sizeBytes: 1,
  });
  const transfer = `${service.url}/api/v0/transfers/${one.transferId}?expires=9999999999999&signature=x`;
  for (const method of ['PUT', 'GET'])
    expect((await fetch(transfer, { method, ...(method === 'PUT' ? { body: 'x' } : {}) })).status).toBe(401);
});

test('a bucket that is none is named', () => {
  for (const objects of [
    's3',
    's3://',
    's3://B',
    's3://files?x=1',
    's3://files?endpoint=box',
    'http://files',
  ])
    expect(() => readConfig({ DAYBOOK_OBJECTS: objects })).toThrow(UsageError);
  expect(readConfig({ DAYBOOK_OBJECTS: 's3://files' }).objects).toEqual({
    bucket: 'files',
    prefix: '',
    region: 'us-east-1',
    endpoint: undefined,
  });
});
