/**
 * Lines of agents' logs that are no JSON, but hold whole records: two records on one line, a record that was cut off with the next one behind
 * it, NULs before a record, half a surrogate pair, bytes that are no UTF-8.
 */

import { isObject } from '../input/json-object.js';

/** How whole lines of a file look: the first members, and those that most of them have. */
export interface LineShape {
  readonly first: ReadonlySet<string>;
  readonly usual: readonly string[];
}

/** More records than these on one line aren't taken apart. */
export const PARTS_AT_MOST = 1000;

/** A line is gone through so many times, to find where its records begin. */
const TIMES_AT_MOST = 8;

/** How many members of a record tell it from an object within another record. */
const TELLING_MEMBERS = 3;

/** A control character. Within JSON only white space can be one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for.
const CONTROLS = /[\x00-\x1f]/g;

/** An escape in JSON; of half a surrogate pair also what it is. */
const ESCAPES =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|[\s\S])/g;

/** Finds the shape of the lines of a file from some of them. */
export function shapeOf(lines: readonly string[]): LineShape {
  const objects = lines.flatMap((line) => {
    const value = parsed(line);
    return isObject(value) ? [value] : [];
  });
  const counts = new Map<string, number>();
  for (const one of objects)
    for (const name of Object.keys(one)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return {
    first: new Set(lines.flatMap((line) => BEGINNING.exec(line)?.[1] ?? [])),
    usual: [...counts].filter(([, count]) => 2 * count > objects.length).map(([name]) => name),
  };
}

/** The first member of a line, whatever stands before it and behind it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NULs may stand before it.
const BEGINNING = /^[\x00-\x20]*\{ {0,9}"([^"\\]{1,100})" {0,9}:/;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether every engine reads a text as JSON. JSON.parse takes half a surrogate pair, others don't. */
export function isWholeJson(text: string): boolean {
  return withoutHalves(text) === text && parsed(text) !== undefined;
}

function withoutHalves(text: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replaceAll(ESCAPES, (found, half) => (half === undefined ? found : '\\ufffd'));
}

/** The records of a line that is no JSON, as JSON; none if nothing can be read. Without a shape the text is one record, or none. */
export function mended(line: string, shape?: LineShape): string[] {
  const text = withoutHalves(line).replaceAll(CONTROLS, ' ').trim();
  if (parsed(text) !== undefined) return [text];
  return shape === undefined ? [] : recordsIn(text, shape);
}

function recordsIn(text: string, shape: LineShape): string[] {
  const records: string[] = [];
  let budget = TIMES_AT_MOST * text.length;
  /** The end of a record that begins here; undefined if none does. */
  const recordAt = (start: number): number | undefined => {
    const end = endOf(text, start);
    budget -= (end ?? text.length) - start;
    if (end === undefined || !isFree(text, end)) return undefined;
    return isRecord(parsed(text.slice(start, end)), shape) ? end : undefined;
  };
  const beginning = /\{ {0,9}"([^"\\]{1,100})" {0,9}:/g;
  for (let found = beginning.exec(text); found !== null && budget > 0; found = beginning.exec(text)) {
    const end = shape.first.has(found[1] ?? '') ? recordAt(found.index) : undefined;
    if (end === undefined) continue;
    records.push(text.slice(found.index, end));
    if (records.length === PARTS_AT_MOST) break;
    beginning.lastIndex = end;
  }
  return records;
}

/** Whether nothing but spaces, and the beginning of another record, stands behind a place. */
function isFree(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ') at += 1;
  return at === text.length || text[at] === '{';
}

/** Whether a value is a record, not an object within one. */
function isRecord(value: unknown, { usual }: LineShape): boolean {
  if (!isObject(value)) return false;
  if (usual.length === 0) return Object.keys(value).length >= TELLING_MEMBERS;
  const shared = usual.filter((name) => Object.hasOwn(value, name)).length;
  return shared >= Math.min(TELLING_MEMBERS, usual.length);
}

/** Where the object ends that begins at a place of a text; undefined if it doesn't. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let isText = false;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isText) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) isText = false;
    } else if (code === 0x22) isText = true;
    else if (code === 0x7b) depth += 1;
    else if (code === 0x7d) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
