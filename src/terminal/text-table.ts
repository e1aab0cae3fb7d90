import stringWidth from 'string-width';

type Row = Readonly<Record<string, unknown>>;

/** How a table is laid out. */
export interface Layout {
  /** How many characters a line can have; unlimited by default. */
  readonly width?: number | undefined;
  /** The most important columns, first one first; the others follow in order. If not all columns fit, these are shown. */
  readonly first?: readonly string[] | undefined;
}

/** A table as text. */
export interface TextTable {
  readonly head: string;
  readonly lines: string[];
  /** How many of the columns are shown. */
  readonly shown: number;
}

/** The gap between two columns. */
const BETWEEN = '  ';

/** How wide texts and nested members are before they push out a less important column. The first column identifies the row. */
const NARROW = 24;
const FIRST_NARROW = 40;

/** Longer texts are cut. */
const LONGEST = 200;

/** A value as text, or a nested value as the texts of its entries. */
type Cell = string | readonly string[];

/** A column with its cells. Numbers are aligned to the right. */
export interface Column {
  readonly name: string;
  readonly cells: readonly Cell[];
  readonly isNumber: boolean;
}

/** A column, and its width with every value in full. */
interface Measured extends Column {
  readonly most: number;
}

/** Lays out columns under their names: those that fit, in order, and without empty ones if the width is limited. */
export function layOut(
  columns: readonly Column[],
  { width = Number.POSITIVE_INFINITY, first = [] }: Layout,
): TextTable {
  const measured = columns.map((column) => ({
    ...column,
    most: column.cells.reduce((most, cell) => Math.max(most, widthOf(whole(cell))), widthOf(column.name)),
  }));
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
  const told = measured.filter(
    ({ cells }) => width === Number.POSITIVE_INFINITY || cells.some((cell) => cell.length > 0),
  );
  const ranked = told.toSorted((one, other) => rank(one.name) - rank(other.name));
  const widths = widthsOf(ranked, told.filter(({ name }) => first.includes(name)).length, width);
  const shown = measured.filter((column) => widths.has(column));
  const line = (textOf: (column: Column) => Cell) =>
    shown
      .map((column) => {
        const given = widths.get(column) ?? 0;
        const text = fitted(textOf(column), given);
        const rest = ' '.repeat(Math.max(0, given - widthOf(text)));
        return column.isNumber ? rest + text : text + rest;
      })
      .join(BETWEEN)
      .trimEnd();
  return {
    head: line(({ name }) => name),
    lines: (columns[0]?.cells ?? []).map((_, index) => line(({ cells }) => cells[index] ?? '')),
    shown: shown.length,
  };
}

/**
 * The widths of the columns that fit, given the most important one first, which is always shown. If one of the first `listed` is too
 * wide, the next ones may still fit. The others are shown only as long as all of them fit.
 */
function widthsOf(columns: readonly Measured[], listed: number, width: number): Map<Measured, number> {
  const widths = new Map<Measured, number>();
  let left = width;
  for (const [index, column] of columns.entries()) {
    const { name, most, isNumber } = column;
    if (index >= listed && widths.size < index) break;
    const narrow = widths.size === 0 ? FIRST_NARROW : NARROW;
    const least = isNumber ? most : Math.min(most, Math.max(widthOf(name), narrow));
    const taken = least + (widths.size === 0 ? 0 : BETWEEN.length);
    if (taken > left && widths.size > 0) continue;
    widths.set(column, Math.min(least, width));
    left -= taken;
  }
  // Remaining space goes to shortened columns.
  for (const column of columns) {
    const given = widths.get(column);
    if (given === undefined || left <= 0) continue;
    const more = Math.min(column.most - given, left);
    widths.set(column, given + more);
    left -= more;
  }
  return widths;
}

