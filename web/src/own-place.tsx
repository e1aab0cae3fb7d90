import { rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { BarList } from './bar-list.js';
import { analyticsPath, useAnswer } from './client.js';
import { cell, type Unit } from './format.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';

/** The numbers that have a place, as the page calls them. */
const MEASURES: Readonly<Record<string, readonly [name: string, unit: Unit]>> = {
  cost_usd: ['Cost', 'dollars'],
  sessions: ['Sessions', 'count'],
  user_turns: ['Messages', 'count'],
  tool_calls: ['Tool calls', 'count'],
  autonomy_ratio: ['Autonomy ratio', 'ratio'],
  commits: ['Commits', 'count'],
  active_days: ['Active days', 'count'],
};

/** Where the reader's numbers stand among those of all people, of whom nobody is named. No filtered page has them. */
export function OwnPlace({ address, last }: RangeProps) {
  const asked = useAnswer<Answers['getAnalyticsMePlace']>(analyticsPath('me/place', rangeOf(address, last)));
  const rows = asked.answer?.data ?? [];
  const [first] = rows;
  return (
    <Panel
      name="own-place"
      title="Your place"
      note={first === undefined ? undefined : `among ${first.people} people`}
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: ['Number', 'You', '10th percentile', 'Median', '90th percentile', 'Share below you'],
          rows: rows.map(({ measure, own, p10, median, p90, below }) => [
            measure,
            own,
            p10,
            median,
            p90,
            below,
          ]),
        }
      }
      definition="report/place"
      span={4}
    >
      <BarList
        columns={['Number', 'You', 'Median', 'Higher than']}
        isKnown={asked.answer !== undefined}
        none="Too few others were active in this range to tell a place without giving one of them away."
        rows={Object.entries(MEASURES).flatMap(([measure, [name, unit]]) => {
          const row = rows.find((one) => one.measure === measure);
          return row === undefined
            ? []
            : [
                {
                  key: measure,
                  name,
                  value: row.below,
                  cells: [cell(row.own, unit), cell(row.median, unit), cell(row.below, 'share')],
                },
              ];
        })}
      />
    </Panel>
  );
}
