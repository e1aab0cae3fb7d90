import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { rowsOfReport } from '../src/api/answer-rows.js';
import { addDays, type Day, dayOf, MS_PER_DAY } from '../src/day.js';
import type { Row } from '../src/store/store.js';
import { dollars } from '../src/vendors/vendor-bill.js';
import { KEY, MONTH, NIGHT, PEOPLE, Pulled, pullNightly } from './pulled.js';
import { playsSlow } from './slow.js';
import {
  anthropicBills,
  type Billed,
  billedOf,
  decimal,
  githubBills,
  openaiBills,
} from './vendor-bills-stand-in.js';
import { daysBefore, StandIn, type VendorAnswers } from './vendor-stand-in.js';
import { ending, event, leavesOutSlow } from './world.js';

const SEED = Number(process.env.VENDOR_SEED ?? 7);
/** How long bills are fetched again. */
const REVISED = 30;

interface Vendor {
  readonly name: 'anthropic' | 'github' | 'openai-api';
  readonly given: { readonly key: string; readonly account?: string };
  readonly answers: (people: number, revisedDays: number) => VendorAnswers;
  /** What the bill of a day has of a model: report, item, dollars with 9 places, dollars without discounts, and tokens. */
  readonly rows: (billed: Billed) => (string | number | null)[][];
}

const VENDORS: readonly Vendor[] = [
  {
    ...{ name: 'anthropic', given: { key: KEY }, answers: anthropicBills },
    rows: ({ model, millionths, tokens }) => {
      const usd = decimal(millionths * 10n, 9);
      return [
        ['anthropic-costs', `${model} Usage - Tokens`, usd, usd, null],
        ['anthropic-messages', model, null, null, tokens],
      ];
    },
  },
  {
    ...{ name: 'openai-api', given: { key: 'sk-admin-right' }, answers: openaiBills },
    rows: ({ model, millionths, tokens }) => {
      const usd = decimal(millionths * 10n, 9);
      return [
        ['openai-costs', `${model}, input`, usd, usd, null],
        ['openai-completions', model, null, null, tokens],
      ];
    },
  },
  {
    ...{ name: 'github', given: { key: 'ghp_right_key', account: 'orgs/acme' }, answers: githubBills },
    rows: ({ model, millionths }) => [
      [
        ...['github-ai-credits', `copilot_ai_credit: ${model}`],
        // Two people.
        ...[decimal(2n * millionths, 9), decimal(20n * millionths, 9), null],
      ],
    ],
  },
];

const atEnd = ending();

/** The bills that are stored, with exact amounts. */
function billsIn({ world }: Pulled): Promise<Row[]> {
  return world.store.select(
    `SELECT day, report, item, CAST(usd AS VARCHAR) AS usd, CAST(gross_usd AS VARCHAR) AS gross_usd, tokens
    FROM vendor_bills WHERE item <> '' ORDER BY day, report, item`,
  );
}

/** The digests of the days. */
function notesIn({ world }: Pulled): Promise<Row[]> {
  return world.store.select(
    "SELECT report, day, digest FROM vendor_bills WHERE item = '' ORDER BY report, day",
  );
}

/** A decimal text without zeros at its end, which ClickHouse leaves out. */
const short = (text: unknown) => (text === null ? null : String(text).replace(/\.?0+$/, ''));

const textOf = ({ day, report, item, usd, gross_usd, tokens }: Row) =>
  JSON.stringify([day, report, item, short(usd), short(gross_usd), tokens]);

// On ClickHouse a month takes most of a minute.
describe.skipIf(leavesOutSlow()).each(VENDORS)(
  'a month of bills of $name that is pulled each night',
  ({ name, given, answers, rows }) => {
    const days = daysBefore(NIGHT + MONTH * MS_PER_DAY, MONTH);
    const since = days[0] ?? null;
    let nightly: Pulled;
    let vendor: StandIn;
    let last = 0;

    beforeAll(async () => {
      vendor = await StandIn.start(SEED, answers(PEOPLE, REVISED), atEnd);
      nightly = await Pulled.create(vendor, atEnd);
      await nightly.set({ vendor: name, ...given, since, bills: true });
      last = await pullNightly(nightly, MONTH, REVISED, playsSlow() ? 1 : 3);
    }, 600_000);

    test('equals one clean pull', async () => {
      const clean = await Pulled.create(vendor, atEnd);
      await clean.set({ vendor: name, ...given, since, bills: true });
      for (const pull of await clean.pullAll(last)) expect(pull).toMatchObject({ fault: '', missed: [] });
      expect(await billsIn(nightly)).toEqual(await billsIn(clean));
      expect(await notesIn(nightly)).toEqual(await notesIn(clean));
    });

    test('equals what the vendor knows, to the last digit', async () => {
      const known = daysBefore(last, Math.round((last - Date.parse(days[0] ?? '')) / MS_PER_DAY)).flatMap(
        (day) =>
          billedOf(SEED, PEOPLE, REVISED, day, last).flatMap((billed) =>
            rows(billed).map(([report, item, usd, gross, tokens]) =>
              JSON.stringify([day, report, item, short(usd), short(gross), tokens]),
            ),
          ),
      );
      expect(known.length).toBeGreaterThan(MONTH);
      expect((await billsIn(nightly)).map(textOf).sort()).toEqual(known.sort());
    });

    test("is not changed by another pull, and counts as nobody's usage", async () => {
      const before = await billsIn(nightly);
      for (const pull of await nightly.pullAll(last + 1000))
        expect(pull).toMatchObject({ changed: 0, missed: [], fault: '' });
      expect(await billsIn(nightly)).toEqual(before);
      const [row] = await nightly.world.store.select(
        "SELECT count(*) AS events FROM events WHERE channel = 'vendor_api'",
      );
      expect(row?.events).toBe(0);
    });
  },
);

