import { isObject } from '../input/json-object.js';
import type { Settings } from './control-settings.js';
import { MASK, mapSecrets } from './settings-secrets.js';

/** A member of the settings that differs between two revisions; undefined in a revision without it. Secrets are masked. */
export interface Difference {
  readonly member: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A secret, identified by its ciphertext. */
class Secret {
  constructor(readonly sealed: unknown) {}
}

/** The elements of a list by their names, so that adding one doesn't move the others; undefined if they have no names. */
function named(list: readonly unknown[]): Map<string, unknown> | undefined {
  const names = list.map((one) =>
    isObject(one)
      ? (one.id ?? one.model ?? one.matcher ?? one.urlPattern ?? one.repo ?? one.when ?? one.group)
      : one,
  );
  const isName = (name: unknown) => ['string', 'number', 'boolean'].includes(typeof name);
  if (!names.every(isName) || new Set(names).size < names.length) return undefined;
  return new Map(list.map((one, index) => [String(names[index]), one]));
}

/** All nested members, as deep as there are names: `networkPolicy.allowedIps[10.0.0.0/8]`. */
function* leaves(value: unknown, member: string): Generator<[member: string, value: unknown]> {
  const elements = Array.isArray(value) ? (named(value) ?? new Map(value.entries())) : undefined;
  const inner = isObject(value) && !(value instanceof Secret) ? Object.entries(value) : [];
  if (elements !== undefined && elements.size > 0) {
    for (const [name, one] of elements) yield* leaves(one, `${member}[${name}]`);
  } else if (inner.length > 0) {
    for (const [name, one] of inner) yield* leaves(one, member === '' ? name : `${member}.${name}`);
  } else if (member !== '') {
    yield [member, value];
  }
}

/** The differences of newer settings, both as stored. A secret differs if it was set to another value. */
export function differencesOf(older: Settings, newer: Settings): Difference[] {
  const [before, after] = [older, newer].map(
    (settings) =>
      new Map(
        leaves(
          mapSecrets(settings, (sealed) => new Secret(sealed)),
          '',
        ),
      ),
  ) as [Map<string, unknown>, Map<string, unknown>];
  const shown = (value: unknown) => (value instanceof Secret ? MASK : value);
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((member) => JSON.stringify(before.get(member)) !== JSON.stringify(after.get(member)))
    .sort()
    .map((member) => ({
      member,
      ...(before.has(member) ? { before: shown(before.get(member)) } : {}),
      ...(after.has(member) ? { after: shown(after.get(member)) } : {}),
    }));
}
