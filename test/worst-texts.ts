import { type AST, parseRegExpLiteral } from '@eslint-community/regexpp';

/** A text that makes an engine try again and again: a piece many times, behind what leads to it, before what doesn't match. */
export interface WorstText {
  readonly before: string;
  readonly piece: string;
  readonly after: string;
}

/** A text of about so many characters. */
export function textOf({ before, piece, after }: WorstText, characters: number): string {
  return before + piece.repeat(Math.ceil(characters / piece.length)) + after;
}

/** Characters of every kind, for the classes of an expression. */
const ANY = [...'a0 \n\r/."x:@=A\t\0é'];
/** How many parts of an expression in a row make one piece. */
const PARTS = 5;

/** Texts that may take an expression long, made of what its parts match. */
export function worstTexts(expression: RegExp): WorstText[] {
  const { pattern, flags } = parseRegExpLiteral(expression);
  const own = [...new Set(expression.source.replaceAll(/\\[a-z]/gi, ''))];
  const signs = own.filter((character) => !/[\w\\]/.test(character));
  const characters = [...new Set([...own, ...ANY])];

  function samplesOf(element: AST.Element): string[] {
    switch (element.type) {
      case 'Character':
        return [String.fromCodePoint(element.value)];
      case 'CharacterSet':
      case 'CharacterClass': {
        const one = new RegExp(`^(?:${element.raw})$`, flags.raw.replaceAll(/[gym]/g, ''));
        return characters.filter((character) => one.test(character)).slice(0, 4);
      }
      case 'Group':
      case 'CapturingGroup':
        return element.alternatives.map(({ elements }) => sampleOf(elements));
      case 'Quantifier':
        return samplesOf(element.element);
      case 'Assertion':
        // What stands before has to be there; what follows is in the text anyway.
        return element.kind === 'lookbehind' && !element.negate
          ? element.alternatives.map(({ elements }) => sampleOf(elements))
          : [''];
      default:
        return [''];
    }
  }

  function sampleOf(elements: readonly AST.Element[]): string {
    return elements.map((element) => samplesOf(element)[0] ?? '').join('');
  }

  const beginnings = new Set(['', 'x']);
  const pieces = new Set([...characters, ...signs.flatMap((one) => signs.map((other) => one + other))]);

  function walk({ elements }: AST.Alternative, before: string): void {
    // Characters in a row are one part.
    const parts: AST.Element[][] = [];
    for (const [place, element] of elements.entries()) {
      const isWord = element.type === 'Character' && elements[place - 1]?.type === 'Character';
      if (isWord) parts.at(-1)?.push(element);
      else parts.push([element]);
    }
    for (const [first, [element]] of parts.entries()) {
      const beginning = before + sampleOf(parts.slice(0, first).flat());
      beginnings.add(beginning);
      if (element !== undefined) for (const sample of samplesOf(element)) pieces.add(sample);
      for (let last = first + 1; last <= Math.min(first + PARTS, parts.length); last += 1)
        pieces.add(sampleOf(parts.slice(first, last).flat()));
      const inner = element?.type === 'Quantifier' ? element.element : element;
      if (inner !== undefined && 'alternatives' in inner)
        for (const one of inner.alternatives) walk(one, beginning);
    }
    beginnings.add(before + sampleOf(elements));
  }

  for (const alternative of pattern.alternatives) walk(alternative, '');
  const lines = flags.multiline ? [...pieces].map((piece) => `\r${piece}`) : [];
  const ends = ['', '\n\0', 'x\n\0', signs.join('')];
  return [...beginnings].flatMap((before) =>
    [...pieces, ...lines]
      .filter((piece) => piece !== '')
      .flatMap((piece) => ends.map((after) => ({ before, piece, after }))),
  );
}
