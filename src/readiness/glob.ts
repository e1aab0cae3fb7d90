/** How many patterns the braces of one glob may expand to. */
const ALTERNATIVES_AT_MOST = 100;

/**
 * A pattern of paths: `*` and `?` within a name, `**` for any folders, `{a,b}` for either. Case is ignored. Matching takes at most the
 * length of the path times that of the pattern, unlike a regular expression.
 */
export class Glob {
  readonly patterns: readonly Pattern[];

  /** Throws a RangeError if the braces expand to too many patterns. */
  constructor(readonly text: string) {
    this.patterns = expand(text.toLowerCase()).map((pattern) => new Pattern(pattern.split('/')));
  }

  /** Whether a path, given as its parts in lower case, matches. */
  matches(path: readonly string[]): boolean {
    return this.patterns.some((pattern) => pattern.matches(path));
  }
}

/** A glob without braces. The common parts of its matches narrow down the paths to test. */
export class Pattern {
  /** The last name of its matches, if known. */
  readonly name: string | undefined;
  /** The folder or file that its matches begin with, if known. */
  readonly folder: string | undefined;
  /** The extension of the last name, if only that is known. */
  readonly extension: string | undefined;

  constructor(private readonly names: readonly string[]) {
    const [first = ''] = names;
    const last = names.at(-1) ?? '';
    if (!/[*?]/.test(last)) this.name = last;
    else this.extension = /\.[^.*?]+$/.exec(last)?.[0];
    if (!/[*?]/.test(first)) this.folder = first;
  }

  matches(path: readonly string[]): boolean {
    if (this.folder !== undefined && this.folder !== path[0]) return false;
    return matchAll(this.names, path, '**', matchName);
  }
}

/** Expands the braces of a pattern, from the innermost outwards. */
function expand(pattern: string): string[] {
  const waiting = [pattern];
  const done: string[] = [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const close = next.indexOf('}');
    const open = next.lastIndexOf('{', close);
    if (close < 0 || open < 0) done.push(next);
    else
      for (const part of next.slice(open + 1, close).split(','))
        waiting.push(next.slice(0, open) + part + next.slice(close + 1));
    if (done.length + waiting.length > ALTERNATIVES_AT_MOST)
      throw new RangeError(`must stand for at most ${ALTERNATIVES_AT_MOST} patterns`);
  }
  return done;
}

function matchName(pattern: string, name: string): boolean {
  return matchAll(pattern, name, '*', (one, other) => one === '?' || one === other);
}

/**
 * Whether a sequence matches a pattern, where a wildcard stands for any number of elements. If an element doesn't match, only the last
 * wildcard has to take one more: earlier wildcards never need more than they took.
 */
function matchAll<T>(
  pattern: ArrayLike<T>,
  sequence: ArrayLike<T>,
  wildcard: T,
  fits: (one: T, other: T) => boolean,
): boolean {
  let [at, position, star, resume] = [0, 0, -1, 0];
  while (position < sequence.length) {
    const one = pattern[at];
    if (one === wildcard) {
      star = at++;
      resume = position;
    } else if (at < pattern.length && fits(one as T, sequence[position] as T)) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++resume;
    } else return false;
  }
  while (pattern[at] === wildcard) at++;
  return at === pattern.length;
}
