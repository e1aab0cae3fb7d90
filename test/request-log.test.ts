import { expect, onTestFinished, test, vi } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { buildApp } from '../src/service/app.js';
import { World } from './world.js';

const ANALYTICS = '/api/v1/analytics';
const WEEK = 'startDate=2026-06-08&endDate=2026-06-14';

test('every line that a request logs once it is authenticated has its organization and fingerprint', async () => {
  const own = await World.create({ DAYBOOK_RATE_LIMIT: '3' });
  const store = new Proxy(own.store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (name === 'snapshot') return () => Promise.reject(new Error('broken'));
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  let log = '';
  const written = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
    log += String(line);
    return true;
  });
  onTestFinished(() => written.mockRestore());
  const served = buildApp({ ...own, store, clock: own.clock }, { logs: true });
  const { key, fingerprint } = await createKey(
    own.store,
    { orgId: 'acme', role: 'member', userId: 'ada' },
    own.now,
  );
  const url = await served.listen({ host: '127.0.0.1', port: 0 });
  const statuses: number[] = [];
  const get = async (path: string, credential?: string) =>
    statuses.push(
      (
        await fetch(`${url}${path}`, {
          ...(credential === undefined ? {} : { headers: { authorization: `Bearer ${credential}` } }),
        })
      ).status,
    );
  await get('/api/v1/caller');
  await get('/api/v1/caller', 'dbk_wrong');
  await get(`${ANALYTICS}/summary?${WEEK}`, key);
  await get(`${ANALYTICS}/users?${WEEK}`, key);
  await get('/nothing', key);
  await get('/api/v1/caller', key);
  const signIn = await fetch(`${url}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ key }),
  });
  statuses.push(signIn.status);
  await served.close();
  expect(statuses).toEqual([401, 401, 500, 403, 404, 429, 204]);
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ reqId }) => reqId !== undefined);
  const shown = lines.map(({ msg, path, status, org, key: by }) => [
    msg,
    path ?? null,
    status ?? null,
    org,
    by,
  ]);
  const named = ['acme', fingerprint];
  expect(shown).toEqual([
    ['request', '/api/v1/caller', 401, undefined, undefined],
    ['request', '/api/v1/caller', 401, undefined, undefined],
    ['the request failed', null, null, ...named],
    ['request', `${ANALYTICS}/summary`, 500, ...named],
    ['request', `${ANALYTICS}/users`, 403, ...named],
    ['request', '/nothing', 404, ...named],
    ['request', '/api/v1/caller', 429, ...named],
    ['request', '/sign-in', 204, ...named],
  ]);
  expect(log.match(/"org":/g)).toHaveLength(6);
});
