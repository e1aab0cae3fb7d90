import { runBuild } from '../../src/aggregate/build-run.js';
import { createKey } from '../../src/api/api-keys.js';
import { buildApp } from '../../src/service/app.js';
import { Metrics } from '../../src/service/prometheus.js';
import { logs } from '../otlp/sender.js';
import { event, lines, type World } from '../world.js';

/** The metrics of a service by name, each with the names of its labels. */
export type KnownMetrics = ReadonlyMap<string, ReadonlySet<string>>;

/** The words of PromQL that expressions here have, besides metrics and labels. */
const WORDS = new Set(
  'sum by rate increase changes absent min_over_time histogram_quantile unless on'.split(' '),
);
/** What Prometheus itself adds to what it reads. */
const OF_PROMETHEUS = ['job', 'instance'];

/** What /metrics has once a service has taken events and telemetry, rejected some, and built days. */
export async function knownMetrics(world: World): Promise<KnownMetrics> {
  const metrics = new Metrics(world.clock);
  const store = metrics.counting(world.store);
  const { config, clock, inbox } = world;
  const app = buildApp({ store, config, clock, inbox }, { metrics });
  const { key } = await createKey(world.store, { orgId: 'metrics', role: 'owner' }, world.now);
  const headers = { authorization: `Bearer ${key}` };
  await app.inject({
    ...{ method: 'POST', url: '/api/v1/events', payload: lines([event('1'), event('2', { user_id: 7 })]) },
    headers: { ...headers, 'content-type': 'application/x-ndjson' },
  });
  const attributes = {
    'session.id': 's-1',
    'event.timestamp': '2026-06-10T10:00:00Z',
    'event.name': 'user_prompt',
  };
  const telemetry = logs({ 'service.name': 'claude-code' }, [
    { attributes: { ...attributes, 'prompt.id': 'p-1' }, body: '' },
  ]);
  await app.inject({
    ...{ method: 'POST', url: '/otlp/v1/logs', payload: telemetry },
    headers: { ...headers, 'content-type': 'application/json' },
  });
  await inbox.drain(store);
  await runBuild(store, 'nightly', {}, clock);
  const { body } = await app.inject({ url: '/metrics', remoteAddress: '127.0.0.1' });
  await app.close();
  const known = new Map<string, Set<string>>([['up', new Set()]]);
  for (const [, name = '', labels = ''] of body.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
    const names = known.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) names.add(label);
    known.set(name, names);
  }
  return known;
}

/** What an expression of PromQL has that no service tells: metrics, and labels of none of its metrics. */
export function unknownIn(expression: string, known: KnownMetrics): string[] {
  const bare = expression.replaceAll(/"[^"]*"/g, '').replaceAll(/\[[^\]]*\]/g, '');
  const words = [...new Set(bare.match(/[a-z_]{2,}/g))].filter((word) => !WORDS.has(word));
  const metrics = words.filter((word) => known.has(word));
  const labels = new Set([...OF_PROMETHEUS, ...metrics.flatMap((metric) => [...(known.get(metric) ?? [])])]);
  return metrics.length === 0 ? [expression] : words.filter((word) => !known.has(word) && !labels.has(word));
}
