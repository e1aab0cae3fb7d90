import * as Plot from '@observablehq/plot';
import { useState } from 'preact/hooks';
import { addDays, type Day, daysOf, isWeekend, type Range, weekday } from './days.js';
import { clickOf, px, useDrawing, useReading } from './drawing.js';
import { change, dayText, exactly, figure, monthText, tick, type Unit, weekdayText } from './format.js';
import type { Table } from './panel.js';

/** One number per day, in the order of the chart's days; null if a day isn't built, or its number isn't known. */
export interface Series {
  readonly name: string;
  /** A custom property, such as `--c1`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly mark: 'column' | 'line' | 'dashes';
}

export interface DayChartProps {
  readonly label: string;
  readonly range: Range;
  /** The day that isn't over, shown last: its numbers still grow. */
  readonly open?: Day | undefined;
  /** Days that aren't built. */
  readonly unbuilt?: readonly Day[];
  readonly unit: Unit;
  /** Columns of several series are stacked, the first one on top, as in legends. */
  readonly series: readonly Series[];
  /** For each day, the value four weeks before: a wide grey column behind those of the only series. */
  readonly before?: readonly (number | null)[];
  /** Whether each day's columns are shares of their sum. */
  readonly isShare?: boolean;
  /** Whether the number of the highest day is shown. */
  readonly isPeakNamed?: boolean;
  readonly height?: number;
  /** Called with the ends of series after each drawing. */
  readonly onDrawn?: (ends: Ends) => void;
  readonly onRange?: (range: Range) => void;
  /** Called when a part of a column is clicked. */
  readonly onName?: (name: string) => void;
}

/** The distance in pixels from a chart's top to the end of each series, by name. For a part of a stack it is the middle. */
export type Ends = ReadonlyMap<string, number>;

/** The days of a chart. */
function daysIn({ range, open }: Pick<DayChartProps, 'range' | 'open'>): Day[] {
  return open === undefined ? daysOf(range) : [...daysOf(range), open];
}

/** The rows of a chart as a table. Its columns are summed if days add up. */
export function tableOf(
  chart: Pick<DayChartProps, 'range' | 'open' | 'series' | 'before'> & { unit?: Unit },
  isSummed = false,
): Table {
  const { open, series, before, unit } = chart;
  const numbers = [...series.map(({ name }) => name), ...(before === undefined ? [] : ['4 weeks before'])];
  return {
    columns: ['Day', ...numbers],
    ...(unit === 'dollars' ? { dollars: numbers } : {}),
    ...(isSummed ? { summed: numbers } : {}),
    rows: daysIn(chart).map((day, index) => [
      day === open ? `${day} so far` : day,
      ...series.map(({ values }) => values[index] ?? null),
      ...(before === undefined ? [] : [before[index] ?? null]),
    ]),
  };
}

/** The marks of columns. */
const COLUMNS = 'columns';
const MARGIN = { top: 16, right: 4, bottom: 24, left: 48 };

/** Columns and lines over days. */
export function DayChart(props: DayChartProps) {
  const {
    label,
    range,
    open,
    unbuilt,
    unit,
    series,
    before,
    isShare = false,
    height = 180,
    onDrawn,
    onRange,
    onName,
  } = props;
  const [from, setFrom] = useState<number>();
  const days = daysIn(props);
  // A range can only have days that are over.
  const lastOver = days.length - (open === undefined ? 1 : 2);

  const { holder, drawing, width } = useDrawing(
    (width) => {
      const plot = draw(props, days, width, height);
      onDrawn?.(endsOf(props, plot));
      return plot;
    },
    [height, range.from, range.to, open, JSON.stringify([series, before, unbuilt])],
  );
  const indexAt = (event: PointerEvent): number => {
    const { left, width: whole } = (event.currentTarget as Element).getBoundingClientRect();
    const inside = whole - MARGIN.left - MARGIN.right;
    const share = (event.clientX - left - MARGIN.left) / inside;
    return Math.min(days.length - 1, Math.max(0, Math.floor(share * days.length)));
  };
  const { at, reading } = useReading(`${label}: use the arrow keys to read its days`, days.length, indexAt);
  const begin = (event: PointerEvent) => {
    if (onRange === undefined || event.button !== 0) return;
    // Also receive the end of the drag outside of the chart.
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    setFrom(Math.min(indexAt(event), lastOver));
  };
  const select = (event: PointerEvent) => {
    const to = Math.min(indexAt(event), lastOver);
    if (from !== undefined && from !== to)
      onRange?.({ from: days[Math.min(from, to)] ?? range.from, to: days[Math.max(from, to)] ?? range.to });
    setFrom(undefined);
  };
  const { class: choosing, onClick } = clickOf(onName);
  const chart = {
    ...reading,
    onPointerDown: begin,
    onPointerUp: select,
    onPointerCancel: () => setFrom(undefined),
    onClick,
  };
  return (
    <div ref={holder} class={`chart ${choosing}`} {...chart}>
      <div ref={drawing} style={{ minHeight: px(height) }} />
      {from !== undefined && at !== undefined && from !== at && (
        <div class="brush" style={brushAt(Math.min(from, at), Math.max(from, at) + 1, days.length, width)} />
      )}
      {at !== undefined && (
        <div class="tip" role="status" style={tipAt(at, days.length, width)}>
          <b>
            {weekdayText(days[at] ?? range.from)}
            {days[at] === open && ' so far'}
          </b>
          {before === undefined ? (
            series.map(({ name, color, values }) => (
              <p key={name}>
                <i class="swatch" style={{ background: `var(${color})` }} />
                <bdi>{name}</bdi> <span>{exactly(values[at], unit)}</span>
              </p>
            ))
          ) : (
            <p>
              {exactly(series[0]?.values[at], unit)} <span>{change(series[0]?.values[at], before[at])}</span>
            </p>
          )}
          {before !== undefined && days[at] !== open && (
            <p class="note">
              {weekdayText(addDays(days[at] ?? range.from, -28))}: {exactly(before[at], unit)}
            </p>
          )}
          {isShare && <p class="note">share of calls</p>}
        </div>
      )}
    </div>
  );
}

