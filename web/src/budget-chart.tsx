import * as Plot from '@observablehq/plot';
import { type Address, hrefOf } from './address.js';
import type { Answers } from './answers.js';
import { type Budget, type BudgetsAnswer, useBudgets } from './budgets.js';
import { analyticsPath, together, useAnswer, useFresh } from './client.js';
import { addDays, type Day, daysOf, monthOf, type Range } from './days.js';
import { px, useDrawing, useReading } from './drawing.js';
import { dayText, exactly, figure, longMonth, tick } from './format.js';
import { Panel, type Table } from './panel.js';
import { may, type Session } from './session.js';
import { ROWS } from './summary.js';

type Costs = Answers['getAnalyticsCosts'];

interface BudgetPanelProps {
  readonly address: Address;
  readonly last: Day;
  readonly session: Session;
  /** Whose budget it is: the organization's unless a team is named, or the reader's own. */
  readonly team?: string;
  readonly isOwn?: boolean;
  readonly span?: 6 | 8 | 12;
  readonly height?: number;
}

/** How a month goes on, day by day: sums of its costs, null where they aren't known. */
interface Course {
  readonly days: readonly Day[];
  readonly sums: readonly (number | null)[];
  /** The same of the month before, on the same days of the month. */
  readonly before: readonly (number | null)[];
  readonly budget: Budget | undefined;
}

/** Whether a budget of this month will hold, and how the month has gone so far. */
export function BudgetPanel(props: BudgetPanelProps) {
  const { address, last, session, team, isOwn = false, span = 12, height = 220 } = props;
  const all = useBudgets(!isOwn);
  const own = useFresh<BudgetsAnswer>(isOwn ? 'api/v1/analytics/me/budget' : undefined);
  const budgets = isOwn ? own : all;
  const { data = [], meta } = budgets.answer ?? {};
  const budget = isOwn
    ? data[0]
    : data.find(({ scope, name }) =>
        team === undefined ? scope === 'organization' : scope === 'team' && name === team,
      );
  // Days of a group of people aren't told where people are protected.
  const hasDays = team === undefined || may(session, 'see people by name');
  const month = meta && monthRange(meta.month);
  const costs = useAnswer<Costs>(
    month === undefined || !hasDays || monthBefore(month).from > last
      ? undefined
      : analyticsPath(
          'costs',
          { from: monthBefore(month).from, to: month.to < last ? month.to : last },
          { limit: ROWS, team },
        ),
  );
  const asked = hasDays ? together(budgets, costs) : budgets;
  const isKnown = budgets.answer !== undefined && (!hasDays || !costs.isLoading);
  const course = month && courseOf(month, last, costs.answer?.data ?? [], budget);
  return (
    <Panel
      name="budget"
      title="Will the budget hold?"
      note={month && longMonth(month.from)}
      asked={asked}
      table={isKnown && course !== undefined ? tableOf(course) : undefined}
      definition="report/budgets"
      span={span}
    >
      {isKnown && course !== undefined && hasDays && <BudgetChart {...course} height={height} />}
      {isKnown && month !== undefined && (
        <p class="answer-text">
          {budget === undefined ? (
            <NoBudget session={session} address={address} isOwn={isOwn} />
          ) : (
            <>
              <Verdict budget={budget} end={month.to} />{' '}
              <a href={hrefOf({ ...address, path: ['numbers'], choices: {} })}>How</a>
            </>
          )}
        </p>
      )}
    </Panel>
  );
}

function NoBudget({ session, address, isOwn }: Pick<BudgetPanelProps, 'session' | 'address' | 'isOwn'>) {
  if (isOwn) return <>You have no budget.</>;
  return may(session, 'manage budgets') ? (
    <>
      There is no budget.{' '}
      <a href={hrefOf({ ...address, path: ['operations', 'budgets'], choices: {} })}>Set a budget</a>
    </>
  ) : (
    <>There is no budget: an owner can set one.</>
  );
}

