import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { Lake } from '../../src/lake/data-lake.js';
import { buildApp } from '../../src/service/app.js';
import { loadDemo } from '../../src/service/demo.js';
import { ending, World } from '../world.js';
import { type KnownMetrics, knownMetrics, unknownIn } from './known-metrics.js';

const atEnd = ending();

const Asked = z.looseObject({
  url: z.string(),
  url_options: z.looseObject({ method: z.enum(['GET', 'POST']), data: z.string() }),
  root_selector: z.literal('data'),
  columns: z.array(
    z.strictObject({
      selector: z.string(),
      text: z.string(),
      type: z.enum(['string', 'number', 'timestamp']),
    }),
  ),
});
const Target = z.looseObject({ expr: z.string().optional() });
const Dashboard = z.looseObject({
  time: z.strictObject({ from: z.string(), to: z.string() }),
  timezone: z.string(),
  panels: z.array(
    z.looseObject({
      id: z.int(),
      title: z.string(),
      type: z.string(),
      targets: z.array(Target).default([]),
      gridPos: z.strictObject({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
    }),
  ),
});

const { panels, time, timezone } = Dashboard.parse(
  JSON.parse(readFileSync(join(PACKAGE_ROOT, 'ops', 'grafana', 'daybook.json'), 'utf8')),
);
const QUERIES = panels.flatMap(({ title, targets }) =>
  targets.map((target) => ({ title, target, expr: target.expr })),
);

/** The days of the sample, in place of Grafana's variables. */
const DAYS = { from: '2026-01-28', to: '2026-07-09' };

let app: FastifyInstance;
let key: string;
let known: KnownMetrics;

beforeAll(async () => {
  const world = await World.create({}, atEnd);
  const demo = await loadDemo(world.store, world.config.historyStart, world.clock);
  key = demo?.key ?? '';
  await new Lake(world.config, world.clock).repair(world.store);
  app = buildApp(world);
  atEnd(() => app.close());
  known = await knownMetrics(await World.create({}, atEnd));
});

test.each(QUERIES.filter(({ expr }) => expr === undefined))(
  'the panel "$title" asks the API for columns that its answer has',
  async ({ target }) => {
    const { url, url_options, columns } = Asked.parse(target);
    const filled = (text: string) =>
      text.replaceAll(/\$\{__(from|to):date:YYYY-MM-DD\}/g, (_, end: 'from' | 'to') => DAYS[end]);
    const { statusCode, body } = await app.inject({
      ...{ method: url_options.method, url: filled(url), headers: { authorization: `Bearer ${key}` } },
      ...(url_options.method === 'POST' ? { payload: JSON.parse(filled(url_options.data)) } : {}),
    });
    expect(statusCode, body).toBe(200);
    const { data } = JSON.parse(body);
    const rows: Record<string, unknown>[] = data;
    // The sample has no budgets, and no day that was built twice.
    const isEmpty = url.endsWith('/budgets') || url_options.data.includes('restatements');
    expect(rows.length > 0).toBe(!isEmpty);
    const types = { string: 'string', number: 'number', timestamp: 'string' } as const;
    for (const row of rows)
      for (const { selector, type } of columns) {
        expect(row).toHaveProperty(selector);
        if (row[selector] !== null) expect(typeof row[selector], selector).toBe(types[type]);
      }
  },
);

test.each(QUERIES.filter(({ expr }) => expr !== undefined))(
  'the panel "$title" asks Prometheus for metrics that a service has',
  ({ expr = '' }) => {
    expect(unknownIn(expr, known)).toEqual([]);
  },
);

test('the range ends yesterday, in UTC, and no more statements run at once than an organization may', () => {
  expect({ time, timezone }).toEqual({ time: { from: 'now-30d/d', to: 'now-1d/d' }, timezone: 'utc' });
  const statements = QUERIES.filter(({ target }) => target.url === '/api/v1/sql');
  expect(statements).toHaveLength(2);
});

test('panels have names of their own, and none covers another', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
    Array.from({ length: h * w }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});
