import Table from 'cli-table3';
import { csvLine } from './csv-line.js';

/** Rows as a table for people: the columns are the members of the first row. */
export function table(rows: readonly Record<string, unknown>[]): string {
  const [first] = rows;
  if (first === undefined) return '(no rows)';
  const columns = Object.keys(first);
  return grid(
    columns,
    rows.map((row) => columns.map((column) => cell(row[column]))),
    columns.map((column) => rows.every((row) => typeof row[column] === 'number')),
  );
}

/** Texts in columns under their names; those of numbers stand to the right. */
export function grid(
  columns: readonly string[],
  rows: readonly string[][],
  areNumbers: readonly boolean[],
): string {
  const shown = new Table({
    head: [...columns],
    colAligns: areNumbers.map((number) => (number ? 'right' : 'left')),
    style: { head: [], border: [], compact: true },
    chars: {
      top: '',
      'top-mid': '',
      'top-left': '',
      'top-right': '',
      bottom: '',
      'bottom-mid': '',
      'bottom-left': '',
      'bottom-right': '',
      left: '',
      'left-mid': '',
      mid: '',
      'mid-mid': '',
      right: '',
      'right-mid': '',
      middle: '  ',
    },
  });
  for (const row of rows) shown.push(row);
  return shown.toString();
}

/** A member as text: numbers with at most three decimals, the nested ones as JSON. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toFixed(3);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Rows as CSV (RFC 4180), under a header of these columns, also when there are none; nested members are JSON text. */
export function csv(rows: readonly Record<string, unknown>[], columns: readonly string[]): string {
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(csvLine).join('');
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A number of bytes for people. */
export function bytes(count: number): string {
  const power = count < 1000 ? 0 : Math.min(Math.floor(Math.log10(count) / 3), UNITS.length - 1);
  return `${(count / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

/** A number of things, as `1 file` or `2 files`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** How far a command is: of a total, in bytes or days. */
export type Progress = (done: number, total: number) => void;

/** A progress bar on standard error while the work goes on; none where that is no terminal. */
export async function withProgress<T>(label: string, work: (progress: Progress) => Promise<T>): Promise<T> {
  if (process.stderr.isTTY !== true) return work(() => {});
  const { SingleBar } = (await import('cli-progress')).default;
  const bar = new SingleBar({
    format: `${label} {bar} {percentage} %`,
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
