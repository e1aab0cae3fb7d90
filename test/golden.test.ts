import { relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  cases,
  EVENTS,
  EXPECTATION,
  expectedOf,
  GOLDEN,
  likeExpected,
  PEOPLE,
  play,
  questionsOf,
} from './cases.js';
import { STORES } from './stores.js';
import { undoing } from './world.js';

test('every file in the folder of a case has a meaning', () => {
  for (const { name, files } of cases) {
    const known = files.filter(
      (file) =>
        ['README.md', 'rate-card.json'].includes(file) ||
        [EVENTS, EXPECTATION, PEOPLE].some((form) => form.test(file)),
    );
    expect(files, name).toEqual(known);
    expect(known, name).toContain('README.md');
    expect(
      known.some((file) => file.startsWith('expect.')),
      name,
    ).toBe(true);
  }
});

for (const store of STORES) {
  for (const rateCard of new Set(cases.map((one) => one.rateCard))) {
    const together = cases.filter((one) => one.rateCard === rateCard);
    describe(`${store.name}, ${relative(GOLDEN, rateCard)}`, () => {
      let answers = new Map<string, unknown>();
      // Cases are played together, since a store builds many almost as fast as one. Those that -t leaves out aren't.
      // biome-ignore lint/correctness/noEmptyPattern: Vitest takes nothing else for a first argument that isn't used
      beforeAll(async ({}, { tasks }) => {
        const names = new Set(tasks.filter(({ mode }) => mode === 'run').map(({ name }) => name));
        const { atEnd, undo } = undoing();
        const asked = together.filter(({ name }) => names.has(name));
        answers = await play(await store.open(rateCard, atEnd), asked);
        await undo();
      });

      for (const one of together) {
        test(one.name, () => {
          for (const question of questionsOf(one)) {
            const expected = expectedOf(one, question);
            const actual = answers.get(`${one.name}/${question.file}`);
            expect.soft(likeExpected(actual, expected), question.file).toEqual(expected);
          }
        });
      }
    });
  }
}
