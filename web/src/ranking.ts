import { type Address, type Filter, rangeOf } from './address.js';
import { useAnswer } from './client.js';
import type { Day } from './days.js';
import { type Group, type Numbers, type Summary, summaryPath } from './summary.js';

/** How many groups of a chart have a colour of their own; the last colour is for all others. */
export const COLORED = 5;
const COLORS = ['--c1', '--c2', '--c3', '--c4', '--c5'];
export const OTHERS = '--c6';

/** The groups with a colour: by rank over the range without the filter by this group, so that colours stay while it is filtered. */
export function useRanking(
  address: Address,
  last: Day,
  group: Group,
  filter: Filter,
  sort: keyof Numbers,
): readonly string[] {
  const { [filter]: _, ...filters } = address.filters;
  const { answer } = useAnswer<Summary>(
    summaryPath(
      rangeOf(address, last),
      { ...filters, ...address.fixed },
      { groupBy: group, sort, limit: COLORED + 1 },
    ),
  );
  return (answer?.data ?? []).map(({ group_key }) => group_key ?? '');
}

export function colorOf(ranking: readonly string[], name: string): string {
  return COLORS[ranking.indexOf(name)] ?? OTHERS;
}
