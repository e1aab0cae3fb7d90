import { useState } from 'preact/hooks';
import { type Address, type Filter, hrefOf, isChosen, toggled } from './address.js';
import { DayChart, type DayChartProps, type Ends } from './day-chart.js';
import { px } from './drawing.js';
import { nameOf } from './format.js';
import { JOINED } from './summary.js';

interface Entry {
  readonly name: string;
  readonly color: string;
  readonly text?: string;
}

/** The names of colours, with their numbers. A click filters, if the chart has a filter. */
export function Legend({
  address,
  filter,
  entries,
}: {
  address?: Address;
  filter?: Filter;
  entries: readonly Entry[];
}) {
  return (
    <ul class="legend">
      {entries.map(({ name, color, text }) => {
        const label = (
          <>
            <i class="swatch" style={{ background: `var(${color})` }} />
            <bdi>{filter === undefined ? name : nameOf(filter, name)}</bdi>
            {text !== undefined && <span class="note">{text}</span>}
          </>
        );
        return (
          <li key={name}>
            {filter === undefined || address === undefined || name === 'others' || name === JOINED ? (
              <span>{label}</span>
            ) : (
              <a
                href={hrefOf(toggled(address, filter, name))}
                title={name}
                aria-current={isChosen(address, filter, name) ? 'true' : undefined}
              >
                {label}
              </a>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** The height of a name beside a chart, in pixels. */
const LINE = 20;

/** The distances from the top at which names begin, each as near to the end of its series as possible. */
function topsOf(ends: readonly number[], height: number): number[] {
  const tops: number[] = [];
  for (const end of ends) tops.push(Math.max(end - LINE / 2, (tops.at(-1) ?? -LINE) + LINE));
  let room = height;
  for (let index = tops.length - 1; index >= 0; index -= 1) {
    room = Math.min(room - LINE, tops[index] ?? 0);
    tops[index] = room;
  }
  return tops;
}

/** A chart with the name and number of each series at its end. */
export function LabelledChart({
  entries,
  ...chart
}: DayChartProps & { readonly entries: readonly Entry[]; readonly height: number }) {
  const [ends, setEnds] = useState<Ends>(new Map());
  return (
    <div class="beside">
      <DayChart {...chart} onDrawn={setEnds} />
      <EndNames entries={entries} ends={ends} height={chart.height} />
    </div>
  );
}

interface EndNamesProps {
  readonly entries: readonly (Entry & { readonly href?: string | undefined })[];
  readonly ends: Ends;
  /** The height of the chart in pixels. */
  readonly height: number;
}

/** The names of series beside a chart, each as near to its end as possible. */
export function EndNames({ entries, ends, height }: EndNamesProps) {
  const endOf = ({ name }: Entry) => ends.get(name) ?? 0;
  const sorted = [...entries].sort((one, other) => endOf(one) - endOf(other));
  const tops = topsOf(sorted.map(endOf), height);
  return (
    <ul class="legend ends">
      {sorted.map(({ name, color, text, href }, index) => (
        <li
          key={name}
          style={{ '--top': px((tops[index] ?? 0) - (index === 0 ? 0 : (tops[index - 1] ?? 0) + LINE)) }}
        >
          <i class="swatch" style={{ background: `var(${color})` }} />
          {href === undefined ? (
            name
          ) : (
            <a class="end" href={href}>
              {name}
            </a>
          )}{' '}
          <span class="note">{text}</span>
        </li>
      ))}
    </ul>
  );
}
