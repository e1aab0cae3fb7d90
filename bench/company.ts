import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RateCard } from '../test/oracle/credits.js';
import type { PriceList } from '../test/oracle/prices.js';
import { type Asked, ask } from './asking.js';
import { type Kind, Ledger, type Numbers } from './company-ledger.js';
import {
  type Colleague,
  type Company,
  type CompanyEvent,
  generateCompany,
  peopleCsv,
} from './generate-company.js';
import { median, runProcess } from './run-process.js';
import { Service } from './service.js';
import { table } from './table.js';

const KINDS: readonly (Kind | undefined)[] = [undefined, 'user', 'team', 'cost_center'];

/** How often each question is asked for its time, and of how many days. */
const TIMES_ASKED = 15;
const DAYS_ASKED = 30;

/** How often the size of the data folder is looked at while a person is erased. */
const ROOM_ASKED_MS = 100;

/** Prices in USD per million tokens. One of them changes, long prompts of one cost more, and `inhouse-coder` has none. */
function pricesOf({ days }: Company): PriceList {
  const [first = ''] = days;
  const middle = days[Math.floor(days.length / 2)] ?? first;
  const price = (input: number) => ({
    ...{ input, output: input * 5, cache_read: input / 10 },
    ...{ cache_write: input * 1.25, cache_write_1h: input * 2 },
  });
  const long = { tokens: 272_000, ...price(2.5) };
  return {
    models: [
      { id: 'claude-sonnet-5', prices: [price(3), { ...price(2.4), valid_from: middle }] },
      { id: 'claude-opus-5', prices: [price(5)] },
      { id: 'claude-haiku-4-5', prices: [price(1)] },
      { id: 'gpt-5', prices: [{ ...price(1.25), above: long }] },
      { id: 'gemini-2.5-pro', prices: [price(0.7)] },
    ].map(({ id, prices }) => ({
      id,
      prices: prices.map((one) => ({ valid_from: first, source: 'bench', ...one })),
    })),
  };
}

/** What credits cost: so that the sums of several models and people end in parts that are rounded. */
function cardOf({ days: [first = ''] }: Company): RateCard {
  const rates = (multiplier: number) => ({
    tier: 'standard',
    rates: [{ valid_from: first, multiplier, cache_read_rate: 0.1 }],
  });
  return { default: rates(0.35), models: [{ id: 'claude-opus-5', ...rates(1.7) }] };
}

/** A company whose people are asked about, and the program that answers. */
interface Asking {
  readonly service: Service;
  readonly ledger: Ledger;
  readonly days: readonly string[];
}

type Rows = Map<string, Map<string, Numbers>>;
type Row = Record<string, number | string | null>;