/** The answer first, then what it is made of. */
function Verdict({ budget, end }: { budget: Budget; end: Day }) {
  const { state, spent_usd, budget_usd, forecast_usd, forecast_low_usd, forecast_high_usd } = budget;
  const usd = (value: number | null) => figure(value, 'dollars');
  if (state === 'not_shown') return <>It isn’t shown, because it is of few people.</>;
  const spent = `${usd(spent_usd)} of ${usd(budget_usd)} is spent`;
  const over = (forecast_usd ?? 0) - budget_usd;
  const about = `about ${usd(forecast_usd)} by ${dayText(end)}, ${over > 0 ? `${usd(over)} over` : `${usd(-over)} below`}`;
  const between =
    forecast_low_usd === null || budget.left_days === 0
      ? ''
      : ` In trials, about 9 of 10 months ended within such a range: ${usd(forecast_low_usd)} to ${usd(forecast_high_usd)}.`;
  if (budget.left_days === 0)
    return (
      <>
        <b>{state === 'above' ? 'No' : 'Yes'}:</b> {spent}.
      </>
    );
  if (state === 'above')
    return (
      <>
        <b>No:</b> {spent}
        {budget.all_on !== null && `, passed on ${dayText(budget.all_on)}`}. About {usd(forecast_usd)} by{' '}
        {dayText(end)}.{between}
      </>
    );
  if (state === 'too_early')
    return (
      <>
        <b>Too early to say:</b> {about}. Fewer than 15 days are built, so it may be far off.
      </>
    );
  return (
    <>
      <b>{state === 'holds' ? 'Yes:' : over > 0 ? 'No:' : 'Perhaps not:'}</b> {about}.{between}
    </>
  );
}

/** The days of a month `YYYY-MM`. */
function monthRange(month: string): Range {
  const from = `${month}-01`;
  return { from, to: addDays(monthOf(addDays(from, 31)), -1) };
}

function monthBefore({ from }: Range): Range {
  const to = addDays(from, -1);
  return { from: monthOf(to), to };
}

function courseOf(month: Range, last: Day, rows: Costs['data'], budget: Budget | undefined): Course {
  const days = daysOf(month);
  const byDay = new Map(rows.map(({ date, cost_usd }) => [date, cost_usd ?? 0]));
  const [first = last] = [...byDay.keys()].sort();
  const sumsOf = (range: Range) => {
    let sum = 0;
    return daysOf(range).map((day) => {
      sum += byDay.get(day) ?? 0;
      return day < first || day > last ? null : sum;
    });
  };
  const before = sumsOf(monthBefore(month));
  return {
    ...{ days, budget, sums: sumsOf(month) },
    before: days.map((_, place) => before[place] ?? null),
  };
}

function tableOf({ days, sums, before, budget }: Course): Table {
  const columns = ['Sum', 'Last month', 'Forecast', 'Low', 'High'];
  const ends = [budget?.forecast_usd, budget?.forecast_low_usd, budget?.forecast_high_usd];
  return {
    columns: ['Day', ...columns],
    dollars: columns,
    rows: days.map((day, place) => [
      ...[day, sums[place] ?? null, before[place] ?? null],
      ...ends.map((end) => (place === days.length - 1 ? (end ?? null) : null)),
    ]),
  };
}

const MARGIN = { top: 20, right: 12, bottom: 24, left: 52 };

/** The sums of a month as a line, with a forecast of its end. */
function BudgetChart({ height, ...course }: Course & { readonly height: number }) {
  const { days, sums, before } = course;
  const { holder, drawing, width } = useDrawing(
    (wide) => draw(course, wide, height),
    [height, JSON.stringify(course)],
  );
  const placeAt = (event: PointerEvent) => {
    const { left, width: whole } = (event.currentTarget as Element).getBoundingClientRect();
    const share = (event.clientX - left - MARGIN.left) / (whole - MARGIN.left - MARGIN.right);
    return Math.min(days.length - 1, Math.max(0, Math.round(share * (days.length - 1))));
  };
  const { at, reading } = useReading(
    'Will the budget hold: use the arrow keys to read its days',
    days.length,
    placeAt,
  );
  const leftOf = (place: number) =>
    MARGIN.left + (place / (days.length - 1)) * (width - MARGIN.left - MARGIN.right);
  return (
    <div ref={holder} class="chart" {...reading}>
      <div ref={drawing} style={{ minHeight: px(height) }} />
      {at !== undefined && (
        <div
          class="tip"
          role="status"
          style={
            leftOf(at) < width / 2 ? { left: px(leftOf(at) + 8) } : { right: px(width - leftOf(at) + 8) }
          }
        >
          <b>{dayText(days[at] ?? '')}</b>
          <p>
            so far <span>{exactly(sums[at], 'dollars')}</span>
          </p>
          <p class="note">last month: {exactly(before[at], 'dollars')}</p>
        </div>
      )}
    </div>
  );
}

