import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { sourceOf } from '../src/ingest/source.js';
import { readSql } from '../src/store/sql-text.js';
import { testSamples } from './samples.js';
import { event, World } from './world.js';

let world: World;
const source = 'https://example.com/prices';
const list = (...prices: object[]) => ({ models: [{ id: 'swift', prices }] });

beforeAll(async () => {
  world = await World.create({}, afterAll);
});

test('a changed price list holds for all days at once, and no day is built for it', async () => {
  const path = world.file(
    'prices.json',
    JSON.stringify(list({ valid_from: '2026-01-01', input: 2, source })),
  );
  const priced = await World.create({ DAYBOOK_PRICES: path });
  await priced.send([
    {
      event_id: 'e1',
      type: 'model_usage',
      timestamp: '2026-06-08T12:00:00Z',
      user_id: 'ada',
      session_id: 's1',
      model: 'swift',
      input_tokens: 1_000_000,
      output_tokens: 0,
    },
  ]);
  await priced.build();
  const cost = async () => {
    const [sum] = await priced.store.select('SELECT CAST(sum(cost_usd) AS DOUBLE) AS usd FROM user_costs');
    return sum?.usd;
  };
  const built = () => priced.store.select('SELECT org_id, day, batch, built_at FROM days ORDER BY day');
  const before = await built();
  expect(await cost()).toBe(2);
  writeFileSync(path, JSON.stringify(list({ valid_from: '2026-01-01', input: 0.5, source })));
  await priced.store.refresh();
  expect(await cost()).toBe(0.5);
  expect(await built()).toEqual(before);
  writeFileSync(path, JSON.stringify({ models: [] }));
  await priced.store.refresh();
  expect(await cost()).toBe(null);
});

test('what the list does not know is told by model, with the days and the share of all tokens', async () => {
  const path = world.file(
    'some.json',
    JSON.stringify(list({ valid_from: '2026-06-08', input: 2, output: 4, source })),
  );
  const priced = await World.create({ DAYBOOK_PRICES: path });
  const usage = (day: string, model: string, more: object = {}) =>
    event(`${day} ${model}`, {
      ...{ type: 'model_usage', timestamp: `${day}T10:00:00Z`, model, input_tokens: 30, output_tokens: 10 },
      ...more,
    });
  await priced.send([
    usage('2026-06-07', 'swift'),
    usage('2026-06-08', 'swift'),
    usage('2026-06-08', 'swift-20260608', { cache_read_tokens: 20 }),
    usage('2026-06-09', 'stranger'),
    usage('2026-06-10', 'stranger', { input_tokens: 0, output_tokens: 0 }),
  ]);
  priced.now = Date.parse('2026-06-11T12:00:00Z');
  await priced.build();
  const listed = 'listed, but not for all of these days and kinds of token';
  const row = (model_id: string, day: string, unpriced_tokens: number, reason: string) => ({
    ...{ model_id, first_day: day, last_day: day, unpriced_tokens, ratio: unpriced_tokens / 180, reason },
  });
  expect(await priced.store.select(readSql('report/unpriced_models.sql'))).toEqual([
    row('stranger', '2026-06-09', 40, 'not listed'),
    row('swift', '2026-06-07', 40, listed),
    row('swift-20260608', '2026-06-08', 20, listed),
  ]);
});

testSamples(
  'transcripts',
  'the list knows the models of all transcripts, but those of gateways and one without a published price',
  async (folder) => {
    const all = await World.create({ DAYBOOK_HISTORY_START: '2024-01-01' });
    for (const agent of readdirSync(folder)) {
      const source = sourceOf(agent === 'factory-droid' ? 'droid' : agent);
      for (const project of readdirSync(join(folder, agent)))
        await all.ingest([join(folder, agent, project)], { source, userId: project });
    }
    await all.build();
    const unpriced = await all.store.select(readSql('report/unpriced_models.sql'));
    const unknown = unpriced
      .filter(({ reason }) => reason === 'not listed')
      .map(({ model_id }) => String(model_id));
    expect(unknown.filter((id) => !id.endsWith('-free')).sort()).toEqual([
      'aide-gpt-5',
      'gemini-3.1-pro-preview-customtools',
    ]);
  },
);

