import { z } from 'zod';
import { COMMON, TYPES } from './event.js';
import { isAt, Member, type Schema } from './member.js';

/** Integers of more digits may be rounded. */
const DIGITS = 15;

const [SPACE, QUOTE, COMMA, MINUS, DOT, ZERO] = [0x20, 0x22, 0x2c, 0x2d, 0x2e, 0x30];
const [COLON, T, Z, BACKSLASH, OPEN, CLOSE] = [0x3a, 0x54, 0x5a, 0x5c, 0x7b, 0x7d];
/** What can follow a backslash, but for u. */
const ESCAPES = Buffer.from('"\\/bfnrt');
const [NULL, TRUE, FALSE] = [Buffer.from('null'), Buffer.from('true'), Buffer.from('false')];
const NOTHING: Buffer = Buffer.alloc(0);

/** The members that events have. A name means the same in all types that have it. */
const SHAPE: Readonly<Record<string, z.ZodType>> = Object.assign(
  { ...COMMON.shape, type: z.enum(Object.keys(TYPES)) },
  ...Object.values(TYPES),
);
const { properties, required } = z.toJSONSchema(z.object(SHAPE), { io: 'input' }) as {
  properties: Record<string, Schema>;
  required: readonly string[];
};
/** Each has a number: its place in these. */
const NAMES = Object.keys(properties);
const VALUES = Object.values(properties).map((schema) => new Member(schema));
const [TYPE, TIMESTAMP, USER_ID, ORG_ID] = ['type', 'timestamp', 'user_id', 'org_id'].map((name) =>
  NAMES.indexOf(name),
);

/** The names of members, each with its number, by their length: that tells most of them apart. */
const BY_LENGTH = Array.from({ length: 1 + Math.max(...NAMES.map(({ length }) => length)) }, (_, length) =>
  NAMES.flatMap((name, number) => (name.length === length ? [{ bytes: Buffer.from(name), number }] : [])),
);

/** A type of events, and the members that count for it, by their numbers. */
interface Kind {
  readonly type: Buffer;
  readonly required: readonly number[];
  readonly optional: readonly number[];
}

const KINDS = Object.entries(TYPES).map(([type, own]): Kind => {
  const names = Object.keys({ ...COMMON.shape, ...own });
  const numbersOf = (isRequired: boolean) =>
    names.filter((name) => required.includes(name) === isRequired).map((name) => NAMES.indexOf(name));
  return { type: Buffer.from(type), required: numbersOf(true), optional: numbersOf(false) };
});

/** What a member was in a line. */
const [ABSENT, SOUND, UNSOUND] = [0, 1, 2];

/** Where a text stands in some bytes: nowhere when it starts before them. */
interface Place {
  start: number;
  end: number;
}

/**
 * Reads lines that are plain: an object without anything nested in it, which every reader of JSON understands alike, since
 * no member that counts is there twice, no number is anything but an integer, and no text has a \u.
 */
export class Scanner {
  /** Where the last line names its user, and its organization. */
  readonly userId: Place = { start: 0, end: 0 };
  readonly orgId: Place = { start: 0, end: 0 };
  /** When it was: Unix milliseconds. */
  instant = Number.NaN;

  private bytes = NOTHING;
  private at = 0;
  private end = 0;
  private isEscaped = false;
  private kind: Kind | undefined;
  private readonly states = new Uint8Array(NAMES.length);

  /** Whether a line of some bytes is plain, and an event. */
  isEvent(bytes: Buffer, start: number, end: number): boolean {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
    this.kind = undefined;
    this.orgId.start = -1;
    this.states.fill(ABSENT);
    if (!this.take(OPEN)) return false;
    do if (!this.member()) return false;
    while (this.take(COMMA));
    if (!this.take(CLOSE) || this.at !== end) return false;
    return this.isWhole(this.kind);
  }

  /** Whether all that an event of a type must have is there, and nothing else that counts is wrong. */
  private isWhole(kind: Kind | undefined): boolean {
    if (kind === undefined) return false;
    for (const number of kind.required) if (this.states[number] !== SOUND) return false;
    for (const number of kind.optional) if (this.states[number] === UNSOUND) return false;
    return true;
  }

  /** Goes past a byte and the spaces behind it. */
  private take(byte: number): boolean {
    const { bytes } = this;
    if (bytes[this.at] !== byte) return false;
    do this.at += 1;
    while (bytes[this.at] === SPACE);
    return true;
  }

  private member(): boolean {
    const start = this.at + 1;
    if (!this.text() || this.isEscaped) return false;
    const number = this.numberOf(start, this.at - 1);
    if (!this.take(COLON)) return false;
    const state = this.value(number);
    if (state === ABSENT) return false;
    if (number === undefined) return true;
    if (this.states[number] !== ABSENT) return false;
    this.states[number] = state;
    return true;
  }