function placed(from: number, to: number, count: number, width: number) {
  const inside = width - MARGIN.left - MARGIN.right;
  return { left: MARGIN.left + (from / count) * inside, width: ((to - from) / count) * inside };
}

function brushAt(from: number, to: number, count: number, width: number) {
  const { left, width: wide } = placed(from, to, count, width);
  return { left: px(left), width: px(wide) };
}

/** Places the tip beside the day, on the side with more room. */
function tipAt(index: number, count: number, width: number) {
  const { left, width: wide } = placed(index, index + 1, count, width);
  return left < width / 2 ? { left: px(left + wide + 8) } : { right: px(width - left + 8) };
}

function draw(
  { unit, open, unbuilt = [], series, before, isShare = false, isPeakNamed = false }: DayChartProps,
  days: readonly string[],
  width: number,
  height: number,
): (SVGSVGElement | HTMLElement) & Plot.Plot {
  const columns = series.filter(({ mark }) => mark === 'column');
  const cells = columns.flatMap(({ name, color, values }) =>
    days.flatMap((day, index) => {
      const value = values[index] ?? 0;
      return value > 0 ? [{ day, value, name, fill: `var(${color})` }] : [];
    }),
  );
  const weekends = days.length > 92 ? [] : days.filter(isWeekend);
  const over = open === undefined ? days : days.slice(0, -1);
  const everyMonday = days.length <= 10 ? over : over.filter((day) => weekday(day) === 1);
  const highest = Math.max(
    0,
    ...series.flatMap(({ values }) => values.map((value) => value ?? 0)),
    ...(before ?? []).map((value) => value ?? 0),
  );
  const peak = Math.max(...(columns[0]?.values ?? []).map((value) => value ?? 0));
  const peakAt = columns[0]?.values.indexOf(peak) ?? -1;
  const room = (width - MARGIN.left - (open === undefined ? 0 : TODAY_ROOM)) / 56;
  const step = Math.ceil(everyMonday.length / Math.max(room, 1));
  const ticks = isShare || highest > 0 ? 4 : 1;
  // For lower values, four ticks are less than a dollar apart.
  const hasCents = unit === 'dollars' && highest > 0 && highest < 4 * Math.SQRT1_2;
  const band = (width - MARGIN.left - MARGIN.right) / days.length;
  const plot = Plot.plot({
    className: 'plot',
    width,
    height,
    marginTop: MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    x: { type: 'band', domain: [...days], padding: 0, round: false, axis: null },
    // Days without a number above zero still have an axis.
    y: { axis: null, zero: true, nice: !isShare, ...(isShare || highest === 0 ? { domain: [0, 1] } : {}) },
    marks: [
      Plot.cell(weekends, { x: (day) => day, fill: 'var(--weekend)', inset: 0 }),
      Plot.cell(unbuilt, { x: (day) => day, fill: 'url(#unbuilt)', inset: 0, className: 'unbuilt' }),
      Plot.gridY({ ticks, stroke: 'var(--grid)', strokeOpacity: 1 }),
      Plot.axisY({
        ticks,
        tickSize: 0,
        tickFormat: (value: number) => {
          if (isShare) return figure(value, 'share');
          if (unit === 'count' && !Number.isInteger(value)) return '';
          return hasCents ? exactly(value, unit) : tick(value, unit);
        },
        fill: 'var(--ink-3)',
        label: null,
      }),
      Plot.axisX(
        everyMonday.filter((day, index) => index % step === 0 && isClear(day, days, width, open)),
        {
          ...{ tickSize: 0, fill: 'var(--ink-3)', label: null },
          tickFormat: days.length > 366 ? monthText : dayText,
        },
      ),
      ...(before === undefined
        ? []
        : [
            Plot.barY(days, {
              x: (day) => day,
              y: (_, index) => before[index] ?? 0,
              fill: 'var(--before-fill)',
              ...insets(band, 0, 96),
            }),
          ]),
      Plot.barY(
        cells,
        Plot.stackY({
          ...(isShare ? { offset: 'normalize' as const } : {}),
          x: 'day',
          y: 'value',
          fill: 'fill',
          z: 'name',
          order: columns.map(({ name }) => name).reverse(),
          ...insets(band, before === undefined ? 0.12 : 0.25, 64),
          insetTop: columns.length > 1 ? 0.5 : 0,
          className: COLUMNS,
        }),
      ),
      ...(open === undefined ? [] : openMarks(open, columns, isShare)),
      ...series
        .filter(({ mark }) => mark !== 'column')
        .map(({ color, values, mark }) =>
          Plot.lineY(days, {
            clip: false,
            x: (day) => day,
            y: (_, index) => values[index],
            stroke: `var(${color})`,
            strokeWidth: 1.5,
            ...(mark === 'dashes' ? { strokeDasharray: '3 2' } : {}),
          }),
        ),
      ...(isPeakNamed && peak > 0
        ? [
            Plot.text([days[peakAt]], {
              x: (day) => day,
              y: () => peak,
              text: (day) => `${weekdayText(day)}: ${exactly(peak, unit)}`,
              textAnchor: peakAt > days.length / 2 ? 'end' : 'start',
              dx: (peakAt > days.length / 2 ? 0.5 : -0.5) * Math.min(24, (width - 56) / days.length),
              dy: -8,
              fontWeight: 600,
              fill: 'var(--ink)',
            }),
          ]
        : []),
    ],
    color: { type: 'identity' },
  });
  const rects = plot.querySelectorAll<SVGRectElement>(`.${COLUMNS} rect`);
  cells.forEach(({ name }, index) => {
    const rect = rects[index];
    if (rect !== undefined) rect.dataset.name = name;
  });
  return plot;
}

