/** What the definitions say with lists: sums, distinct values, and orders. */

/** Byte order: that of the UTF-8 bytes, not that of JavaScript's UTF-16 units. */
export function byteOrder(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A quotient; 0 where the denominator is 0. */
export function ratio(numerator: number, denominator: number): number {
  return denominator === 0 ? 0 : numerator / denominator;
}

export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/** The elements with the same key, by key. */
export function groups<T>(list: readonly T[], key: (element: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const element of list) found.set(key(element), [...(found.get(key(element)) ?? []), element]);
  return found;
}

/** How often each text is there: counts descending, then texts ascending. */
export function counted(texts: readonly string[]): { name: string; count: number }[] {
  return [...groups(texts, (text) => text)]
    .map(([name, all]) => ({ name, count: all.length }))
    .sort((one, other) => other.count - one.count || byteOrder(one.name, other.name));
}

const MS_PER_DAY = 86_400_000;

export function daysBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * MS_PER_DAY).toISOString().slice(0, 10);
}
