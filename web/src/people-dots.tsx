import * as Plot from '@observablehq/plot';
import { Drawing } from './drawing.js';
import { tick } from './format.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { useSummary } from './summary.js';

/** On how many days people must have worked to be shown: one long session says nothing. */
const DAYS = 3;
const HEIGHT = 220;

interface Dot {
  readonly name: string;
  readonly ratio: number;
  readonly cost: number;
}

/** Who is autonomous, and at what price. */
export function PeopleDots({ address, last }: RangeProps) {
  const asked = useSummary(address, last, { groupBy: 'user', sort: 'cost_usd', limit: 1000 });
  const dots: Dot[] = (asked.answer?.data ?? []).flatMap((row) =>
    row.active_days >= DAYS && row.autonomy_ratio !== null && row.cost_usd !== null && row.cost_usd > 0
      ? [{ name: row.group_key ?? '', ratio: row.autonomy_ratio, cost: row.cost_usd }]
      : [],
  );
  return (
    <Panel
      name="autonomy-against-cost"
      title="Autonomy against cost"
      note={`one dot a person with ${DAYS} days or more; cost is logarithmic${asked.answer?.meta.has_more ? '; the 1,000 with the highest cost' : ''}`}
      asked={asked}
      table={
        asked.answer && {
          columns: ['Person', 'Calls a turn', 'Cost'],
          rows: dots.map(({ name, ratio, cost }) => [name, ratio, cost]),
        }
      }
      definition="report/summary"
      span={12}
    >
      <Drawing draw={(width) => draw(dots, width)} of={[asked.answer]} height={HEIGHT} />
    </Panel>
  );
}

/** Those at the edges, who have their name beside them if there is room. */
function extremes(dots: readonly Dot[], width: number): Dot[] {
  const most = (of: (dot: Dot) => number) => [...dots].sort((one, other) => of(other) - of(one));
  const widest = Math.max(...dots.map(({ ratio }) => ratio));
  const named: Dot[] = [];
  for (const dot of [...most(({ ratio }) => ratio).slice(0, 4), ...most(({ cost }) => cost).slice(0, 3)])
    if (named.every(({ ratio }) => (Math.abs(ratio - dot.ratio) / widest) * width > 90)) named.push(dot);
  return named;
}

function draw(dots: readonly Dot[], width: number): Element {
  const ratios = dots.map(({ ratio }) => ratio).sort((a, b) => a - b);
  const median = ratios[Math.floor(ratios.length / 2)];
  const costs = dots.map(({ cost }) => cost);
  const lines = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000].filter(
    (line) => line >= Math.min(...costs) && line <= Math.max(...costs),
  );
  return Plot.plot({
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
      Plot.axisY(lines, {
        ...{ tickSize: 0, fill: 'var(--ink-3)', label: null },
        tickFormat: (value: number) => tick(value, 'dollars'),
      }),
      Plot.axisX({ tickSize: 0, fill: 'var(--ink-3)', label: 'tool calls a turn', labelArrow: 'none' }),
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
        title: 'name',
      }),
      Plot.text(extremes(dots, width), { x: 'ratio', y: 'cost', text: 'name', dy: -10, fill: 'var(--ink)' }),
    ],
  });
}
