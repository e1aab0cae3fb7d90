import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { dayOf } from '../src/day.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleLines, withLines } from '../src/people/people-file.js';
import { buildApp } from '../src/service/app.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { memberNames } from '../src/store/tables.js';
import { FOCUS_COLUMNS, FOCUS_UNIT } from './focus-columns.js';
import { ending, event, NOW, temporaryFolder, World } from './world.js';

const atEnd = ending();

const source = 'the test';
const valid_from = '2026-01-01';
const PRICE_FILE = {
  models: [
    {
      id: 'claude-sonnet-4-5',
      prices: [
        {
          valid_from: '2026-06-03',
          input: 3,
          output: 15,
          cache_read: 0.3,
          cache_write: 3.75,
          web_search: 10,
          source,
        },
        {
          valid_from,
          input: 2.5,
          output: 12.123457,
          cache_read: 0.25,
          cache_write: 3.125,
          web_search: 10,
          source,
        },
      ],
    },
    // Nobody knows what reading its cache costs.
    { id: 'gpt-5-5', prices: [{ valid_from, input: 1.25, output: 10, source }] },
  ],
};
/** The organization pays in euros from June 2 on. */
const COSTS = {
  currency: 'EUR',
  terms: [
    { from: '2026-06-02', priceFactor: 0.85, rate: 0.923457 },
    { from: '2026-06-04', priceFactor: 0.8, rate: 0.9 },
  ],
};
const DAYS = ['2026-06-01', '2026-06-02', '2026-06-03', '2026-06-04', '2026-06-05'];
const RANGE = 'startDate=2026-06-01&endDate=2026-06-05';

const NAMES = Object.keys(FOCUS_COLUMNS);
type Charge = Readonly<Record<string, string>>;

/** Events of some people on each day: calls of models whose prices are known, known in part, reported, or not known at all. */
function calls(): object[] {
  return DAYS.flatMap((day, place) =>
    ['ada', 'grace', 'linus'].flatMap((user_id, person) => {
      const call = (id: string, more: object) =>
        event(`${day}-${user_id}-${id}`, {
          ...{
            type: 'model_usage',
            timestamp: `${day}T10:00:00Z`,
            user_id,
            session_id: `${user_id}-${place}`,
          },
          ...more,
        });
      const tokens = { input_tokens: 1013 + 7 * place, output_tokens: 333 + person };
      return [
        call('a', {
          ...{ agent: 'claude-code', model: 'claude-sonnet-4-5', ...tokens },
          ...{ cache_read_tokens: 77_777, cache_write_tokens: 1234, web_searches: 3 },
        }),
        call('b', { agent: 'codex', model: 'gpt-5-5', ...tokens, cache_read_tokens: 501 }),
        call('c', { model: 'acme-coder', ...tokens }),
        call('d', {
          agent: 'codex',
          model: 'acme-told',
          ...tokens,
          reported_cost_usd: 0.0123 + person / 1000,
        }),
      ];
    }),
  );
}

/** A decimal in units of the last of 34 places, so that sums and products of charges are exact. */
function exact(text = '', places = 34): bigint {
  const [, sign = '', whole = '', part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  expect(whole, `${text} must be a decimal`).not.toBe('');
  return BigInt(`${sign}${whole}${part.padEnd(places, '0')}`);
}

function sumOf(charges: readonly Charge[], column: string): bigint {
  return charges.reduce((total, charge) => total + exact(charge[column]), 0n);
}

/** An exact number in the digits that a double has: the answers about costs are doubles, and their last bit is the engine's. */
function digits(value: bigint, places = 34): string {
  return Number(`${value}e-${places}`).toPrecision(15);
}

const isUnpriced = ({ Tags = '' }: Charge) => JSON.parse(Tags)['daybook/unpriced'] === true;

/** What is wrong with a charge by the specification; nothing for most. */
function faultsOf(charge: Charge): string[] {
  return Object.entries(FOCUS_COLUMNS).flatMap(([name, { type, isNullable, isOfUsage, allowed }]) => {
    const value = charge[name] ?? '';
    if (value === '') {
      const isMissing = !isNullable || isOfUsage === true;
      return isMissing ? [`${name} is null`] : [];
    }
    if (allowed !== undefined && !allowed.includes(value)) return [`${name} is ${value}`];
    if (value.trim() === '') return [`${name} is blank`];
    if (type === 'decimal' && !/^-?\d+(?:\.\d+)?$/.test(value)) return [`${name} is no decimal: ${value}`];
    if (type === 'instant' && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value))
      return [`${name} is no instant: ${value}`];
    if (name.endsWith('Unit') && !FOCUS_UNIT.test(value)) return [`${name} is ${value}`];
    if (name.endsWith('Currency') && !/^[A-Z]{3}$/.test(value)) return [`${name} is ${value}`];
    if (type !== 'object') return [];
    return Object.values(JSON.parse(value)).some((one) => typeof one === 'object')
      ? [`${name} is nested`]
      : [];
  });
}

