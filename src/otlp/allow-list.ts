import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OTLP } from '../ingest/source.js';
import { gitWordsOf } from '../input/git-words.js';
import { isIntricate, LEVELS_AT_MOST } from '../input/json-depth.js';

/** The value of an attribute as it is read. Anything but a text, number or boolean is undefined. */
export type Scalar = string | undefined;

/**
 * The attributes that sql/source/otlp reads, listed in attributes.json: nothing else of a record is kept. `tool_input/file_path` is the
 * member file_path of the JSON text in the attribute tool_input; `ending` and `is_set` are computed, not members. Of `full_command` only the
 * words stay that can commit or open a pull request.
 */
const KEPT: readonly string[] = JSON.parse(readFileSync(join(OTLP.sql, 'attributes.json'), 'utf8'));

/** The values of attributes, each at the place of its name. Numbers and booleans are texts. */
export type Attributes = readonly Scalar[];

/** The kept parts of an attribute: its value, or members of it. */
interface Kept {
  readonly place: number | undefined;
  readonly within: readonly { readonly member: string; readonly place: number }[];
}

const BY_NAME = new Map<string, Kept>();
for (const [place, name] of KEPT.entries()) {
  const [attribute = '', member] = name.split('/');
  const { place: own, within = [] } = BY_NAME.get(attribute) ?? {};
  BY_NAME.set(
    attribute,
    member === undefined ? { place, within } : { place: own, within: [...within, { member, place }] },
  );
}

/** The place of an attribute that is on the list. */
export function placeOf(name: string): number {
  return KEPT.indexOf(name);
}

const NONE: Attributes = KEPT.map(() => undefined);

/** Whether anything of an attribute is kept. */
export function isKept(name: string): boolean {
  return BY_NAME.has(name);
}

/** Attributes for a record, beginning with those of its resource. The record's own replace them. */
export function inherited(resource: Attributes = NONE): Scalar[] {
  return resource.slice();
}

/** Keeps the parts of an attribute that are on the list. Calls `read` for its value only if the name is on the list. */
export function keep(into: Scalar[], name: string, read: () => Scalar): void {
  const kept = BY_NAME.get(name);
  if (kept === undefined) return;
  const value = read();
  if (value === undefined) return;
  if (kept.place !== undefined) into[kept.place] = shortened(value);
  let members: Record<string, unknown> | undefined;
  for (const { member, place } of kept.within) {
    let found: unknown;
    if (member === 'is_set') found = 'true';
    else if (member === 'ending') found = endingOf(value);
    else {
      members ??= membersOf(value);
      found = members[member];
      if (member === 'full_command' && typeof found === 'string') found = gitWordsOf(found);
    }
    if (typeof found === 'string') into[place] = shortened(found);
  }
}

/** How many characters of a value are kept: twice as many as a member of an event can have. */
const KEPT_CHARACTERS = 4096;

/** A text, cut to the length that is kept: a longer one breaks a rule in any case. */
export function shortened(text: string): string {
  return text.length > KEPT_CHARACTERS ? text.slice(0, KEPT_CHARACTERS) : text;
}

const NAMES = KEPT.map((name) => `${JSON.stringify(name)}:`);
/** Matches a text that JSON writes unchanged. It would escape half a surrogate pair. */
const PLAIN = /^[^"\\\p{Cc}\p{Cs}]*$/u;

/** Attributes as a JSON object. */
export function jsonOf(attributes: Attributes): string {
  let json = '';
  for (let place = 0; place < attributes.length; place += 1) {
    const value = attributes[place];
    if (value === undefined) continue;
    const text = PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
    json += `${json === '' ? '' : ','}${NAMES[place]}${text}`;
  }
  return `{${json}}`;
}

/** Finds how a call ended, in the lines that Codex puts above its output. */
const ENDING = /^(?:(?:Process exited with code|Exit code:) -?\d{1,9}|Script (?:completed|failed))$/m;

function endingOf(text: string): string | undefined {
  return ENDING.exec(text.slice(0, 1000).split('\nOutput:')[0] ?? '')?.[0];
}

/** A text with more characters or values than these isn't searched. A record can have many such texts. */
const SEARCHED = { characters: 1 << 16, values: 5000 };

/** The members of a JSON object; none if the text is no such object, or is too much to search. */
function membersOf(text: string): Record<string, unknown> {
  if (text.length > SEARCHED.characters || isIntricate(text, LEVELS_AT_MOST, SEARCHED.values)) return {};
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
