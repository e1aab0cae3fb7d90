import * as Plot from '@observablehq/plot';
import { go } from './address.js';
import { Drawing } from './drawing.js';
import { exactly, shortened, tick } from './format.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { ROWS, useSummary } from './summary.js';

/** How many active days people need to be shown: a single long session says nothing. */
const DAYS = 3;
const HEIGHT = 220;

interface Dot {
  readonly name: string;
  readonly ratio: number;
  readonly cost: number;
}

/** People by their autonomy and cost. */
export function PeopleDots({ address, last }: RangeProps) {
  const asked = useSummary(address, last, { groupBy: 'user', sort: 'cost_usd', limit: ROWS });
  const people = (asked.answer?.data ?? []).filter(({ active_days }) => active_days >= DAYS);
  const dots: Dot[] = people.flatMap(({ group_key, autonomy_ratio, cost_usd }) =>
    autonomy_ratio !== null && cost_usd !== null && cost_usd > 0
      ? [{ name: group_key ?? '', ratio: autonomy_ratio, cost: cost_usd }]
      : [],
  );
  const left = people.length - dots.length;
  const open = (name: string) => go({ ...address, path: ['people'], choices: { name } });
  return (
    <Panel
      name="autonomy-against-cost"
      title="Autonomy against cost"
      note={`one dot a person with ${DAYS} days or more; cost is logarithmic${left > 0 ? `; ${exactly(left, 'count')} without a cost left out` : ''}${asked.answer?.meta.has_more ? '; the 1,000 with the highest cost' : ''}`}
      asked={asked}
      table={
        asked.answer && {
          columns: ['Person', 'Calls a turn', 'Cost'],
          dollars: ['Cost'],
          rows: dots.map(({ name, ratio, cost }) => [name, ratio, cost]),
        }
      }
      definition="report/summary"
      span={12}
    >
      <Drawing draw={(width) => draw(dots, width)} of={[asked.answer]} height={HEIGHT} onName={open} />
    </Panel>
  );
}

/** The size of a name, in pixels. */
const NAME = { width: 96, height: 16 };

/** The positions of names above their dots. Names near an edge are moved away from it. */
const ANCHORS = [
  ['start', -4],
  ['middle', 0],
  ['end', 4],
] as const;

/** The people at the edges, who are named if there is room. */
function extremes(dots: readonly Dot[], width: number): (Dot & { anchor: (typeof ANCHORS)[number][0] })[] {
  const most = (of: (dot: Dot) => number) => [...dots].sort((one, other) => of(other) - of(one));
  /** The position of a dot's value within the range of all dots' values. */
  const shareOf = (of: (dot: Dot) => number) => {
    const all = dots.map(of);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return (dot: Dot) => (of(dot) - low) / (high - low || 1);
  };
  const ratio = shareOf((dot) => dot.ratio);
  const cost = shareOf((dot) => Math.log(dot.cost));
  const named: Dot[] = [];
  for (const dot of [
    ...most((one) => one.ratio).slice(0, 4),
    ...most((one) => one.cost).slice(0, 3),
    ...most((one) => -one.ratio).slice(0, 1),
  ])
    if (
      named.every(
        (other) =>
          Math.abs(ratio(dot) - ratio(other)) * width > NAME.width ||
          Math.abs(cost(dot) - cost(other)) * HEIGHT > NAME.height,
      )
    )
      named.push(dot);
  const edge = NAME.width / 2 / width;
  return named.map((dot) => ({
    ...dot,
    anchor: ratio(dot) < edge ? 'start' : ratio(dot) > 1 - edge ? 'end' : 'middle',
  }));
}

/** Two grid lines for each power of ten, or three if those would be few. */
function linesOf(least: number, most: number): number[] {
  const [few = [], many = []] = [
    [1, 3],
    [1, 2, 5],
  ].map((steps) =>
    [0.1, 1, 10, 100, 1000, 10_000]
      .flatMap((power) => steps.map((step) => step * power))
      .filter((line) => line >= least && line <= most),
  );
  return few.length < 3 ? many : few;
}

function draw(dots: readonly Dot[], width: number): Element {
  const ratios = dots.map(({ ratio }) => ratio).sort((a, b) => a - b);
  const median = ratios[Math.floor(ratios.length / 2)];
  const costs = dots.map(({ cost }) => cost);
  const lines = linesOf(Math.min(...costs), Math.max(...costs));
  const named = extremes(dots, width);
  const plot = Plot.plot({
    className: 'plot',
    width,
    height: HEIGHT,
    marginTop: 24,
    marginLeft: 48,
    marginRight: 40,
    marginBottom: 32,
    x: { axis: null, nice: true },
    y: { type: 'log', axis: null },
    marks: [
      Plot.gridY(lines, { stroke: 'var(--grid)', strokeOpacity: 1 }),
      // An axis would only label powers of ten.
      Plot.text(lines, {
        y: (line) => line,
        text: (line) => tick(line, 'dollars'),
        ...{ frameAnchor: 'left', textAnchor: 'end', dx: -8, fill: 'var(--ink-3)' },
      }),
      Plot.axisX({
        ticks: Math.max(2, Math.floor(width / 100)),
        ...{ tickSize: 0, fill: 'var(--ink-3)', label: 'tool calls a turn', labelArrow: 'none' },
      }),
      ...(median === undefined
        ? []
        : [
            Plot.ruleX([median], { stroke: 'var(--before)', strokeDasharray: '3 3' }),
            Plot.text([median], {
              x: (value) => value,
              frameAnchor: 'top',
              dy: -14,
              text: (value) => `median ${tick(Math.round(value * 10) / 10, 'ratio')}`,
              fill: 'var(--ink-3)',
            }),
          ]),
      Plot.dot(dots, {
        x: 'ratio',
        y: 'cost',
        r: 3.5,
        fill: 'var(--accent)',
        fillOpacity: 0.75,
        title: ({ name, ratio, cost }) =>
          `${name}: ${exactly(ratio, 'ratio')} calls a turn, ${exactly(cost, 'dollars')}`,
        className: 'people',
      }),
      ...ANCHORS.map(([textAnchor, dx]) =>
        Plot.text(
          named.filter(({ anchor }) => anchor === textAnchor),
          {
            ...{ x: 'ratio', y: 'cost', textAnchor, dx, dy: -10 },
            // Keeps the text readable over other dots.
            ...{ fill: 'var(--ink)', stroke: 'var(--surface)', strokeWidth: 4 },
            text: ({ name }) => shortened(name),
          },
        ),
      ),
    ],
  });
  const circles = plot.querySelectorAll<SVGCircleElement>('.people circle');
  dots.forEach(({ name }, index) => {
    const circle = circles[index];
    if (circle !== undefined) circle.dataset.name = name;
  });
  return plot;
}
