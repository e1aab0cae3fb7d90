import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ANSWERS } from '../src/api/answer-names.js';
import { report } from '../src/api/answer-rows.js';
import { type Day, dayOf } from '../src/day.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleLines, withLines } from '../src/people/people-file.js';
import type { Person } from '../src/store/state/person.js';
import type { World } from './world.js';

/**
 * Plays the folders of test/golden: numbers worked out by hand. A folder is one case:
 *
 *   README.md                            the idea that must hold, in one sentence
 *   events.ndjson                        canonical events; events.<org>.ndjson for one of several organizations
 *   late.ndjson                          events that arrive after the first build
 *   people.csv                           who the users are, as "daybook people import" reads it; people-late.csv after the first build
 *   rate-card.json                       its own rate card, instead of test/golden/rate-card.json, which lists the models of
 *                                        all others; cases whose cards are the same are played together
 *   before.<answer>.<days>[.<org>].json  the rows of an answer after the first build
 *   expect.<answer>.<days>[.<org>].json  the rows of an answer in the end
 *
 * Prices are those of test/golden/prices.json.
 *
 * Answers are those of the API (tokens, tokens-by-model, ...), the tables quality, session_models, session_parts and session_tools, and the
 * views user_costs, call_costs, session_facts and silent_agents. Days are one day or `from..to`. Of an object only the members that are written count, of a list all elements in their order. Nothing
 * writes these files.
 */
export const GOLDEN = fileURLToPath(new URL('golden/', import.meta.url));

/** The price list of all cases. */
export const PRICES = join(GOLDEN, 'prices.json');

/** Noon of the day that is open in all cases. */
export const NOW = Date.parse('2026-06-10T12:00:00.000Z');

export const EVENTS = /^(events|late)(?:\.([a-z]+))?\.ndjson$/;
export const PEOPLE = /^people(-late)?\.csv$/;
export const EXPECTATION =
  /^(before|expect)\.([a-z_-]+)\.(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?(?:\.([a-z]+))?\.json$/;

export interface Case {
  readonly name: string;
  readonly files: readonly string[];
  /** The path of the rate card; equal cards have one. */
  readonly rateCard: string;
}

/** Asks for the rows that an expectation is about; its file's name says which they are. */
export interface Question {
  readonly file: string;
  readonly when: string;
  readonly answer: string;
  readonly from: Day;
  readonly to: Day;
  readonly orgId: string;
}

const cards = new Map<string, string>();

function cardOf(folder: string): string {
  const path = join(GOLDEN, folder, 'rate-card.json');
  const content = readFileSync(path, 'utf8');
  const known = cards.get(content) ?? path;
  cards.set(content, known);
  return known;
}

/** The names of the folders in a folder, in order. */
export function foldersIn(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return entries.map(({ name }) => name).sort();
}

export const cases: Case[] = foldersIn(GOLDEN).map((name) => {
  const files = readdirSync(join(GOLDEN, name)).sort();
  return { name, files, rateCard: cardOf(files.includes('rate-card.json') ? name : '') };
});

/** Each organization of each case is one of its own, so cases with the same rate card share a store. */
export function orgOf(name: string, org: string | undefined): string {
  return org === undefined ? name : `${name}.${org}`;
}

export function questionsOf({ name, files }: Case): Question[] {
  return files.flatMap((file) => {
    const [, when, answer, from, to, org] = EXPECTATION.exec(file) ?? [];
    if (when === undefined || answer === undefined || from === undefined) return [];
    return [{ file, when, answer, from: from as Day, to: (to ?? from) as Day, orgId: orgOf(name, org) }];
  });
}

/** The tables and views that are answers themselves, and the order of their rows. */
const TABLES: Readonly<Record<string, string>> = {
  quality: 'day',
  session_models: 'day, user_id, session_id, agent, client, repo, model_id',
  session_parts: 'day, user_id, session_id, agent, client, repo',
  session_tools: 'day, user_id, session_id, agent, client, repo, tool_key',
  user_costs: 'day, user_id, model_id, agent, repo',
  call_costs: 'day, event_id',
  silent_agents: 'last_day, user_id',
  session_facts: 'start_day, user_id, session_id',
};

/** The columns with the days of those that have no column day. */
const DAYS: Readonly<Record<string, string>> = { silent_agents: 'last_day', session_facts: 'start_day' };

export async function ask(world: World, { answer, from, to, orgId }: Question): Promise<unknown> {
  const order = TABLES[answer];
  if (order !== undefined) {
    const dayColumn = DAYS[answer] ?? 'day';
    const range = { org_id: orgId, from: { day: from }, to: { day: to } };
    return world.store.select(
      `SELECT * FROM ${answer} WHERE org_id = $org_id AND ${dayColumn} BETWEEN $from AND $to ORDER BY ${order}`,
      range,
    );
  }
  const family = ANSWERS.find((known) => answer === known || answer.startsWith(`${known}-by-`));
  if (family === undefined) throw new Error(`there is no answer ${answer}`);
  const groupBy = answer === family ? undefined : answer.slice(`${family}-by-`.length);
  return (await report(world.store, family, { orgId, from, to, groupBy })).data;
}

/** Leaves of the objects in an answer the members that the expectation has. */
export function likeExpected(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(expected))
    return actual.map((element, index) => likeExpected(element, expected[index]));
  if (!isObject(actual) || !isObject(expected)) return actual;
  const members = Object.keys(expected).filter((member) => Object.hasOwn(actual, member));
  return Object.fromEntries(
    members.map((member) => [member, likeExpected(actual[member], expected[member])]),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const PEOPLE_FILES = { events: 'people.csv', late: 'people-late.csv' } as const;

/** Makes the people of a file count. */
export async function importPeople(world: World, orgId: string, path: string): Promise<void> {
  const lines = peopleLines(readFileSync(path, 'utf8'), path);
  const make = (before: readonly Person[]) =>
    withLines(before, lines, { today: dayOf(world.now), replaces: false });
  await replacePeople(world.store, orgId, make, { author: 'owner' }, world.now);
}

/** Plays cases up to the end, and answers what the store said to each question: by case and file. */
export async function play(world: World, together: readonly Case[]): Promise<Map<string, unknown>> {
  world.now = NOW;
  const answers = new Map<string, unknown>();
  for (const [kind, when] of [
    ['events', 'before'],
    ['late', 'expect'],
  ] as const) {
    const sent = together.flatMap(({ name, files }) =>
      files.flatMap((file) => {
        const [, of, org] = EVENTS.exec(file) ?? [];
        return of === kind ? [{ path: join(GOLDEN, name, file), orgId: orgOf(name, org) }] : [];
      }),
    );
    await world.settle(sent);
    for (const { name } of together.filter(({ files }) => files.includes(PEOPLE_FILES[kind])))
      await importPeople(world, name, join(GOLDEN, name, PEOPLE_FILES[kind]));
    await world.build();
    for (const one of together) {
      for (const question of questionsOf(one))
        if (question.when === when) answers.set(`${one.name}/${question.file}`, await ask(world, question));
    }
  }
  return answers;
}

/** What the case says that the answer is. */
export function expectedOf({ name }: Case, { file }: Question): unknown {
  return JSON.parse(readFileSync(join(GOLDEN, name, file), 'utf8'));
}
