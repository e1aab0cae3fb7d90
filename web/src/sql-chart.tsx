import * as Plot from '@observablehq/plot';
import { useMemo, useState } from 'preact/hooks';
import { type Address, go } from './address.js';
import { Drawing, px, useDrawing, useReading } from './drawing.js';
import { shortened } from './format.js';
import { Legend } from './legend.js';
import { TableOf } from './panel.js';
import type { Column, Row } from './sql-answer.js';
import { shortNumber, tickText, valueText } from './sql-format.js';
import {
  type ChartChoice,
  type ChartData,
  chartData,
  choiceOf,
  groupsOf,
  numbersOf,
  xText,
} from './sql-series.js';

interface SqlChartProps {
  readonly address: Address;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

const propertyOf = (index: number) => `--c${index + 1}`;
const colorOf = (index: number) => `var(${propertyOf(index)})`;

/** Draws rows as lines or bars, by columns that the reader chooses. */
export function SqlChart({ address, columns, rows }: SqlChartProps) {
  const { x, y, group } = address.choices;
  const chosen = JSON.stringify([x, y, group]);
  const choice = useMemo(() => choiceOf(address.choices, columns, rows), [columns, rows, chosen]);
  const data = useMemo(() => choice && chartData(choice, columns, rows), [choice]);
  const [isTable, setIsTable] = useState(false);
  if (choice === undefined || data === undefined)
    return rows.length === 0 ? null : (
      <p class="panel span-12 note">A chart needs a column of numbers, and another to put them against.</p>
    );
  const choose = (more: Partial<Record<'x' | 'y' | 'group', string>>) =>
    go({ ...address, choices: { ...address.choices, ...more } }, true);
  return (
    <section class="panel span-12 sql-chart" aria-labelledby="chart-title">
      <header>
        <h2 id="chart-title">Chart</h2>
        <p class="note">{data.leftOut}</p>
        <button type="button" aria-pressed={isTable} onClick={() => setIsTable(!isTable)}>
          Table
        </button>
      </header>
      <Choices choice={choice} columns={columns} choose={choose} />
      <figure data-chart="sql">
        <div class={data.series.length > 1 ? 'beside' : ''}>
          {data.mark === 'bar' ? <Bars data={data} /> : <Lines data={data} />}
          {data.series.length > 1 && (
            <Legend entries={data.series.map((name, index) => ({ name, color: propertyOf(index) }))} />
          )}
        </div>
        <TableOf
          key={chosen}
          table={data.table}
          isShown={isTable}
          isTwin={false}
          caption="Rows of the chart"
        />
      </figure>
    </section>
  );
}

interface ChoicesProps {
  readonly choice: ChartChoice;
  readonly columns: readonly Column[];
  readonly choose: (more: Partial<Record<'x' | 'y' | 'group', string>>) => void;
}

/** The columns of the chart. */
function Choices({ choice: { x, y, group }, columns, choose }: ChoicesProps) {
  const toggled = (name: string) => {
    if (group !== undefined) return name;
    const next = y.includes(name) ? y.filter((one) => one !== name) : [...y, name];
    return (next.length === 0 ? [name] : next).join('\n');
  };
  return (
    <div class="parameters">
      <label>
        Along
        <select value={x} onChange={({ currentTarget }) => choose({ x: currentTarget.value })}>
          {columns.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        Group by
        <select value={group ?? ''} onChange={({ currentTarget }) => choose({ group: currentTarget.value })}>
          <option value="">nothing</option>
          {groupsOf(columns)
            .filter(({ name }) => name !== x)
            .map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
        </select>
      </label>
      <fieldset>
        <legend>Numbers</legend>
        {numbersOf(columns)
          .filter(({ name }) => name !== x)
          .map(({ name }) => (
            <button
              key={name}
              type="button"
              aria-pressed={y.includes(name)}
              onClick={() => choose({ y: toggled(name) })}
            >
              <bdi>{name}</bdi>
            </button>
          ))}
      </fieldset>
    </div>
  );
}

const MARGIN = { top: 16, right: 8, bottom: 24, left: 56 };
const HEIGHT = 260;

function Lines({ data }: { data: ChartData }) {
  const { holder, width, drawing } = useDrawing((width) => drawLines(data, width), [data]);
  const { xs, kind, series, points } = data;
  const [first = 0, last = 0] = [Number(xs[0]), Number(xs.at(-1))];
  const inside = width - MARGIN.left - MARGIN.right;
  const leftOf = (x: number) => MARGIN.left + (last === first ? 0.5 : (x - first) / (last - first)) * inside;
  const nearest = (event: PointerEvent) => {
    const from = event.clientX - (event.currentTarget as Element).getBoundingClientRect().left;
    const distance = (x: string | number) => Math.abs(leftOf(Number(x)) - from);
    return xs.reduce<number>((best, x, index) => (distance(x) < distance(xs[best] ?? x) ? index : best), 0);
  };
  const { at, reading } = useReading('Chart: use the arrow keys to read its values', xs.length, nearest);
  const x = at === undefined ? undefined : xs[at];
  const left = leftOf(Number(x ?? 0));
  return (
    <div class="chart" ref={holder} {...reading}>
      <div ref={drawing} style={{ minHeight: px(HEIGHT) }} />
      {x !== undefined && (
        <div
          class="tip"
          role="status"
          style={left < width / 2 ? { left: px(left + 16) } : { right: px(width - left + 16) }}
        >
          <b>{xText(x, kind)}</b>
          {series.map((name, index) => (
            <p key={name}>
              {series.length > 1 && <i class="swatch" style={{ background: colorOf(index) }} />}
              <bdi>{name}</bdi>{' '}
              <span>
                {points
                  .filter((point) => point.x === x && point.series === name)
                  .map((point) => valueText(point.y, 'number'))
                  .join(', ') || '–'}
              </span>
            </p>
          ))}
        </div>
      )}
    </div>
  );
}

/** Values of x for ticks, as many as there is room for. */
function ticksOf(xs: readonly (string | number)[], width: number): number[] {
  const [first, last] = [Number(xs[0]), Number(xs.at(-1))];
  const room = (72 / (width - MARGIN.left - MARGIN.right)) * (last - first);
  const ticks: number[] = [];
  for (const x of xs.map(Number)) if (x - (ticks.at(-1) ?? Number.NEGATIVE_INFINITY) >= room) ticks.push(x);
  return ticks;
}

function drawLines({ mark, kind, series, points, xs }: ChartData, width: number) {
  const [first, last] = [Number(xs[0]), Number(xs.at(-1))];
  const format = kind === 'number' ? shortNumber : tickText(last - first);
  const sorted = [...points].sort((one, other) => Number(one.x) - Number(other.x));
  const stroke = ({ series: name }: { series: string }) => colorOf(series.indexOf(name));
  const hasDots = mark === 'dot' || xs.length < 60;
  return Plot.plot({
    className: 'plot',
    width,
    height: HEIGHT,
    marginTop: MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    x: { type: 'linear', domain: first === last ? [first - 1, last + 1] : [first, last], axis: null },
    y: { axis: null, zero: true, nice: true },
    marks: [
      Plot.gridY({ ticks: 5, stroke: 'var(--grid)', strokeOpacity: 1 }),
      Plot.axisY({ ticks: 5, tickSize: 0, tickFormat: shortNumber, fill: 'var(--ink-3)', label: null }),
      Plot.axisX({
        ...(kind === 'number' ? {} : { ticks: ticksOf(xs, width) }),
        tickSize: 0,
        tickFormat: format,
        fill: 'var(--ink-3)',
        label: null,
      }),
      ...(mark === 'dot'
        ? []
        : [Plot.lineY(sorted, { x: 'x', y: 'y', z: 'series', stroke, strokeWidth: 1.5 })]),
      ...(hasDots ? [Plot.dot(sorted, { x: 'x', y: 'y', r: 2.5, fill: stroke })] : []),
    ],
    color: { type: 'identity' },
  });
}

const BAR = 20;
const GROUPED_BAR = 14;
const LABEL_CHARACTERS = 28;

function Bars({ data }: { data: ChartData }) {
  return <Drawing draw={(width) => drawBars(data, width)} of={[data]} />;
}

/** Draws a bar for each category and series, with its number at the end. */
function drawBars({ series, points, xs }: ChartData, width: number) {
  const isGrouped = series.length > 1;
  const height = 8 + xs.length * (isGrouped ? series.length * GROUPED_BAR + 8 : BAR + 4);
  const left = Math.min(200, width * 0.36);
  const short = (name: string) => shortened(name, Math.min(LABEL_CHARACTERS, Math.floor(left / 7)));
  const bands = isGrouped ? { fy: 'x', y: 'series' } : { y: 'x' };
  const categories = { domain: [...xs], padding: isGrouped ? 0.1 : 0.15, axis: null };
  const label = { tickSize: 0, tickFormat: short, fill: 'var(--ink)', label: null, fontSize: 12 };
  const isNegative = points.some(({ y }) => y < 0);
  return Plot.plot({
    className: 'plot',
    width,
    height,
    marginTop: 4,
    marginBottom: 4,
    marginLeft: left,
    marginRight: 56,
    x: { axis: null, zero: true },
    ...(isGrouped
      ? { fy: categories, y: { domain: [...series], axis: null, padding: 0.1 } }
      : { y: categories }),
    marks: [
      isGrouped ? Plot.axisFy({ ...label, anchor: 'left' }) : Plot.axisY(label),
      ...(isNegative ? [Plot.ruleX([0], { stroke: 'var(--line-strong)' })] : []),
      Plot.barX(points, {
        ...bands,
        x: 'y',
        fill: ({ series: name }: { series: string }) => colorOf(series.indexOf(name)),
      }),
      Plot.text(points, {
        ...bands,
        x: ({ y }: { y: number }) => Math.max(y, 0),
        text: ({ y }: { y: number }) => shortNumber(y),
        textAnchor: 'start',
        dx: 4,
        fill: 'var(--ink-2)',
      }),
    ],
    color: { type: 'identity' },
  });
}
