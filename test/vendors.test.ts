import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { report } from '../src/api/answer-rows.js';
import { addDays, type Day, dayOf, MS_PER_DAY } from '../src/day.js';
import { EventCheck } from '../src/ingest/event-check.js';
import { Lake } from '../src/lake/data-lake.js';
import { erasePerson } from '../src/people/erasure.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleLines, withLines } from '../src/people/people-file.js';
import { newestPulls } from '../src/store/state/vendor-pulls.js';
import { capturedShares } from '../src/vendors/captured-shares.js';
import { pullAll, pullOrganization } from '../src/vendors/pull-reports.js';
import { VendorSettings } from '../src/vendors/vendor-settings.js';
import { KEY, MONTH, NIGHT, PEOPLE, Pulled, pullNightly } from './pulled.js';
import {
  ACTIVITY,
  anthropic,
  anthropicEnterprise,
  cursor,
  daysBefore,
  github,
  openai,
  openaiApi,
  personOf,
  StandIn,
  type Told,
  toldOf,
} from './vendor-stand-in.js';
import { ending, event, leavesOutSlow } from './world.js';

/** The vendors, with what they are asked with and what they answer. */
const VENDORS = [
  { name: 'anthropic', given: { key: KEY }, answers: anthropic, revised: 30 },
  {
    name: 'anthropic-enterprise',
    given: { key: 'sk-ant-analytics-right' },
    answers: anthropicEnterprise,
    revised: 30,
  },
  { name: 'cursor', given: { key: 'key_cursor_right' }, answers: cursor, revised: 7 },
  { name: 'github', given: { key: 'ghp_right_key', account: 'orgs/acme' }, answers: github, revised: 4 },
  { name: 'openai-api', given: { key: 'sk-admin-right' }, answers: openaiApi, revised: 7 },
  { name: 'openai', given: { key: 'sk-codex-right', account: 'ws_1' }, answers: openai, revised: 7 },
] as const;

/** What a vendor's report has of what somebody used of a model. */
const SAID: Record<(typeof VENDORS)[number]['name'], (told: Told) => Told> = {
  anthropic: (told) => told,
  'anthropic-enterprise': (told) => told,
  cursor: (told) => told,
  openai: (told) => ({ ...told, cacheWrite: 0, cents: 0 }),
  'openai-api': (told) => ({ ...told, model: `${told.model}-codex`, cacheWrite: 0, cents: 0 }),
  // Neither models nor what came from a cache.
  github: (told) => ({
    ...{
      ...told,
      model: 'unknown',
      input: told.input + told.cacheRead,
      cacheRead: 0,
      cacheWrite: 0,
      cents: 0,
    },
  }),
};
const SEED = Number(process.env.VENDOR_SEED ?? 7);

const atEnd = ending();

/** The tokens and dollars of each person, model and day, as the stand-in knows them. */
function truthOf(told: readonly (Told & { day: Day })[]): string[] {
  const sums = new Map<string, number[]>();
  for (const { day, user, model, input, output, cacheRead, cacheWrite, cents } of told) {
    const name = [day, user, model].join(' ');
    const before = sums.get(name) ?? [0, 0, 0, 0, 0];
    const more = [input, output, cacheRead, cacheWrite, cents];
    sums.set(
      name,
      more.map((value, place) => value + (before[place] ?? 0)),
    );
  }
  return [...sums]
    .map(([name, [input, output, cacheRead, cacheWrite, cents = 0]]) =>
      [name, input, output, cacheRead, cacheWrite, cents / 100].join(' '),
    )
    .sort();
}

/** The agent of each number of a vendor's lines. */
const LINES: Record<(typeof VENDORS)[number]['name'], (own: readonly Told[]) => LinesTold[]> = {
  anthropic: (own) => [{ agent: 'claude-code', of: own }],
  'anthropic-enterprise': (own) => [{ agent: 'claude-code', of: own }],
  cursor: (own) => [{ agent: 'cursor', of: own }],
  openai: (own) => [{ agent: 'codex', of: own }],
  'openai-api': () => [],
  github: (own) => [
    { agent: 'copilot-cli', of: own.slice(0, 1), times: 0 },
    { agent: 'copilot-chat', of: own.slice(1), times: 3 },
  ],
};
interface LinesTold {
  readonly agent: string;
  readonly of: readonly Told[];
  /** How many lines are suggested for each that is added; undefined if the vendor doesn't tell. */
  readonly times?: number;
}

