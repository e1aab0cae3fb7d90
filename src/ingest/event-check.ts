import { ERASED_PERSON, type IsErased } from '../store/state/erased-names.js';
import {
  AHEAD_MS,
  COMMON,
  type Fault,
  FIRST_MS,
  LEAST_MS,
  type Member,
  type Members,
  MOST_MS,
  RFC3339,
  type Text,
  TYPES,
} from './event-members.js';

interface Rule {
  readonly name: string;
  readonly member: Member;
  readonly pattern: RegExp | undefined;
}

function rulesOf(members: Members): Rule[] {
  return Object.entries(members).map(([name, member]) => ({
    name,
    member,
    pattern:
      member.kind === 'text' && member.pattern !== undefined
        ? new RegExp(`^(?:${member.pattern[0]})$`)
        : undefined,
  }));
}

const COMMON_RULES = rulesOf(COMMON);
const RULES = new Map(Object.entries(TYPES).map(([type, own]) => [type, rulesOf(own)]));

/** Only one fault is named, the one with the lowest place; of several in one place, that of the member declared first. */
const PLACES = {
  erased: -1,
  missing: 0,
  wrongType: 1,
  unknownType: 2,
  ownMissing: 3,
  ownWrongType: 4,
  instant: 5,
  org: 6,
  range: 7,
};

type Sent = Readonly<Record<string, unknown>>;

/** Checks JSON objects of one organization that were received at one instant, by the same rules as sql/ingest/rules.sql. */
export class EventCheck {
  private place = Number.POSITIVE_INFINITY;
  private isOfLogs = false;
  /** The fault of the object that was checked last, if it had one. */
  fault: Fault = '';
  /** Its timestamp in Unix milliseconds, if it had a valid one. */
  instant: number | undefined;
  /** How long its members are as JSON without white space, escapes or anything else; NaN if that isn't known. */
  length = 0;

  /** `receivedAt` is Unix milliseconds. */
  constructor(
    private readonly orgId: string,
    private readonly receivedAt: number,
    /** Tells the names of people who were erased, if there are any. */
    private readonly isErased?: IsErased | undefined,
  ) {}

  /** Whether an object is an event without a fault. */
  check(sent: Sent): boolean {
    this.isOfLogs = (sent.channel ?? 'event') !== 'event';
    this.place = Number.POSITIVE_INFINITY;
    this.instant = undefined;
    this.length = 1;
    const own = typeof sent.type === 'string' ? RULES.get(sent.type) : undefined;
    for (const rule of COMMON_RULES) this.look(rule, sent[rule.name], PLACES.missing, PLACES.wrongType);
    if (own === undefined) this.found(PLACES.unknownType, 'unknown_type', 'type');
    else for (const rule of own) this.look(rule, sent[rule.name], PLACES.ownMissing, PLACES.ownWrongType);
    const { isErased } = this;
    if (isErased !== undefined && [sent.user_id, sent.user_email].some((name) => isErased(String(name)))) {
      // Whatever else is wrong: nothing of the line may be kept.
      this.place = PLACES.erased;
      this.fault = ERASED_PERSON;
    }
    return this.place === Number.POSITIVE_INFINITY;
  }

  private mayBeEmpty(value: string, { isEmptyInLogs }: Text): boolean {
    return value === '' && isEmptyInLogs === true && this.isOfLogs;
  }

  private found(place: number, reason: string, member: string): void {
    if (place >= this.place) return;
    this.place = place;
    this.fault = `${reason} ${member}`;
  }

  private look({ name, member, pattern }: Rule, value: unknown, missing: number, wrongType: number): void {
    if (value === undefined || value === null) {
      if (member.isRequired === true) this.found(missing, 'missing_member', name);
      return;
    }
    // The quotes around the name, a colon, and a comma or bracket.
    this.length += name.length + 4;
    if (typeof value === 'string' && member.kind === 'text') {
      this.length += value.length + 2;
      if (name === 'org_id') {
        if (value !== this.orgId) this.found(PLACES.org, 'org_mismatch', name);
      } else if (!isText(value, member, pattern) && !this.mayBeEmpty(value, member))
        this.found(PLACES.range, 'value_out_of_range', name);
    } else if (typeof value === 'string' && member.kind === 'instant') {
      this.length += value.length + 2;
      this.take(instantOf(value), name);
    } else if (typeof value === 'number' && Number.isInteger(value) && member.kind === 'integer') {
      this.length += lengthOf(value);
      if (value < member.min || value > member.max) this.found(PLACES.range, 'value_out_of_range', name);
    } else if (typeof value === 'number' && member.kind === 'decimal') {
      this.length = Number.NaN;
      if (!(value >= member.min && value <= member.max)) this.found(PLACES.range, 'value_out_of_range', name);
    } else if (typeof value === 'number' && Number.isInteger(value) && member.kind === 'instant') {
      this.length += lengthOf(value);
      this.take(value, name);
    } else if (typeof value === 'boolean' && member.kind === 'boolean') {
      this.length += value ? 4 : 5;
    } else this.found(wrongType, 'wrong_type', name);
  }

  private take(instant: number, name: string): void {
    if (!(instant >= LEAST_MS && instant <= MOST_MS)) this.found(PLACES.instant, 'bad_timestamp', name);
    else {
      if (instant > this.receivedAt + AHEAD_MS) this.found(PLACES.instant, 'timestamp_in_future', name);
      else if (instant < FIRST_MS) this.found(PLACES.instant, 'value_out_of_range', name);
      this.instant = instant;
    }
  }
}

/** The members of an event that its type has. */
export function membersOf(sent: Sent): Sent {
  const members: Record<string, unknown> = {};
  for (const { name } of COMMON_RULES) members[name] = sent[name];
  for (const { name } of RULES.get(String(sent.type)) ?? []) members[name] = sent[name];
  return members;
}

/** How many characters an integer has; NaN if it can be written with fewer, such as 1e5. */
function lengthOf(value: number): number {
  return value % 1000 === 0 && value !== 0 ? Number.NaN : String(value).length;
}

/** Whether a member can have a text. Characters are only counted if the number of UTF-16 units doesn't decide. */
function isText(
  sent: string,
  { min = 0, max = Infinity, values, isCommand }: Text,
  pattern: RegExp | undefined,
): boolean {
  const text = isCommand === true ? sent.replace(/^[\t\n\f\r ]*\//, '') : sent;
  if (text.length < min) return false;
  if (text.length > max && (text.length > 2 * max || Array.from(text).length > max)) return false;
  if (values !== undefined) return values.includes(text);
  return pattern === undefined || pattern.test(text);
}

/** The instant of an RFC 3339 text in Unix milliseconds, without finer digits; NaN for any other text. */
export function instantOf(text: string): number {
  if (!RFC3339.test(text)) return Number.NaN;
  const day = Number(text.slice(8, 10));
  // A Date turns the 30th of February into a day of March.
  if (day > 28 && new Date(text.slice(0, 10)).getUTCDate() !== day) return Number.NaN;
  return Date.parse(text);
}