  /** The number of the member of a name; undefined for a name that no type has. */
  private numberOf(start: number, end: number): number | undefined {
    for (const { bytes, number } of BY_LENGTH[end - start] ?? [])
      if (isAt(bytes, this.bytes, start, end)) return number;
    return undefined;
  }

  /** Goes past a value, and answers whether it is sound; ABSENT when it is none that is plain. */
  private value(number: number | undefined): number {
    const { bytes, at } = this;
    const member = number === undefined ? undefined : VALUES[number];
    switch (bytes[at]) {
      case QUOTE:
        if (!this.text()) return ABSENT;
        return number === undefined || this.isSound(number, at + 1, this.at - 1) ? SOUND : UNSOUND;
      case NULL[0]:
        if (!this.word(NULL)) return ABSENT;
        return member?.hasNull === false ? UNSOUND : SOUND;
      case TRUE[0]:
      case FALSE[0]:
        if (!this.word(TRUE) && !this.word(FALSE)) return ABSENT;
        return member?.hasBoolean === false ? UNSOUND : SOUND;
      default: {
        const integer = this.integer();
        if (Number.isNaN(integer)) return ABSENT;
        if (number === TIMESTAMP) this.instant = integer;
        return member?.hasInteger(integer) === false ? UNSOUND : SOUND;
      }
    }
  }

  /** Whether a text is sound as a member's value, which is noted of some. */
  private isSound(number: number, start: number, end: number): boolean {
    const { bytes, isEscaped } = this;
    if (number === TYPE) {
      this.kind = KINDS.find(({ type }) => isAt(type, bytes, start, end));
      return this.kind !== undefined;
    }
    if (number === TIMESTAMP) {
      this.instant = instantAt(bytes, start, end);
      return !Number.isNaN(this.instant);
    }
    if (number === USER_ID || number === ORG_ID) {
      if (isEscaped) return false;
      const place = number === USER_ID ? this.userId : this.orgId;
      place.start = start;
      place.end = end;
    }
    return VALUES[number]?.hasText(bytes, start, end, isEscaped) === true;
  }

  /** Goes past a text, from quote to quote, and notes whether something is escaped in it. */
  private text(): boolean {
    const { bytes, end } = this;
    this.isEscaped = false;
    if (bytes[this.at] !== QUOTE) return false;
    for (let at = this.at + 1; at < end; at += 1) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.at = at + 1;
        return true;
      }
      if (byte < SPACE) return false;
      if (byte !== BACKSLASH) continue;
      this.isEscaped = true;
      at += 1;
      if (!ESCAPES.includes(bytes[at] as number)) return false;
    }
    return false;
  }

  private word(word: Buffer): boolean {
    if (!isAt(word, this.bytes, this.at, this.at + word.length)) return false;
    this.at += word.length;
    return true;
  }

  /** Goes past an integer; NaN when there is none that is plain. */
  private integer(): number {
    const { bytes } = this;
    const isNegative = bytes[this.at] === MINUS;
    const first = this.at + (isNegative ? 1 : 0);
    let at = first;
    let value = 0;
    for (let digit = digitAt(bytes, at); digit >= 0; digit = digitAt(bytes, at)) {
      value = 10 * value + digit;
      at += 1;
    }
    const digits = at - first;
    const isOdd = bytes[first] === ZERO && (digits > 1 || isNegative);
    if (digits === 0 || digits > DIGITS || isOdd) return Number.NaN;
    this.at = at;
    return isNegative ? -value : value;
  }
}

/** The digit at a place; -1 when there is none. */
function digitAt(bytes: Buffer, at: number): number {
  const digit = (bytes[at] as number) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

/** The number that some digits write; NaN when they are none. */
function digitsAt(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = digitAt(bytes, at);
    if (digit < 0) return Number.NaN;
    value = 10 * value + digit;
  }
  return value;
}

/** The instant of a time stamp as nearly all are, such as 2026-06-01T09:30:00.250Z: Unix milliseconds; NaN for another. */
function instantAt(bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  const isUsual =
    (length === 20 || (length > 21 && length < 25 && bytes[start + 19] === DOT)) &&
    bytes[start + 4] === MINUS &&
    bytes[start + 7] === MINUS &&
    bytes[start + 10] === T &&
    bytes[start + 13] === COLON &&
    bytes[start + 16] === COLON &&
    bytes[end - 1] === Z;
  if (!isUsual) return Number.NaN;
  const part = (from: number, to: number) => digitsAt(bytes, start + from, start + to);
  const [month, day, hour] = [part(5, 7), part(8, 10), part(11, 13)];
  const [minute, second] = [part(14, 16), part(17, 19)];
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return Number.NaN;
  const fraction = length === 20 ? 0 : part(20, length - 1) * 10 ** (24 - length);
  const instant = Date.UTC(part(0, 4), month - 1, day, hour, minute, second, fraction);
  // The 30th of February would be a day of March.
  return new Date(instant).getUTCDate() === day ? instant : Number.NaN;
}
