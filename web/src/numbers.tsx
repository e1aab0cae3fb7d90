import { Fragment } from 'preact';
import { type Address, FILTERS, go, hrefOf, isFiltered, rangeOf } from './address.js';
import { useSettled } from './client.js';
import { DayChart, tableOf } from './day-chart.js';
import { daysOf, missingIn } from './days.js';
import { COST, figuresOf } from './figures.js';
import { figure, nameOf } from './format.js';
import { sentenceOf } from './glossary.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { Strip } from './strip.js';
import { type SummaryRow, useDailySummary, useTotal } from './summary.js';
import { numberOf, type OpenDay } from './today.js';

interface NumbersProps extends RangeProps {
  readonly open?: OpenDay | undefined;
  /** Whether the numbers are the reader's own. */
  readonly isOwn?: boolean;
}

/** The numbers of the range, and a chart of the chosen one. */
export function Numbers({ address, last, open, isOwn = false }: NumbersProps) {
  const range = rangeOf(address, last);
  const total = useTotal(address, last);
  const daily = useDailySummary(address, last);
  const shown = useSettled(
    figuresOf(address, isOwn || address.fixed?.user_id !== undefined),
    total.isLoading,
  );
  const named = (wanted: string | undefined) => shown.find(({ member }) => member === wanted);
  const { member, name, term = name, unit } = named(address.choices.metric) ?? named('cost_usd') ?? COST;
  const rows = new Map(daily.answer?.data.map((row) => [row.date, row]));
  const valuesOf = (pick: (row: SummaryRow) => number | null | undefined) =>
    daysOf(range).map((day) => {
      const row = rows.get(day);
      return row === undefined ? null : (pick(row) ?? null);
    });
  // The open day is only counted for the whole organization.
  const found = isFiltered(address) || open === undefined ? null : numberOf(open, member);
  const today = found === null ? [] : [found];
  const values = [...valuesOf((row) => row[member]), ...today];
  const chart = {
    range,
    open: today.length === 0 ? undefined : open?.day,
    unbuilt: missingIn(range, daily.answer?.data),
    unit,
    series: [{ name, color: '--accent', values, mark: 'column' as const }],
    before: valuesOf((row) => row.previous?.[member]),
  };
  // People and ratios of days don't add up.
  const isSummed =
    unit !== 'ratio' && unit !== 'rate' && member !== 'active_users' && member !== 'active_days';
  const sumText = (days: readonly (number | null)[]) => {
    const known = days.filter((value) => value !== null);
    if (!isSummed || known.length === 0) return '';
    return `: ${figure(
      known.reduce((sum, value) => sum + value, 0),
      unit,
    )}`;
  };
  return (
    <>
      <Strip address={address} range={range} figures={shown} chosen={member} total={total} daily={daily} />
      <Panel
        name="chosen-number"
        title={`${name} a day`}
        note={
          <>
            <i class="swatch" style={{ background: 'var(--accent)' }} />
            this range{sumText(values.slice(0, chart.before.length))}&ensp;
            <i class="swatch" style={{ background: 'var(--before-fill)' }} />
            same weekdays, 4 weeks before{sumText(chart.before)}
          </>
        }
        asked={daily}
        table={daily.answer && tableOf(chart, isSummed)}
        definition="report/summary"
        span={12}
      >
        <p class="note meaning">
          {sentenceOf(term)}{' '}
          <a href={hrefOf({ ...address, path: ['numbers'], choices: {} })}>What the numbers mean</a>
        </p>
        {isFiltered(address) && total.answer?.data[0]?.active_days === 0 ? (
          <Nothing address={address} />
        ) : (
          <DayChart
            label={`${name} a day`}
            {...chart}
            isPeakNamed
            onRange={(custom) => go({ ...address, rangeName: 'custom', custom })}
          />
        )}
      </Panel>
    </>
  );
}

/** Offers to remove filters that leave no numbers. */
function Nothing({ address }: { address: Address }) {
  const chosen = FILTERS.flatMap((filter) => {
    const values = address.filters[filter];
    return values === undefined ? [] : [values.map((value) => nameOf(filter, value))];
  });
  return (
    <p class="nothing" role="status">
      Nothing in this range is of{' '}
      {chosen.map((values, index) => (
        <Fragment key={index}>
          {index > 0 && ' and '}
          {values.map((value, place) => (
            <Fragment key={value}>
              {place > 0 && ' or '}
              <bdi>{value}</bdi>
            </Fragment>
          ))}
        </Fragment>
      ))}
      .{' '}
      <a href={hrefOf({ ...address, filters: {} })}>
        Remove {chosen.flat().length === 1 ? 'the filter' : 'all filters'}
      </a>
    </p>
  );
}
