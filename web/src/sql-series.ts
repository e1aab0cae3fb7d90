import type { Table } from './panel.js';
import { type Column, type Kind, kindOf, numberOf, type Row, textOf } from './sql-answer.js';
import { valueText } from './sql-format.js';

/** The columns that a chart shows, by name. */
export interface ChartChoice {
  readonly x: string;
  /** Can be several only without a group. */
  readonly y: readonly string[];
  readonly group: string | undefined;
}

/** How many series have a colour, and how many bars a series has. */
export const MOST_SERIES = 6;
const MOST_BARS = 30;
const MOST_GROUPED_BARS = 12;

/** The names of numbers that a question is probably about: the counts beside a ratio are what it was made of. */
const RATIO = /(^|_)(ratio|share|rate|percent|pct)$/i;

/** Numbers share an axis by default if the largest of each is within this factor. */
const SCALE = 20;

export interface Point {
  readonly x: string | number;
  readonly y: number;
  readonly series: string;
}

export interface ChartData {
  /** Lines along an axis of time or numbers, points if lines would go back and forth, or a bar for each category. */
  readonly mark: 'line' | 'dot' | 'bar';
  readonly kind: Kind;
  /** In the order of their colours. */
  readonly series: readonly string[];
  readonly points: readonly Point[];
  /** The values of x, in their order. */
  readonly xs: readonly (string | number)[];
  /** A note on what is left out. */
  readonly leftOut: string | undefined;
  readonly table: Table;
}

export function numbersOf(columns: readonly Column[]): Column[] {
  return columns.filter((column) => kindOf(column) === 'number');
}

/** Columns by which a chart can be grouped. */
export function groupsOf(columns: readonly Column[]): Column[] {
  return columns.filter((column) => kindOf(column) === 'text');
}

/** The valid part of a choice, completed with sensible defaults; undefined if there is nothing to draw. */
export function choiceOf(
  chosen: Readonly<Record<string, string>>,
  columns: readonly Column[],
  rows: readonly Row[],
): ChartChoice | undefined {
  const of = (...kinds: Kind[]) => columns.find((column) => kinds.includes(kindOf(column)))?.name;
  const has = (name: string | undefined, among: readonly Column[]) => among.some((one) => one.name === name);
  const x = has(chosen.x, columns) ? chosen.x : (of('day', 'instant') ?? of('text') ?? of('number'));
  const numbers = numbersOf(columns).filter(({ name }) => name !== x);
  if (x === undefined || numbers.length === 0 || rows.length === 0) return undefined;
  const groups = groupsOf(columns).filter(({ name }) => name !== x);
  const group = has(chosen.group, groups)
    ? chosen.group
    : chosen.group === '' || isUnique(rows, [x])
      ? undefined
      : groups.find(({ name }) => isUnique(rows, [x, name]))?.name;
  const wanted = (chosen.y ?? '').split('\n').filter((name) => has(name, numbers));
  const ratios = numbers.filter(
    ({ name }) => RATIO.test(name) && rows.some((row) => Number(row[name]) !== 0),
  );
  const y = wanted.length > 0 ? wanted : alike(ratios.length > 0 ? ratios : numbers, rows);
  return { x, y: group === undefined ? y.slice(0, MOST_SERIES) : y.slice(0, 1), group };
}

function isUnique(rows: readonly Row[], names: readonly string[]): boolean {
  return new Set(rows.map((row) => JSON.stringify(names.map((name) => row[name])))).size === rows.length;
}

/** The first of the numbers, and the others that are about as large. */
function alike(numbers: readonly Column[], rows: readonly Row[]): string[] {
  const largest = numbers.map(({ name }) =>
    rows.reduce((most, row) => Math.max(most, Math.abs(numberOf(row[name]) ?? 0)), 0),
  );
  const [first = 0] = largest;
  return numbers
    .filter((_, index) => {
      const one = largest[index] ?? 0;
      return index === 0 || (one > 0 && one <= first * SCALE && one >= first / SCALE);
    })
    .map(({ name }) => name);
}