test.each([
  ['it is not JSON', '{'],
  ['models ', {}],
  [
    'models.1.id swift is there twice',
    {
      models: [
        ...list({ valid_from: '2026-01-01', source }).models,
        ...list({ valid_from: '2026-01-01', source }).models,
      ],
    },
  ],
  [
    'models.0.prices.1.valid_from 2026-01-01 is there twice',
    list({ valid_from: '2026-01-01', source }, { valid_from: '2026-01-01', source }),
  ],
  ['models.0.prices.0.valid_from must be a calendar date', list({ valid_from: '2026-02-30', source })],
  ['models.0.prices.0.source must be a string', list({ valid_from: '2026-01-01', input: 1 })],
  ['models.0.prices.0.input must be at least 0', list({ valid_from: '2026-01-01', input: -1, source })],
  [
    'models.0.prices.0.output must have at most six decimals',
    list({ valid_from: '2026-01-01', output: 0.0000001, source }),
  ],
  [
    'models.0.prices.0.above.tokens must be one of 100000, 128000, 200000, 272000, 512000',
    list({ valid_from: '2026-01-01', input: 1, above: { tokens: 150_000, input: 2 }, source }),
  ],
  ['models.0 must have prices or first_day', { models: [{ id: 'swift' }] }],
  [
    'multipliers.0.multiplier must be at least 0',
    {
      models: [],
      multipliers: [
        {
          models: ['swift'],
          kind: 'speed',
          values: ['fast'],
          multiplier: -1,
          valid_from: '2026-01-01',
          source,
        },
      ],
    },
  ],
  ['models.0.prices.0 must not have cached', list({ valid_from: '2026-01-01', cached: 1, source })],
])('a list is refused that is wrong: %s', async (sentence, content) => {
  const path = world.file('wrong.json', typeof content === 'string' ? content : JSON.stringify(content));
  await expect(World.create({ DAYBOOK_PRICES: path })).rejects.toThrow(
    `The price list ${path} does not match docs/prices.md: ${sentence}`,
  );
});

test('a list that is not there is refused', async () => {
  await expect(World.create({ DAYBOOK_PRICES: '/no/such/list.json' })).rejects.toThrow(
    "The price list /no/such/list.json can't be read: set DAYBOOK_PRICES to a readable file, or leave it unset.",
  );
});

test('every price that is shipped names the page that says it', async () => {
  const rows = await world.store.select('SELECT model_id, source FROM prices');
  expect(rows.length).toBeGreaterThan(300);
  expect(rows.filter(({ source: page }) => !String(page).startsWith('https://'))).toEqual([]);
  expect(readFileSync(join(PACKAGE_ROOT, 'docs', 'prices.md'), 'utf8')).toContain('data/prices.json');
});

test('a write that lives an hour costs twice the input, of every shipped model of Claude that has writes', async () => {
  const rows = await world.store.select(
    `SELECT model_id FROM prices
    WHERE model_id LIKE 'claude-%' AND cache_write_price IS NOT NULL
      AND coalesce(cache_write_1h_price, 0) <> 2 * input_price`,
  );
  expect(rows).toEqual([]);
});

test('prices above a step, of web searches and multipliers stand in tables, from the shipped lists and from a file', async () => {
  const haiku = await world.store.select(
    "SELECT step_tokens, CAST(input_price AS DOUBLE) AS input, CAST(input_price_above AS DOUBLE) AS above, CAST(cache_write_1h_price_above AS DOUBLE) AS hour, CAST(web_search_price AS DOUBLE) AS search FROM price_periods WHERE model_id = 'claude-haiku-5-5'",
  );
  expect(haiku).toEqual([{ step_tokens: 100_000, input: 0.1, above: 0.5, hour: 1, search: 10 }]);
  const region =
    "SELECT value, CAST(multiplier AS DOUBLE) AS multiplier, listed_by FROM price_multipliers WHERE kind = 'region' AND model_id = 'claude-opus-5-5' AND value = 'us'";
  expect(await world.store.select(region)).toEqual([{ value: 'us', multiplier: 1.1, listed_by: 'daybook' }]);
  const multipliers = [
    {
      models: ['anthropic/claude-opus-5.5'],
      kind: 'region',
      values: ['us'],
      multiplier: 1.05,
      valid_from: '2026-01-01',
      source,
    },
  ];
  const path = world.file('multipliers.json', JSON.stringify({ models: [], multipliers }));
  const own = await World.create({ DAYBOOK_PRICES: path });
  expect(await own.store.select(`${region} ORDER BY listed_by`)).toEqual([
    { value: 'us', multiplier: 1.1, listed_by: 'daybook' },
    { value: 'us', multiplier: 1.05, listed_by: 'file' },
  ]);
});

