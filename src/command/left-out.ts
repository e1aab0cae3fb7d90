/** How many of the files and folders that were left out are named. */
const NAMED = 5;

/** The lines for what was left out, of a sentence for each. */
export function leftOutLines(sentences: readonly string[]): string[] {
  const more = sentences.length - NAMED;
  return [
    ...sentences.slice(0, NAMED).map((sentence) => `  ${sentence}`),
    ...(more > 0 ? [`  ... and ${more} more: --json names all of them.`] : []),
  ];
}