/** The rows as chart data. */
export function chartData(
  { x, y, group }: ChartChoice,
  columns: readonly Column[],
  rows: readonly Row[],
): ChartData {
  const kindOfX = columns.filter(({ name }) => name === x).map(kindOf)[0] ?? 'text';
  const isCategory = kindOfX === 'text' || kindOfX === 'nested';
  const all = rows.flatMap((row) =>
    y.map((name) => ({
      x: placeOfX(row[x], kindOfX),
      y: numberOf(row[name]),
      series: group === undefined ? name : labelOf(row[group]),
    })),
  );
  const points = all.filter((point): point is Point => point.y !== null && point.x !== null);
  const series = group === undefined ? [...y] : byTotal(points);
  const shown = series.slice(0, MOST_SERIES);
  const places = [...new Set(points.map((point) => point.x))];
  const most = !isCategory ? places.length : shown.length > 1 ? MOST_GROUPED_BARS : MOST_BARS;
  const xs = isCategory ? places.slice(0, most) : places.sort((one, other) => Number(one) - Number(other));
  const drawn = points.filter(
    (point) => shown.includes(point.series) && (!isCategory || xs.includes(point.x)),
  );
  const hasDoubles =
    new Set(drawn.map((point) => JSON.stringify([point.x, point.series]))).size < drawn.length;
  const left = [
    ...(shown.length < series.length ? [`the ${shown.length} largest of ${series.length} groups`] : []),
    ...(xs.length < places.length ? [`the first ${xs.length} of ${places.length}`] : []),
  ];
  return {
    mark: isCategory ? 'bar' : hasDoubles ? 'dot' : 'line',
    kind: kindOfX,
    series: shown,
    points: drawn,
    xs,
    leftOut: left.length === 0 ? undefined : `Drawn are ${left.join(', and ')}.`,
    table: tableOf(x, shown, drawn, xs, kindOfX, hasDoubles),
  };
}

/** The position of a value on the x axis: Unix milliseconds, a number, or its text. */
function placeOfX(value: unknown, kind: Kind): string | number | null {
  if (kind === 'text' || kind === 'nested') return labelOf(value);
  if (kind === 'number' || value === null) return numberOf(value);
  return numberOf(Date.parse(String(value)));
}

const labelOf = (value: unknown): string =>
  value === null || value === undefined ? 'NULL' : value === '' ? '(empty)' : textOf(value);

/** The names of series, those with the largest sum first. */
function byTotal(points: readonly Point[]): string[] {
  const totals = new Map<string, number>();
  for (const { series, y } of points) totals.set(series, (totals.get(series) ?? 0) + Math.abs(y));
  return [...totals].sort(([, one], [, other]) => other - one).map(([name]) => name);
}

/** A value of x as text. */
export function xText(x: string | number, kind: Kind): string {
  if (kind === 'day') return new Date(x).toISOString().slice(0, 10);
  if (kind === 'instant') return valueText(new Date(x).toISOString(), kind);
  return kind === 'number' ? valueText(x, kind) : String(x);
}

function tableOf(
  name: string,
  series: readonly string[],
  points: readonly Point[],
  xs: readonly (string | number)[],
  kind: Kind,
  hasDoubles: boolean,
): Table {
  // Each row needs a unique name.
  if (hasDoubles)
    return {
      columns: ['Point', name, 'series', 'y'],
      rows: points.map((point, index) => [String(index + 1), xText(point.x, kind), point.series, point.y]),
    };
  const values = new Map(points.map((point) => [JSON.stringify([point.x, point.series]), point.y]));
  return {
    columns: [name, ...series],
    rows: xs.map((x) => [
      xText(x, kind),
      ...series.map((one) => values.get(JSON.stringify([x, one])) ?? null),
    ]),
  };
}
