import type { Writable } from 'node:stream';
import { faint, headline } from '../terminal.js';
import { type Column, layOut } from '../text-table.js';

/** How many rows a table shows. */
export const SHOWN_ROWS = 1000;

/** The first rows of an answer. */
export interface ShownRows {
  readonly columns: readonly Column[];
  /** How many rows the answer has; undefined if it has more than are shown, and nobody counted them. */
  readonly count: number | undefined;
  /** How long it took. */
  readonly seconds: number;
  /** What was published when the answer was read. */
  readonly snapshot?: { readonly newestDay: string | undefined; readonly publishedAt: string } | undefined;
}

/** The first rows of an answer as a table of some width, with what is to be known of it below. */
export function rowsText(
  { columns, count, seconds, snapshot }: ShownRows,
  width: number | undefined,
  out: Writable,
): string {
  const { head, lines, shown } = layOut(columns, { width });
  const rows = count === undefined ? `more than ${SHOWN_ROWS} rows` : `${count} row${count === 1 ? '' : 's'}`;
  const notes = [
    rows,
    ...(count === undefined || count > SHOWN_ROWS ? [`the first ${SHOWN_ROWS} are shown`] : []),
    ...(shown < columns.length ? [`${shown} of ${columns.length} columns: --wide shows all`] : []),
    `${seconds.toFixed(3)} s`,
  ];
  const day = snapshot?.newestDay === undefined ? '' : ` newest day ${snapshot.newestDay},`;
  return [
    ...(lines.length === 0 ? [] : [headline(head, out), ...lines]),
    faint(`(${notes.join(', ')})`, out),
    ...(snapshot === undefined ? [] : [faint(`Snapshot:${day} published ${snapshot.publishedAt}`, out)]),
    '',
  ].join('\n');
}