/** The lines of each person, agent and day, as the stand-in knows them: events without any line aren't there. */
function trueLines(name: (typeof VENDORS)[number]['name'], told: readonly (Told & { day: Day })[]): string[] {
  const rows: string[] = [];
  for (const key of new Set(told.map(({ day, user }) => `${day} ${user}`))) {
    const own = told.filter(({ day, user }) => `${day} ${user}` === key);
    for (const { agent, of, times } of LINES[name](own)) {
      const accepted = of.reduce((sum, { added }) => sum + added, 0);
      const deleted = of.reduce((sum, { removed }) => sum + removed, 0);
      if (accepted + deleted === 0) continue;
      rows.push(`${key} ${agent} accepted ${accepted}`, `${key} ${agent} deleted ${deleted}`);
      if (times !== undefined) rows.push(`${key} ${agent} suggested ${times * accepted}`);
    }
  }
  return rows.sort();
}

async function linesIn({ world }: Pulled): Promise<string[]> {
  const rows = await world.store.select('SELECT day, user_id, agent, kind, lines FROM vendor_lines');
  return rows
    .map(({ day, user_id, agent, kind, lines }) => [day, user_id, agent, kind, lines].join(' '))
    .sort();
}

/** How many prompts, commits and the like the events of each person and day are. */
async function actsIn({ world }: Pulled, type: string): Promise<string[]> {
  const rows = await world.store.select(
    "SELECT day, user_id, count(*) AS acts FROM events WHERE channel = 'vendor_api' AND type = $type GROUP BY day, user_id",
    { type },
  );
  return rows.map(({ day, user_id, acts }) => [day, user_id, acts].join(' ')).sort();
}

async function countedIn({ world }: Pulled): Promise<string[]> {
  const rows = await world.store.select(
    `SELECT day, user_id, model, sum(input_tokens) AS input, sum(output_tokens) AS output, sum(coalesce(cache_read_tokens, 0)) AS cache_read,
      sum(coalesce(cache_write_tokens, 0)) AS cache_write, sum(coalesce(reported_cost_usd, 0)) AS usd
    FROM events WHERE channel = 'vendor_api' AND type = 'model_usage' GROUP BY day, user_id, model`,
  );
  return rows
    .map((row) =>
      [row.day, row.user_id, row.model, row.input, row.output, row.cache_read, row.cache_write, row.usd]
        .map((value) => (typeof value === 'string' && Number.isFinite(Number(value)) ? Number(value) : value))
        .join(' '),
    )
    .sort();
}

// On ClickHouse each night takes seconds.
describe.skipIf(leavesOutSlow()).each(VENDORS)(
  'a month of $name that is pulled each night',
  ({ name, given, answers, revised }) => {
    let nightly: Pulled;
    let vendor: StandIn;
    let last = 0;
    const days = daysBefore(NIGHT + MONTH * MS_PER_DAY, MONTH);

    beforeAll(async () => {
      vendor = await StandIn.start(SEED, answers(PEOPLE, revised), atEnd);
      nightly = await Pulled.create(vendor, atEnd);
      await nightly.set({ vendor: name, ...given, since: days[0] ?? null });
      last = await pullNightly(nightly, MONTH, revised);
    }, 600_000);

    test('equals one clean pull', async () => {
      vendor.faults = {};
      const clean = await Pulled.create(vendor, atEnd);
      await clean.set({ vendor: name, ...given, since: days[0] ?? null });
      const pull = await clean.pull(last);
      expect(pull).toMatchObject({ fault: '', missed: [] });
      await clean.world.build();
      expect(await nightly.events()).toEqual(await clean.events());
      expect(await nightly.tables()).toEqual(await clean.tables());
    });

    test('equals what the vendor knows', async () => {
      const known = (revisedDays: number) =>
        daysBefore(last, Math.round((last - Date.parse(days[0] ?? '')) / MS_PER_DAY)).flatMap((day) =>
          toldOf(SEED, PEOPLE, revisedDays, day, last).map((one) => ({ ...SAID[name](one), day })),
        );
      const told = known(revised);
      expect(told.length).toBeGreaterThan(PEOPLE * MONTH * 0.5);
      expect(await countedIn(nightly)).toEqual(truthOf(told));
      const isLate = name === 'anthropic-enterprise';
      const end = addDays(dayOf(last), isLate ? -ACTIVITY.late : 0);
      const acts = isLate ? known(ACTIVITY.revised).filter(({ day }) => day < end) : told;
      expect(await linesIn(nightly)).toEqual(trueLines(name, acts));
      const sums = (of: (one: Told) => number) => {
        const found = new Map<string, number>();
        for (const one of acts) {
          const key = `${one.day} ${one.user}`;
          if (of(one) > 0) found.set(key, of(one) + (found.get(key) ?? 0));
        }
        return [...found].map(([key, count]) => `${key} ${count}`).sort();
      };
      if (name === 'cursor')
        expect(await actsIn(nightly, 'user_message')).toEqual(sums(({ commits }) => 1 + commits));
      if (name === 'anthropic' || isLate)
        expect(await actsIn(nightly, 'git_commit')).toEqual(sums(({ commits }) => commits));
    });

    test('is not changed by another pull', async () => {
      vendor.faults = {};
      const batches = () => nightly.world.store.select('SELECT count(*) AS batches FROM batches');
      const before = [await nightly.events(), await nightly.tables(), await batches()];
      expect(await nightly.pull(last + 1000)).toMatchObject({ changed: 0, missed: [], fault: '' });
      expect(await nightly.world.build()).toEqual([]);
      expect([await nightly.events(), await nightly.tables(), await batches()]).toEqual(before);
    });
  },
);