interface Point {
  readonly place: number;
  readonly usd: number;
}

const pointsOf = (sums: readonly (number | null)[]): Point[] =>
  sums.flatMap((usd, place) => (usd === null ? [] : [{ place, usd }]));

function draw({ days, sums, before, budget }: Course, width: number, height: number) {
  const end = days.length - 1;
  const so = pointsOf(sums);
  const last = pointsOf(before);
  const from = so.at(-1);
  const { forecast_usd = null, forecast_low_usd: low = null, forecast_high_usd: high = null } = budget ?? {};
  const isOpen = from !== undefined && from.place < end && forecast_usd !== null;
  const ends = [...(low === null ? [] : [low]), ...(high === null ? [] : [high]), forecast_usd ?? 0];
  const highest = Math.max(
    ...[...so, ...last].map(({ usd }) => usd),
    ...(isOpen ? ends : []),
    budget?.budget_usd ?? 0,
    1,
  );
  const ticks = [0, 7, 14, 21, end];
  const lastEnd = last.at(-1);
  // Its name stands on the side on which the forecast isn't, and not on the names of the days.
  const isAbove =
    lastEnd !== undefined && (lastEnd.usd < highest / 8 || (isOpen && lastEnd.usd > forecast_usd));
  return Plot.plot({
    className: 'plot',
    width,
    height,
    marginTop: MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    x: { domain: [0, end], axis: null },
    y: { domain: [0, highest], nice: true, axis: null },
    marks: [
      ...(isOpen && low !== null && high !== null
        ? [
            Plot.areaY(
              [
                { place: from.place, low: from.usd, high: from.usd },
                { place: end, low, high },
              ],
              { x: 'place', y1: 'low', y2: 'high', fill: 'var(--accent-soft)' },
            ),
          ]
        : []),
      Plot.gridY({ ticks: 4, stroke: 'var(--grid)', strokeOpacity: 1 }),
      Plot.axisY({
        ...{ ticks: 4, tickSize: 0, fill: 'var(--ink-3)', label: null },
        tickFormat: (value: number) => tick(value, 'dollars'),
      }),
      Plot.axisX(ticks, {
        ...{ tickSize: 0, fill: 'var(--ink-3)', label: null },
        tickFormat: (place: number) => dayText(days[place] ?? ''),
        textAnchor: 'middle',
      }),
      Plot.lineY(last, { x: 'place', y: 'usd', stroke: 'var(--before)', strokeWidth: 1.5 }),
      ...(lastEnd === undefined
        ? []
        : [
            Plot.text([lastEnd], {
              ...{ x: 'place', y: 'usd', text: () => 'last month', textAnchor: 'end' as const },
              ...{ dy: isAbove ? -10 : 12, fill: 'var(--ink-3)' },
            }),
          ]),
      ...(isOpen
        ? [
            Plot.lineY([from, { place: end, usd: forecast_usd }], {
              ...{ x: 'place', y: 'usd', stroke: 'var(--accent)', strokeWidth: 2, strokeDasharray: '4 3' },
            }),
          ]
        : []),
      Plot.lineY(so, { x: 'place', y: 'usd', stroke: 'var(--accent)', strokeWidth: 2 }),
      ...(from === undefined
        ? []
        : [Plot.dot([from], { x: 'place', y: 'usd', r: 3, fill: 'var(--accent)' })]),
      ...(budget === undefined
        ? []
        : [
            Plot.ruleY([budget.budget_usd], { stroke: 'var(--ink)', strokeWidth: 1 }),
            Plot.text([budget.budget_usd], {
              ...{ frameAnchor: 'left' as const, y: (usd: number) => usd },
              text: (usd: number) => `budget ${figure(usd, 'dollars')}`,
              ...{ textAnchor: 'start' as const, dx: 4, dy: -8, fontWeight: 600, fill: 'var(--ink)' },
            }),
          ]),
    ],
  });
}
