import * as Plot from '@observablehq/plot';
import { useState } from 'preact/hooks';
import type { Ends } from './day-chart.js';
import type { Day } from './days.js';
import { px, useDrawing, useReading } from './drawing.js';
import { dayText, figure, tick } from './format.js';
import { EndNames } from './legend.js';

/** A number per week, in the order of the weeks; null before the first one. */
export interface WeekSeries {
  readonly name: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
  /** Where its name leads to. */
  readonly href?: string | undefined;
}

interface WeekChartProps {
  readonly label: string;
  /** The Mondays of the weeks. */
  readonly weeks: readonly Day[];
  readonly series: readonly WeekSeries[];
}

const HEIGHT = 220;
const MARGIN = { top: 12, right: 8, bottom: 24, left: 36 };

/** Lines over weeks, with names at their ends. */
export function WeekChart({ label, weeks, series }: WeekChartProps) {
  const [ends, setEnds] = useState<Ends>(new Map());
  const { holder, drawing, width } = useDrawing(
    (wide) => {
      const plot = draw(weeks, series, wide);
      const { apply } = plot.scale('y') ?? {};
      setEnds(new Map(series.map(({ name, values }) => [name, apply?.(values.at(-1) ?? 0) ?? 0])));
      return plot;
    },
    [JSON.stringify([weeks, series])],
  );
  const steps = Math.max(1, weeks.length - 1);
  const inside = width - MARGIN.left - MARGIN.right;
  const placeAt = (event: PointerEvent) => {
    const { left } = (event.currentTarget as Element).getBoundingClientRect();
    const share = (event.clientX - left - MARGIN.left) / inside;
    return Math.min(weeks.length - 1, Math.max(0, Math.round(share * steps)));
  };
  const { at, reading } = useReading(`${label}: use the arrow keys to read its weeks`, weeks.length, placeAt);
  const left = MARGIN.left + ((at ?? 0) / steps) * inside;
  return (
    <div class="beside">
      <div ref={holder} class="chart" {...reading}>
        <div ref={drawing} style={{ minHeight: px(HEIGHT) }} />
        {at !== undefined && (
          <div
            class="tip"
            role="status"
            style={left < width / 2 ? { left: px(left + 8) } : { right: px(width - left + 8) }}
          >
            <b>week of {dayText(weeks[at] ?? '')}</b>
            {series.map(({ name, color, values }) => (
              <p key={name}>
                <i class="swatch" style={{ background: `var(${color})` }} />
                <bdi>{name}</bdi> <span>{figure(values[at], 'count')}</span>
              </p>
            ))}
          </div>
        )}
      </div>
      <EndNames entries={series} ends={ends} height={HEIGHT} />
    </div>
  );
}

function draw(weeks: readonly Day[], series: readonly WeekSeries[], width: number) {
  const points = series.flatMap(({ name, color, values }) =>
    values.flatMap((users, place) =>
      users === null ? [] : [{ place, users, name, stroke: `var(${color})` }],
    ),
  );
  const last = weeks.length - 1;
  const step = Math.max(1, Math.ceil(weeks.length / Math.max(1, Math.floor((width - MARGIN.left) / 72))));
  const ticks = weeks.map((_, place) => place).filter((place) => (last - place) % step === 0);
  return Plot.plot({
    className: 'plot',
    width,
    height: HEIGHT,
    marginTop: MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    x: { domain: [0, Math.max(1, last)], axis: null },
    y: { domain: [0, Math.max(1, ...points.map(({ users }) => users))], nice: true, axis: null },
    color: { type: 'identity' },
    marks: [
      Plot.gridY({ ticks: 4, stroke: 'var(--grid)', strokeOpacity: 1 }),
      Plot.axisY({
        ...{ ticks: 4, tickSize: 0, fill: 'var(--ink-3)', label: null },
        tickFormat: (value: number) => (Number.isInteger(value) ? tick(value, 'count') : ''),
      }),
      Plot.axisX(ticks, {
        ...{ tickSize: 0, fill: 'var(--ink-3)', label: null },
        tickFormat: (place: number) => dayText(weeks[place] ?? ''),
      }),
      Plot.lineY(points, { x: 'place', y: 'users', z: 'name', stroke: 'stroke', strokeWidth: 1.5 }),
      Plot.dot(
        points.filter(({ place }) => place === last),
        { x: 'place', y: 'users', r: 2.5, fill: 'stroke' },
      ),
    ],
  });
}