/** The rows that the service has for each day. */
async function answered({ service, days }: Asking, kind: Kind | undefined, filter = ''): Promise<Rows> {
  const rows: Rows = new Map();
  const group = kind === undefined ? '' : `&group_by=${kind}`;
  const path = `/api/v1/analytics/summary?startDate=${days[0]}&endDate=${days.at(-1)}&interval=day&limit=1000${group}${filter}`;
  for (let cursor = ''; ; ) {
    const reply = await fetch(`${service.url}${path}${cursor}`, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    const { data, meta } = (await reply.json()) as { data: Row[]; meta: { next_cursor?: string | null } };
    for (const { date, group_key, ...numbers } of data) {
      const day = rows.get(String(date)) ?? new Map<string, Numbers>();
      rows.set(String(date), day.set(kind === undefined ? '' : String(group_key), numbers as Numbers));
    }
    if (meta.next_cursor == null) return rows;
    cursor = `&cursor=${encodeURIComponent(meta.next_cursor)}`;
  }
}

/** How many numbers were compared, and where they differ. */
interface Compared {
  rows: number;
  numbers: number;
  readonly differences: string[];
}

/** Compares rows bit by bit. Days and groups that only one of the two has are differences. */
function compare(actual: Rows, expected: Rows): Compared {
  const compared: Compared = { rows: 0, numbers: 0, differences: [] };
  for (const day of new Set([...actual.keys(), ...expected.keys()])) {
    const [own, other] = [actual.get(day), expected.get(day)];
    for (const group of new Set([...(own?.keys() ?? []), ...(other?.keys() ?? [])])) {
      const [is, shouldBe] = [own?.get(group), other?.get(group)];
      compared.rows += 1;
      if (is === undefined || shouldBe === undefined)
        compared.differences.push(`${day} ${group}: ${is === undefined ? 'is missing' : 'is too many'}`);
      else
        for (const [name, number] of Object.entries(shouldBe)) {
          compared.numbers += 1;
          if (!Object.is(is[name], number))
            compared.differences.push(`${day} ${group}: ${name} is ${is[name]}, not ${number}`);
        }
    }
  }
  return compared;
}

/** What adds up over groups. A day's cost in dollars has fewer digits than a number holds, so it is added as an integer. */
const SUMS = [
  ...[
    'cost_usd',
    'unpriced_tokens',
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
  ],
  ...[
    'billable_tokens',
    'sessions',
    'user_turns',
    'tool_calls',
    'files',
    'commits',
    'pull_requests',
    'active_users',
  ],
];

/** The sums of each day over its groups. */
function sumsOf(rows: Rows): Rows {
  return new Map(
    [...rows].map(([day, groups]) => {
      const sum = (name: string) =>
        [...groups.values()]
          .map((numbers) =>
            name === 'cost_usd'
              ? BigInt(Math.round((numbers[name] ?? 0) * 1e12))
              : BigInt(numbers[name] ?? 0),
          )
          .reduce((total, one) => total + one, 0n);
      return [day, new Map([['', Object.fromEntries(SUMS.map((name) => [name, Number(sum(name))]))]])];
    }),
  );
}

/** Compares all answers with the second computation, and sums by team and cost centre with those by user. Answers how many numbers differ. */
async function check(
  step: string,
  asking: Asking,
  people: readonly Colleague[],
  row: (...cells: string[]) => void,
): Promise<number> {
  let differences = 0;
  const say = (name: string, compared: Compared) => {
    row(step, name, ...[compared.rows, compared.numbers, compared.differences.length].map(String));
    for (const difference of compared.differences.slice(0, 5)) console.log(`  ${difference}`);
    differences += compared.differences.length;
  };
  const sums = new Map<string, Rows>();
  for (const kind of KINDS) {
    const rows = await answered(asking, kind);
    say(kind === undefined ? 'in total' : `by ${kind}`, compare(rows, asking.ledger.rows(people, kind)));
    sums.set(kind ?? '', sumsOf(rows));
  }
  for (const kind of ['team', 'cost_center'])
    say(`sums by ${kind} = by user`, compare(sums.get(kind) ?? new Map(), sums.get('user') ?? new Map()));
  // A filter takes any name of a person, and several teams.
  const person = people.find(({ aliases }) => aliases.length > 0);
  if (person !== undefined) {
    const own: Rows = new Map();
    for (const [day, groups] of asking.ledger.rows(people, 'user')) {
      const numbers = groups.get(person.userId);
      if (numbers !== undefined) own.set(day, new Map([[person.userId, numbers]]));
    }
    const filter = `&user_id=${encodeURIComponent(person.aliases[0] ?? '')}`;
    say('filtered by an alias', compare(await answered(asking, 'user', filter), own));
  }
  const teams: Rows = new Map();
  for (const [day, groups] of asking.ledger.rows(people, 'team')) {
    const some = [...groups].filter(([team]) => team === 'payments' || team === 'web');
    if (some.length > 0) teams.set(day, new Map(some));
  }
  say('filtered by two teams', compare(await answered(asking, 'team', '&team=payments&team=web'), teams));
  return differences;
}

/** What the first file says: nobody moves, and half of the aliases aren't known yet. */
function asKnownFirst(people: readonly Colleague[]): Colleague[] {
  return people.map((person, place) => {
    const { aliases, belongings } = person;
    const [first] = belongings;
    const stayed = first !== undefined && belongings.length > 1 ? [{ ...first, to: null }] : belongings;
    return { ...person, aliases: place % 2 === 0 ? aliases : [], belongings: stayed };
  });
}

interface Work {
  /** The data folder. */
  readonly data: string;
  readonly daybook: (...words: string[]) => Promise<string>;
  readonly generated: Company;
  readonly events: readonly CompanyEvent[];
  readonly asking: Asking;
}

/** Takes everything in, changes the people step by step, and compares after each. Answers how many numbers differ. */
async function compareAll(folder: string, work: Work): Promise<number> {
  const { daybook, generated, events, asking } = work;
  const people = asKnownFirst(generated.people);
  const save = (text: string, ...path: string[]) => {
    writeFileSync(join(folder, ...path), text);
    return join(folder, ...path);
  };
  mkdirSync(join(folder, 'events'));
  for (const day of generated.days) {
    const lines = events
      .filter(({ timestamp }) => timestamp.startsWith(day))
      .map((event) => JSON.stringify(event));
    // A collector that got no answer sends its events again.
    save(`${[...lines, ...lines.slice(0, 50)].join('\n')}\n`, 'events', `${day}.ndjson`);
  }
  const counts = JSON.parse(await daybook('ingest', join(folder, 'events'), '--org', 'acme', '--json'));
  const teams = new Set(generated.people.flatMap(({ belongings }) => belongings.map(({ team }) => team)));
  console.log(
    `${generated.people.length} people in ${teams.size} teams, ${generated.days.length} days, ${events.length} events: ${JSON.stringify(counts)}`,
  );
  const load = async (step: string, those: readonly Colleague[]) => {
    const path = save(peopleCsv(those), `${step}.csv`);
    const { changes, days } = JSON.parse(
      await daybook('people', 'import', path, '--org', 'acme', '--apply', '--json'),
    );
    console.log(`${step}: ${changes.length} people changed, ${days} days to build again`);
  };
  const row = table('step     ', 'answer of each day       ', '  rows', 'numbers', 'differences');
  await load('imported', people);
  await daybook('build');
  let differences = await check('imported', asking, people, row);
  // Teams are joined when they are asked for, so nothing is built.
  const moved = people.map((person, place) => ({
    ...person,
    belongings: generated.people[place]?.belongings ?? [],
  }));
  await load('moved', moved);
  differences += await check('moved', asking, moved, row);
  await load('aliased', generated.people);
  await daybook('build');
  differences += await check('aliased', asking, generated.people, row);
  return differences + (await eraseOne(work, row));
}

/** The size of the files of a folder; 0 if one of its folders goes meanwhile. */
function megabytesIn(folder: string): number {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const bytes = files.map((name) => {
      const found = statSync(join(folder, name), { throwIfNoEntry: false });
      return found?.isFile() === true ? found.size : 0;
    });
    return bytes.reduce((sum, size) => sum + size, 0) / 1e6;
  } catch {
    return 0;
  }
}

