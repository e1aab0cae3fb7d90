import { randomBytes } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A new ULID: 26 characters that sort by the instant `now` (Unix milliseconds), 80 bits of them random. */
export function ulid(now: number): string {
  let bits = (BigInt(now) << 80n) | BigInt(`0x${randomBytes(10).toString('hex')}`);
  let text = '';
  for (let position = 0; position < 26; position += 1) {
    text = DIGITS[Number(bits & 31n)] + text;
    bits >>= 5n;
  }
  return text;
}
