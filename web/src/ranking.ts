/** How many groups of a chart have their own colour. All others share the last one. */
export const COLORED = 5;
const COLORS = ['--c1', '--c2', '--c3', '--c4', '--c5'];
export const OTHERS = '--c6';

export function colorOf(ranking: readonly string[], name: string): string {
  return COLORS[ranking.indexOf(name)] ?? OTHERS;
}

/** Counts of names, the greatest first, equal ones by name. */
export function mostFirst(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
}
