import { isObject, parsedJson } from '../input/json-object.js';

/** The document that an agent gives a hook on standard input, not checked. */
export type Payload = Readonly<Record<string, unknown>>;

/** A value as an object; any other value has no members. */
export function membersOf(value: unknown): Payload {
  return isObject(value) ? value : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The object in a JSON text; any other value has no members. */
export function membersIn(text: unknown): Payload {
  return membersOf(typeof text === 'string' ? parsedJson(text) : text);
}
