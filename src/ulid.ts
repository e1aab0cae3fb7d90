import { randomBytes } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The instant that a ULID was made for, in Unix milliseconds. */
export function instantOf(ulid: string): number {
  let instant = 0;
  for (const digit of ulid.slice(0, 10)) instant = instant * 32 + DIGITS.indexOf(digit);
  return instant;
}

/** A new ULID: 26 characters that sort by the instant `now` (Unix milliseconds), 80 bits of them random. */
export function ulid(now: number): string {
  let text = '';
  for (let left = now; text.length < 10; left = Math.floor(left / 32)) text = DIGITS.charAt(left % 32) + text;
  for (const byte of randomBytes(16)) text += DIGITS.charAt(byte % 32);
  return text;
}
