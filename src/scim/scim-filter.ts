import { Types } from 'scimmy';
import { ScimError } from '../api/errors.js';
import type { Attributes } from './scim-body.js';

/** How long a filter can be, in characters, and how many comparisons it can have: the library multiplies groups out. */
const LENGTH_AT_MOST = 2000;
const COMPARISONS_AT_MOST = 10;

const COMPARATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'lt', 'ge', 'le', 'pr'];
const WORDS = new Set([...COMPARATORS, 'and', 'or', 'true', 'false', 'null']);

/** A text as JSON has it. One that isn't closed is found too, so that nothing is read twice. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none in texts.
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*("?)/g;

/** Attributes whose case matters. The instants in meta are compared as instants. */
const EXACT = new Set(['id', 'externalid', 'meta']);

type Comparison = readonly [comparator: string, value?: unknown];
type Condition = { readonly [attribute: string]: Comparison | readonly Comparison[] | Condition };

export interface ScimFilter {
  /** The filter, if it only asks for one value of one attribute. */
  readonly equality: { readonly attribute: string; readonly value: string } | undefined;
  match<Resource extends Attributes>(resources: readonly Resource[]): Resource[];
}

/**
 * The filter of a request, which names only these attributes. Throws a ScimError.
 * TRICKY: the library's parser gets no client's text. It doesn't know escapes, takes exponential time for a quote that isn't closed, and
 * writes to Object.prototype for a path that begins with __proto__. So texts are numbered before and put back afterwards, and every other word
 * is a known one.
 */
export function filterOf(text: string, attributes: ReadonlySet<string>): ScimFilter {
  if (text.length > LENGTH_AT_MOST)
    throw invalid(`The filter must have at most ${LENGTH_AT_MOST} characters.`);
  const texts: string[] = [];
  const plain = text
    .replace(TEXT, (literal, end) => (end === '' ? literal : `"${texts.push(JSON.parse(literal)) - 1}"`))
    .replace(/urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/gi, '')
    .replace(/\b(?:true|false|null)\b/gi, (word) => word.toLowerCase());
  requireKnown(plain, attributes);
  const parts: Condition[] = read(() => [...new Types.Filter(plain)]);
  const conditions = parts.map((condition) => withTexts(condition, texts));
  const filter = read(() => new Types.Filter(conditions.map(caseless)));
  const [[attribute, comparison] = ['', {}], ...others] = Object.entries(conditions[0] ?? {});
  const [comparator, value] = Array.isArray(comparison) ? comparison : [];
  const isOne = conditions.length === 1 && others.length === 0 && comparator === 'eq';
  return {
    equality: isOne && typeof value === 'string' ? { attribute, value } : undefined,
    match: <Resource extends Attributes>(resources: readonly Resource[]) => {
      // The library looks for parts of what isn't there.
      const whole = (resource: Resource) => ({ name: {}, emails: [], members: [], ...caseless(resource) });
      return read(() => resources.filter((resource) => filter.match([whole(resource)]).length > 0));
    },
  };
}

/** The condition in the path of a patch, as `type eq "work"`: equalities that must all hold. Throws a ScimError. */
export function conditionOf(text: string): Readonly<Record<string, readonly ['eq', unknown]>> {
  const parts = text
    .split(/\sand\s/i)
    .map((part) => /^\s*(type|value|primary)\s+eq\s+("[^"\\]*"|true|false)\s*$/i.exec(part));
  const entries = parts.map((found) => {
    if (found === null)
      throw new ScimError(
        400,
        'invalidPath',
        'A path can choose addresses by type, value and primary alone, such as emails[type eq "work"].value.',
      );
    const [, name = '', value = ''] = found;
    const expected = value.startsWith('"') ? value.slice(1, -1) : value.toLowerCase() === 'true';
    return [name.toLowerCase(), ['eq', expected]] as const;
  });
  return Object.fromEntries(entries);
}

function requireKnown(plain: string, attributes: ReadonlySet<string>): void {
  const withoutTexts = plain.replace(/"\d+"/g, ' ');
  if (withoutTexts.includes('"'))
    throw invalid(
      "The filter has a text that isn't one of JSON: end it with a quote, and write a backslash twice.",
    );
  const words = withoutTexts.match(/[^\s()[\]]+/g) ?? [];
  const unknown = words.find((word) => {
    const name = word.replace(/^\./, '').toLowerCase();
    return !WORDS.has(name) && !attributes.has(name);
  });
  if (unknown !== undefined)
    throw invalid(
      `The filter has ${unknown.slice(0, 100)}: use ${COMPARATORS.join(', ')}, and, or, texts in quotes, and the attributes that /Schemas lists.`,
    );
  if (words.filter((word) => COMPARATORS.includes(word.toLowerCase())).length > COMPARISONS_AT_MOST)
    throw invalid(`The filter must have at most ${COMPARISONS_AT_MOST} comparisons.`);
  if (/[([][^)\]]*[([]/.test(plain)) throw invalid('The filter must have no brackets in brackets.');
}

/** What the library makes of a filter, some of which fail only when it looks at resources. */
function read<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw invalid('The filter must be one such as userName eq "ada@acme.example".');
  }
}

/** A condition with its texts. Values of lists without a name are their `value`. */
function withTexts(condition: Condition, texts: readonly string[]): Condition {
  return Object.fromEntries(
    Object.entries(condition).map(([name, inner]) => {
      if (!Array.isArray(inner)) return [name, withTexts(inner as Condition, texts)];
      const all = Array.isArray(inner[0]) ? inner : [inner];
      const put = all.map(([comparator, value]) =>
        value === undefined
          ? [comparator]
          : [comparator, typeof value === 'string' ? texts[Number(value)] : value],
      );
      const comparisons = put.length === 1 ? put[0] : put;
      return [name, /^(emails|members)$/i.test(name) ? { value: comparisons } : comparisons];
    }),
  ) as Condition;
}

/** In lower case, except where case matters. */
function caseless<T extends object>(object: T): T {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      EXACT.has(name.toLowerCase()) ? value : lowered(value),
    ]),
  ) as T;
}

function lowered(value: unknown): unknown {
  if (typeof value === 'string') return value.toLowerCase();
  if (Array.isArray(value)) return value.map(lowered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, lowered(part)]));
}

function invalid(detail: string): ScimError {
  return new ScimError(400, 'invalidFilter', detail);
}
