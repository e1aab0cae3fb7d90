/** How many groups of a chart have their own colour. All others share the last one. */
export const COLORED = 5;
const COLORS = ['--c1', '--c2', '--c3', '--c4', '--c5'];
export const OTHERS = '--c6';

/** The families of models that have a colour of their own, in the order of the colours. */
const FAMILIES = [/opus/, /sonnet/, /gpt|codex|^o\d/, /haiku/, /gemini/];

const familyOf = (name: string): number => FAMILIES.findIndex((one) => one.test(name));

/** The place of the colour that a name would have by itself. */
function wantedOf(name: string): number {
  const family = familyOf(name);
  if (family >= 0) return family;
  let sum = 0;
  for (const letter of name) sum = (31 * sum + (letter.codePointAt(0) ?? 0)) % 9973;
  return sum % COLORS.length;
}

/**
 * The colour of one of the names of a ranking. It doesn't depend on the rank, so that a model keeps its colour in every range. Of several
 * that would have the same one, the last by name has it, which is the newest of its family. The others get those that are left.
 */
export function colorOf(ranking: readonly string[], name: string): string {
  const isAlone = (one: string) => Number(familyOf(one) < 0);
  const coloured = ranking
    .slice(0, COLORED)
    .sort((one, other) => isAlone(one) - isAlone(other) || (one < other ? 1 : -1));
  const taken: string[] = [];
  for (const one of coloured) taken[wantedOf(one)] ??= one;
  for (const one of coloured) {
    if (taken.includes(one)) continue;
    const free = COLORS.findIndex((_, index) => taken[index] === undefined);
    taken[free] = one;
  }
  return COLORS[taken.indexOf(name)] ?? OTHERS;
}

/** Counts of names, the greatest first, equal ones by name. */
export function mostFirst(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
}
