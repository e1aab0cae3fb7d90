import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runBuild } from '../src/aggregate/build-run.js';
import { createKey } from '../src/api/api-keys.js';
import { buildApp } from '../src/service/app.js';
import { Metrics } from '../src/service/prometheus.js';
import { logs } from './otlp/sender.js';
import { event, World } from './world.js';

async function service(environment: Record<string, string> = {}) {
  const world = await World.create(environment);
  const metrics = new Metrics(world.clock);
  const store = metrics.counting(world.store);
  const app = buildApp({ store, config: world.config, clock: world.clock, inbox: world.inbox }, { metrics });
  const scrape = async (headers: Record<string, string> = {}, remoteAddress = '127.0.0.1') => {
    const answer = await app.inject({ url: '/metrics', headers, remoteAddress });
    return { status: answer.statusCode, type: answer.headers['content-type'], text: answer.body };
  };
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' };
  return { world, store, app, scrape, headers };
}

test('counts events by the way they came, rejects by reason, and what waits', async () => {
  const { world, store, app, scrape, headers } = await service();
  const payload = [event('1'), event('1'), event('2', { user_id: 7 })]
    .map((one) => JSON.stringify(one))
    .join('\n');
  await app.inject({ method: 'POST', url: '/api/v1/events', headers, payload });
  const waiting = (await scrape()).text;
  expect(waiting).toContain('daybook_inbox_files 1\n');
  const ready = join(world.config.data, 'inbox', 'ready');
  const [file = ''] = readdirSync(ready);
  expect(waiting).toContain(`daybook_inbox_bytes ${statSync(join(ready, file)).size}\n`);
  await world.inbox.drain(store);
  const { text } = await scrape();
  expect(text).toContain('daybook_inbox_files 0\n');
  expect(text).toContain('daybook_ingest_events_total{way="http",format="canonical",outcome="accepted"} 1\n');
  expect(text).toContain(
    'daybook_ingest_events_total{way="http",format="canonical",outcome="duplicate"} 1\n',
  );
  expect(text).toContain(
    'daybook_ingest_rejects_total{way="http",format="canonical",reason="wrong_type"} 1\n',
  );
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
});

test('counts the records of telemetry by what became of them', async () => {
  const { app, scrape, headers } = await service();
  const record = (name: string, attributes: Record<string, string>) => ({
    attributes: {
      ...{ 'session.id': 's-1', 'event.timestamp': '2026-06-10T10:00:00Z', 'event.name': name },
      ...attributes,
    },
    body: '',
  });
  const payload = logs({ 'service.name': 'claude-code' }, [
    record('user_prompt', { 'prompt.id': 'p-1' }),
    record('api_request', {
      request_id: 'r-1',
      model: 'claude-opus-4-6',
      input_tokens: '1',
      output_tokens: '1',
    }),
    record('user_prompt', { 'session.id': 's'.repeat(129) }),
    record('tool_decision', { tool_use_id: 't-1', decision: 'accept' }),
    record('permission_mode_changed', { to_mode: 'plan' }),
    record('a_record_of_tomorrow', {}),
  ]);
  await app.inject({
    method: 'POST',
    url: '/otlp/v1/logs',
    headers: { ...headers, 'content-type': 'application/json' },
    payload,
  });
  const { text } = await scrape();
  for (const [outcome, count] of Object.entries({ accepted: 2, rejected: 1, ignored: 3 }))
    expect(text).toContain(`daybook_otlp_records_total{signal="logs",outcome="${outcome}"} ${count}\n`);
});

test('names requests by their route, never by what stands in it', async () => {
  const { app, scrape, headers } = await service();
  for (let id = 0; id < 20; id += 1) {
    await app.inject({ url: `/api/v1/nothing/${id}?secret=${id}`, headers });
    await app.inject({ url: `/nothing-${id}` });
  }
  await app.inject({ url: '/healthz' });
  const { text, type } = await scrape();
  expect(type).toContain('text/plain; version=0.0.4');
  expect(text).toContain(
    'daybook_http_request_duration_seconds_count{route="/healthz",method="GET",status="200"} 1\n',
  );
  const routes = new Set([...text.matchAll(/_count\{route="([^"]*)"/g)].map(([, route]) => route));
  expect(routes.size).toBeLessThan(5);
  expect(text).not.toContain('secret');
});

test('says how many days wait for a build, and how builds went', async () => {
  const { world, store, scrape } = await service();
  await world.send([event('1', { timestamp: '2026-07-09T10:00:00Z' })]);
  expect((await scrape()).text).toContain('daybook_builds_due 1\n');
  await runBuild(store, 'nightly', {}, world.clock);
  world.now += 60_000;
  const { text } = await scrape();
  expect(text).toContain('daybook_builds_due 0\n');
  expect(text).toContain('daybook_build_runs{cause="nightly",outcome="ok"} 1\n');
  expect(text).toContain('daybook_build_last_ok 1\n');
  expect(text).toContain(`daybook_build_last_end_timestamp_seconds ${(world.now - 60_000) / 1000}\n`);
});

test('is shown to this machine only, unless the setting says otherwise', async () => {
  const { scrape } = await service();
  expect((await scrape()).status).toBe(200);
  expect((await scrape({}, '::1')).status).toBe(200);
  expect((await scrape({}, '10.0.0.7')).status).toBe(403);
  // A proxy on this machine speaks for others.
  for (const name of [
    ...['via', 'Via', 'forwarded', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip'],
    ...['x-forwarded-for', 'X-Forwarded-Proto', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded'],
    ...['x-cluster-client-ip', 'fastly-client-ip', 'x-azure-clientip', 'x-envoy-external-address'],
    ...['x-original-forwarded-for', 'forwarded-for', 'cdn-loop', 'cf-ray'],
  ])
    expect((await scrape({ [name]: '127.0.0.1' })).status, name).toBe(403);
  expect((await (await service({ DAYBOOK_METRICS: 'on' })).scrape({}, '10.0.0.7')).status).toBe(200);
  expect((await (await service({ DAYBOOK_METRICS: 'off' })).scrape()).status).toBe(404);
});

/** Units that Prometheus wants in their base unit, and words that say what the type of a metric says. */
const ODD_WORDS =
  /_(m?s|[mun]?sec|(milli|micro|nano)seconds|minutes|hours|days|weeks|[kmgt]?i?b|(kilo|mega|giga)bytes|percent|counter|gauge|histogram|summary)(_|$)/;

test('names metrics as Prometheus wants them', async () => {
  const { world, store, app, scrape, headers } = await service();
  const payload = [event('1'), event('2', { user_id: 7 })].map((one) => JSON.stringify(one)).join('\n');
  await app.inject({ method: 'POST', url: '/api/v1/events', headers, payload });
  await world.inbox.drain(store);
  await runBuild(store, 'nightly', {}, world.clock);
  const { text } = await scrape();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  expect(types.length).toBeGreaterThan(30);
  for (const [, name = '', type] of types) {
    expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    expect(name).not.toMatch(ODD_WORDS);
    expect(name).not.toMatch(/_(bucket|count|sum)$/);
  }
  const isInstalled = spawnSync('promtool', ['--version']).status === 0;
  if (isInstalled) {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`).toBe('');
    expect(status).toBe(0);
  }
});
