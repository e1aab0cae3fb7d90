/** Compares what Daybook counts with what was served, and says why they differ where that is known. */
import { columnsOf, layOut } from '../../src/terminal/text-table.js';
import { type Untold, WAYS, type Way } from './agent.js';
import type { Numbers } from './daybook.js';

/** A session that came to an organization by each way. */
export interface Compared {
  readonly name: string;
  readonly untold: readonly Untold[];
  readonly truth: Numbers;
  /** What Daybook counts, by way. */
  readonly counted: ReadonlyMap<Way, Numbers>;
}

/** What was compared, as a table with its reasons, and how many differences have none. */
export function compare(all: readonly Compared[]): { table: string; unexplained: number } {
  const rows: Record<string, string>[] = [];
  const reasons: string[] = [];
  let unexplained = 0;

  function cellOf({ name, untold, truth, counted }: Compared, what: string, way: Way): string {
    const numbers = counted.get(way);
    if (numbers === undefined) return '';
    const is = numbers[what] ?? '0';
    if (is === (truth[what] ?? '0')) return shown(is);
    const known = untold.find((one) => one.by.includes(way) && isExpected(one.is[what], is));
    if (known === undefined) {
      unexplained += 1;
      return `${shown(is)} !`;
    }
    const reason = `${name}: ${known.because}`;
    if (!reasons.includes(reason)) reasons.push(reason);
    return `${shown(is)} (${reasons.indexOf(reason) + 1})`;
  }

  for (const one of all) {
    const names = new Set([one.truth, ...one.counted.values()].flatMap((numbers) => Object.keys(numbers)));
    for (const what of names)
      rows.push({
        agent: one.name,
        what,
        stub: shown(one.truth[what] ?? '0'),
        ...Object.fromEntries(WAYS.map((way) => [`by ${way}`, cellOf(one, what, way)])),
      });
  }
  const notes = reasons.map((reason, index) => `(${index + 1}) ${reason}`);
  const { head, lines } = layOut(columnsOf(rows), {});
  return { table: [head, ...lines, ...notes].join('\n'), unexplained };
}

function isExpected(expected: string | readonly [number, number] | undefined, value: string): boolean {
  if (expected === undefined || typeof expected === 'string') return value === expected;
  return Number(value) >= expected[0] && Number(value) <= expected[1];
}

/** A value without the folder of the repository. */
const shown = (value: string) => value.replaceAll(/[^\s,]*\/greeter\//g, '');
