import type { Parameter, Parameters } from '../store.js';

/** A statement as PostgreSQL reads it, and the values of its parameters `$1`, `$2` and so on, as text. */
export interface Spelled {
  readonly text: string;
  readonly values: readonly (string | readonly string[])[];
}

/** A comment, a text or a quoted name, in which nothing is a parameter; or a parameter, with the `IN` before it. */
const PARAMETER = /--[^\n]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|(?:\b(NOT )?(IN) )?\$(\w+)/g;

/** The type of PostgreSQL that goes with a value, and the value as text. */
function typed(value: Exclude<Parameter, null>): [type: string, value: string | readonly string[]] {
  if (typeof value === 'object') return 'day' in value ? ['date', value.day] : ['text[]', value];
  if (typeof value === 'string') return ['text', value];
  return [Number.isInteger(value) ? 'bigint' : 'double precision', String(value)];
}

/**
 * A text that every engine reads, in PostgreSQL's spelling: `$name` as `$1::type`, and `IN $list` as `= ANY(...)`. Throws a SyntaxError for a
 * NUL, which PostgreSQL has in no text.
 */
export function spelled(sql: string, parameters: Parameters): Spelled {
  const values: (string | readonly string[])[] = [];
  const places = new Map<string, string>();
  const placeOf = (name: string, value: Parameter) => {
    if (value === null) return 'NULL';
    const [type, text] = typed(value);
    const place = places.get(name) ?? `$${values.push(text)}::${type}`;
    places.set(name, place);
    return place;
  };
  const text = sql.replace(PARAMETER, (found, not?: string, isIn?: string, name = '') => {
    if (!Object.hasOwn(parameters, name)) return found;
    const place = placeOf(name, parameters[name] as Parameter);
    if (isIn === undefined) return place;
    return not === undefined ? `= ANY(${place})` : `<> ALL(${place})`;
  });
  if ([text, ...values.flat()].some((one) => one.includes('\0')))
    throw new SyntaxError("a text with the character NUL can't be kept");
  return { text, values };
}
