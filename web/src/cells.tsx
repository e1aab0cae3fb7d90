import * as Plot from '@observablehq/plot';
import { type Day, daysOf, type Range, weekday } from './days.js';
import { Drawing } from './drawing.js';
import { dayText, shortened } from './format.js';

/** A cell: a row's value in one column, such as a day. */
export interface Cell {
  readonly name: string;
  readonly column: string;
  /** Its darkness, from 0 to 1. */
  readonly share: number;
  /** A custom property, such as `--accent`. For an empty cell it is the colour of the outline. */
  readonly color?: string;
  /** Shown at the pointer. */
  readonly title: string;
}

interface CellsProps {
  readonly columns: readonly string[];
  /** The rows, from top to bottom. */
  readonly names: readonly string[];
  /** The cells that have a value, and empty ones that are outlined. */
  readonly cells: readonly Cell[];
  /** Columns of days that aren't built. */
  readonly unbuilt?: readonly string[];
  /** The columns that are labelled if there is room, from the first. */
  readonly named: readonly string[];
  readonly text: (column: string) => string;
}

const ROW = 24;
const BOTTOM = 28;

/** A cell for each row and column. */
export function Cells(props: CellsProps) {
  return (
    <Drawing
      draw={(width) => draw(props, width)}
      of={[JSON.stringify(props)]}
      height={ROW * props.names.length + BOTTOM}
    />
  );
}

/** A cell for each row and day of a range. */
export function DayCells({
  range,
  ...props
}: Omit<CellsProps, 'columns' | 'named' | 'text'> & { range: Range }) {
  const columns: readonly Day[] = daysOf(range);
  const named = columns.length <= 10 ? columns : columns.filter((day) => weekday(day) === 1);
  return <Cells {...props} columns={columns} named={named} text={dayText} />;
}

function draw({ columns, names, cells, unbuilt = [], named, text }: CellsProps, width: number): Element {
  const left = Math.min(128, 20 + 7 * Math.max(...names.map((name) => name.length)));
  const step = Math.ceil(named.length / Math.max(1, (width - left) / 56));
  const places = (of: readonly string[]) => names.flatMap((name) => of.map((column) => ({ name, column })));
  const shared = { x: 'column', y: 'name', inset: columns.length > 120 ? 0 : 1, rx: 2 };
  const fill = ({ color = '--accent' }: Cell) => `var(${color})`;
  return Plot.plot({
    className: 'plot',
    width,
    height: ROW * names.length + BOTTOM,
    marginLeft: left,
    marginRight: 0,
    marginTop: 0,
    marginBottom: BOTTOM,
    x: { type: 'band', domain: [...columns], padding: 0, round: false, axis: null },
    y: { type: 'band', domain: [...names], padding: 0, round: false, axis: null },
    marks: [
      Plot.cell(places(columns.filter((column) => !unbuilt.includes(column))), {
        ...shared,
        fill: 'var(--sunken)',
      }),
      Plot.cell(places(unbuilt.filter((column) => columns.includes(column))), {
        ...shared,
        fill: 'url(#unbuilt)',
        className: 'unbuilt',
      }),
      Plot.cell(
        cells.filter(({ share }) => share > 0),
        {
          ...shared,
          fill,
          fillOpacity: ({ share }: Cell) => 0.2 + 0.8 * Math.sqrt(share),
          title: 'title',
          className: 'filled',
        },
      ),
      Plot.cell(
        cells.filter(({ share }) => share === 0),
        {
          ...{ ...shared, inset: 1.5, fill: 'var(--warn-soft)', stroke: fill },
          title: 'title',
          className: 'outlined',
        },
      ),
      Plot.text(names, {
        y: (name) => name,
        text: (name) => shortened(name),
        ...{ frameAnchor: 'left', dx: -left, textAnchor: 'start', fill: 'var(--ink)', fontSize: 12 },
      }),
      Plot.axisX(
        named.filter((_, index) => index % step === 0),
        { tickSize: 0, tickFormat: text, fill: 'var(--ink-3)', label: null },
      ),
    ],
    color: { type: 'identity' },
    opacity: { type: 'identity' },
  });
}
