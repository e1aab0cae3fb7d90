import { isUtf8 } from 'node:buffer';
import { isIntricate, LEVELS_AT_MOST, VALUES_AT_MOST } from '../input/json-depth.js';
import { NotDecoded, PIECE_BYTES, RECORDS_AT_MOST, TooManyRecords } from './telemetry.js';

/** The records of a resource: where each is in the body, and the text around them, in which `{"at":3}` stands for the fourth. */
export interface Group {
  readonly text: string;
  readonly records: readonly (readonly [start: number, end: number])[];
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d];

/** The brackets that are open within a record, and within the members of a resource. */
const PATH = [...'{[{[{[{'].map((bracket) => bracket.charCodeAt(0));
const [RECORD, GROUP] = [7, 3];

/** How many characters the text around the records of a resource can have. */
const AROUND_CHARACTERS = 4 << 20;

/** Collects the text around what is cut out. */
class Around {
  private parts: string[] = [];
  private characters = 0;
  cut = 0;

  constructor(
    private readonly body: Buffer,
    private start: number,
  ) {}

  /** Replaces the text between two places by the number of the cut. */
  leaveOut(start: number, end: number): void {
    this.add(start, `{"at":${this.cut}}`);
    this.cut += 1;
    this.start = end;
  }

  /** The text up to a place. Throws NotDecoded if it is too long. */
  end(at: number): string {
    this.add(at, '');
    const text = this.parts.join('');
    if (isIntricate(text, LEVELS_AT_MOST, VALUES_AT_MOST + 3 * this.cut)) throw new NotDecoded();
    return text;
  }

  private add(end: number, more: string): void {
    const bytes = this.body.subarray(this.start, end);
    // Between two records there is usually just a comma.
    const text = bytes.length === 1 && bytes[0] === 0x2c ? ',' : decoded(bytes);
    this.parts.push(text, more);
    this.characters += text.length;
    if (this.characters > AROUND_CHARACTERS) throw new NotDecoded();
  }
}

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new NotDecoded();
  return bytes.toString();
}

/**
 * Cuts a JSON body into its records without parsing it, so that no piece of it takes long. It doesn't check that a piece is JSON, nor
 * the names of members. Yields between pieces. Throws NotDecoded and TooManyRecords.
 */
export function* cutRecords(body: Buffer): Generator<undefined, { groups: Group[]; frame: string }> {
  const groups: Group[] = [];
  const frame = new Around(body, 0);
  let around = frame;
  let records: [number, number][] = [];
  let [groupStart, recordStart, parts] = [0, 0, 0];
  let [depth, matching] = [0, 0];
  let isText = false;
  let next = PIECE_BYTES;
  for (let at = 0; at < body.length; at += 1) {
    if (at >= next) {
      next = at + PIECE_BYTES;
      yield;
    }
    const byte = body[at] as number;
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (matching === depth && PATH[depth] === byte) {
        matching += 1;
        if (matching === RECORD) recordStart = at;
        else if (matching === GROUP) {
          groupStart = at;
          around = new Around(body, at);
          records = [];
        }
        if (matching >= GROUP && byte === OPEN_OBJECT) parts += 1;
        if (parts > RECORDS_AT_MOST) throw new TooManyRecords();
      }
      depth += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === RECORD && matching === RECORD) {
        records.push([recordStart, at + 1]);
        around.leaveOut(recordStart, at + 1);
      } else if (depth === GROUP && matching === GROUP) {
        groups.push({ text: around.end(at + 1), records });
        frame.leaveOut(groupStart, at + 1);
        yield;
      }
      depth -= 1;
      if (depth < 0) throw new NotDecoded();
      if (matching > depth) matching = depth;
    }
  }
  if (depth !== 0 || isText) throw new NotDecoded();
  return { groups, frame: frame.end(body.length) };
}
