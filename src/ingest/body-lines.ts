import { isUtf8 } from 'node:buffer';
import type { Fault } from './event-members.js';

/** Longer lines, and elements of arrays, are rejected: bytes. */
const LINE_BYTES = 1 << 20;
/** How much is kept of a line that is too long: bytes. */
const BEGINNING_BYTES = 8 << 10;

const [NEWLINE, QUOTE, COMMA, BACKSLASH] = [0x0a, 0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The body is not the JSON array that it should be. */
export class NotAnArray extends Error {
  override name = 'NotAnArray';
}

/** Takes a line without the white space around it, and its fault, if one is known already. Of a line that is too long it gets the beginning. */
type Give = (text: string, fault?: Fault) => void;

/** Splits a body that comes in pieces. */
export interface Splitter {
  add(piece: Buffer): void;
  end(): void;
}

/** A text without the white space around it. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (start < end && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** A line, or an element, that comes in pieces. */
class HeldLine {
  private parts: Buffer[] = [];
  bytes = 0;

  add(given: Buffer): void {
    let start = 0;
    if (this.bytes === 0) while (start < given.length && isSpace(given[start] ?? 0)) start += 1;
    const part = given.subarray(start);
    const isLong = this.bytes > LINE_BYTES;
    this.bytes += part.length;
    if (this.bytes <= LINE_BYTES) this.parts.push(part);
    else if (!isLong) this.parts = [Buffer.concat([...this.parts, part], BEGINNING_BYTES)];
  }

  /** Passes the line on, and begins another. */
  end(give: Give): void {
    const line = Buffer.concat(this.parts);
    const isTooLong = this.bytes > LINE_BYTES;
    this.parts = [];
    this.bytes = 0;
    if (isTooLong) give(line.toString(), 'line_too_long');
    else giveLine(line, give);
  }
}

function giveLine(line: Buffer, give: Give): void {
  if (isUtf8(line)) give(trimmed(line.toString()));
  else give(trimmed(line.toString()), 'not_json');
}

/** Splits a body into lines. */
export class LineSplitter implements Splitter {
  private readonly held = new HeldLine();

  constructor(private readonly give: Give) {}

  add(piece: Buffer): void {
    const [first, last] = [piece.indexOf(NEWLINE), piece.lastIndexOf(NEWLINE)];
    if (first >= 0) {
      this.held.add(piece.subarray(0, first));
      this.held.end(this.give);
    }
    if (last > first) this.giveLines(piece.subarray(first + 1, last));
    this.held.add(piece.subarray(last + 1));
  }

  end(): void {
    if (this.held.bytes > 0) this.held.end(this.give);
  }

  private giveLines(lines: Buffer): void {
    if (isUtf8(lines)) for (const line of lines.toString().split('\n')) this.give(trimmed(line));
    else
      for (let start = 0; start <= lines.length; ) {
        const newline = lines.indexOf(NEWLINE, start);
        const end = newline < 0 ? lines.length : newline;
        giveLine(lines.subarray(start, end), this.give);
        start = end + 1;
      }
  }
}

/** Splits a JSON array into its elements. Throws NotAnArray. It doesn't check that an element is JSON. */
export class ElementSplitter implements Splitter {
  private readonly held = new HeldLine();
  private depth = 0;
  private isText = false;
  private isEscaped = false;
  private isOver = false;
  private elements = 0;

  constructor(private readonly give: Give) {}

  add(piece: Buffer): void {
    let start = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] as number;
      if (this.isText) {
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === BACKSLASH) this.isEscaped = true;
        else if (byte === QUOTE) this.isText = false;
      } else if (this.depth === 0) {
        if (byte === OPEN_ARRAY && !this.isOver) {
          this.depth = 1;
          start = at + 1;
        } else if (!isSpace(byte)) throw new NotAnArray();
      } else if (byte === QUOTE) this.isText = true;
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.depth += 1;
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        this.depth -= 1;
        if (this.depth > 0) continue;
        if (byte === CLOSE_OBJECT) throw new NotAnArray();
        this.isOver = true;
        this.endElement(piece.subarray(start, at));
      } else if (byte === COMMA && this.depth === 1) {
        this.endElement(piece.subarray(start, at));
        start = at + 1;
      }
    }
    if (this.depth > 0) this.held.add(piece.subarray(start));
  }

  private endElement(end: Buffer): void {
    this.held.add(end);
    this.held.end((text, fault) => {
      // Only an empty array has nothing between its brackets.
      if (text === '' && this.isOver && this.elements === 0) return;
      if (text === '') throw new NotAnArray();
      this.elements += 1;
      this.give(text, fault);
    });
  }

  end(): void {
    if (!this.isOver) throw new NotAnArray();
  }
}

/** White space as the reader of files has it. */
function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