/** The ends of a drawn chart's series, at the last closed day that has numbers. */
function endsOf({ range, series, isShare = false }: DayChartProps, plot: Plot.Plot): Ends {
  const { apply } = plot.scale('y') ?? {};
  const last = daysOf(range).findLastIndex((_, index) =>
    series.some(({ values }) => (values[index] ?? 0) > 0),
  );
  if (apply === undefined || last < 0) return new Map();
  const numberOf = ({ values }: Series) => values[last] ?? 0;
  const columns = series.filter(({ mark }) => mark === 'column');
  const sum = isShare ? columns.reduce((all, one) => all + numberOf(one), 0) : 1;
  let below = 0;
  const middles = new Map<Series, number>();
  for (const one of [...columns].reverse()) {
    const part = numberOf(one) / sum;
    middles.set(one, columns.length === 1 ? part : below + part / 2);
    below += part;
  }
  return new Map(series.map((one) => [one.name, apply(middles.get(one) ?? numberOf(one))]));
}

/** How many pixels of the axis the open day's label takes. */
const TODAY_ROOM = 40;

/** Whether a day's label leaves room for that of the open day. */
function isClear(day: Day, days: readonly Day[], width: number, open: Day | undefined): boolean {
  const { left } = placed(days.indexOf(day), days.length, days.length, width);
  return open === undefined || left + TODAY_ROOM + 24 < width;
}

/** The open day's marks: stripes over its columns, and a label on the axis. */
function openMarks(open: Day, columns: readonly Series[], isShare: boolean): Plot.Markish[] {
  const sum = columns.reduce((all, { values }) => all + (values.at(-1) ?? 0), 0);
  return [
    Plot.barY(sum > 0 ? [open] : [], {
      x: (day) => day,
      y: () => (isShare ? 1 : sum),
      fill: 'url(#unfinished)',
      className: 'open-day',
    }),
    Plot.text([open], {
      x: (day) => day,
      text: () => 'today',
      frameAnchor: 'bottom',
      textAnchor: 'end',
      dx: 12,
      dy: 16,
      fill: 'var(--ink)',
    }),
  ];
}

/** The insets on both sides of a column, in pixels: a share of its band, or more if the column would exceed `most` pixels. */
function insets(band: number, share: number, most: number) {
  const inset = Math.max(band < 4 ? 0 : 0.5, band * share, (band - most) / 2);
  return { insetLeft: inset, insetRight: inset };
}
