import type { Writable } from 'node:stream';
import type { Seen } from '../lake/snapshot.js';
import { faint, headline } from '../terminal/terminal.js';
import { type Column, layOut, separated } from '../terminal/text-table.js';

/** How many rows a table shows. */
export const SHOWN_ROWS = 1000;

/** The first rows of an answer. */
export interface ShownRows {
  readonly columns: readonly Column[];
  /** How many rows the answer has; undefined if it has more than are shown, and nobody counted them. */
  readonly count: number | undefined;
  /** How long it took. */
  readonly seconds: number;
  /** What was published of each organization when the answer was read. */
  readonly seen: readonly Seen[];
}

/** The first rows of an answer as a table of some width, with what is to be known of it below. */
export function rowsText(
  { columns, count, seconds, seen }: ShownRows,
  width: number | undefined,
  out: Writable,
): string {
  const { head, lines, shown } = layOut(columns.map(separated), { width });
  const rows = count === undefined ? `more than ${SHOWN_ROWS} rows` : `${count} row${count === 1 ? '' : 's'}`;
  const notes = [
    rows,
    ...(count === undefined || count > SHOWN_ROWS ? [`the first ${SHOWN_ROWS} are shown`] : []),
    ...(shown < columns.length ? [`${shown} of ${columns.length} columns: --wide shows all`] : []),
    `${seconds.toFixed(3)} s`,
  ];
  return [
    ...(lines.length === 0 ? [] : [headline(head, out), ...lines]),
    faint(`(${notes.join(', ')})`, out),
    ...(seen.length === 0 ? [] : [faint(snapshotText(seen), out)]),
    '',
  ].join('\n');
}

/** What was published, in one line: of several organizations the newest day of all, and their first and last publication. */
function snapshotText(seen: readonly Seen[]): string {
  const instants = seen.map(({ published_at }) => published_at).sort();
  const [first, last] = [instants.at(0), instants.at(-1)];
  const day = seen.reduce(
    (newest, { newest_day }) => (newest > (newest_day ?? '') ? newest : (newest_day ?? '')),
    '',
  );
  return [
    seen.length === 1 ? 'Snapshot:' : `Snapshots of ${seen.length} organizations:`,
    ...(day === '' ? [] : [`newest day ${day},`]),
    `published ${first === last ? first : `${first} to ${last}`}`,
  ].join(' ');
}
