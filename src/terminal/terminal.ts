import type { Writable } from 'node:stream';
import { outputWidth } from '../settings/config.js';
import { csvLine } from './csv-line.js';
import { printable, styled } from './printing.js';
import { columnsOf, type Layout, layOut } from './text-table.js';

export { count } from './counted.js';

/** Lays out rows as a table, not wider than the terminal. `rest` says how to see the columns that don't fit. */
export function table(
  rows: readonly Readonly<Record<string, unknown>>[],
  { rest = '', ...layout }: Layout & { readonly rest?: string } = {},
): string {
  if (rows.length === 0) return '(no rows)';
  const columns = columnsOf(rows);
  const { head, lines, shown } = layOut(columns, { width: outputWidth(), ...layout });
  const hidden = rest !== '' && shown < columns.length;
  return [
    headline(head),
    ...lines,
    ...(hidden ? [faint(`(${shown} of ${columns.length} columns: ${rest})`)] : []),
  ].join('\n');
}

/** A dimmed text, if the stream supports colours. */
export function faint(text: string, stream: Writable = process.stdout): string {
  return styled('dim', text, stream);
}

/** A bold line for above a table, if the stream supports colours. */
export function headline(text: string, stream: Writable = process.stdout): string {
  return styled('bold', text, stream);
}

/** Rows as CSV (RFC 4180), always with a header of these columns. Nested members are JSON text. */
export function csv(rows: readonly Record<string, unknown>[], columns: readonly string[]): string {
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(csvLine).join('');
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A human-readable number of bytes. */
export function bytes(count: number): string {
  const power = count < 1000 ? 0 : Math.min(Math.floor(Math.log10(count) / 3), UNITS.length - 1);
  return `${(count / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

/** Reports how much of a total is done, in bytes or days. */
export type Progress = (done: number, total: number) => void;

/** Shows a progress bar on standard error during some work, if that is a terminal. */
export async function withProgress<T>(label: string, work: (progress: Progress) => Promise<T>): Promise<T> {
  if (process.stderr.isTTY !== true) return work(() => {});
  const { SingleBar } = (await import('cli-progress')).default;
  const bar = new SingleBar({
    format: `${printable(label)} {bar} {percentage} %`,
    hideCursor: true,
    clearOnComplete: true,
    stream: process.stderr,
  });
  bar.start(1, 0);
  try {
    return await work((done, total) => {
      bar.setTotal(total);
      bar.update(done);
    });
  } finally {
    bar.stop();
  }
}
