import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { FAMILIES, GROUPS } from '../../src/api/answer-names.js';
import { report } from '../../src/api/answer-rows.js';
import { type Day, lastClosedDay } from '../../src/day.js';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { BUILT_TABLES } from '../../src/store/day-builder.js';
import { readSql } from '../../src/store/sql-text.js';
import { staleDays } from '../../src/store/stale-days.js';
import { newestBatch } from '../../src/store/store.js';
import { answers } from '../oracle/answers.js';
import type { SentEvent } from '../oracle/event.js';
import { NOW } from '../oracle/generate.js';
import { type Circumstances, Organization } from '../oracle/organization.js';
import type { World } from '../world.js';
import { SEED } from './settings.js';

/** The rate card of all laws. */
export const RATE_CARD = fileURLToPath(new URL('../oracle/rate-card.json', import.meta.url));

/** The price list of all laws. */
export const PRICE_LIST = fileURLToPath(new URL('../oracle/prices.json', import.meta.url));

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

export const CIRCUMSTANCES: Circumstances = {
  rateCard: readJson(RATE_CARD),
  prices: readJson(PRICE_LIST),
  languages: readJson(join(PACKAGE_ROOT, 'data', 'languages.json')),
  now: NOW,
};

/** What is wrong with each of some organizations; nothing where the law holds. */
export type Law<T> = (organizations: readonly T[]) => Promise<(string | undefined)[]>;

/**
 * Tries a law on many generated organizations at once, since a store builds many almost as fast as one. The first that breaks it is
 * then made smaller by itself; the error shows it, with the seed and the path that give it again.
 */
export async function hold<T>(of: fc.Arbitrary<T>, count: number, law: Law<T>): Promise<void> {
  const organizations = fc.sample(of, { seed: SEED, numRuns: count });
  const faults = await law(organizations);
  const broken = faults.findIndex((fault) => fault !== undefined);
  if (broken < 0) return;
  console.error(
    `Organization ${broken} of seed ${SEED} breaks the law, and is made smaller now: ${faults[broken]}`,
  );
  const alone = fc.asyncProperty(of, async (organization) => {
    const [fault] = await law([organization]);
    if (fault !== undefined) throw new Error(fault);
  });
  await fc.assert(alone, { seed: SEED, path: String(broken), numRuns: 1 });
  throw new Error(
    `Organization ${broken} of seed ${SEED} breaks the law, though not alone: ${faults[broken]}\n${JSON.stringify(organizations[broken])}`,
  );
}

let made = 0;

/** An id that no other organization has. */
export function newOrgId(): string {
  made += 1;
  return `org-${made}`;
}

/** Sends the events of organizations in one batch, and answers their new ids. */
export async function sendAll(world: World, organizations: readonly SentEvent[][]): Promise<string[]> {
  const sent = organizations.map((events) => [newOrgId(), events] as const);
  await world.sendTogether(sent);
  return sent.map(([orgId]) => orgId);
}

/** Builds all that is stale in as few transactions as possible. */
export async function buildAtOnce(world: World): Promise<void> {
  for (;;) {
    const batch = await newestBatch(world.store);
    const due = await staleDays(world.store, lastClosedDay(world.now));
    if (due.length === 0) return;
    await world.store.build(due, batch, world.now);
  }
}

const ALL_DAYS = { from: '2026-01-01' as Day, to: '2026-06-30' as Day };

