import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { checkHealth } from '../src/command/health.js';
import { RemoteService } from '../src/command/remote-service.js';
import { S3Objects } from '../src/computers/bucket-objects.js';
import { E2b } from '../src/computers/e2b.js';
import { runAgent } from '../src/computers/run-agent.js';
import { connectTo } from '../src/hooks/connect.js';
import { deliver, keep, writePrivate } from '../src/hooks/spool.js';
import { buildApp } from '../src/service/app.js';
import { ClickHouseStore } from '../src/store/clickhouse-store.js';
import { certificateFor } from './certificate.js';
import { until } from './service.js';
import { ending, temporaryFolder, World } from './world.js';

const atEnd = ending();
const NAMED = /TLS certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\) is not trusted: set NODE_EXTRA_CA_CERTS to /;

/** Of a server that nobody trusts, and how it is. */
let url: string;
let cert: string;
let health = 200;
beforeAll(async () => {
  const { cert: path, key } = certificateFor('IP:127.0.0.1', temporaryFolder(atEnd));
  cert = path;
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, answer) => {
    answer.statusCode = request.url === '/healthz' ? health : 404;
    answer.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => void server.close());
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

const CLIENTS: [string, () => Promise<unknown>][] = [
  ['hooks install', () => connectTo(temporaryFolder(), { server: url, key: 'dbk_x' })],
  ['the command line', () => RemoteService.of({ server: url, key: 'dbk_x' }, Date.now).computers()],
  [
    'the object store',
    () => {
      vi.stubEnv('AWS_ACCESS_KEY_ID', 'x').stubEnv('AWS_SECRET_ACCESS_KEY', 'x');
      onTestFinished(() => void vi.unstubAllEnvs());
      return new S3Objects({ bucket: 'b', prefix: '', region: 'eu-central-1', endpoint: url }).size('a');
    },
  ],
  [
    'the provider of sandboxes',
    () => new E2b({ apiKey: `e2b_${'0'.repeat(40)}`, url, template: 'base' }, url).status('x'),
  ],
  [
    'ClickHouse',
    async () => {
      const { config } = await World.create();
      const data = temporaryFolder();
      const address = {
        urls: [url],
        username: 'default',
        password: '',
        database: 'daybook',
        cluster: undefined,
      };
      return ClickHouseStore.open(data, address, { ...config, now: 0 });
    },
  ],
];
test.each(CLIENTS)('%s names a certificate that is not trusted, and the remedy', async (_, ask) => {
  await expect(ask()).rejects.toThrow(NAMED);
});

test('hooks send says why events wait', async () => {
  const folder = temporaryFolder();
  await writePrivate(folder, 'connection.json', JSON.stringify({ server: url, key: 'dbk_x' }));
  await keep(folder, { hook_event_name: 'SessionStart' }, 1);
  const delivery = await deliver(folder, new AbortController().signal);
  expect(delivery).toEqual({ refused: expect.stringMatching(NAMED) });
});

test('hooks trust the authorities that were set when they were installed, and say if they are gone', async () => {
  const folder = temporaryFolder();
  await expect(connectTo(folder, { server: url, key: 'dbk_x', authorities: cert })).rejects.toThrow(
    'answers 404, and is not a Daybook service',
  );
  const send = async (authorities: string) => {
    const connection = { server: url, key: 'dbk_x', authorities };
    await writePrivate(folder, 'connection.json', JSON.stringify(connection));
    await keep(folder, { hook_event_name: 'SessionStart' }, 1);
    return deliver(folder, new AbortController().signal);
  };
  expect(await send(cert)).toEqual({ refused: 'the server answered 404' });
  expect(await send(`${cert}.none`)).toEqual({
    refused: `The certificates ${cert}.none can't be read (ENOENT): install the hooks again with NODE_EXTRA_CA_CERTS set to a PEM file.`,
  });
});

test('the agent says so when it connects', async () => {
  const workspace = join(temporaryFolder(), 'workspace');
  mkdirSync(workspace);
  const end = new AbortController();
  const said: string[] = [];
  const options = { server: url, token: 'dba_x', workspace, version: '1', clock: () => 0 };
  const running = runAgent({ ...options, say: (sentence) => said.push(sentence), signal: end.signal });
  await until(() => said.length > 0);
  end.abort();
  await running;
  expect(said[0]).toMatch(NAMED);
});

test('the service logs it for the keys of JWTs, and does not tell the sender', async () => {
  const world = await World.create({
    DAYBOOK_JWT_JWKS: `${url}/keys`,
    DAYBOOK_JWT_ISSUER: 'issuer',
    DAYBOOK_JWT_AUDIENCE: 'daybook',
  });
  const app = buildApp(world, { logs: true });
  onTestFinished(() => app.close());
  const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => log.mockRestore());
  const head = Buffer.from('{"alg":"RS256"}').toString('base64url');
  const answer = await app.inject({
    url: '/api/v0/computers',
    headers: { authorization: `Bearer ${head}.e30.AAAA` },
  });
  expect([answer.statusCode, answer.payload]).toEqual([503, expect.not.stringMatching(/certificate/)]);
  expect(log.mock.calls.map(([line]) => String(line)).join('')).toMatch(NAMED);
});

test('daybook health needs no certificate that is trusted, and no address that can be connected to', async () => {
  const tls = { cert: 'cert.pem', key: 'key.pem' };
  const port = Number(new URL(url).port);
  expect(await checkHealth({ host: '0.0.0.0', port, tls })).toBe(url);
  health = 503;
  await expect(checkHealth({ host: '127.0.0.1', port, tls })).rejects.toThrow('it answers 503');
  // The scheme is the configured one: a server of the other one is no healthy service.
  await expect(checkHealth({ host: '127.0.0.1', port, tls: undefined })).rejects.toThrow('is not healthy (');
});