describe('one night', () => {
  let vendor: StandIn;
  let pulled: Pulled;

  beforeAll(async () => {
    vendor = await StandIn.start(SEED + 1, anthropic(3, 2), atEnd);
    pulled = await Pulled.create(vendor, atEnd);
  });

  test('keeps the key secret, and sends it', async () => {
    await pulled.set();
    const [row] = await pulled.world.store.select('SELECT settings FROM vendor_revisions');
    expect(String(row?.settings)).not.toContain(KEY);
    vendor.requests = [];
    expect(await pulled.pull(NIGHT)).toMatchObject({ days: 30, fault: '' });
    expect(vendor.requests[0]?.headers['x-api-key']).toBe(KEY);
    expect(vendor.requests[0]?.headers['anthropic-version']).toBe('2023-06-01');
  });

  test('says that a key is refused, and asks only once', async () => {
    await pulled.set({ key: 'sk-ant-admin01-wrong' });
    vendor.requests = [];
    const pull = await pulled.pull(NIGHT + MS_PER_DAY);
    expect(pull).toMatchObject({ days: 0, changed: 0 });
    expect(pull.fault).toBe(
      'Anthropic answers /v1/organizations/usage_report/claude_code with 401: give it a key that may read this report',
    );
    expect(vendor.requests).toHaveLength(1);
    await pulled.set();
    expect((await pulled.pull(NIGHT + MS_PER_DAY)).fault).toBe('');
  });

  test('says which member has another form, and takes nothing of the day', async () => {
    const before = await pulled.events();
    vendor.faults = { shape: 100 };
    const pull = await pulled.pull(NIGHT + 2 * MS_PER_DAY);
    vendor.faults = {};
    expect(pull.fault).toMatch(
      /^Anthropic answers \/v1\/organizations\/usage_report\/claude_code in another form than documented: data\.\[\]\.core_metrics\.\w+ /,
    );
    expect(pull.missed.length).toBeGreaterThan(0);
    expect(await pulled.events()).toEqual(before);
    expect((await pulled.pull(NIGHT + 2 * MS_PER_DAY)).missed).toEqual([]);
  });

  test('waits as long as it is told to, and gives up where that is too long', async () => {
    pulled.waits.length = 0;
    vendor.faults = { early: 100 };
    const pull = await pulled.pull(NIGHT + 3 * MS_PER_DAY);
    vendor.faults = {};
    expect(new Set(pulled.waits)).toEqual(new Set([7000]));
    expect(pull.fault).toBe(
      'Anthropic answers /v1/organizations/usage_report/claude_code with 429: its limit of requests is used up',
    );
  });

  test('never asks a host that the operator has not named', async () => {
    const strict = await Pulled.create(vendor, atEnd, 'proxy.acme.example');
    await strict.set();
    vendor.requests = [];
    expect((await strict.pull(NIGHT)).fault).toBe(
      `DAYBOOK_VENDOR_HOSTS of the service doesn't have ${vendor.host}: ask whoever runs it to add it`,
    );
    expect(vendor.requests).toEqual([]);
  });

  test('is made up for after a day in which the service was off', async () => {
    const log = { warn: () => {} };
    const asks = async (now: number, isNightly: boolean) => {
      pulled.world.now = now;
      vendor.now = now;
      vendor.requests = [];
      await pullAll(pulled.deps, isNightly, log);
      return vendor.requests.length > 0;
    };
    const last = (await newestPulls(pulled.world.store, 'acme'))[0]?.pulledAt ?? 0;
    expect(await asks(last + 1000, false)).toBe(false);
    expect(await asks(last + 2000, true)).toBe(true);
    expect(await asks(last + 2000 + MS_PER_DAY, false)).toBe(true);
    expect(await asks(last + 3000 + MS_PER_DAY, false)).toBe(false);
    // The build of a night doesn't wait for ever.
    vendor.requests = [];
    const said: string[] = [];
    await pullAll(pulled.deps, true, { warn: (_, text) => said.push(text) }, 0);
    expect({ requests: vendor.requests, said }).toEqual({
      requests: [],
      said: ["vendors' reports are pulled next night: time is up"],
    });
  });

  test('does a night again that was cut off', async () => {
    const { deps, world } = pulled;
    await pulled.world.build();
    vendor.now = NIGHT + 6 * MS_PER_DAY;
    world.now = vendor.now;
    const broken = new Proxy(deps.store, {
      get(store, name) {
        if (name === 'settle') return () => Promise.reject(new Error('the power failed'));
        const value = Reflect.get(store, name);
        return typeof value === 'function' ? value.bind(store) : value;
      },
    });
    await expect(pullOrganization({ ...deps, store: broken }, 'acme')).rejects.toThrow('the power failed');
    const pull = await pulled.pull(NIGHT + 6 * MS_PER_DAY);
    expect(pull).toMatchObject({ fault: '', missed: [] });
    expect(pull.changed).toBeGreaterThan(0);
    const clean = await Pulled.create(vendor, atEnd);
    await clean.set({ since: addDays(dayOf(NIGHT), -30) });
    await clean.pull(NIGHT + 6 * MS_PER_DAY);
    expect(await pulled.events()).toEqual(await clean.events());
  });

  test('takes nobody again who was erased, and keeps what they used', async () => {
    const { world } = pulled;
    const sums = () =>
      world.store.select(
        'SELECT day, sum(input_tokens) AS tokens, count(*) AS events FROM events GROUP BY day ORDER BY day',
      );
    await world.build();
    const before = await sums();
    const { config, clock, store } = world;
    const erasure = { orgId: 'acme', user: personOf(0), author: 'ada', isTrial: false };
    const lake = new Lake(config, clock);
    await erasePerson({ store, lake, data: config.data, settle: async () => [], clock }, erasure);
    await pulled.set({ since: addDays(dayOf(NIGHT), -30) });
    expect(await pulled.pull(NIGHT + 6 * MS_PER_DAY)).toMatchObject({ fault: '', missed: [] });
    expect(await sums()).toEqual(before);
    const [row] = await store.select(
      'SELECT count(*) AS events FROM events WHERE user_email = $user OR user_id = $user',
      {
        user: personOf(0),
      },
    );
    expect(row?.events).toBe(0);
  });

  test('keeps no key for another address', async () => {
    await expect(pulled.set({ key: '***', url: 'https://elsewhere.example' })).rejects.toThrow(
      'The key of anthropic is masked, but none is stored for that address: send it itself.',
    );
  });
});

