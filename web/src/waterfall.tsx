import * as Plot from '@observablehq/plot';
import { Drawing } from './drawing.js';
import { amount, moved } from './format.js';

/** A step of a change. The first and the last one are what was before and what is now, the others lead from one to the other. */
export interface Step {
  readonly key: string;
  readonly name: string;
  /** Its name where there is little room. */
  readonly short: string;
  readonly usd: number;
}

/** A step as it is drawn. */
interface Column {
  readonly key: string;
  readonly low: number;
  readonly high: number;
  /** Where the next step begins. */
  readonly level: number;
  readonly text: string;
  readonly kind: 'before' | 'more' | 'less' | 'now';
}

const HEIGHT = 260;
const TOP = 20;
const BOTTOM = 36;
/** The width in pixels below which columns have their short names. */
const NARROW = 460;

/** Columns that lead from what was before to what is now. A step up is filled, one down is hollow. */
export function Waterfall({ steps }: { steps: readonly Step[] }) {
  return <Drawing draw={(width) => draw(steps, width)} of={[JSON.stringify(steps)]} height={HEIGHT} />;
}

function draw(steps: readonly Step[], width: number): Element {
  const columns = columnsOf(steps);
  const floor = floorOf(columns);
  const keys = steps.map(({ key }) => key);
  const names = new Map(steps.map(({ key, name, short }) => [key, width < NARROW ? short : name]));
  const ofKind = (kind: Column['kind']) => columns.filter((one) => one.kind === kind);
  const bar = (kind: Column['kind'], more: Plot.BarYOptions) =>
    Plot.barY(ofKind(kind), {
      ...{ x: 'key', y1: ({ low }: Column) => Math.max(low, floor), y2: 'high', className: kind },
      ...more,
    });
  const step = width / keys.length;
  const plot = Plot.plot({
    className: 'plot',
    ...{ width, height: HEIGHT, marginTop: TOP, marginBottom: BOTTOM, marginLeft: 0, marginRight: 0 },
    x: { type: 'band', domain: keys, padding: 0.35, axis: null },
    y: { domain: [floor, Math.max(...columns.map(({ high }) => high), floor + 0.01)], axis: null },
    marks: [
      Plot.link(columns.slice(0, -1), {
        ...{ x1: 'key', x2: (_: Column, index: number) => keys[index + 1], y1: 'level', y2: 'level' },
        stroke: 'var(--line-strong)',
      }),
      bar('before', { fill: 'var(--before-fill)' }),
      bar('now', { fill: 'var(--accent)' }),
      bar('more', { fill: 'var(--a2)' }),
      bar('less', { fill: 'var(--surface)', stroke: 'var(--a2)', strokeWidth: 1.5, inset: 0.75 }),
      Plot.ruleY([floor], { stroke: 'var(--line-strong)' }),
      Plot.text(columns, {
        ...{ x: 'key', y: 'high', text: 'text', dy: -9, fill: 'var(--ink)', fontSize: 11, fontWeight: 600 },
      }),
      Plot.axisX(keys, {
        ...{ tickSize: 0, label: null, fill: 'var(--ink-3)', fontSize: 11, lineWidth: step / 11 },
        tickFormat: (key: string) => names.get(key) ?? '',
      }),
    ],
  });
  if (floor > 0) for (const column of plot.querySelectorAll('.before rect, .now rect')) cut(column);
  return plot;
}

/** Shows that a column doesn't begin at zero. */
function cut(column: Element): void {
  const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) =>
    Number(column.getAttribute(name)),
  );
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  const tooth = Number(width) / 6;
  path.setAttribute('class', 'cut');
  path.setAttribute(
    'd',
    `M${Number(x) - 1} ${Number(y) + Number(height) - 10}${`l${tooth} -4l${tooth} 4`.repeat(3)}l2 0`,
  );
  column.after(path);
}

/** Where the columns begin: at zero, unless that would leave the steps no height. */
function floorOf(columns: readonly Column[]): number {
  const levels = columns.map(({ level }) => level);
  const [low, high] = [Math.min(...levels), Math.max(...levels)];
  const room = Math.max(high - low, 0.05 * high);
  return low < 2 * room ? Math.min(0, low) : low - 0.8 * room;
}

function columnsOf(steps: readonly Step[]): readonly Column[] {
  const texts = textsOf(steps);
  let level = 0;
  return steps.map(({ key, usd }, index) => {
    const isEnd = index === 0 || index === steps.length - 1;
    const from = isEnd ? 0 : level;
    level = from + usd;
    return {
      ...{ key, low: Math.min(from, level), high: Math.max(from, level), level, text: texts[index] ?? '' },
      kind: index === 0 ? 'before' : isEnd ? 'now' : usd < 0 ? 'less' : 'more',
    };
  });
}

/** Amounts from here on are rounded to whole dollars. */
const WHOLE = 100;

/** The amounts, rounded so that those shown add up: what rounding leaves over goes to the steps that lost most. */
function textsOf(steps: readonly Step[]): readonly string[] {
  const [first, ...others] = steps;
  const last = others.pop();
  if (first === undefined || last === undefined) return [];
  const unit = Math.max(first.usd, last.usd) >= WHOLE ? 1 : 0.01;
  const units = (usd: number) => Math.round(usd / unit);
  const floors = others.map(({ usd }) => Math.floor(usd / unit));
  const left = units(last.usd) - units(first.usd) - floors.reduce((sum, one) => sum + one, 0);
  const rest = (index: number) => (others[index]?.usd ?? 0) / unit - (floors[index] ?? 0);
  const raised = floors.map((_, index) => index).sort((one, other) => rest(other) - rest(one));
  for (const index of raised.slice(0, Math.max(0, left))) floors[index] = (floors[index] ?? 0) + 1;
  const end = (usd: number) => amount(usd, unit === 1);
  return [end(first.usd), ...floors.map((one) => moved(one * unit, unit === 1)), end(last.usd)];
}
