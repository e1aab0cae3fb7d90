import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { Authenticator } from '../src/api/auth.js';
import { RemoteService } from '../src/command/remote-service.js';
import { S3Objects } from '../src/computers/bucket-objects.js';
import { E2b, ProviderFailed } from '../src/computers/e2b.js';
import { runAgent } from '../src/computers/run-agent.js';
import { AnswerTooLong, limitedFetch, Outgoing } from '../src/network/outgoing.js';
import { readConfig } from '../src/settings/config.js';
import { OpenIdProvider } from '../src/sign-in/openid-provider.js';
import { answerEndlessly, serverThat } from './watched-server.js';
import { temporaryFolder, World } from './world.js';

const E2B_KEY = `e2b_${'0123456789'.repeat(4)}`;
const CLIENT_SECRET = 'a-secret-of-more-than-thirty-two-letters';

/** What is read at most, and what is under way in sockets: bytes. */
const MOST = 16 << 20;

/** A server whose answers have no end. */
function endless(status = 200, type = 'application/json') {
  return serverThat((_, answer) => answerEndlessly(answer, status, type));
}

function bucketAt(endpoint: string): S3Objects {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAEXAMPLE').stubEnv('AWS_SECRET_ACCESS_KEY', 'never-sent-secret');
  vi.stubEnv('AWS_SESSION_TOKEN', 'session-token-of-the-service').stubEnv('AWS_MAX_ATTEMPTS', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  return new S3Objects({ bucket: 'b', prefix: '', region: 'eu-central-1', endpoint });
}

function sandboxesAt(url: string): E2b {
  return new E2b({ apiKey: E2B_KEY, url, template: 'base' }, url);
}

function providerAt(issuer: string): OpenIdProvider {
  return new OpenIdProvider({
    ...{ issuer, clientId: 'daybook', clientSecret: CLIENT_SECRET, scope: 'openid', toleranceSeconds: 60 },
    claims: readConfig({}).claims,
  });
}

async function authenticatorWith(jwks: string): Promise<Authenticator> {
  const { store, clock } = await World.create();
  const { jwt } = readConfig({
    DAYBOOK_JWT_JWKS: jwks,
    DAYBOOK_JWT_ISSUER: 'https://login.acme.test',
    DAYBOOK_JWT_AUDIENCE: 'daybook',
  });
  return new Authenticator(store, jwt, clock, { find: async () => undefined });
}

const TOKEN = `${Buffer.from('{"alg":"RS256"}').toString('base64url')}.e30.AAAA`;

/** Everything that asks another server from within the service, and the status of an answer that is read. */
const CLIENTS: [string, status: number, (url: string) => Promise<unknown>][] = [
  [
    'keys of JWTs',
    200,
    async (url) =>
      (await authenticatorWith(url)).identify({
        headers: { authorization: `Bearer ${TOKEN}` },
        url: '/api/v1/status',
        log: { error: () => {} },
      } as never),
  ],
  ['an OpenID provider', 200, (url) => providerAt(url).begin('http://127.0.0.1/back')],
  ['sandboxes', 200, (url) => sandboxesAt(url).status('x')],
  ['failures of sandboxes', 400, (url) => sandboxesAt(url).delete('x')],
  ['failures of a bucket', 400, (url) => bucketAt(url).remove('a')],
  ['an object', 200, (url) => bucketAt(url).sha256('a', 3)],
];

for (const [name, status, ask] of CLIENTS)
  test(`an answer without end is let go of: ${name}`, async () => {
    const type = name.includes('bucket') ? 'application/xml' : undefined;
    const { url, asked, written } = await endless(status, type);
    await expect(ask(url)).rejects.toThrow();
    await expect.poll(written).toBeGreaterThan(0);
    expect(asked.length).toBeGreaterThan(0);
    expect(written()).toBeLessThan(MOST * asked.length);
  });

test('an answer without end is let go of: a service', async () => {
  const { url, written } = await endless();
  const outgoing = await Outgoing.to(url);
  const signal = AbortSignal.timeout(60_000);
  await expect(outgoing.send('GET', '/', { headers: {}, signal })).rejects.toThrow(AnswerTooLong);
  outgoing.close();
  await expect.poll(written).toBeGreaterThan(0);
  expect(written()).toBeLessThan(MOST);
});

test('a library follows no redirect', async () => {
  const { url, asked } = await serverThat((_, answer) =>
    answer.writeHead(307, { location: '/elsewhere' }).end(),
  );
  const request = { method: 'POST', body: 'a', headers: { 'x-api-key': 'k' } };
  expect((await limitedFetch(url, request)).status).toBe(307);
  expect(asked).toEqual(['/']);
});

/** A server that repeats all headers that it was sent. */
function echoing(status: number) {
  return serverThat(({ headers }, answer) => {
    const said = JSON.stringify(headers);
    const isJson = headers['x-api-key'] !== undefined;
    answer.writeHead(status, { 'content-type': isJson ? 'application/json' : 'application/xml' });
    answer.end(
      isJson
        ? JSON.stringify({ code: status, message: said })
        : `<Error><Code>AccessDenied</Code><Message>${said.replaceAll('"', '')}</Message></Error>`,
    );
  });
}

test('a provider of sandboxes that repeats the key of the service gives nobody the key', async () => {
  const { url } = await echoing(400);
  const failure = await sandboxesAt(url)
    .status('x')
    .catch((error) => error);
  expect(failure).toBeInstanceOf(ProviderFailed);
  expect(failure.message).toMatch(/^E2B: 400: .*"x-api-key":"\*\*\*"/);
  // A log has the causes of an error too.
  expect(failure.cause).toBeUndefined();
});

test('a bucket that repeats credentials of the service has none of them logged', async () => {
  const { url } = await echoing(403);
  const failure: Error = await bucketAt(url)
    .remove('a')
    .then(() => new Error('removed'))
    .catch((error) => error);
  expect(failure.message).toMatch(/^The object store failed \(AccessDenied: .*x-amz-security-token:\*\*\*/);
  const logged = JSON.stringify({ ...failure, message: failure.message, stack: failure.stack });
  expect(logged).not.toMatch(/session-token-of|AKIAEXAMPLE/);
  expect(failure.cause).toBeUndefined();
});

test('an OpenID provider that repeats the client secret has it not logged', async () => {
  const { url } = await serverThat((request, answer) => {
    answer.setHeader('content-type', 'application/json');
    if (request.url === '/.well-known/openid-configuration')
      answer.end(JSON.stringify({ issuer: url, token_endpoint: `${url}/token`, jwks_uri: `${url}/keys` }));
    else
      answer.writeHead(400).end(
        JSON.stringify({
          error: 'invalid_grant',
          error_description: `not with ${CLIENT_SECRET}, ${request.headers.authorization}`,
        }),
      );
  });
  const login = { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43) };
  const failure: Error = await providerAt(url)
    .finish(new URL('http://127.0.0.1/back?code=c&state=s'), login)
    .then(() => new Error('signed in'))
    .catch((error) => error);
  expect(failure.message).toMatch(/not with \*\*\*, Basic \*\*\*/);
  expect(failure.stack).not.toContain(CLIENT_SECRET);
  expect(failure.cause).toBeUndefined();
});

/** Everything that asks another server, and what its proxy is asked for. */
const THROUGH_PROXIES: [string, string, (from: string) => Promise<unknown>][] = [
  ...CLIENTS.filter(([name]) => !name.startsWith('failures')).map(
    ([name, , ask]): [string, string, (from: string) => Promise<unknown>] => [name, 'https', ask],
  ),
  ['a command', 'http', (url) => remote(url).get(z.unknown(), 'api/v1/status')],
  ['a command over TLS', 'https', (url) => remote(url).get(z.unknown(), 'api/v1/status')],
  ['an agent', 'http', agentOf],
  ['an agent over TLS', 'https', agentOf],
  ['the collector and hooks', 'http', sendingTo],
  ['the collector and hooks over TLS', 'https', sendingTo],
  ['keys of JWTs without TLS', 'http', (url) => limitedFetch(url, {})],
  ['a body of a library', 'http', (url) => limitedFetch(url, { method: 'POST', body: 'a' })],
];

function remote(server: string): RemoteService {
  return RemoteService.of({ server, key: 'dbk_x' }, Date.now);
}

async function sendingTo(url: string): Promise<unknown> {
  const outgoing = await Outgoing.to(url);
  return outgoing.send('GET', '/', { headers: {}, signal: AbortSignal.timeout(60_000) });
}

/** Runs the agent of a computer until it says something, and fails with that. */
async function agentOf(server: string): Promise<never> {
  const ended = new AbortController();
  let said = '';
  await runAgent({
    ...{ server, token: 'x', workspace: temporaryFolder(), version: '1', clock: Date.now },
    say: (sentence) => {
      said = sentence;
      ended.abort();
    },
    signal: ended.signal,
  });
  throw new Error(said);
}

describe('the proxy of the environment', () => {
  /** A proxy that refuses everything, and what it was asked for. */
  const refusing = async () => {
    const proxy = await serverThat((_, answer) => answer.writeHead(407).end());
    const tunnels: string[] = [];
    proxy.server.on('connect', ({ url }, socket) => {
      tunnels.push(url ?? '');
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    vi.stubEnv('HTTP_PROXY', proxy.url).stubEnv('HTTPS_PROXY', proxy.url).stubEnv('NO_PROXY', '');
    vi.stubEnv('DAYBOOK_KEY', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    return { ...proxy, tunnels };
  };

  test.each(THROUGH_PROXIES)('is asked by %s', async (_, scheme, ask) => {
    const { asked, tunnels } = await refusing();
    await expect(ask(`${scheme}://there.acme.invalid`)).rejects.toThrow();
    const wanted = scheme === 'https' || ask === agentOf ? tunnels : asked;
    expect(wanted[0]).toMatch(/there\.acme\.invalid/);
    const seen = asked.length + tunnels.length;
    vi.stubEnv('NO_PROXY', '.acme.invalid');
    await expect(ask(`${scheme}://there.acme.invalid`)).rejects.toThrow();
    expect(asked.length + tunnels.length).toBe(seen);
  });

  test('is named if it refuses', async () => {
    const { url } = await refusing();
    for (const scheme of ['http', 'https'])
      for (const ask of [sendingTo, (to: string) => remote(to).computers()])
        await expect(ask(`${scheme}://there.acme.invalid`)).rejects.toThrow(
          `the proxy ${url} wants a name and a password (407)`,
        );
  });
});
