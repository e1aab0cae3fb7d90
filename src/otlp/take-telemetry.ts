import { setImmediate as turn } from 'node:timers/promises';
import { TooLarge } from '../ingest/body.js';
import { Gone } from '../ingest/body-check.js';
import { EventCheck, membersOf } from '../ingest/event-check.js';
import { type Fault, SENTENCES } from '../ingest/event-members.js';
import type { Inbox } from '../ingest/inbox.js';
import type { Mapped, RequestMapper } from '../ingest/request-mapper.js';
import type { IsErased } from '../store/state/erased-names.js';
import type { RecordLines, RecordSender } from './record-lines.js';
import { MEMBERS, type Piece, RECORD_BYTES, type Signal } from './telemetry.js';

/** After this many milliseconds other work gets a turn. */
const TURN_MS = 5;

/** How many records are mapped together, and how many characters their lines can have. */
const MAPPED_TOGETHER = { records: 2000, characters: 4 << 20 };
/** Data points are never separated, because several of them can be one event. An export has some hundred: characters. */
const DATA_POINTS_AT_MOST = 8 << 20;

const TOO_LARGE_RECORD = `A record must have at most ${RECORD_BYTES / 2 ** 20} MiB, 100 levels and 50000 values.`;
const CUMULATIVE =
  'Cumulative metrics are ignored: set OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta.';

/** The advice for a body that is JSON or protobuf, but not of its address. */
function unknownSentence(signal: Signal): string {
  return `Nothing was taken from a part of the body that has no ${MEMBERS[signal].join(', ')}: send an export request of ${signal} here, and other signals to their own addresses.`;
}

/** The result of a request's records. */
export interface Outcome {
  /** How many became events. */
  readonly accepted: number;
  readonly rejected: number;
  /** How many give no event. */
  readonly ignored: number;
  /** How many parts of the body have no member of the signal. */
  readonly unknown: number;
  /** The reason for rejections, or advice; empty if there is nothing to say. */
  readonly message: string;
}

/** Adds the pieces of a body to `records`, in turns with the process's other work. Throws what reading throws, and Gone. */
export async function collect(
  pieces: Iterable<Piece>,
  records: RecordLines,
  gone: AbortSignal,
): Promise<void> {
  let since = performance.now();
  for (const piece of pieces) {
    if (piece !== undefined) records.add(piece);
    if (performance.now() - since < TURN_MS) continue;
    await turn();
    since = performance.now();
    if (gone.aborted) throw new Gone();
  }
  records.end();
}

/** Maps records, and returns once their events are on disk. Of a record that breaks a rule, only its place and the rule are kept. */
export async function settle(
  signal: Signal,
  { lines, sections, ignored, tooLarge, unknown, isRenamed, cumulative }: RecordLines,
  sender: RecordSender & {
    readonly receivedAt: number;
    /** Tells the names of people who were erased, if the organization has erased anybody. */
    readonly isErased?: IsErased | undefined;
  },
  mapper: RequestMapper,
  inbox: Inbox,
): Promise<Outcome> {
  if (signal === 'metrics' && lines.reduce((sum, { length }) => sum + length, 0) > DATA_POINTS_AT_MOST)
    throw new TooLarge();
  const check = new EventCheck(sender.orgId, sender.receivedAt, sender.isErased);
  const judged: Judged = { kept: [], mapped: new Set(), faults: new Map() };
  for (const section of new Set(sections)) {
    const all = [...lines.keys()].filter((place) => sections[place] === section);
    for (const places of signal === 'metrics' ? [all] : parted(all, lines)) {
      const events = await mapper.mapTogether(
        places.map((place) => lines[place] ?? ''),
        section,
        sender.orgId,
      );
      judge(events, places, check, judged);
    }
  }
  const { kept, mapped, faults } = judged;
  if (kept.length > 0) await inbox.receiveChecked(kept, sender);
  const [fault] = faults.values();
  const messages = [
    ...(fault === undefined ? [] : [SENTENCES.get(fault) ?? fault]),
    ...(tooLarge > 0 ? [TOO_LARGE_RECORD] : []),
    ...(cumulative > 0 ? [CUMULATIVE] : []),
    ...(unknown > 0 ? [unknownSentence(signal)] : []),
    ...(isRenamed
      ? [`Names such as ${MEMBERS[signal][0]} are those of JSON: the names of protobuf were read.`]
      : []),
  ];
  return {
    accepted: mapped.size - faults.size,
    rejected: faults.size + tooLarge,
    ignored: ignored + cumulative + lines.length - mapped.size,
    unknown,
    message: messages.join(' '),
  };
}

/** Divides the places of lines into parts that are mapped together. */
function* parted(places: readonly number[], lines: readonly string[]): Generator<number[]> {
  let part: number[] = [];
  let characters = 0;
  for (const place of places) {
    const { length } = lines[place] ?? '';
    const isFull =
      part.length === MAPPED_TOGETHER.records || characters + length > MAPPED_TOGETHER.characters;
    if (isFull && part.length > 0) {
      yield part;
      part = [];
      characters = 0;
    }
    part.push(place);
    characters += length;
  }
  yield part;
}

interface Judged {
  /** The lines that the inbox keeps. */
  readonly kept: string[];
  /** The places of records that have events, valid or not. */
  readonly mapped: Set<number>;
  /** The faults of records that break a rule, by their places. */
  readonly faults: Map<number, Fault>;
}

/** Checks the events of records, which have places in their request. */
function judge(
  events: readonly Mapped[],
  places: readonly number[],
  check: EventCheck,
  { kept, mapped, faults }: Judged,
): void {
  const valid: { place: number; line: string }[] = [];
  for (const event of events) {
    const place = places[event.place] ?? 0;
    mapped.add(place);
    const sent = JSON.parse(event.line);
    const isValid = check.check(sent);
    const head = `{"$line":${place + 1},"$at":${check.instant}`;
    // BodyCheck says when a text can be kept as it is.
    const line = isValid && check.length !== event.line.length ? JSON.stringify(membersOf(sent)) : event.line;
    if (isValid) valid.push({ place, line: `${head},${line.slice(1)}` });
    else if (!faults.has(place)) {
      faults.set(place, check.fault);
      kept.push(JSON.stringify({ $line: place + 1, $at: check.instant, $fault: check.fault }));
    }
  }
  for (const { place, line } of valid) if (!faults.has(place)) kept.push(line);
}
