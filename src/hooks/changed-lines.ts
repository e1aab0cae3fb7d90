/** A sign for each line that a replacement removes and adds, without those that it has at both ends of both texts. */
export function changedLines(before: string, after: string): string[] {
  const [old, fresh] = [before, after].map((text) =>
    text === '' ? [] : text.replace(/\n$/, '').split('\n'),
  );
  if (old === undefined || fresh === undefined) return [];
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1;
  const same = start + end;
  return [...Array<string>(old.length - same).fill('-'), ...Array<string>(fresh.length - same).fill('+')];
}
