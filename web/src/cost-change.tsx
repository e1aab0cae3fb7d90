import { type Address, comparedWith, type Filter, rangeOf } from './address.js';
import { useAnswer } from './client.js';
import type { Day } from './days.js';
import { change, dayText, moved } from './format.js';
import { costMoveOf } from './movers.js';
import { groupOf, ROWS, type Summary, type SummaryRow, summaryPath } from './summary.js';

/** What the service calls the change of a cost where it sorts by it. */
export const CHANGE = 'change';

/** The cells of what a row's cost changed by. */
export function Change({
  row,
  isCompared,
  isSorted,
}: {
  row: SummaryRow;
  isCompared: boolean;
  isSorted: boolean;
}) {
  if (row.previous === null && isCompared && row.data_begins !== null)
    return (
      <td class="number begins" colSpan={2}>
        data begins {dayText(row.data_begins)}: not compared
      </td>
    );
  return (
    <>
      <td class={isSorted ? 'number strong' : 'number'}>{row.previous && moved(costMoveOf(row))}</td>
      <td class="number soft">{change(row.cost_usd, row.previous?.cost_usd)}</td>
    </>
  );
}

/** What all groups together changed by, and how many these are if not all groups are compared; undefined if none is. */
export function useSummed(
  address: Address,
  last: Day,
  filter: Filter,
  total: SummaryRow | undefined,
): { usd: number; groups?: number } | undefined {
  // Only data of teams begin on days of their own.
  const isByTeam = filter === 'team' && total?.previous != null;
  const query = {
    groupBy: groupOf(filter),
    sort: CHANGE,
    limit: ROWS,
    compare: comparedWith(address),
  } as const;
  const { answer } = useAnswer<Summary>(
    isByTeam ? summaryPath(rangeOf(address, last), address.filters, query) : undefined,
  );
  if (total?.previous == null || (isByTeam && answer === undefined)) return undefined;
  const compared = answer?.data.filter(({ previous }) => previous !== null) ?? [];
  if (answer === undefined || compared.length === answer.data.length) return { usd: costMoveOf(total) };
  return { usd: compared.reduce((sum, row) => sum + costMoveOf(row), 0), groups: compared.length };
}
