import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OTLP } from '../ingest/source.js';
import { isIntricate, LEVELS_AT_MOST } from '../input/json-depth.js';

/** What an attribute's value can be, once it is read; anything but a text, a number or a truth value is undefined. */
export type Scalar = string | undefined;

/**
 * The attributes that sql/source/otlp reads, which attributes.json lists: nothing else of a record is kept. `tool_input/file_path` is the
 * member file_path of the JSON text in the attribute tool_input; `ending` and `is_set` are no members.
 */
const KEPT: readonly string[] = JSON.parse(readFileSync(join(OTLP.sql, 'attributes.json'), 'utf8'));

/** The values of attributes, each in the place that its name has. Numbers and truth values are texts. */
export type Attributes = readonly Scalar[];

/** What is kept of an attribute: its value, or names in it. */
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

/** Attributes for a record, which has those of its resource unless it has its own. */
export function inherited(resource: Attributes = NONE): Scalar[] {
  return resource.slice();
}

/** Keeps of an attribute what is on the list. `read` gives its value, and is called only for a name on the list. */
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
    }
    if (typeof found === 'string') into[place] = shortened(found);
  }
}

/** No member of an event may be half as long: characters. */
const KEPT_CHARACTERS = 4096;

/** A text, as far as it is kept: what is longer breaks a rule in any case. */
export function shortened(text: string): string {
  return text.length > KEPT_CHARACTERS ? text.slice(0, KEPT_CHARACTERS) : text;
}

const NAMES = KEPT.map((name) => `${JSON.stringify(name)}:`);
/** A text that is the same in JSON. Half of a surrogate pair is escaped. */
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

/** Says how a call ended, in the lines that Codex puts above its output. */
const ENDING = /^(?:(?:Process exited with code|Exit code:) -?\d{1,9}|Script (?:completed|failed))$/m;

function endingOf(text: string): string | undefined {
  return ENDING.exec(text.slice(0, 1000).split('\nOutput:')[0] ?? '')?.[0];
}

/** A text isn't searched if it is longer or has more values. A record can have many of them: characters, values. */
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
