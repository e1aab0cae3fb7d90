/** decisions/0019: more lines, or elements of an array, cost too much to look at. Empty lines count. */
export const BODY_LINES = 100_000;
/** Each value of a body's JSON takes some fifty bytes of memory when it is parsed, however short it is: 40 of them a line. */
export const BODY_VALUES = 4_000_000;

const [NEWLINE, QUOTE, COMMA, BACKSLASH] = [0x0a, 0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A body has more lines, or elements, than it may. */
export class TooManyLines extends Error {
  override name = 'TooManyLines';
}

/** The JSON of a body has more values than it may. */
export class TooManyValues extends Error {
  override name = 'TooManyValues';
}

/** Counts the lines of a body while it comes. Throws TooManyLines at the first one too many. */
export class LineCount {
  private ended = 0;

  add(piece: Buffer): void {
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) {
      // What follows the last line that may be there is another one, unless nothing does.
      if (this.ended === BODY_LINES) throw new TooManyLines();
      this.ended += 1;
    }
    if (this.ended === BODY_LINES && piece.length > 0 && piece.at(-1) !== NEWLINE) throw new TooManyLines();
  }
}

/**
 * Counts the values of JSON, by its commas and brackets, and the elements of an outermost array. Throws TooManyValues, and of an
 * array TooManyLines, at the first one too many. What is no JSON is counted too, so that nobody has to parse it for that.
 */
export class ValueCount {
  private values = 0;
  private elements = 1;
  private depth = 0;
  private isText = false;
  private isEscaped = false;

  constructor(private readonly isArray: boolean) {}

  add(piece: Buffer): void {
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at];
      if (this.isEscaped) this.isEscaped = false;
      else if (this.isText) {
        if (byte === BACKSLASH) this.isEscaped = true;
        // No text goes on behind the end of a line.
        else if (byte === QUOTE || byte === NEWLINE) this.isText = false;
      } else if (byte === QUOTE) this.isText = true;
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        this.depth += 1;
        this.values += 1;
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.depth -= 1;
      else if (byte === COMMA) {
        this.values += 1;
        if (this.isArray && this.depth === 1) this.elements += 1;
        if (this.elements > BODY_LINES) throw new TooManyLines();
      }
      if (this.values > BODY_VALUES) throw new TooManyValues();
    }
  }
}
