import { BarList } from './bar-list.js';
import { exactly, figure } from './format.js';
import { Panel } from './panel.js';
import type { QualityProps, QualityRow } from './quality.js';

/** Members that events can leave out, and how many events do. */
const MEMBERS: readonly (readonly [name: string, of: (row: QualityRow) => number])[] = [
  ['User', (row) => row.events_without_user],
  ['Client', (row) => row.events_without_client],
  ['Autonomy mode', (row) => row.events_without_autonomy_mode],
];

/** The shares of the range's events that name their user, client and autonomy mode. */
export function Known({ asked }: QualityProps) {
  const days = asked.answer?.data ?? [];
  const sum = (of: (row: QualityRow) => number) => days.reduce((all, row) => all + of(row), 0);
  const events = sum((row) => row.events);
  const rows = MEMBERS.map(([name, of]) => {
    const missing = sum(of);
    return { name, missing, share: events === 0 ? null : 1 - missing / events };
  });
  return (
    <Panel
      name="known"
      title="What events say"
      note="share of them"
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: ['Member', 'Known', 'Events without it', 'Events'],
          rows: rows.map(({ name, missing, share }) => [name, share, missing, events]),
        }
      }
      definition="daily/quality"
      span={4}
    >
      <BarList
        columns={['Member', 'Known', 'Without it']}
        isKnown={asked.answer !== undefined}
        rows={
          events === 0
            ? []
            : rows.map(({ name, missing, share }) => ({
                key: name,
                name,
                value: share,
                cells: [exactly(share, 'share'), figure(missing, 'count')],
              }))
        }
      />
      <p class="note none">
        Events without a client count for no client, and calls without a mode are in no autonomy share.
      </p>
    </Panel>
  );
}