test('usage events of Cursor have another name for some teams, and no pages', async () => {
  const usageEventsDisplay = [
    {
      ...{
        timestamp: '1777500000000',
        model: 'claude-4.6-opus-high-thinking',
        kind: 'USAGE_EVENT_KIND_USAGE_BASED',
      },
      tokenUsage: {
        inputTokens: 1234,
        outputTokens: 567,
        cacheWriteTokens: 0,
        cacheReadTokens: 8901,
        totalCents: 12.34,
      },
      ...{ userId: '152683922', userEmail: 'Member@example.com', isHeadless: false, cursorTokenFee: 3.32 },
      ...{ isChargeable: true, chargedCents: 15.66 },
    },
    {
      ...{ timestamp: '1777503600000', model: 'gpt-5.5-high', kind: 'USAGE_EVENT_KIND_INCLUDED_IN_BUSINESS' },
      tokenUsage: {
        inputTokens: 42,
        outputTokens: 18,
        cacheWriteTokens: 4,
        cacheReadTokens: 8,
        totalCents: 0,
      },
      ...{ userId: '152683922', isHeadless: true, isChargeable: false, chargedCents: 0 },
    },
  ];
  const answers = ({ body, url }: { body: string; url: URL }) =>
    url.pathname === '/teams/daily-usage-data'
      ? { data: [] }
      : JSON.parse(body).startDate === Date.parse('2026-04-29')
        ? { totalUsageEventsCount: 2, usageEventsDisplay }
        : { totalUsageEventsCount: 0, usageEventsDisplay: [] };
  const pulled = await Pulled.create(await StandIn.start(1, answers, onTestFinished), onTestFinished);
  await pulled.set({ vendor: 'cursor', key: 'key_cursor_right' });
  expect(await pulled.pull(NIGHT + 12 * 3_600_000)).toMatchObject({ fault: '', changed: 14 });
  const rows = await pulled.world.store.select(
    `SELECT occurred_at, user_id, client, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reported_cost_usd
    FROM events WHERE channel = 'vendor_api' ORDER BY occurred_at`,
  );
  expect(rows).toEqual([
    {
      ...{ occurred_at: 1777500000000, user_id: 'member@example.com', client: null },
      ...{ model: 'claude-4.6-opus-high-thinking', input_tokens: 1234, output_tokens: 567 },
      ...{ cache_read_tokens: 8901, cache_write_tokens: 0, reported_cost_usd: 0.1566 },
    },
    {
      ...{ occurred_at: 1777503600000, user_id: 'cursor:152683922', client: 'non-interactive-cli' },
      ...{ model: 'gpt-5.5-high', input_tokens: 42, output_tokens: 18 },
      ...{ cache_read_tokens: 8, cache_write_tokens: 4, reported_cost_usd: 0 },
    },
  ]);
});