describe('the export of costs for FOCUS 1.2', () => {
  let world: World;
  let app: FastifyInstance;
  let key: string;

  const ask = async (path: string, accept = 'text/csv', as = key) => {
    const headers = { authorization: `Bearer ${as}`, accept };
    const { statusCode, body } = await app.inject({ url: `/api/v1/analytics/${path}`, headers });
    return { status: statusCode, body };
  };
  const chargesOf = async (more = '', range = RANGE): Promise<Charge[]> => {
    const { status, body } = await ask(`focus?${range}${more}`);
    expect(status, body).toBe(200);
    return parse(body, { columns: true });
  };
  const costsOf = async (more = '') =>
    JSON.parse((await ask(`costs?${RANGE}&limit=1000${more}`, 'application/json')).body).data;

  beforeAll(async () => {
    const prices = join(temporaryFolder(atEnd), 'prices.json');
    writeFileSync(prices, JSON.stringify(PRICE_FILE));
    world = await World.create({ DAYBOOK_PRICES: prices }, atEnd);
    await world.send(calls());
    await world.build();
    const people = 'user_id,team\nada,Compilers\ngrace,"Web, and ""more"""\n';
    const told = { today: dayOf(NOW), replaces: false };
    await replacePeople(
      world.store,
      'acme',
      (before) => withLines(before, peopleLines(people, 'people.csv'), told),
      { author: 'root' },
      NOW,
    );
    app = buildApp(world);
    key = (await createKey(world.store, { orgId: 'acme', role: 'owner', userId: 'root' }, NOW)).key;
    const set = await app.inject({
      ...{ method: 'PUT', url: '/api/v0/organization/enterprise-controls' },
      ...{ headers: { authorization: `Bearer ${key}` }, payload: { settings: { costs: COSTS } } },
    });
    expect(set.statusCode, set.body).toBe(200);
  });

  test('has the columns of the specification, and every charge keeps its rules', async () => {
    expect(memberNames('focus')).toEqual(NAMES);
    const charges = await chargesOf('&group_by=team');
    expect(Object.keys(charges[0] ?? {})).toEqual(NAMES);
    expect(charges.filter((charge) => !isUnpriced(charge)).flatMap(faultsOf)).toEqual([]);
    // A price that isn't known is null, which the specification has no way to say.
    const missing = ['ContractedUnitPrice is null', 'ListUnitPrice is null'];
    for (const charge of charges.filter(isUnpriced)) expect(faultsOf(charge)).toEqual(missing);
  });

  test('prices times quantities are costs, to the last digit', async () => {
    for (const charge of (await chargesOf()).filter((one) => !isUnpriced(one)))
      for (const [price, cost] of [
        ['ListUnitPrice', 'ListCost'],
        ['ContractedUnitPrice', 'ContractedCost'],
        ['PricingCurrencyContractedUnitPrice', 'PricingCurrencyEffectiveCost'],
      ] as const)
        expect(exact(charge[price]) * exact(charge.PricingQuantity), price).toBe(
          exact(charge[cost]) * 10n ** 34n,
        );
  });

  test.each(['', '&group_by=team', '&group_by=user', '&model=claude-sonnet-4-5', '&tool=Edit'])(
    'adds up to costs in all digits: %s',
    async (more) => {
      const filter = more.replace(/&group_by=\w+/, '');
      const [charges, costs] = [await chargesOf(more), await costsOf(filter)];
      expect(costs).toHaveLength(more === '&tool=Edit' ? costs.length : DAYS.length);
      for (const { date, cost_usd, contracted_cost, currency, unpriced_tokens } of costs) {
        const ofDay = charges.filter(({ ChargePeriodStart = '' }) => ChargePeriodStart.startsWith(date));
        // In dollars at list price: the listed price in dollars times its quantity.
        const listed = ofDay
          .filter((charge) => !isUnpriced(charge))
          .reduce(
            (total, one) => total + exact(one.PricingCurrencyListUnitPrice) * exact(one.PricingQuantity),
            0n,
          );
        expect(digits(listed, 68)).toBe((cost_usd ?? 0).toPrecision(15));
        for (const column of ['BilledCost', 'EffectiveCost', 'ContractedCost'])
          expect(digits(sumOf(ofDay, column))).toBe((contracted_cost ?? cost_usd ?? 0).toPrecision(15));
        const currencies = new Set(ofDay.map(({ BillingCurrency }) => BillingCurrency));
        if (ofDay.length > 0) expect([...currencies]).toEqual([date === '2026-06-01' ? 'USD' : currency]);
        const unpriced = ofDay
          .filter((charge) => isUnpriced(charge) && charge.ConsumedUnit === 'Tokens')
          .reduce((total, { ConsumedQuantity }) => total + Number(ConsumedQuantity), 0);
        expect(unpriced).toBe(unpriced_tokens);
      }
    },
  );

  test('has all tokens, and says of which the price is not known', async () => {
    const charges = await chargesOf('', 'startDate=2026-06-03&endDate=2026-06-03');
    const told = charges.map((charge) => [charge.SkuId, Number(charge.ConsumedQuantity), charge.Tags]);
    const [claude, codex] = ['{"daybook/agent":"claude-code"}', '{"daybook/agent":"codex"}'];
    expect(told).toEqual([
      ['acme-coder/input', 3 * 1027, '{"daybook/unpriced":true}'],
      ['acme-coder/output', 3 * 333 + 3, '{"daybook/unpriced":true}'],
      ['claude-sonnet-4-5/input', 3 * 1027, claude],
      ['claude-sonnet-4-5/output', 3 * 333 + 3, claude],
      ['claude-sonnet-4-5/cache_read', 3 * 77_777, claude],
      ['claude-sonnet-4-5/cache_write', 3 * 1234, claude],
      ['claude-sonnet-4-5/web_search', 9, claude],
      ['acme-told/reported', 3 * 1027 + 3 * 333 + 3, codex],
      ['gpt-5-5/input', 3 * 1027, codex],
      ['gpt-5-5/output', 3 * 333 + 3, codex],
      ['gpt-5-5/cache_read', 3 * 501, '{"daybook/agent":"codex","daybook/unpriced":true}'],
    ]);
    expect(charges[4]).toMatchObject({
      ...{ ProviderName: 'Anthropic', ServiceName: 'Anthropic models', BillingAccountId: 'acme' },
      ...{ BillingPeriodStart: '2026-06-01T00:00:00Z', BillingPeriodEnd: '2026-07-01T00:00:00Z' },
      ...{ ChargePeriodStart: '2026-06-03T00:00:00Z', ChargePeriodEnd: '2026-06-04T00:00:00Z' },
      ...{ ChargeDescription: 'claude-sonnet-4-5: tokens read from the cache', BillingCurrency: 'EUR' },
      ...{
        PricingUnit: '1000000 Tokens',
        PricingQuantity: '0.233331',
        PricingCurrencyListUnitPrice: '0.300000000000',
      },
    });
    expect(charges[0]).toMatchObject({ BilledCost: expect.stringMatching(/^0\.0+$/), ListUnitPrice: '' });
    const tags = (await chargesOf('&group_by=team&user_id=grace')).map(({ Tags = '' }) => JSON.parse(Tags));
    expect(new Set(tags.map((tag) => tag['daybook/team']))).toEqual(new Set(['Web, and "more"']));
  });

  test('a range that is read a day at a time has the same rows, in JSON and Arrow too', async () => {
    const whole = await chargesOf();
    const days = await Promise.all(DAYS.map((day) => chargesOf('', `startDate=${day}&endDate=${day}`)));
    expect(days.flat()).toEqual(whole);
    const json = JSON.parse((await ask(`focus?${RANGE}`, 'application/json')).body).data;
    expect(json.map((row: Charge) => Number(row.BilledCost))).toEqual(
      whole.map((row) => Number(row.BilledCost)),
    );
    expect((await ask(`focus?${RANGE}`, 'application/vnd.apache.arrow.stream')).status).toBe(200);
  });

  test('tools and limits are refused, and members have only their own rows', async () => {
    for (const more of ['&group_by=tool', '&group_by=mcp_server', '&group_by=model', '&limit=5'])
      expect((await ask(`focus?${RANGE}${more}`)).status).toBe(400);
    const member = (await createKey(world.store, { orgId: 'acme', role: 'member', userId: 'ada' }, NOW)).key;
    const own = await ask(`focus?${RANGE}&group_by=user`, 'text/csv', member);
    const rows: Charge[] = parse(own.body, { columns: true });
    const users = rows.map(({ Tags = '' }) => JSON.parse(Tags)['daybook/user']);
    expect(new Set(users)).toEqual(new Set(['ada']));
    expect((await ask(`focus?${RANGE}&user_id=grace`, 'text/csv', member)).status).toBe(403);
  });

  test('where people are protected, only auditors have it, and members their own', async () => {
    const set = (mode: 'open' | 'protected') =>
      changePrivacy(world.store, 'acme', () => ({ mode, smallestGroup: 5, auditors: ['root'] }), 'root', NOW);
    const boss = (await createKey(world.store, { orgId: 'acme', role: 'manager', userId: 'boss' }, NOW)).key;
    await set('protected');
    try {
      for (const more of ['', '&group_by=team', '&group_by=user'])
        expect((await ask(`focus?${RANGE}${more}`, 'text/csv', boss)).status).toBe(403);
      expect((await ask(`focus?${RANGE}&group_by=user`)).status).toBe(200);
      const member = (await createKey(world.store, { orgId: 'acme', role: 'member', userId: 'ada' }, NOW))
        .key;
      expect((await ask(`focus?${RANGE}`, 'text/csv', member)).status).toBe(200);
    } finally {
      await set('open');
    }
  });
});
