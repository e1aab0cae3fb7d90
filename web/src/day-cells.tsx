import * as Plot from '@observablehq/plot';
import { type Day, daysOf, type Range, weekday } from './days.js';
import { Drawing } from './drawing.js';
import { dayText } from './format.js';

/** What was on one day in one row. */
export interface DayCell {
  readonly name: string;
  readonly day: Day;
  /** How dark it is, from 0 to 1. */
  readonly share: number;
  /** A custom property, as `--accent`. */
  readonly color: string;
}

interface DayCellsProps {
  readonly range: Range;
  /** The rows, from the top. */
  readonly names: readonly string[];
  readonly cells: readonly DayCell[];
  /** Days that aren't built. */
  readonly unbuilt: readonly Day[];
}

const ROW = 24;
const MARGIN = { left: 128, bottom: 28 };

/** A cell for each row and day. */
export function DayCells(props: DayCellsProps) {
  return (
    <Drawing
      draw={(width) => draw(props, width)}
      of={[JSON.stringify(props)]}
      height={ROW * props.names.length + MARGIN.bottom}
    />
  );
}

function draw({ range, names, cells, unbuilt }: DayCellsProps, width: number): Element {
  const days = daysOf(range);
  const mondays = days.length <= 10 ? days : days.filter((day) => weekday(day) === 1);
  const step = Math.ceil(mondays.length / Math.max(1, (width - MARGIN.left) / 56));
  const places = (of: readonly Day[]) => names.flatMap((name) => of.map((day) => ({ name, day })));
  const shared = { x: 'day', y: 'name', inset: days.length > 120 ? 0 : 1, rx: 2 };
  return Plot.plot({
    className: 'plot',
    width,
    height: ROW * names.length + MARGIN.bottom,
    marginLeft: MARGIN.left,
    marginRight: 0,
    marginTop: 0,
    marginBottom: MARGIN.bottom,
    x: { type: 'band', domain: days, padding: 0, round: false, axis: null },
    y: { type: 'band', domain: [...names], padding: 0, round: false, axis: null },
    marks: [
      Plot.cell(places(days.filter((day) => !unbuilt.includes(day))), { ...shared, fill: 'var(--sunken)' }),
      Plot.cell(places(unbuilt.filter((day) => days.includes(day))), {
        ...shared,
        fill: 'url(#unbuilt)',
        className: 'unbuilt',
      }),
      Plot.cell(
        cells.filter(({ share }) => share > 0),
        {
          ...shared,
          fill: ({ color }: DayCell) => `var(${color})`,
          fillOpacity: ({ share }: DayCell) => 0.2 + 0.8 * Math.sqrt(share),
          className: 'filled',
        },
      ),
      Plot.axisY({
        tickSize: 0,
        fill: 'var(--ink)',
        label: null,
        fontSize: 12,
        tickFormat: (name: string) => (name.length > 18 ? `${name.slice(0, 17)}…` : name),
      }),
      Plot.axisX(
        mondays.filter((_, index) => index % step === 0),
        { tickSize: 0, tickFormat: dayText, fill: 'var(--ink-3)', label: null },
      ),
    ],
    color: { type: 'identity' },
    opacity: { type: 'identity' },
  });
}
