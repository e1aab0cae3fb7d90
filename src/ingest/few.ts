import { isUtf8 } from 'node:buffer';
import type { Verdict } from './check.js';
import { Event, isTimely } from './event.js';

/** Of longer bodies the engine looks at a thousand lines in the time that this needs for a hundred. Bytes. */
export const FEW_BYTES = 32 << 10;

/** Time stamps as nearly all are. */
const USUAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/;

/**
 * A line that every reader of JSON understands alike: an object without objects in it, written as JSON.stringify or Python's
 * json.dumps write it, so that no member is there twice and no number is anything but itself.
 */
function plainOf(line: string): object | undefined {
  const value: unknown = JSON.parse(line);
  if (typeof value !== 'object' || value === null || line.includes('\\u')) return undefined;
  const members = Object.entries(value);
  if (members.some(([, member]) => typeof member === 'object' && member !== null)) return undefined;
  const spaced = () => members.map(([name, member]) => `${JSON.stringify(name)}: ${JSON.stringify(member)}`);
  return JSON.stringify(value) === line || `{${spaced().join(', ')}}` === line ? value : undefined;
}

/** A time stamp in Unix milliseconds; undefined for one that must be looked at more closely. */
function millisOf(timestamp: string | number): number | undefined {
  if (typeof timestamp === 'number') return timestamp;
  const millis = USUAL.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
  // The 30th of February would be a day of March.
  return Number.isFinite(millis) && new Date(millis).toISOString().startsWith(timestamp.slice(0, 19))
    ? millis
    : undefined;
}

/**
 * The verdict on a body of few events that is as sound as most are; undefined for one that the rules of sql/ingest must
 * judge. What this takes they take too: it is stricter wherever the two could differ. `receivedAt` is Unix milliseconds.
 */
export function verdictOnFew(
  body: Buffer,
  sender: { readonly orgId: string; readonly onlyUser: string | null },
  receivedAt: number,
): Verdict | undefined {
  if (!isUtf8(body)) return undefined;
  let accepted = 0;
  let ofOthers = 0;
  for (const line of body.toString().replace(/\n$/, '').split('\n')) {
    let plain: object | undefined;
    try {
      plain = plainOf(line);
    } catch {
      return undefined;
    }
    const { success, data: event } = Event.safeParse(plain);
    if (!success) return undefined;
    const millis = millisOf(event.timestamp);
    if (millis === undefined || !isTimely(millis, receivedAt)) return undefined;
    if ((event.org_id ?? sender.orgId) !== sender.orgId) return undefined;
    accepted += 1;
    if (sender.onlyUser !== null && event.user_id !== sender.onlyUser) ofOthers += 1;
  }
  return { accepted, rejected: 0, errors: [], ofOthers };
}
