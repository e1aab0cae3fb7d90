import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { FAMILIES, report } from '../src/api/report.js';
import type { Day } from '../src/day.js';
import { World } from './world.js';

/**
 * Plays the folders of test/golden: what the numbers of metrics.md are, worked out by hand. A folder is one case:
 *
 *   README.md                            the idea that must hold, in one sentence
 *   events.ndjson                        canonical events; events.<org>.ndjson for one of several organizations
 *   late.ndjson                          events that arrive after the first build
 *   rate-card.json                       its own rate card, instead of test/golden/rate-card.json
 *   before.<answer>.<days>[.<org>].json  the rows of an answer after the first build
 *   expect.<answer>.<days>[.<org>].json  the rows of an answer in the end
 *
 * Answers are those of the API (tokens, tokens-by-model, ...), and quality, the table. Days are one day or `from..to`. Of an
 * object only the members that are written count, of a list all elements in their order. Nothing writes these files.
 */
const GOLDEN = fileURLToPath(new URL('golden/', import.meta.url));

/** Noon of the day that is open in all cases. */
const NOW = Date.parse('2026-06-10T12:00:00.000Z');

const EVENTS = /^(events|late)(?:\.([a-z]+))?\.ndjson$/;
const EXPECTATION =
  /^(before|expect)\.([a-z_-]+)\.(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?(?:\.([a-z]+))?\.json$/;

interface Case {
  readonly name: string;
  readonly files: readonly string[];
  readonly rateCard: string;
}

/** Asks for the rows that an expectation is about; its file's name says which they are. */
interface Question {
  readonly file: string;
  readonly when: string;
  readonly answer: string;
  readonly from: Day;
  readonly to: Day;
  readonly orgId: string;
}

const cases: Case[] = readdirSync(GOLDEN, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => {
    const files = readdirSync(join(GOLDEN, name)).sort();
    return {
      name,
      files,
      rateCard: join(GOLDEN, files.includes('rate-card.json') ? name : '', 'rate-card.json'),
    };
  })
  .sort((a, b) => (a.name < b.name ? -1 : 1));

/** Each organization of each case is one of its own, so cases with the same rate card share a store. */
function orgOf(name: string, org: string | undefined): string {
  return org === undefined ? name : `${name}.${org}`;
}

function questionsOf({ name, files }: Case): Question[] {
  return files.flatMap((file) => {
    const [, when, answer, from, to, org] = EXPECTATION.exec(file) ?? [];
    if (when === undefined || answer === undefined || from === undefined) return [];
    return [{ file, when, answer, from: from as Day, to: (to ?? from) as Day, orgId: orgOf(name, org) }];
  });
}

async function ask(world: World, { answer, from, to, orgId }: Question): Promise<unknown> {
  if (answer === 'quality') {
    const range = { org_id: orgId, from: { day: from }, to: { day: to } };
    return world.store.select(
      'SELECT * FROM quality WHERE org_id = $org_id AND day BETWEEN $from AND $to ORDER BY day',
      range,
    );
  }
  const family = FAMILIES.find((known) => answer === known || answer.startsWith(`${known}-by-`));
  if (family === undefined) throw new Error(`there is no answer ${answer}`);
  const groupBy = answer === family ? undefined : answer.slice(`${family}-by-`.length);
  return (await report(world.store, family, { orgId, from, to, groupBy })).data;
}

/** Leaves of the objects in an answer the members that the expectation has. */
function likeExpected(actual: unknown, expected: unknown): unknown {
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

/** Plays cases up to the end, and answers what the store said to each question: by case and file. */
async function play(world: World, together: readonly Case[]): Promise<Map<string, unknown>> {
  world.now = NOW;
  const answers = new Map<string, unknown>();
  for (const [kind, when] of [
    ['events', 'before'],
    ['late', 'expect'],
  ]) {
    for (const { name, files } of together) {
      for (const file of files) {
        const [, of, org] = EVENTS.exec(file) ?? [];
        if (of === kind) await world.ingest([join(GOLDEN, name, file)], { orgId: orgOf(name, org) });
      }
    }
    await world.build();
    for (const one of together) {
      for (const question of questionsOf(one))
        if (question.when === when) answers.set(`${one.name}/${question.file}`, await ask(world, question));
    }
  }
  return answers;
}

test('every file in the folder of a case has a meaning', () => {
  for (const { name, files } of cases) {
    const known = files.filter(
      (file) =>
        file === 'README.md' || file === 'rate-card.json' || EVENTS.test(file) || EXPECTATION.test(file),
    );
    expect(files, name).toEqual(known);
    expect(known, name).toContain('README.md');
    expect(
      known.some((file) => file.startsWith('expect.')),
      name,
    ).toBe(true);
  }
});

for (const rateCard of new Set(cases.map((one) => one.rateCard))) {
  const together = cases.filter((one) => one.rateCard === rateCard);
  describe(relative(GOLDEN, rateCard), () => {
    let answers = new Map<string, unknown>();
    beforeAll(async () => {
      const undo: (() => void | Promise<void>)[] = [];
      answers = await play(
        await World.create({ DAYBOOK_RATE_CARD: rateCard }, (work) => undo.unshift(work)),
        together,
      );
      for (const work of undo) await work();
    });

    for (const one of together) {
      test(one.name, () => {
        for (const { file } of questionsOf(one)) {
          const expected: unknown = JSON.parse(readFileSync(join(GOLDEN, one.name, file), 'utf8'));
          const actual = answers.get(`${one.name}/${file}`);
          expect.soft(likeExpected(actual, expected), file).toEqual(expected);
        }
      });
    }
  });
}
