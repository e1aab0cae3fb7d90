import type { Answers } from './answers.js';
import { BarList } from './bar-list.js';
import { analyticsPath, useAnswer } from './client.js';
import type { Range } from './days.js';
import { cell, exactly } from './format.js';
import { Panel } from './panel.js';
import { ROWS } from './summary.js';

type Row = Answers['getAnalyticsCosts']['data'][number];

/** How much of the range's cost is computed from the price list, how much is reported, and how far the two differ where both are known. */
export function ReportedCosts({ range }: { range: Range }) {
  const asked = useAnswer<Answers['getAnalyticsCosts']>(analyticsPath('costs', range, { limit: ROWS }));
  const days = asked.answer?.data ?? [];
  const sum = (of: (row: Row) => number) => days.reduce((all, row) => all + of(row), 0);
  const cost = sum((row) => row.cost_usd ?? 0);
  const reported = sum((row) => row.reported_usd);
  const rows = [
    { name: 'Computed from the price list', usd: cost - reported },
    { name: 'Reported by agents', usd: reported },
  ].map((row) => ({ ...row, share: cost === 0 ? null : row.usd / cost }));
  const both = { reported: sum((row) => row.compared_reported_usd), listed: sum((row) => row.compared_usd) };
  return (
    <Panel
      name="reported-costs"
      title="Where costs come from"
      note="share of the cost"
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: ['Cost', 'Share', 'USD'],
          dollars: ['USD'],
          rows: [
            ...rows.map(({ name, usd, share }) => [name, share, usd]),
            ['Both known: reported', null, both.reported],
            ['Both known: computed', null, both.listed],
          ],
        }
      }
      definition="report/costs"
      span={12}
    >
      <BarList
        columns={['Cost', 'Share', 'USD']}
        isKnown={asked.answer !== undefined}
        none="Nothing in this range has a cost."
        rows={
          cost === 0
            ? []
            : rows.map(({ name, usd, share }) => ({
                ...{ key: name, name, value: share },
                cells: [exactly(share, 'share'), cell(usd, 'dollars')],
              }))
        }
      />
      {asked.answer && <p class="note none">{comparisonText(both)}</p>}
    </Panel>
  );
}

/** Says how far reported and computed costs of the same calls differ. */
function comparisonText({ reported, listed }: { reported: number; listed: number }): string {
  if (reported === 0)
    return 'No call that is computed also reports its cost, so there is nothing to compare.';
  const said = `Where both are known, agents report ${cell(reported, 'dollars')} and the list says ${cell(listed, 'dollars')}`;
  const share = Math.abs(reported - listed) / listed;
  // Calls that the list has a price of 0 for.
  if (listed === 0) return `${said}.`;
  if (share < 0.0005) return `${said}: they agree.`;
  return `${said}: ${exactly(share, 'share')} ${reported > listed ? 'more' : 'less'} is reported.`;
}
