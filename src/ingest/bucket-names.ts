import { GROUPS, groupOf } from '../store/group.js';
import { type Body, bodyOf, nameOf } from './body-name.js';

/**
 * The names of the objects of an inbox in a bucket:
 *
 *     ready/<object>.<groups>.<bodies>.<organizations>    acknowledged bodies
 *     settling/<token>                                    which objects are settled together, see BucketSettler
 *     aside/<place>.<body>                                a body that the store failed on
 *
 * A name says all that other nodes need to know before they read the object: the groups as a hexadecimal number with a bit for each, and the
 * bytes of the largest organizations.
 */
export const READY = 'ready/';
export const SETTLING = 'settling/';
export const ASIDE = 'aside/';

/** How long the part of a name with the organizations can be: the longest name in S3 has 1024 bytes, prefix and all. */
const ORGANIZATIONS_CHARACTERS = 700;

/** An object of acknowledged bodies, as its name tells it. */
export interface Ready {
  /** A ULID. */
  readonly id: string;
  readonly key: string;
  readonly bytes: number;
  readonly bodies: number;
  readonly groups: readonly number[];
  /** The bytes of organizations, as far as the name has them: of many small ones some are missing. */
  readonly organizations: ReadonlyMap<string, number>;
}

/** The object of some bodies. */
export function readyOf(
  id: string,
  bodies: readonly { readonly orgId: string; readonly bytes: number }[],
  bytes: number,
): Ready {
  const all = new Map<string, number>();
  for (const one of bodies) all.set(one.orgId, (all.get(one.orgId) ?? 0) + one.bytes);
  const groups = [...new Set([...all.keys()].map(groupOf))].sort((a, b) => a - b);
  const organizations = new Map<string, number>();
  let text = '';
  for (const [orgId, own] of [...all].sort((a, b) => b[1] - a[1])) {
    const longer = `${text}${text === '' ? '' : '!'}${orgId}!${own}`;
    if (longer.length > ORGANIZATIONS_CHARACTERS) break;
    text = longer;
    organizations.set(orgId, own);
  }
  const mask = groups.reduce((sum, group) => sum + 2 ** group, 0);
  const key = `${READY}${id}.${mask.toString(16).padStart(4, '0')}.${bodies.length}.${text}`;
  return { id, key, bytes, bodies: bodies.length, groups, organizations };
}

/** The object that a listed name is of; undefined for one that Daybook has not written. */
export function readyIn({ key, bytes }: { readonly key: string; readonly bytes: number }): Ready | undefined {
  const [, id, mask, bodies, text = ''] =
    /^ready\/([0-9A-Z]{26})\.([0-9a-f]{4})\.(\d{1,5})\.([\w.!-]+)$/.exec(key) ?? [];
  if (id === undefined) return undefined;
  const bits = Number.parseInt(mask ?? '', 16);
  const groups = Array.from({ length: GROUPS }, (_, group) => group).filter((group) => (bits >> group) & 1);
  const parts = text.split('!');
  const organizations = new Map<string, number>();
  for (let at = 0; at + 1 < parts.length; at += 2) organizations.set(parts[at] ?? '', Number(parts[at + 1]));
  return { id, key, bytes, bodies: Number(bodies), groups, organizations };
}

/** The place of a body among all, as a text: the group is first, so that no part of a batch of one group reaches into another. */
export function placeOf(object: string, number: number, orgId: string): string {
  return `${groupOf(orgId).toString(16)}-${object}-${String(number).padStart(5, '0')}`;
}

/** The group and the object in a place. */
export function partsOf(place: string): { readonly group: number; readonly object: string } {
  const [group = '', object = ''] = place.split('-');
  return { group: Number.parseInt(group, 16), object };
}

/** The name of a body that is set aside. */
export function asideKey(place: string, body: Body): string {
  return `${ASIDE}${place}.${nameOf(body)}`;
}

/** A body that is set aside, by its name; undefined for a name that Daybook has not given. */
export function asideIn(key: string): { readonly place: string; readonly body: Body } | undefined {
  const [, place, name = ''] = /^aside\/([0-9a-f]-[0-9A-Z]{26}-\d{5})\.(.+)$/.exec(key) ?? [];
  const body = bodyOf(name);
  return place === undefined || body === undefined ? undefined : { place, body };
}
