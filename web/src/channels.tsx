import { analyticsPath, useAnswer } from './client.js';
import type { Range } from './days.js';
import { cell, exactly, figure, nameOf } from './format.js';
import { Panel } from './panel.js';
import type { AgentQualityRow as Row } from './quality.js';
import { ScrolledTable } from './scrolled-table.js';

type Sums = Omit<Row, 'date' | 'group_key'>;

/** The pairs of channels that report the same: tokens by transcripts and telemetry, turns by transcripts and hooks. */
const PAIRS = [
  {
    name: 'Tokens',
    log: 'log_tokens',
    other: 'otlp_tokens',
    differing: 'users_with_other_tokens',
    compared: 'users_with_tokens',
  },
  {
    name: 'Turns',
    log: 'log_turns',
    other: 'hook_turns',
    differing: 'users_with_other_turns',
    compared: 'users_with_turns',
  },
] as const;

/** The columns of the table after the agent. */
const NUMBERS = ['Transcripts', 'Other channel', 'Difference', 'User-days that differ'];

function added(one: Sums | undefined, other: Row): Sums {
  const { date: _, group_key: __, ...sums } = other;
  const names = Object.keys(sums) as (keyof Sums)[];
  return Object.fromEntries(names.map((name) => [name, (one?.[name] ?? 0) + sums[name]])) as Sums;
}

/** The difference as a share of the greater number; null if nothing was compared. */
function difference(one: number, other: number): number | null {
  return one + other === 0 ? null : Math.abs(one - other) / Math.max(one, other);
}

/** How well each agent's channels agree where two of them report the same. */
export function Channels({ range }: { range: Range }) {
  const asked = useAnswer<{ data: Row[] }>(analyticsPath('quality', range, { group_by: 'agent' }));
  const agents = new Map<string, Sums>();
  for (const row of asked.answer?.data ?? [])
    agents.set(row.group_key, added(agents.get(row.group_key), row));
  const rows = [...agents]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([agent, sums]) =>
      PAIRS.filter(({ compared }) => sums[compared] > 0).map(({ name, log, other, differing, compared }) => ({
        key: `${nameOf('agent', agent)}: ${name.toLowerCase()}`,
        log: sums[log],
        other: sums[other],
        ratio: difference(sums[log], sums[other]),
        differing: sums[differing],
        compared: sums[compared],
      })),
    );
  return (
    <Panel
      name="channels"
      title="Do channels agree?"
      note="transcripts against telemetry and hooks"
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: ['Agent', 'Transcripts', 'Other channel', 'Difference', 'Differing', 'Compared'],
          rows: rows.map((row) => [row.key, row.log, row.other, row.ratio, row.differing, row.compared]),
        }
      }
      definition="report/quality_by_agent"
    >
      {rows.length === 0 ? (
        <p class="note none">
          {asked.answer === undefined
            ? '–'
            : 'No two channels report the same users in this range, so there is nothing to compare.'}
        </p>
      ) : (
        <ScrolledTable label="Rows of channels" columns={['Agent', ...NUMBERS]} numbers={NUMBERS}>
          {rows.map(({ key, log, other, ratio, differing, compared }) => (
            <tr key={key}>
              <th scope="row">
                <i class={differing === 0 ? 'state ok' : 'state warn'} />
                {key}
              </th>
              <td class="number">{cell(log, 'count')}</td>
              <td class="number">{cell(other, 'count')}</td>
              <td class="number strong">{exactly(ratio, 'share')}</td>
              <td class="number">
                {figure(differing, 'count')} of {figure(compared, 'count')}
              </td>
            </tr>
          ))}
        </ScrolledTable>
      )}
      {[...agents]
        .filter(([, { transcripts_deleted }]) => transcripts_deleted > 0)
        .map(([agent, { transcripts_deleted, users_with_deleted_transcripts }]) => (
          <p class="note" key={agent}>
            {nameOf('agent', agent)} has deleted {figure(transcripts_deleted, 'count')} old transcripts, on{' '}
            {figure(users_with_deleted_transcripts, 'count')} user-days. What nobody had collected of them is
            lost: "daybook report coverage" names the users.
          </p>
        ))}
      {rows.some(({ differing }) => differing > 0) && (
        <p class="note">
          The better channel counts, so the numbers of a day are mostly right. "daybook report coverage" names
          the users.
        </p>
      )}
    </Panel>
  );
}