test('the shipped list has the prices of current models from the days on which their vendors state them', async () => {
  const stated: [string, string, number, number, number][] = [
    ['claude-fable-5-1', '2026-09-01', 10, 50, 0.25],
    ['claude-fable-5-2', '2026-11-09', 8, 40, 0.2],
    ['claude-haiku-5-5', '2026-10-07', 0.1, 0.5, 0.01],
    ['claude-mythos-5', '2026-06-09', 10, 50, 1],
    ['claude-mythos-5-1', '2026-09-01', 10, 50, 0.25],
    ['claude-opus-5-5', '2026-09-22', 4, 20, 0.2],
    ['claude-sonnet-5-5', '2026-09-28', 2, 10, 0.2],
    ['claude-sonnet-5-5', '2026-10-07', 2, 10, 0.1],
    ['gemini-3.5-flash', '2026-05-19', 1.5, 9, 0.15],
    ['gemini-3.5-flash-lite', '2026-07-21', 0.3, 2.5, 0.03],
    ['gemini-3.6-flash', '2026-08-12', 1.5, 7.5, 0.15],
    ['gemini-3.6-flash', '2026-08-13', 0.75, 3.75, 0.075],
    ['gemini-3.6-flash', '2026-12-31', 0.75, 3.75, 0.075],
    ['gemini-3.6-flash', '2027-01-01', 1.5, 7.5, 0.15],
    ['gemini-3.8-flash', '2026-09-02', 0.75, 3.75, 0.075],
    ['gemini-3.8-flash', '2027-01-01', 1.5, 7.5, 0.15],
    ['gemini-4-neon', '2026-11-18', 3, 15, 0.15],
    ['gpt-5.3-codex', '2026-02-05', 1.75, 14, 0.175],
    ['gpt-5.4-mini', '2026-03-17', 0.75, 4.5, 0.075],
    ['gpt-5.6-luna', '2026-07-09', 1, 6, 0.1],
    ['gpt-5.6-luna', '2026-07-30', 0.2, 1.2, 0.02],
    ['gpt-5.6-sol', '2026-07-09', 5, 30, 0.5],
    ['gpt-5.6-sol', '2026-08-21', 4, 20, 0.4],
    ['gpt-5.6-terra', '2026-07-09', 2.5, 15, 0.25],
    ['gpt-5.6-terra', '2026-07-30', 2, 12, 0.2],
    ['gpt-6-astra', '2026-09-03', 10, 50, 1],
    ['gpt-6-luna', '2026-09-22', 0.1, 0.5, 0.01],
    ['gpt-6-sol', '2026-09-22', 2, 10, 0.2],
    ['gpt-6.1-sol', '2026-09-29', 2, 10, 0.1],
    ['gpt-6.2-astra', '2026-11-17', 8, 40, 0.4],
    ['gpt-6.2-sol', '2026-11-17', 2, 10, 0.1],
  ];
  for (const [name, day, ...usd] of stated) {
    const [row] = await world.store.select(
      `SELECT CAST(input_price AS DOUBLE) AS input, CAST(output_price AS DOUBLE) AS output, CAST(cache_read_price AS DOUBLE) AS cache_read
      FROM price_periods WHERE model_id = model_key('${name}') AND valid_from <= DATE '${day}' AND valid_until > DATE '${day}'`,
    );
    expect(Object.values(row ?? {}), `${name} on ${day}`).toEqual(usd);
  }
});