/** Erases a person, whose events count for a pseudonym then. */
async function eraseOne(
  { data, daybook, generated, asking }: Work,
  row: (...cells: string[]) => void,
): Promise<number> {
  const erased = generated.people.findLast(({ aliases }) => aliases.length > 1);
  if (erased === undefined) return 0;
  const before = megabytesIn(data);
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, megabytesIn(data));
  }, ROOM_ASKED_MS);
  const begun = performance.now();
  const { pseudonym } = JSON.parse(
    await daybook('people', 'erase', erased.userId, '--org', 'acme', '--apply', '--json'),
  );
  const seconds = (performance.now() - begun) / 1000;
  clearInterval(watch);
  console.log(
    `erased: in ${seconds.toFixed(1)} s; the data folder had ${before.toFixed(0)} MB before, ${most.toFixed(0)} MB at most, and ${megabytesIn(data).toFixed(0)} MB afterwards`,
  );
  await daybook('build');
  const people = generated.people.map((person) =>
    person === erased
      ? { ...person, userId: pseudonym, aliases: [...person.aliases, person.userId] }
      : person,
  );
  return check('erased', asking, people, row);
}

/** How long the summary of 30 days takes by team, compared with by user, each time with another limit, so that no answer is kept. */
async function time({ service, days }: Asking): Promise<void> {
  let limit = 300;
  const taken = async (kind: Kind) => {
    const asked = Array.from({ length: TIMES_ASKED }, (_, turn): Asked => {
      const first = turn % Math.max(1, days.length - DAYS_ASKED);
      const last = Math.min(days.length, first + DAYS_ASKED) - 1;
      limit += 1;
      const query = `startDate=${days[first]}&endDate=${days[last]}&group_by=${kind}&limit=${limit}`;
      return { path: `/api/v1/analytics/summary?${query}`, key: service.key };
    });
    return median((await ask(service.url, asked)).map(({ ms }) => ms));
  };
  for (const kind of ['user', 'team'] as const) await taken(kind);
  const [user, team, center] = [await taken('user'), await taken('team'), await taken('cost_center')];
  console.log(
    `summary of ${DAYS_ASKED} days: by team ${(team / user).toFixed(2)} times as long as by user, by cost_center ${(center / user).toFixed(2)} times (by user ${user.toFixed(0)} ms)`,
  );
}

/**
 * A company of 250 people in 12 teams, who move, have several names, share a name or leave: takes in its events with the real program,
 * imports its people, and compares every number of every day with a second computation; again after people moved, after aliases were added
 * and after a person was erased. `--people`, `--days`, `--seed` and `--last-day` make another one.
 */
export async function company(root: string, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      people: { type: 'string', default: '250' },
      days: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      'last-day': { type: 'string', default: '2026-06-30' },
    },
  });
  const generated = generateCompany({
    ...{ people: Number(values.people), days: Number(values.days), seed: Number(values.seed) },
    lastDay: values['last-day'],
  });
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    const [prices, card] = [pricesOf(generated), cardOf(generated)];
    writeFileSync(join(folder, 'prices.json'), JSON.stringify(prices));
    writeFileSync(join(folder, 'card.json'), JSON.stringify(card));
    const environment = {
      DAYBOOK_DATA: join(folder, 'data'),
      DAYBOOK_PRICES: join(folder, 'prices.json'),
      DAYBOOK_RATE_CARD: join(folder, 'card.json'),
      DAYBOOK_HISTORY_START: generated.days[0] ?? '',
    };
    const events = generated.days.flatMap(generated.eventsOf);
    const service = await Service.start(root, environment.DAYBOOK_DATA, environment);
    try {
      const daybook = async (...words: string[]) =>
        (await runProcess('node', [join(root, 'dist', 'cli.js'), ...words], environment)).output;
      const asking = { service, days: generated.days, ledger: new Ledger(events, prices, card) };
      const differences = await compareAll(folder, {
        data: environment.DAYBOOK_DATA,
        daybook,
        generated,
        events,
        asking,
      });
      await time(asking);
      console.log(`${differences} differences`);
      if (differences > 0) process.exitCode = 1;
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
