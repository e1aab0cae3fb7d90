import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readNewerPrices, updatePrices } from '../src/money/update-prices.js';
import { vendorList } from '../src/money/vendor-prices.js';
import { BASE_PRICES } from '../src/store/price-list.js';
import { readSql } from '../src/store/sql-text.js';
import { event, temporaryFolder, World } from './world.js';

/** A list in the form of the package, with a model of Anthropic and whatever else. */
function list(models: object[], more: object[] = []) {
  return [
    { id: 'anthropic', models: [model('claude-opus-4-8', { input_mtok: 5, output_mtok: 25 }), ...models] },
    ...more,
  ];
}

function model(id: string, prices: unknown, match: object = { equals: id }) {
  return { id, match, prices };
}

function fileOf(content: unknown): string {
  const path = join(temporaryFolder(), 'list.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function served(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((listening) => server.on('listening', listening));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/data.json`;
}

const day = (text: string) => Date.parse(`${text}T12:00:00Z`);
const DAYS = ['2026-06-01', '2026-06-05', '2026-06-10', '2026-06-15', '2026-06-20'];

/** The cost of a million tokens of input on each day. */
async function costs(world: World, id: string): Promise<unknown[]> {
  const rows = await world.store.select(
    `SELECT day, CAST(sum(cost_usd) AS DOUBLE) AS usd FROM user_costs WHERE model_id = '${id}' GROUP BY day ORDER BY day`,
  );
  return rows.map(({ usd }) => usd);
}

test('a newer list changes an undated price from the day on which it was read, and no earlier day moves', async () => {
  const world = await World.create();
  world.now = day('2026-06-21');
  const models = ['claude-opus-4-8', 'claude-opus-5-5', 'claude-new-1', 'claude-sonnet-5-5'];
  await world.send(
    DAYS.flatMap((on) =>
      models.map((id) =>
        event(`${on} ${id}`, {
          type: 'model_usage',
          timestamp: `${on}T10:00:00Z`,
          model: id,
          input_tokens: 1_000_000,
          output_tokens: 0,
        }),
      ),
    ),
  );
  await world.build();
  const update = async (on: string, content: unknown) => {
    const newer = await readNewerPrices(world.config.data, fileOf(content), day(on));
    await newer.save();
    await world.store.refresh();
    return newer.changes;
  };
  expect(await costs(world, 'claude-opus-4-8')).toEqual([5, 5, 5, 5, 5]);
  expect(await costs(world, 'claude-new-1')).toEqual([null, null, null, null, null]);

  expect(
    await update(
      '2026-06-05',
      list([
        model('claude-new-1', { input_mtok: 3, output_mtok: 15 }),
        model('claude-opus-4-8', { input_mtok: 5, output_mtok: 25 }),
      ]),
    ),
  ).toEqual([
    { model_id: 'claude-new-1', valid_from: '2000-01-01', change: 'input unknown → 3, output unknown → 15' },
  ]);
  expect(await costs(world, 'claude-new-1')).toEqual([3, 3, 3, 3, 3]);

  const cheaper = (input_mtok: number) => [
    {
      id: 'anthropic',
      models: [
        model('claude-opus-4-8', { input_mtok, output_mtok: 25 }),
        model('claude-new-1', [
          { prices: { input_mtok: 3, output_mtok: 15 } },
          { constraint: { start_date: '2026-06-15' }, prices: { input_mtok: 2, output_mtok: 15 } },
        ]),
      ],
    },
  ];
  expect(await update('2026-06-10', cheaper(4))).toEqual([
    { model_id: 'claude-new-1', valid_from: '2026-06-15', change: 'input 3 → 2' },
    { model_id: 'claude-opus-4-8', valid_from: '2026-06-10', change: 'input 5 → 4' },
  ]);
  expect(await costs(world, 'claude-opus-4-8')).toEqual([5, 5, 4, 4, 4]);
  expect(await costs(world, 'claude-new-1')).toEqual([3, 3, 3, 2, 2]);

  expect(await update('2026-06-20', cheaper(6))).toEqual([
    { model_id: 'claude-opus-4-8', valid_from: '2026-06-20', change: 'input 4 → 6' },
  ]);
  expect(await costs(world, 'claude-opus-4-8')).toEqual([5, 5, 4, 4, 6]);
  expect(await costs(world, 'claude-new-1')).toEqual([3, 3, 3, 2, 2]);
  expect(await update('2026-06-21', cheaper(6))).toEqual([]);
  // A model that a list leaves out keeps its price.
  expect(await costs(world, 'claude-opus-5-5')).toEqual([null, null, null, null, null]);
});

test('a price of our own holds until a newer list states another one', async () => {
  const { data } = (await World.create()).config;
  const asKnown = list(
    [model('gpt', {})],
    [
      {
        id: 'openai',
        models: [model('gpt-6.2-sol', { input_mtok: 2, cache_read_mtok: 0.1, output_mtok: 10 })],
      },
    ],
  );
  const same = await readNewerPrices(data, fileOf(asKnown), day('2027-02-01'));
  expect(same.changes.map(({ model_id }) => model_id)).toEqual([]);
  const cut = list(
    [],
    [
      {
        id: 'openai',
        models: [model('gpt-6.2-sol', { input_mtok: 1, cache_read_mtok: 0.1, output_mtok: 10 })],
      },
    ],
  );
  const newer = await readNewerPrices(data, fileOf(cut), day('2027-02-01'));
  expect(newer.changes).toMatchObject([{ model_id: 'gpt-6-2-sol', valid_from: '2027-02-01' }]);
  expect(newer.changes[0]?.change).toContain('input 2 → 1');
});

test('a price of the package that is wrong stays corrected when a newer list repeats it', async () => {
  const { data } = (await World.create()).config;
  const prices = [
    { prices: { input_mtok: 0.75, cache_read_mtok: 0.075, output_mtok: 3.75 } },
    {
      constraint: { start_date: '2027-01-01' },
      prices: { input_mtok: 1.5, cache_read_mtok: 0.15, output_mtok: 7.5 },
    },
  ];
  const repeated = list([], [{ id: 'google', models: [model('gemini-3.6-flash', prices)] }]);
  expect((await readNewerPrices(data, fileOf(repeated), day('2026-11-27'))).changes).toEqual([]);
});

test('both published forms are read, and only exact names that the vendor itself sells', async () => {
  const names = (json: unknown) => vendorList(json, 'list').models.map((one) => one.names);
  const tiers = (start: number) => ({ base: 1, tiers: [{ start, price: 2 }] });
  const providers = list(
    [
      model(
        'claude-x',
        { input_mtok: 1, output_mtok: 2 },
        { or: [{ equals: 'claude-x1' }, { starts_with: 'claude-y' }] },
      ),
      model('claude-day', [
        { prices: { input_mtok: 1, output_mtok: 2 } },
        {
          constraint: { start_time: '00:30:00Z', end_time: '16:30:00Z' },
          prices: { input_mtok: 2, output_mtok: 2 },
        },
      ]),
      model('claude-odd', { input_mtok: tiers(300_000), output_mtok: 2 }),
      model('claude-step', { input_mtok: tiers(271_999), output_mtok: 2 }),
      model('claude-free', {}),
    ],
    [{ id: 'openrouter', models: [model('anthropic/claude-z', { input_mtok: 1, output_mtok: 2 })] }],
  );
  const wanted = [
    ['claude-opus-4-8', 'claude-opus-4-8'],
    ['claude-x', 'claude-x1'],
    ['claude-step', 'claude-step'],
  ];
  expect(names(providers)).toEqual(wanted);
  expect(names({ units: {}, providers })).toEqual(wanted);
  expect(vendorList(providers, 'list').models.at(-1)?.prices).toMatchObject([
    { input: 1, above: { tokens: 272_000, input: 2, output: 2 } },
  ]);

  const lite = {
    sample_spec: { litellm_provider: 'one of https://docs.litellm.ai/docs/providers', mode: 'one of: chat' },
    'claude-opus-4-8': {
      litellm_provider: 'anthropic',
      mode: 'chat',
      input_cost_per_token: 5e-6,
      output_cost_per_token: 2.5e-5,
      cache_read_input_token_cost: 5e-7,
      cache_creation_input_token_cost: 6.25e-6,
      cache_creation_input_token_cost_above_1hr: 1e-5,
      search_context_cost_per_query: { search_context_size_medium: 0.01 },
    },
    'gemini/gemini-9-pro': {
      litellm_provider: 'gemini',
      mode: 'chat',
      input_cost_per_token: 2e-6,
      input_cost_per_token_above_200k_tokens: 4e-6,
      output_cost_per_token: 1.2e-5,
    },
    'bedrock/claude': {
      litellm_provider: 'bedrock',
      mode: 'chat',
      input_cost_per_token: 1,
      output_cost_per_token: 1,
    },
    'dall-e-2': { litellm_provider: 'openai', mode: 'image_generation', input_cost_per_pixel: 1.9e-8 },
  };
  expect(vendorList(lite, 'list').models).toMatchObject([
    {
      names: ['claude-opus-4-8'],
      prices: [
        { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25, cache_write_1h: 10, web_search: 10 },
      ],
    },
    {
      names: ['gemini/gemini-9-pro'],
      prices: [{ input: 2, above: { tokens: 200_000, input: 4, output: 12 } }],
    },
  ]);
});

test("LiteLLM's list says nothing of kinds that it leaves out, nor of days to come", async () => {
  const { data } = (await World.create()).config;
  const lite = {
    'claude-opus-4-8': {
      litellm_provider: 'anthropic',
      input_cost_per_token: 5e-6,
      output_cost_per_token: 2.5e-5,
    },
    'gemini/gemini-3.8-flash': {
      litellm_provider: 'gemini',
      input_cost_per_token: 7.5e-7,
      output_cost_per_token: 3.75e-6,
    },
    'gpt-5.5': { litellm_provider: 'openai', input_cost_per_token: 4e-6, output_cost_per_token: 3e-5 },
  };
  // With a byte order mark too, as editors on Windows write it.
  for (const mark of ['', '\ufeff']) {
    const file = fileOf(mark + JSON.stringify(lite));
    const { changes } = await readNewerPrices(data, file, day('2026-11-27'));
    expect(changes).toEqual([{ model_id: 'gpt-5-5', valid_from: '2026-11-27', change: 'input 5 → 4' }]);
  }
});

test.each([
  ["isn't JSON", '{'],
  ['has neither the form of', { models: [] }],
  ['has no price of any Claude model', [{ id: 'openai', models: [] }]],
  ["has a price that can't be one (models.", list([model('claude-odd', { input_mtok: -1, output_mtok: 1 })])],
  ['has more than 4 MiB', `"${'x'.repeat(4 << 20)}"`],
])('a list is refused that %s, and changes nothing', async (sentence, content) => {
  const world = await World.create();
  await expect(readNewerPrices(world.config.data, fileOf(content), day('2026-11-27'))).rejects.toThrow(
    sentence,
  );
});

test('an address is asked once, without its password, and no redirect is followed', async () => {
  const { data } = (await World.create()).config;
  const asked: (string | undefined)[] = [];
  const from = await served(({ url }, answer) => {
    asked.push(url);
    if (url === '/elsewhere') return answer.writeHead(302, { location: '/data.json' }).end();
    return answer.end(JSON.stringify(list([model('claude-new-1', { input_mtok: 3, output_mtok: 15 })])));
  });
  expect((await readNewerPrices(data, from, day('2026-11-27'))).changes).toHaveLength(1);
  await expect(readNewerPrices(data, from.replace('data.json', 'elsewhere'), 0)).rejects.toThrow(
    'answers 302: nothing was changed',
  );
  await expect(readNewerPrices(data, from.replace('http://', 'http://ada:secret@'), 0)).rejects.toThrow(
    /^(?!.*secret).*without a user and a password/,
  );
  expect(asked).toEqual(['/data.json', '/elsewhere']);
});

test('a service that cannot fetch prices keeps those that it has', async () => {
  const { data } = (await World.create()).config;
  const log = { info: vi.fn(), warn: vi.fn() };
  const stopping = new AbortController().signal;
  const broken = await served((_, answer) => void answer.writeHead(500).end());
  await updatePrices({ data, pricesFrom: broken }, day('2026-11-27'), log, stopping);
  expect(log.warn).toHaveBeenCalledTimes(1);
  const sound = await served(
    (_, answer) =>
      void answer.end(
        readFileSync(fileOf(list([model('claude-new-1', { input_mtok: 3, output_mtok: 15 })]))),
      ),
  );
  await updatePrices({ data, pricesFrom: sound }, day('2026-11-27'), log, stopping);
  expect(log.info.mock.calls[0]?.[0]).toMatchObject({ count: 1 });
  const world = await World.create({ DAYBOOK_DATA: data });
  const rows = await world.store.select("SELECT listed_by FROM prices WHERE model_id = 'claude-new-1'");
  expect(rows).toEqual([{ listed_by: 'update' }]);
});

test("the operator's own file stands above all lists, however it spells a model", async () => {
  const source = 'https://acme.example/contract';
  const path = fileOf({
    models: [
      { id: 'anthropic/claude-opus-4.8', prices: [{ valid_from: '2026-06-05', input: 1, source }] },
      { id: 'Claude-Opus-4-8', prices: [{ valid_from: '2026-06-05', input: 1, source }] },
    ],
  });
  const world = await World.create({ DAYBOOK_PRICES: path });
  await world.send(
    ['2026-06-01', '2026-06-05'].map((on) =>
      event(on, {
        type: 'model_usage',
        timestamp: `${on}T10:00:00Z`,
        model: 'global.anthropic.claude-opus-4-8-v1',
        input_tokens: 1_000_000,
        output_tokens: 0,
      }),
    ),
  );
  await world.build();
  expect(await costs(world, 'global.anthropic.claude-opus-4-8-v1')).toEqual([null, 1]);
  expect(await world.store.select(readSql('report/unpriced_models.sql'))).toMatchObject([
    { first_day: '2026-06-01', last_day: '2026-06-01' },
  ]);
  expect(readFileSync(BASE_PRICES, 'utf8')).toContain('claude-opus-4-8');
});
