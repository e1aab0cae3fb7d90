import { setImmediate as turn } from 'node:timers/promises';
import { isIntricate, LEVELS_AT_MOST, VALUES_AT_MOST } from '../input/json-depth.js';
import { isObject } from '../input/json-object.js';
import type { IsErased } from '../store/state/erased-names.js';
import { ElementSplitter, LineSplitter, NotAnArray, type Splitter } from './body-lines.js';
import { EventCheck, membersOf } from './event-check.js';
import { type Fault, PLAIN_CHARACTERS, SENTENCES } from './event-members.js';

/** decisions/0019: more lines, or elements of an array, cost too much to look at. Empty lines count. */
export const BODY_LINES = 100_000;

/** The answer names at most so many lines that broke a rule. */
export const ERRORS_SHOWN = 100;
/** More than is stored, because half a password can't be recognized as one. Characters. */
const KEPT_OF_REJECTED = 4096;
/** How much is checked before others can have their turn: bytes. */
const PIECE_BYTES = 8 << 10;
/** How many lines are written at once. */
const KEPT_LINES = 1000;
/** After that long others have their turn. */
const TURN_MS = 5;

/** A body has more lines, or elements, than it may. */
export class TooManyLines extends Error {
  override name = 'TooManyLines';
}

/** Nobody waits for the verdict any more. */
export class Gone extends Error {
  override name = 'Gone';
}

/** A line that broke a rule: its number from 1, the reason, and a sentence that says what would be accepted. */
export interface LineError {
  readonly line: number;
  readonly code: string;
  readonly detail: string;
}

/** How many lines of a body are valid, how many broke a rule (and the first hundred of those), and how many valid ones are of other users. */
export interface Verdict {
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: readonly LineError[];
  readonly ofOthers: number;
}

/** The sender and the form of a body. */
export interface BodySender {
  readonly orgId: string;
  /** The names of the only user whose events the sender may send; null for any. */
  readonly onlyUsers: readonly string[] | null;
  /** Whether the body is a JSON array of events; otherwise each line is an event. */
  readonly isArray: boolean;
  /** Whether the beginning of a rejected line is kept. */
  readonly keepsText: boolean;
  /** Tells the names of people who were erased, if the organization has erased anybody. */
  readonly isErased?: IsErased | undefined;
  /** Aborted when nobody waits for an answer any more. */
  readonly gone: AbortSignal;
}

/**
 * Checks the lines of a body as they come, and turns each into the line that the inbox keeps: an event with its number, its
 * instant and only the members of its type, or a fault. Reading these lines later can't give another result.
 */
export class BodyCheck implements Verdict {
  accepted = 0;
  rejected = 0;
  readonly errors: LineError[] = [];
  ofOthers = 0;
  private lines = 0;
  private readonly splitter: Splitter;
  private readonly events: EventCheck;
  private checked: string[] = [];

  /** `receivedAt` is Unix milliseconds. */
  constructor(
    private readonly sender: BodySender,
    receivedAt: number,
  ) {
    this.events = new EventCheck(sender.orgId, receivedAt, sender.isErased);
    const give = (text: string, fault?: Fault) => this.take(text, fault);
    this.splitter = sender.isArray ? new ElementSplitter(give) : new LineSplitter(give);
  }

  /** The lines that the inbox keeps. Throws TooManyLines, NotAnArray and Gone. */
  async *keep(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
    let since = performance.now();
    for await (const chunk of body) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        this.splitter.add(chunk.subarray(at, at + PIECE_BYTES));
        if (this.checked.length >= KEPT_LINES) yield this.kept();
        if (performance.now() - since < TURN_MS) continue;
        await turn();
        since = performance.now();
        if (this.sender.gone.aborted) throw new Gone();
      }
      if (this.checked.length > 0) yield this.kept();
    }
    this.splitter.end();
    if (this.checked.length > 0) yield this.kept();
    if (this.sender.gone.aborted) throw new Gone();
  }

  private kept(): string {
    const text = `${this.checked.join('\n')}\n`;
    this.checked = [];
    return text;
  }

  private take(line: string, fault?: Fault): void {
    this.lines += 1;
    if (this.lines > BODY_LINES) throw new TooManyLines();
    const text = this.lines === 1 && line.startsWith('\ufeff') ? line.slice(1) : line;
    if (text !== '') this.checked.push(fault === undefined ? this.check(text) : this.reject(text, fault));
  }

  /** The line that the inbox keeps for one that was sent. */
  private check(text: string): string {
    if (text.length > PLAIN_CHARACTERS && isIntricate(text, LEVELS_AT_MOST, VALUES_AT_MOST))
      return this.reject(text, 'line_too_long json');
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      if (this.sender.isArray) throw new NotAnArray();
    }
    if (value === undefined || hasHalf(text)) return this.reject(text, 'not_json');
    if (!isObject(value)) return this.reject(text, 'not_an_object');
    const { events } = this;
    if (!events.check(value)) return this.reject(text, events.fault, events.instant);
    this.accepted += 1;
    if (this.sender.onlyUsers?.includes(String(value.user_id)) === false) this.ofOthers += 1;
    // TRICKY: a text that is as long as its members has nothing else in it: no member twice, no unknown member, no escape. So it
    // can be kept as it is, which saves writing it again: that takes as long as parsing it.
    const members = events.length === text.length ? text : JSON.stringify(membersOf(value));
    return `{"$line":${this.lines},"$at":${events.instant},${members.slice(1)}`;
  }

  private reject(text: string, fault: Fault, timestamp?: number): string {
    this.rejected += 1;
    if (this.errors.length < ERRORS_SHOWN) {
      const [code = ''] = fault.split(' ');
      const detail = SENTENCES.get(fault)?.replace('{org_id}', () => this.sender.orgId) ?? '';
      this.errors.push({ line: this.lines, code, detail });
    }
    // In base64 no text takes more than four thirds of its room, whatever is in it.
    const $text =
      // A line that can't be read may name somebody who was erased.
      this.sender.keepsText && this.sender.isErased === undefined
        ? Buffer.from(text.slice(0, KEPT_OF_REJECTED)).toString('base64')
        : undefined;
    return JSON.stringify({ $line: this.lines, $at: timestamp, $fault: fault, $text });
  }
}

/** An escape of half of a surrogate pair, and escapes that can hide one or are a whole pair. */
const HALF = /\\ud[89a-f]/i;
const NO_HALF = /\\\\|\\ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}/gi;

/** Whether a JSON text escapes half of a surrogate pair, which is no character: to DuckDB that is not JSON. */
function hasHalf(text: string): boolean {
  return HALF.test(text) && HALF.test(text.replaceAll(NO_HALF, ''));
}
