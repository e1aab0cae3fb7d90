import TEXT from '../../docs/numbers.md?raw';

/** What a number means. */
export interface Meaning {
  readonly name: string;
  /** One sentence. */
  readonly sentence: string;
  readonly counted: string;
}

/** The text of a cell without its links and code. */
const plain = (cell: string): string => cell.replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1').replaceAll('`', '');

/** The meanings of all numbers: the rows of the table in docs/numbers.md. */
export const MEANINGS: readonly Meaning[] = TEXT.split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => {
    const [, name = '', sentence = '', counted = ''] = line.split('|').map((cell) => plain(cell.trim()));
    return { name, sentence, counted };
  });

/** The sentence about a number of the page, by its name. */
export function sentenceOf(name: string): string | undefined {
  return MEANINGS.find((one) => one.name === name)?.sentence;
}
