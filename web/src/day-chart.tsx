import * as Plot from '@observablehq/plot';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { daysOf, isWeekend, type Range, weekday } from './days.js';
import { change, dayText, exactly, figure, tick, type Unit, weekdayText } from './format.js';
import type { Table } from './panel.js';

/** One number per day, in the order of the chart's days; null where a day isn't built. */
export interface Series {
  readonly name: string;
  /** A custom property, as `--c1`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly mark: 'column' | 'line' | 'dashes';
}

export interface DayChartProps {
  readonly label: string;
  readonly range: Range;
  readonly unit: Unit;
  /** Columns of several series are stacked, the first at the bottom. */
  readonly series: readonly Series[];
  /** The day that each day is compared with: a wide grey column behind. */
  readonly before?: readonly (number | null)[];
  /** Whether each day's columns are shares of their sum. */
  readonly isShare?: boolean;
  /** Whether the highest day has its number beside it. */
  readonly isPeakNamed?: boolean;
  readonly height?: number;
  readonly onRange?: (range: Range) => void;
  /** A click on a column's part. */
  readonly onName?: (name: string) => void;
}

/** The rows of a chart as a table. */
export function tableOf({
  range,
  series,
  before,
}: Pick<DayChartProps, 'range' | 'series' | 'before'>): Table {
  return {
    columns: ['Day', ...series.map(({ name }) => name), ...(before === undefined ? [] : ['4 weeks before'])],
    rows: daysOf(range).map((day, index) => [
      day,
      ...series.map(({ values }) => values[index] ?? null),
      ...(before === undefined ? [] : [before[index] ?? null]),
    ]),
  };
}

/** The width of an element, and again whenever it changes. */
export function useWidth(): [(element: HTMLElement | null) => void, number] {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, [element]);
  return [setElement, width];
}

/** The marks of columns. */
const COLUMNS = 'columns';
const MARGIN = { top: 16, right: 4, bottom: 24, left: 48 };

