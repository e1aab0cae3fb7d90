import { type Address, hrefOf } from './address.js';
import type { Asked } from './client.js';
import { daysOf, type Range } from './days.js';
import type { Figure } from './figures.js';
import { changeIn, figure } from './format.js';
import { Problem, TableOf, useSource } from './panel.js';
import type { Numbers, Summary } from './summary.js';

interface StripProps {
  readonly address: Address;
  readonly range: Range;
  readonly figures: readonly Figure[];
  readonly chosen: keyof Numbers;
  /** One row: the range. */
  readonly total: Asked<Summary>;
  /** A row per day. */
  readonly daily: Asked<Summary>;
}

/** The numbers of the range, each with its change, a line of its days, and a link that shows it in the chart below. */
export function Strip({ address, range, figures, chosen, total, daily }: StripProps) {
  const [row] = total.answer?.data ?? [];
  const rows = new Map(daily.answer?.data.map((one) => [one.date, one]));
  const days = daysOf(range).map((day) => rows.get(day));
  const table = row && {
    columns: ['Number', 'Range', 'Before'],
    rows: figures.map(({ member, name }) => [name, row[member], row.previous?.[member] ?? null]),
  };
  const { dots, shown, below } = useSource({
    ...{ name: 'numbers', asked: total, table, definition: 'report/summary' },
  });
  return (
    <section class="numbers">
      {dots}
      {total.error !== undefined ? (
        <Problem error={total.error} again={total.again} />
      ) : (
        <figure data-chart="numbers" class={total.isLoading ? 'loading' : ''} aria-busy={total.isLoading}>
          <nav class="strip" aria-label="Numbers of the range">
            {figures.map(({ member, name, label = name, unit }) => (
              <a
                key={member}
                href={hrefOf({ ...address, choices: { ...address.choices, metric: member } })}
                aria-current={member === chosen ? 'true' : undefined}
                data-figure={member}
                data-value={row?.[member]}
              >
                <p class="what">{label}</p>
                <p class="figure">{figure(row?.[member], unit)}</p>
                <p class="change">
                  {row?.previous && (
                    <>
                      <span>{changeIn(unit, row[member], row.previous[member])}</span>{' '}
                      <span>from {figure(row.previous[member], unit)}</span>
                    </>
                  )}
                  {'\u00a0'}
                </p>
                <Spark
                  now={smooth(days.map((one) => one?.[member] ?? null))}
                  before={smooth(days.map((one) => one?.previous?.[member] ?? null))}
                />
              </a>
            ))}
          </nav>
          {table && (
            <TableOf table={table} isShown={shown === 'table'} isTwin caption="numbers of the range" />
          )}
        </figure>
      )}
      {below}
    </section>
  );
}

/** The most days that are shown unsmoothed: in a longer range, weekends would hide everything else. */
const UNSMOOTHED = 13;

/** The mean of the known values in the seven days up to each day. The first seven days share one mean. */
function smooth(values: readonly (number | null)[]): readonly (number | null)[] {
  if (values.length <= UNSMOOTHED) return values;
  return values.map((_, index) => {
    const known = values
      .slice(Math.max(0, index - 6), Math.max(7, index + 1))
      .filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
  });
}

/** Lines without axes. They start at nine tenths of their lowest value. */
export function Spark({
  now,
  before = [],
}: {
  now: readonly (number | null)[];
  before?: readonly (number | null)[];
}) {
  const known = [...now, ...before].filter((value) => value !== null);
  const low = 0.9 * Math.min(...known);
  const high = Math.max(...known);
  const path = (values: readonly (number | null)[]) =>
    values
      .map((value, index) =>
        value === null
          ? ''
          : `${index === 0 || values[index - 1] == null ? 'M' : 'L'}${((100 * index) / Math.max(1, values.length - 1)).toFixed(1)} ${(22 - (20 * (value - low)) / (high - low || 1)).toFixed(1)}`,
      )
      .join('');
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      {known.length > 0 && (
        <>
          <path d={path(before)} stroke="var(--before)" vector-effect="non-scaling-stroke" />
          <path d={path(now)} stroke="var(--accent)" vector-effect="non-scaling-stroke" />
        </>
      )}
    </svg>
  );
}