/** The members of rows as columns, named after those of the first row. */
export function columnsOf(rows: readonly Row[]): Column[] {
  return Object.keys(rows[0] ?? {}).map((name) => {
    const values = rows.map((row) => row[name]);
    const known = values.filter((value) => value !== null && value !== undefined);
    const isNumeric = known.length > 0 && known.every(isNumber);
    const decimals = decimalsOf(name, isNumeric ? known : []);
    const cells = values.map((value) => (isNumber(value) ? numberText(value, decimals) : cellOf(value)));
    return { name, cells, isNumber: isNumeric };
  });
}

/**
 * How many decimals the numbers of a column have: cents in dollars and other currencies, more where all are a few cents, and thousandths
 * in what isn't counted.
 */
function decimalsOf(name: string, numbers: readonly number[]): number {
  if (/(^|_)(usd|cost)(_|$)/.test(name)) {
    const most = numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
    return most > 0 && most < 0.1 ? 4 : 2;
  }
  return numbers.every(Number.isInteger) && !/(^|_)ratio(_|$)/.test(name) ? 0 : 3;
}

/** A number in English, with commas between thousands. Without Intl: loading its languages takes longer than printing a report. */
export function numberText(value: number, decimals: number): string {
  return withSeparators(value.toFixed(decimals));
}

/** The text of a number with commas between its thousands. */
function withSeparators(text: string): string {
  return text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}

/** A column of exact numbers with commas between thousands, unless its numbers are ids or years. */
export function separated(column: Column): Column {
  const { name, cells, isNumber } = column;
  const isYear = (cell: Cell) => /^(?:(?:19|20)\d\d|NULL)$/.test(whole(cell));
  if (!isNumber || /(^|_)(id|key|batch|year)$/i.test(name) || cells.every(isYear)) return column;
  return { ...column, cells: cells.map((cell) => withSeparators(whole(cell))) };
}

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return plainText(String(value));
  if (!Array.isArray(value))
    return Object.entries(value)
      .filter(([, of]) => of !== 0 && of !== null)
      .map(([name, of]) => entryOf({ name, of }));
  const isCounted = value.every((of) => typeof of !== 'object' || Object.values(of ?? {}).some(isNumber));
  // Their number says more than the first members would.
  return isCounted ? value.map(entryOf) : numberText(value.length, 0);
}

/** How many terminal columns a text takes. The library is slow, and most texts are ASCII. */
function widthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : stringWidth(text);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

/** An element of a list for people: its first text and its first number. */
function entryOf(element: unknown): string {
  const members = typeof element === 'object' && element !== null ? Object.values(element) : [element];
  const label = members.find((member) => typeof member === 'string');
  const number = members.find(isNumber);
  return [
    ...(label === undefined ? [] : [label === '' ? '(none)' : plainText(label)]),
    ...(number === undefined ? [] : [numberText(number, Number.isInteger(number) ? 0 : 3)]),
  ].join(' ');
}

function whole(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.join(', ');
}

/** A cell in a width: a text is cut, and entries are listed as far as they fit, with the number of the others. */
function fitted(cell: Cell, width: number): string {
  const text = whole(cell);
  if (widthOf(text) <= width) return text;
  if (typeof cell === 'string') return cut(text, width);
  const [top = '', ...others] = cell;
  let some = '';
  let named = top;
  for (const [index, other] of others.entries()) {
    const counted = `${named}, +${others.length - index}`;
    if (widthOf(counted) > width) break;
    some = counted;
    named += `, ${other}`;
  }
  if (some !== '') return some;
  const rest = others.length === 0 ? '' : `, +${others.length}`;
  return `${cut(top, width - rest.length)}${rest}`;
}

function cut(text: string, width: number): string {
  let kept = '';
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    if (widthOf(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** A text on one line, shortened, without characters that control a terminal. */
export function plainText(text: string): string {
  const plain = text.replaceAll(/\p{C}/gu, (char) =>
    char === '\n' ? '\\n' : `\\u{${char.codePointAt(0)?.toString(16)}}`,
  );
  // Instants have milliseconds, which are noise in a table.
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(plain))
    return `${plain.slice(0, 19).replace('T', ' ')}Z`;
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain;
}