describe('beside events', () => {
  const day = addDays(dayOf(NIGHT), -1) as Day;
  const before = addDays(day, -1);
  let pulled: Pulled;

  beforeAll(async () => {
    // $20 in two items, and 3,000 tokens; on the day before $4 and none.
    const answers = ({ url }: { url: URL }) => {
      const asked = String(url.searchParams.get('starting_at'));
      const of = (results: readonly object[]) => ({ data: [{ starting_at: asked, results }] });
      const end = { has_more: false, next_page: null };
      if (url.pathname.endsWith('/claude_code') || ![day, before].some((one) => asked.startsWith(one)))
        return { data: [], ...end };
      if (asked.startsWith(before))
        return url.pathname.endsWith('/messages')
          ? { ...of([]), ...end }
          : { ...of([{ amount: '400', currency: 'USD', description: 'Claude Opus' }]), ...end };
      if (url.pathname.endsWith('/messages'))
        return {
          ...of([{ model: 'claude-opus-4-5', uncached_input_tokens: 2500, output_tokens: 500 }]),
          ...end,
        };
      const items = ['Claude Opus Input', 'Claude Opus Output'];
      return {
        ...of(items.map((description) => ({ amount: '1000.00', currency: 'USD', description }))),
        ...end,
      };
    };
    pulled = await Pulled.create(await StandIn.start(1, answers, atEnd), atEnd);
    const usage = (id: string, more: object) =>
      event(id, {
        ...{ type: 'model_usage', timestamp: `${day}T10:00:00Z`, session_id: 's1', channel: 'log' },
        ...{ agent: 'claude-code', model: 'claude-opus-4-5', input_tokens: 1000, output_tokens: 0, ...more },
      });
    await pulled.world.send([
      usage('u1', { input_tokens: 2_000_000 }),
      usage('u2', { input_tokens: 500_000, user_id: 'grace', session_id: 's2' }),
      // Nothing of Anthropic's.
      usage('u3', { agent: 'codex', session_id: 's3' }),
      // On a day that isn't billed.
      usage('u4', { timestamp: `${addDays(day, -40)}T10:00:00Z`, session_id: 's4' }),
    ]);
    await pulled.set({ since: before, bills: true });
    for (const { fault } of await pulled.pullAll(NIGHT)) expect(fault).toBe('');
    await pulled.world.build();
  });

  test('coverage says what events have of a bill', async () => {
    const range = { orgId: 'acme', from: addDays(day, -60) as Day, to: day };
    const { data } = await pulled.world.store.snapshot((select, readColumns) =>
      rowsOfReport(select, readColumns, 'coverage', { ...range, groupBy: 'vendor' }),
    );
    // Claude Opus 4.5 costs $5 a million of input.
    expect(data).toEqual([
      {
        ...{ month: '2026-04-01', vendor: 'anthropic', agent: '', days: 2 },
        ...{ billed_usd: 24, gross_usd: 24, captured_usd: 12.5 },
        ...{ captured_cost_ratio: 12.5 / 24, cost_difference_ratio: 11.5 / 24, captured_unpriced_tokens: 0 },
        ...{ vendor_tokens: 3000, captured_tokens: 2_500_000, captured_ratio: 2_500_000 / 3000 },
      },
    ]);
  });
});

test('bills are fetched only if they are asked for', async () => {
  const vendor = await StandIn.start(SEED, anthropicBills(3, 2), onTestFinished);
  const pulled = await Pulled.create(vendor, onTestFinished);
  await pulled.set({ bills: false });
  expect((await pulled.pullAll(NIGHT)).map(({ report }) => report)).toEqual(['anthropic-claude-code']);
  await pulled.set({ bills: true });
  expect((await pulled.pullAll(NIGHT)).map(({ report }) => report)).toEqual([
    ...['anthropic-claude-code', 'anthropic-costs', 'anthropic-messages'],
  ]);
});

test('a bill in another currency is no bill in dollars', async () => {
  const day = addDays(dayOf(NIGHT), -1) as Day;
  const answers = ({ url }: { url: URL }) => ({
    data: [
      {
        starting_at: String(url.searchParams.get('starting_at')),
        results: url.pathname.endsWith('/messages')
          ? []
          : [{ amount: '10.5', currency: 'EUR', description: 'Claude Opus' }],
      },
    ],
    ...{ has_more: false, next_page: null },
  });
  const pulled = await Pulled.create(await StandIn.start(1, answers, onTestFinished), onTestFinished);
  await pulled.set({ since: day, bills: true });
  const costs = (await pulled.pullAll(NIGHT)).find(({ report }) => report === 'anthropic-costs');
  expect(costs?.fault).toBe('Anthropic bills in EUR, and Daybook reads dollars alone');
  expect(await billsIn(pulled)).toEqual([]);
});

test.each([
  ['123.78912', 2, '1.237891200'],
  ['-0.5', 2, '-0.005000000'],
  [0.06, 0, '0.060000000'],
  [1e-7, 0, '0.000000100'],
  ['12345678.123456789', 0, '12345678.123456789'],
  // Half of the last place goes up.
  ['0.0000000005', 0, '0.000000001'],
  ['0.00000000049', 0, '0.000000000'],
] as const)('%s with %i places is %s dollars', (amount, shift, usd) => {
  expect(dollars(amount, shift)).toBe(usd);
});
