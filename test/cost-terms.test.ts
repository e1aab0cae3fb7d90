import { expect, onTestFinished, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { buildApp } from '../src/service/app.js';
import { event, NOW, World } from './world.js';

const CONTROLS = '/api/v0/organization/enterprise-controls';
const EUROS = {
  currency: 'EUR',
  terms: [
    { from: '2026-06-02', priceFactor: 1, rate: 0.5 },
    { from: '2026-06-03', priceFactor: 0.85, rate: 0.92 },
  ],
};

/** A service with one call of $3 on each of three days, and the requests that an owner makes of it. */
async function open() {
  const world = await World.create({}, onTestFinished);
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner' }, NOW);
  const app = buildApp(world);
  await world.send(
    ['01', '02', '03'].map((day) =>
      event(`e${day}`, {
        timestamp: `2026-06-${day}T09:00:00Z`,
        type: 'model_usage',
        model: 'claude-sonnet-4-5',
        input_tokens: 1_000_000,
        output_tokens: 0,
      }),
    ),
  );
  await world.build();
  const ask = async (method: 'GET' | 'PUT', url: string, payload?: object) => {
    const answer = await app.inject({
      ...{ method, url, headers: { authorization: `Bearer ${key}` } },
      ...(payload === undefined ? {} : { payload }),
    });
    return { status: answer.statusCode, ...answer.json() };
  };
  const get = async (answer: string, from: string, to: string) => {
    const answered = await ask('GET', `/api/v1/analytics/${answer}?startDate=${from}&endDate=${to}`);
    expect(answered).toMatchObject({ status: 200 });
    return answered.data;
  };
  return { ask, get };
}

test('costs are also answered by the terms of the organization, from their days on, beside the list price', async () => {
  const { ask, get } = await open();
  const [before] = await get('summary', '2026-06-03', '2026-06-03');
  expect(before).toMatchObject({ cost_usd: expect.any(Number), contracted_cost: null, currency: null });
  const price = before.cost_usd;

  expect(await ask('PUT', CONTROLS, { settings: { costs: EUROS } })).toMatchObject({ status: 200 });
  expect(await get('costs', '2026-06-01', '2026-06-03')).toMatchObject([
    { date: '2026-06-01', cost_usd: price, contracted_cost: null, currency: 'EUR' },
    {
      date: '2026-06-02',
      cost_usd: price,
      contracted_cost: expect.closeTo(price * 0.5, 12),
      currency: 'EUR',
    },
    {
      date: '2026-06-03',
      cost_usd: price,
      contracted_cost: expect.closeTo(price * 0.782, 12),
      currency: 'EUR',
    },
  ]);
  // A day without terms leaves the sum unknown.
  expect(await get('summary', '2026-06-01', '2026-06-03')).toMatchObject([
    { cost_usd: expect.closeTo(3 * price, 12), contracted_cost: null },
  ]);
  expect(await get('summary', '2026-06-02', '2026-06-03')).toMatchObject([
    {
      cost_usd: expect.closeTo(2 * price, 12),
      contracted_cost: expect.closeTo(price * 1.282, 12),
      currency: 'EUR',
    },
  ]);

  const later = { ...EUROS, terms: [...EUROS.terms, { from: '2026-06-04', priceFactor: 0.1, rate: 2 }] };
  await ask('PUT', CONTROLS, { settings: { costs: later } });
  expect(await get('summary', '2026-06-02', '2026-06-03')).toMatchObject([
    { contracted_cost: expect.closeTo(price * 1.282, 12) },
  ]);
});

test('terms that nothing could be computed with are refused', async () => {
  const { ask } = await open();
  const [term] = EUROS.terms;
  for (const costs of [
    { ...EUROS, currency: 'euro' },
    { ...EUROS, terms: [] },
    { ...EUROS, terms: [term, term] },
    { ...EUROS, terms: [{ ...term, priceFactor: 0.85001 }] },
    { ...EUROS, terms: [{ ...term, rate: 0 }] },
    { ...EUROS, terms: [{ ...term, discount: 0.15 }] },
    { ...EUROS, terms: [{ ...term, from: '2026-06-31' }] },
  ])
    expect(await ask('PUT', CONTROLS, { settings: { costs } }), JSON.stringify(costs)).toMatchObject({
      status: 400,
    });
});
