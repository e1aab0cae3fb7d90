/** The elements of a list by a key, in the order of the list. */
export function grouped<T>(list: readonly T[], keyOf: (element: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const element of list) {
    const key = keyOf(element);
    const group = found.get(key);
    if (group === undefined) found.set(key, [element]);
    else group.push(element);
  }
  return found;
}
