import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import type { Source } from '../src/ingest/source.js';
import { difference, tablesOf } from './laws/law.js';
import { playsSlow } from './slow.js';
import type { World } from './world.js';

/**
 * A file of a source, by its path below a folder: its lines, or the contents that a file has one after the other if its agent
 * rewrites it in place.
 */
export type GrownFile =
  | { readonly name: string; readonly lines: readonly string[] }
  | { readonly name: string; readonly versions: readonly string[] };

/**
 * How many times the files are damaged, doubled and cut, and from which seed. For many more:
 *
 *   GROWN_RUNS=300 GROWN_SEED=7 npx vitest run --project DuckDB test/agents.test.ts -t 'codex.*grew'
 */
const RUNS = {
  numRuns: Number(process.env.GROWN_RUNS ?? (playsSlow() ? 20 : 1)),
  seed: Number(process.env.GROWN_SEED ?? 20260612),
};

/** What happens to one line. A beginning of a JSON object is never JSON. */
const fate = fc.oneof(
  { weight: 20, arbitrary: fc.constant('kept' as const) },
  { weight: 3, arbitrary: fc.constant('doubled' as const) },
  { weight: 1, arbitrary: fc.constant('cut' as const) },
  { weight: 1, arbitrary: fc.constant('wrapped' as const) },
);

/** The contents of a file as it grows, the last one whole, and what it would be without copies of lines. */
interface Growth {
  readonly name: string;
  readonly states: readonly string[];
  readonly whole: string;
  readonly faults: { not_json: number; not_an_object: number };
  /** What a counterexample shows of it. */
  readonly [fc.toStringMethod]: () => string;
}

const NO_FAULTS = { not_json: 0, not_an_object: 0 };

function sumOf(faults: readonly Growth['faults'][]): Growth['faults'] {
  return {
    not_json: faults.reduce((sum, { not_json }) => sum + not_json, 0),
    not_an_object: faults.reduce((sum, { not_an_object }) => sum + not_an_object, 0),
  };
}

function growthOfLines(name: string, lines: readonly string[]): fc.Arbitrary<Growth> {
  return fc
    .record({
      fates: fc.array(fate, { minLength: lines.length, maxLength: lines.length }),
      cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }),
    })
    .map(({ fates, cuts }) => {
      const damaged = lines.map((line, index) => {
        if (fates[index] === 'cut') return line.slice(0, Math.max(1, line.length >> 1));
        return fates[index] === 'wrapped' ? `[${line}]` : line;
      });
      const doubled = damaged.flatMap((line, index) => (fates[index] === 'doubled' ? [line, line] : [line]));
      const content = `${doubled.join('\n')}\n`;
      const states = cuts.sort().map((cut) => content.slice(0, Math.floor(cut * content.length)));
      const count = (fault: string) => fates.filter((one) => one === fault).length;
      return {
        name,
        states: [...states, content],
        whole: `${damaged.join('\n')}\n`,
        faults: { not_json: count('cut'), not_an_object: count('wrapped') },
        [fc.toStringMethod]: () => {
          const changed = fates.flatMap((one, index) => (one === 'kept' ? [] : [`line ${index + 1} ${one}`]));
          return `${name} of ${states.map((state) => state.length)}, ${content.length} bytes: ${changed.join(', ')}`;
        },
      };
    });
}

function growthOf(file: GrownFile): fc.Arbitrary<Growth> {
  if ('lines' in file) return growthOfLines(file.name, file.lines);
  const whole = file.versions.at(-1) ?? '';
  return fc.subarray([...file.versions.slice(0, -1)]).map((states) => ({
    name: file.name,
    states: [...states, whole],
    whole,
    faults: NO_FAULTS,
    [fc.toStringMethod]: () =>
      `${file.name} in versions ${states.map((state) => file.versions.indexOf(state))}`,
  }));
}

let organizations = 0;
const newOrganization = () => `grown-${++organizations}`;

/** In which order files grow: the index of a file for each of its states. */
function orderOf(growths: readonly Growth[]): fc.Arbitrary<number[]> {
  const steps = growths.flatMap(({ states }, index) => states.map(() => index));
  return fc.shuffledSubarray(steps, { minLength: steps.length, maxLength: steps.length });
}

/**
 * Expects that files give the same events and day tables whether they are read once, or again and again while they grow, in two
 * orders, with lines twice in a file and with copies of whole files beside. Some lines are damaged; these are rejected, each with
 * its reason. Cuts are anywhere, also within a line.
 */
export async function expectSameHoweverGrown(
  world: World,
  source: Source,
  files: readonly GrownFile[],
): Promise<void> {
  const folderOf = (orgId: string) => join(world.folder, orgId, 'files');
  const write = (orgId: string, name: string, content: string) => {
    const path = join(folderOf(orgId), name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };
  const read = (orgId: string) =>
    ingest(
      world.store,
      { orgId, source, userId: 'ada', files: inputFiles([folderOf(orgId)], source) },
      world.clock,
    );
  const grow = async (orgId: string, growths: readonly Growth[], order: number[], copied: number[]) => {
    const next = growths.map(({ states }) => states.values());
    for (const file of order) {
      const name = growths[file]?.name ?? '';
      const content = next[file]?.next().value ?? '';
      write(orgId, name, content);
      if (copied.includes(file)) write(orgId, join('again', name), content);
      await read(orgId);
    }
  };
  const plays = fc
    .tuple(...files.map(growthOf))
    .chain((growths) =>
      fc.tuple(fc.constant(growths), orderOf(growths), orderOf(growths), fc.subarray([...growths.keys()])),
    );
  await fc.assert(
    fc.asyncProperty(plays, async ([growths, one, other, copied]) => {
      const once = newOrganization();
      for (const { name, whole } of growths) write(once, name, whole);
      const { byReason } = await read(once);
      const { not_json = 0, not_an_object = 0 } = byReason;
      expect({ not_json, not_an_object }).toEqual(sumOf(growths.map(({ faults }) => faults)));
      const grown = [newOrganization(), newOrganization()] as const;
      await grow(grown[0], growths, one, []);
      await grow(grown[1], growths, other, copied);
      await world.build();
      const expected = await tablesOf(world, once);
      for (const orgId of grown) expect(difference(await tablesOf(world, orgId), expected)).toBeUndefined();
    }),
    RUNS,
  );
}