test('a file of GitHub is fetched from its hosts alone', async () => {
  const answers = () => ({
    download_links: ['http://127.0.0.1:1/part0.ndjson?sig=abc'],
    report_day: '2026-04-30',
  });
  const pulled = await Pulled.create(await StandIn.start(1, answers, onTestFinished), onTestFinished);
  await pulled.set({ vendor: 'github', key: 'ghp_right_key', account: 'enterprises/acme' });
  expect((await pulled.pull(NIGHT)).fault).toBe(
    "GitHub links to a file on 127.0.0.1:1: ask whoever runs Daybook to add it to DAYBOOK_VENDOR_HOSTS if it is GitHub's",
  );
  expect(pulled.vendor.requests.map(({ url }) => url.pathname)).toEqual([
    '/enterprises/acme/copilot/metrics/reports/users-1-day',
  ]);
});

test.each([
  [{ vendor: 'github' }, 'must be orgs/NAME or enterprises/NAME'],
  [{ vendor: 'github', account: 'orgs/a/../b' }, 'must be orgs/NAME or enterprises/NAME'],
  [{ vendor: 'cursor', account: 'acme' }, 'must be null for this vendor'],
  [
    { vendor: 'cursor', url: 'https://user:secret@cursor.example' },
    'must be an address such as https://api.anthropic.com',
  ],
  [{ vendor: 'cursor', key: 'two words' }, 'must be a key, or ***'],
])('settings with %j are refused', (given, words) => {
  const { error } = VendorSettings.safeParse({ vendors: [{ key: 'key_12345678', ...given }] });
  expect(JSON.stringify(error?.issues)).toContain(words);
});