/** Columns and lines over days. */
export function DayChart(props: DayChartProps) {
  const { label, range, unit, series, before, isShare = false, height = 180, onRange, onName } = props;
  const [holder, width] = useWidth();
  const drawing = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number>();
  const [from, setFrom] = useState<number>();
  const days = daysOf(range);

  useEffect(() => {
    if (width === 0) return;
    const plot = draw(props, days, width, height);
    drawing.current?.replaceChildren(plot);
  }, [width, height, range.from, range.to, JSON.stringify([series, before])]);

  const indexAt = (event: PointerEvent): number => {
    const { left, width: whole } = (event.currentTarget as Element).getBoundingClientRect();
    const inside = whole - MARGIN.left - MARGIN.right;
    const share = (event.clientX - left - MARGIN.left) / inside;
    return Math.min(days.length - 1, Math.max(0, Math.floor(share * days.length)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setAt(Math.min(days.length - 1, Math.max(0, (at ?? (step > 0 ? -1 : days.length)) + step)));
  };
  const select = (event: PointerEvent) => {
    const to = indexAt(event);
    if (from !== undefined && from !== to)
      onRange?.({ from: days[Math.min(from, to)] ?? range.from, to: days[Math.max(from, to)] ?? range.to });
    setFrom(undefined);
  };
  return (
    <div
      class={onName === undefined ? 'chart' : 'chart choosing'}
      ref={holder}
      role="application"
      aria-label={`${label}: use the arrow keys to read its days`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrows walk its days.
      tabIndex={0}
      onKeyDown={onKeyDown}
      onBlur={() => setAt(undefined)}
      onPointerMove={(event) => setAt(indexAt(event))}
      onPointerLeave={() => setAt(undefined)}
      onPointerDown={(event) => onRange && setFrom(indexAt(event))}
      onPointerUp={select}
      onClick={(event) => {
        const { name } = (event.target as SVGElement).dataset;
        if (name !== undefined) onName?.(name);
      }}
    >
      <div ref={drawing} style={{ minHeight: height }} />
      {from !== undefined && at !== undefined && from !== at && (
        <div class="brush" style={placed(Math.min(from, at), Math.max(from, at) + 1, days.length, width)} />
      )}
      {at !== undefined && (
        <div class="tip" role="status" style={tipAt(at, days.length, width)}>
          <b>{weekdayText(days[at] ?? range.from)}</b>
          {series.map(({ name, color, values }) => (
            <p key={name}>
              {series.length > 1 && <i class="swatch" style={{ background: `var(${color})` }} />}
              {series.length > 1 ? `${name} ` : ''}
              <span>{exactly(values[at], unit)}</span>
            </p>
          ))}
          {before !== undefined && (
            <p class="note">
              {exactly(before[at], unit)} four weeks before {change(series[0]?.values[at], before[at])}
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

function tipAt(index: number, count: number, width: number) {
  const { left } = placed(index, index + 1, count, width);
  return left < width / 2 ? { left: left + 24 } : { right: width - left + 8 };
}

function draw(
  { unit, series, before, isShare = false, isPeakNamed = false }: DayChartProps,
  days: readonly string[],
  width: number,
  height: number,
): SVGSVGElement | HTMLElement {
  const columns = series.filter(({ mark }) => mark === 'column');
  const cells = columns.flatMap(({ name, color, values }) =>
    days.flatMap((day, index) => {
      const value = values[index] ?? 0;
      return value > 0 ? [{ day, value, name, fill: `var(${color})` }] : [];
    }),
  );
  const weekends = days.length > 92 ? [] : days.filter(isWeekend);
  const everyMonday = days.length <= 10 ? days : days.filter((day) => weekday(day) === 1);
  const highest = Math.max(
    0,
    ...series.flatMap(({ values }) => values.map((value) => value ?? 0)),
    ...(before ?? []).map((value) => value ?? 0),
  );
  const peak = Math.max(...(columns[0]?.values ?? []).map((value) => value ?? 0));
  const peakAt = columns[0]?.values.indexOf(peak) ?? -1;
  const room = (width - MARGIN.left) / 56;
  const step = Math.ceil(everyMonday.length / Math.max(room, 1));
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
      Plot.gridY({ ticks: 4, stroke: 'var(--grid)', strokeOpacity: 1 }),
      Plot.axisY({
        ticks: 4,
        tickSize: 0,
        tickFormat: (value: number) =>
          isShare
            ? figure(value, 'share')
            : unit === 'count' && !Number.isInteger(value)
              ? ''
              : tick(value, unit),
        fill: 'var(--ink-3)',
        label: null,
      }),
      Plot.axisX(
        everyMonday.filter((_, index) => index % step === 0),
        { tickSize: 0, tickFormat: dayText, fill: 'var(--ink-3)', label: null },
      ),
      ...(before === undefined
        ? []
        : [
            Plot.barY(days, {
              x: (day) => day,
              y: (_, index) => before[index] ?? 0,
              fill: 'var(--before-fill)',
              insetLeft: 1,
              insetRight: 1,
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
          order: columns.map(({ name }) => name),
          ...insets(width, days.length, before !== undefined),
          insetTop: columns.length > 1 ? 0.5 : 0,
          className: COLUMNS,
        }),
      ),
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
              text: (day) => `${weekdayText(day)} ${exactly(peak, unit)}`,
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
  // The policy of the page refuses styles in the document: these are in style.css.
  const rects = plot.querySelectorAll<SVGRectElement>(`.${COLUMNS} rect`);
  cells.forEach(({ name }, index) => {
    const rect = rects[index];
    if (rect !== undefined) rect.dataset.name = name;
  });
  for (const style of plot.querySelectorAll('style')) style.remove();
  plot.setAttribute('aria-hidden', 'true');
  return plot;
}

function insets(width: number, count: number, isNarrow: boolean) {
  const band = (width - MARGIN.left - MARGIN.right) / count;
  const inset = Math.max(band < 4 ? 0 : 0.5, Math.min(band * (isNarrow ? 0.25 : 0.12), 12));
  return { insetLeft: inset, insetRight: inset };
}
