import { RE2JS } from 're2js';

/** The largest size of an expression. Matching can take as many steps for each character of a text. */
export const PATTERN_SIZE = 2500;

/** The largest total size of a configuration's expressions. Compiling that much takes a tenth of a second. */
export const PATTERNS_SIZE = 25_000;

/** The sizes of a Unicode class, a list of hundreds of ranges, and of a range beyond ASCII, which may be searched for letter cases. */
const CLASS_SIZE = 100;
const RANGE_SIZE = 1000;

const TOO_LARGE = `is too large: with repetitions such as {9} written out, it can have ${PATTERN_SIZE} characters`;

const TOKEN =
  /\\[pPx]\{[^{}]*\}|\\[\s\S]|\{(\d+)(?:,(\d*))?\}|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\\\]])*\]?|[\s\S]/g;

/**
 * The approximate size of a compiled expression, with its repetitions written out: `(a{10}b){5}` has a size of 65. It only reads the
 * text, so that a large expression can be refused before it is compiled.
 */
export function sizeOfPattern(text: string): number {
  const outer: number[] = [];
  let size = 0;
  // The size of the element that a repetition would repeat.
  let last = 0;
  const add = (more: number) => {
    size += more;
    last = more;
  };
  for (const [token, least, most] of text.matchAll(TOKEN)) {
    if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0), 1);
      size += last * (times - 1);
      last *= times;
    } else if (token === '(') {
      outer.push(size);
      size = 2;
    } else if (token === ')' && outer.length > 0) {
      const group = size;
      size = outer.pop() ?? 0;
      add(group);
    } else if (!'*+?'.includes(token)) add(sizeOfOne(token));
    else size += 1;
  }
  return size + outer.reduce((sum, more) => sum + more, 0);
}

/** The size of a single character or character class. */
function sizeOfOne(token: string): number {
  const classes = token.match(/\\p/gi)?.length ?? 0;
  const isAscii = /^[ -~]*$/.test(token) && !/\\x(?![0-7][\da-f])/i.test(token);
  const ranges = token.startsWith('[') && !isAscii ? token.split('-').length - 1 : 0;
  return 1 + classes * CLASS_SIZE + ranges * RANGE_SIZE;
}

/**
 * Compiles a client's regular expression: from a hook's configuration or a rule, which anyone who writes into a repository can provide.
 * RE2 matches in linear time. Throws for an invalid expression, including look-around and back references, which RE2 lacks. Throws a
 * RangeError with a sentence for one that is too large.
 */
export function compilePattern(text: string, flags = 0): RE2JS {
  if (sizeOfPattern(text) > PATTERN_SIZE) throw new RangeError(TOO_LARGE);
  return RE2JS.compile(text, flags);
}
