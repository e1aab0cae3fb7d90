import { randomFillSync } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Random bytes of which those before `used` are spent: to ask for some takes as long as to ask for many. */
const random = new Uint8Array(4096);
let used = random.length;

/** A digit of base 32, at random. */
function randomDigit(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const byte = random[used] as number;
  used += 1;
  return DIGITS.charAt(byte % 32);
}

/** The instant that a ULID was made for, in Unix milliseconds. */
export function instantOf(ulid: string): number {
  let instant = 0;
  for (const digit of ulid.slice(0, 10)) instant = instant * 32 + DIGITS.indexOf(digit);
  return instant;
}

/** A new ULID: 26 characters that sort by the instant `now` (Unix milliseconds), 80 bits of them random. */
export function ulid(now: number): string {
  let time = '';
  for (let left = now; time.length < 10; left = Math.floor(left / 32)) time = DIGITS.charAt(left % 32) + time;
  let text = time;
  while (text.length < 26) text += randomDigit();
  return text;
}