describe('beside better channels', () => {
  const day = addDays(dayOf(NIGHT), -1);
  const at = (time: string) => `${day}T${time}:00Z`;
  const usage = (id: string, user_id: string, channel: string) =>
    event(id, {
      ...{ type: 'model_usage', timestamp: at('10:00'), user_id, session_id: `s of ${user_id}` },
      ...{ agent: 'claude-code', model: 'claude-opus-4-5', input_tokens: 100, output_tokens: 10, channel },
    });
  let pulled: Pulled;
  const users = [0, 1, 2, 3].map(personOf);

  /** Ten tokens for each of the people. */
  const answers = anthropic(0, 1);
  beforeAll(async () => {
    const vendor = await StandIn.start(
      1,
      (request, self) => {
        const page = answers(request, self) as object;
        if (request.url.searchParams.get('starting_at') !== day) return page;
        const data = users.map((email_address) => ({
          ...{ date: `${day}T00:00:00Z`, actor: { type: 'user_actor', email_address } },
          core_metrics: {
            ...{ commits_by_claude_code: 2, pull_requests_by_claude_code: 0 },
            lines_of_code: { added: 7, removed: 0 },
          },
          model_breakdown: [
            {
              ...{ model: 'claude-opus-4-5', estimated_cost: { currency: 'USD', amount: 5 } },
              tokens: { input: 6, output: 4, cache_read: 0, cache_creation: 0 },
            },
          ],
        }));
        // It is in the analytics of the enterprise as well.
        const twice = data.map((one) => ({ ...one, customer_type: 'subscription' }));
        return { data: [...data, ...twice], has_more: false, next_page: null };
      },
      atEnd,
    );
    pulled = await Pulled.create(vendor, atEnd);
    const { store } = pulled.world;
    const people = ['ada', 'grace', 'linus'].map((user, place) => `${user},${users[place]}`);
    const lines = peopleLines(['user_id,email', ...people].join('\n'), 'people.csv');
    const range = { today: dayOf(NIGHT), replaces: false };
    await replacePeople(store, 'acme', (before) => withLines(before, lines, range), { author: 'ada' }, NIGHT);
    await pulled.world.send([
      usage('u1', 'ada', 'log'),
      // Hooks tell that grace worked, and no tokens.
      event('t1', {
        ...{ timestamp: at('11:00'), user_id: 'grace', session_id: 's of grace' },
        ...{ agent: 'claude-code', channel: 'hook' },
      }),
      // Another agent of linus.
      { ...usage('u2', 'linus', 'log'), agent: 'codex' },
    ]);
    await pulled.set();
    await pulled.pull(NIGHT);
    await pulled.world.build();
  });

  test('counts for people of whom nothing better has the usage', async () => {
    const rows = await pulled.world.store.select(
      `SELECT user_id, agent, sum(input_tokens + output_tokens) AS tokens FROM user_models WHERE day = CAST($day AS DATE)
      GROUP BY user_id, agent ORDER BY user_id, agent`,
      { day },
    );
    expect(rows).toEqual([
      { user_id: 'ada', agent: 'claude-code', tokens: 110 },
      { user_id: 'grace', agent: 'claude-code', tokens: 10 },
      { user_id: 'linus', agent: 'claude-code', tokens: 10 },
      { user_id: 'linus', agent: 'codex', tokens: 110 },
      { user_id: users[3], agent: 'claude-code', tokens: 10 },
    ]);
  });

  test('tells commits only where nothing better was there', async () => {
    const rows = await pulled.world.store.select(
      `SELECT user_id, count(*) AS commits FROM counted_events WHERE type = 'git_commit' GROUP BY user_id ORDER BY user_id`,
    );
    expect(rows).toEqual([
      { user_id: 'linus', commits: 2 },
      { user_id: users[3], commits: 2 },
    ]);
  });

  test('tells its lines beside those that better channels tell', async () => {
    const { store } = pulled.world;
    const rows = await store.select(
      'SELECT user_id, agent, kind, lines FROM vendor_lines ORDER BY user_id, kind',
    );
    const of = (user_id: string) => [
      { user_id, agent: 'claude-code', kind: 'accepted', lines: 7 },
      { user_id, agent: 'claude-code', kind: 'deleted', lines: 0 },
    ];
    expect(rows).toEqual(['ada', 'grace', 'linus', users[3] ?? ''].flatMap(of));
    const range = { orgId: 'acme', from: day, to: day };
    expect((await report(store, 'vendor_lines', range)).data).toEqual([
      {
        ...{ date: day, agent: 'claude-code', users: 4 },
        ...{ lines_suggested: null, lines_accepted: 28, lines_deleted: 0 },
      },
    ]);
  });

  test('tells lines that nobody else can send', async () => {
    const members = { type: 'vendor_lines', channel: 'vendor_api', lines_suggested: 1, lines_added: 1 };
    const sent = event('v1', { ...members, timestamp: at('12:00') });
    expect(await pulled.world.send([sent])).toMatchObject({ accepted: 0, rejected: 1 });
    const check = new EventCheck('acme', NIGHT);
    expect({ isTaken: check.check({ ...sent }), fault: check.fault }).toEqual({
      isTaken: false,
      fault: 'unknown_type type',
    });
  });

  test('gives way when something better comes late', async () => {
    await pulled.world.send([usage('u3', users[3] ?? '', 'otlp_log')]);
    await pulled.world.build();
    const [row] = await pulled.world.store.select(
      'SELECT sum(input_tokens + output_tokens) AS tokens FROM user_models WHERE user_id = $user_id',
      { user_id: users[3] ?? '' },
    );
    expect(row?.tokens).toBe(110);
  });

  test('shows how much of it better channels have', async () => {
    expect(await capturedShares(pulled.world.store, 'acme', day, day)).toEqual([
      { agent: 'claude-code', users: 4, share: 220 / 40, costShare: 0.0075, from: day, to: day },
    ]);
  });
});
