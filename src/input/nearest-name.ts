/** The name that is most like a given one, if one differs in a few letters only. The given one can have 100 characters. */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  const text = given.toLowerCase();
  if (text.length > 100) return undefined;
  const found = [...names]
    .map((name) => ({ name, changes: changesBetween(text, name) }))
    .filter(({ name, changes }) => changes <= Math.max(1, Math.floor(Math.min(name.length, text.length) / 3)))
    .sort((one, other) => one.changes - other.changes || (one.name < other.name ? -1 : 1));
  return found[0]?.name;
}

/** How many letters must be added, removed or replaced to make one text another. */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let at = 0; at < to.length; at += 1) {
      const replaced = (row[at] ?? 0) + (to[at] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