/** All rows of all answers that are asked for, named as the oracle names them. */
export async function answersOf(
  world: World,
  orgId: string,
  { from, to } = ALL_DAYS,
  isAsked: (family: string) => boolean = () => true,
): Promise<Record<string, unknown[]>> {
  const rows: Record<string, unknown[]> = {};
  for (const family of FAMILIES.filter(isAsked)) {
    rows[family] = (await report(world.store, family, { orgId, from, to })).data;
    for (const groupBy of GROUPS[family])
      rows[`${family} by ${groupBy}`] = (
        await report(world.store, family, { orgId, from, to, groupBy })
      ).data;
  }
  // It is counted from what coverage has.
  if (isAsked('quality') && isAsked('coverage'))
    rows['quality by agent'] = (
      await report(world.store, 'quality', { orgId, from, to, groupBy: 'agent' })
    ).data;
  if (isAsked('coverage')) {
    const range = { orgId, from, to };
    rows.coverage = (await report(world.store, 'coverage', range)).data;
    rows['coverage by month'] = (await report(world.store, 'coverage', { ...range, groupBy: 'month' })).data;
  }
  const range = { org_id: orgId, from: { day: from }, to: { day: to } };
  if (isAsked('user_totals'))
    rows.user_totals = await world.store.select(readSql('report/user_totals.sql'), range);
  if (!isAsked('quality')) return rows;
  const quality = await world.store.select(
    'SELECT * FROM quality WHERE org_id = $org_id AND day BETWEEN $from AND $to ORDER BY day',
    range,
  );
  rows.quality = quality.map(({ org_id: _, ...row }) => row);
  return rows;
}

/** Where one organization's answers are first another's, or those of the oracle; nothing when they are the same in every byte. */
export function difference(
  actual: Record<string, unknown[]>,
  expected: Record<string, unknown[]>,
  isAsked: (family: string) => boolean = () => true,
): string | undefined {
  for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    if (!isAsked(name.split(' ')[0] ?? '')) continue;
    const length = Math.max(actual[name]?.length ?? 0, expected[name]?.length ?? 0);
    for (let row = 0; row < length; row += 1) {
      const one = JSON.stringify(actual[name]?.[row]);
      const other = JSON.stringify(expected[name]?.[row]);
      if (one !== other) return `${name}, row ${row}:\n  is        ${one}\n  should be ${other}`;
    }
  }
  return undefined;
}

/** Rows in a fixed order, each with its members in one: without the organization, and the batch that brought it. */
function fixed(rows: readonly Record<string, unknown>[]): string[] {
  const members = (row: Record<string, unknown>) =>
    Object.entries(row)
      .filter(([name]) => name !== 'org_id' && name !== 'batch')
      .sort(([one], [other]) => (one < other ? -1 : 1));
  return rows.map((row) => JSON.stringify(Object.fromEntries(members(row)))).sort();
}

async function rowsOf(
  world: World,
  orgId: string,
  tables: readonly string[],
): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const table of tables) {
    const rows = await world.store.select(`SELECT * FROM ${table} WHERE org_id = $org_id`, { org_id: orgId });
    found[table] = fixed(rows);
  }
  return found;
}

/** The rows of every table that holds an organization's events or numbers. */
export function tablesOf(world: World, orgId: string): Promise<Record<string, unknown[]>> {
  return rowsOf(world, orgId, ['events', 'user_emails', ...BUILT_TABLES]);
}

/** Where an organization's views are first others than these; nothing when they are the same. */
export async function viewDifference(
  world: World,
  orgId: string,
  expected: Record<string, Record<string, unknown>[]>,
): Promise<string | undefined> {
  const fixedExpected = Object.fromEntries(
    Object.entries(expected).map(([name, rows]) => [name, fixed(rows)]),
  );
  return difference(await rowsOf(world, orgId, Object.keys(expected)), fixedExpected);
}

/** What is wrong with the answers for a few ranges whose ends are days with events; nothing when each has its days alone. */
export async function rangesFault(
  world: World,
  orgId: string,
  events: readonly SentEvent[],
  isAsked: (family: string) => boolean = () => true,
): Promise<string | undefined> {
  const days = new Organization(events, CIRCUMSTANCES).daysWithEvents();
  const [first, second = first] = days;
  const last = days.at(-1);
  if (first === undefined || second === undefined || last === undefined) return undefined;
  for (const [from, to] of [
    [first, first],
    [second, last],
  ]) {
    const range = { from: from as Day, to: to as Day };
    const fault = difference(
      await answersOf(world, orgId, range, isAsked),
      answers(events, { ...CIRCUMSTANCES, ...range }),
      isAsked,
    );
    if (fault !== undefined) return `${from} to ${to}: ${fault}`;
  }
  return undefined;
}
