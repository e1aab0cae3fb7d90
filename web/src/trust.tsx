import { Fragment } from 'preact';
import { type Address, rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { BarList } from './bar-list.js';
import { Channels } from './channels.js';
import { analyticsPath, useAnswer, useFresh } from './client.js';
import { type DayCell, DayCells } from './day-cells.js';
import { type Day, daysOf, missingIn } from './days.js';
import { Empty } from './empty.js';
import { Facts } from './facts.js';
import { cell, dayText, exactly, instantText, nameOf, weekdayText } from './format.js';
import { Known } from './known.js';
import type { PageProps } from './page-props.js';
import { Panel } from './panel.js';
import { type QualityProps, useQuality } from './quality.js';
import { RangeHead } from './range-head.js';
import { mostFirst } from './ranking.js';
import { ScrolledTable } from './scrolled-table.js';

type Status = Answers['getStatus']['data'];
type Agents = { data: Extract<Answers['getAnalyticsActivity']['data'][number], { group_key: string }>[] };

/** How far the numbers of the other pages can be trusted. */
export function Trust({ address, session }: PageProps) {
  const last = session.days.last;
  const range = last === null ? undefined : rangeOf(address, last);
  const asked = useQuality(range);
  const status = useFresh<Answers['getStatus']>(range && 'api/v1/status').answer?.data;
  if (last === null || range === undefined) return <Empty session={session} />;
  const unfiltered: Address = { ...address, filters: {} };
  return (
    <>
      <RangeHead address={unfiltered} session={session} last={last} title="Trust" isUnfiltered />
      {status !== undefined && status.days_stale > 0 && <Stale status={status} last={last} />}
      <div class="panels">
        <Facts asked={asked} range={range} status={status} address={unfiltered} last={last} />
        <Reports asked={asked} range={range} status={status} />
        <Channels range={range} />
        <Known asked={asked} range={range} />
        <Reasons asked={asked} />
        <Restated asked={asked} />
      </div>
    </>
  );
}

/** Says that numbers are about to change. */
function Stale({ status, last }: { status: Status; last: Day }) {
  const { days_stale, oldest_stale_day } = status;
  return (
    <p class="stale" role="status">
      {days_stale === 1 ? '1 day waits' : `${exactly(days_stale, 'count')} days wait`} for a build, the oldest{' '}
      {dayText(oldest_stale_day ?? last)}: their numbers are old or missing. The service builds at night, and
      "daybook build" at once.
    </p>
  );
}

/** How many agents that fell silent are named. */
const SILENT = 5;

/** Which agent reported on which day. */
function Reports({ asked: quality, range, status }: QualityProps & { status: Status | undefined }) {
  const silent = status?.silent_agents ?? [];
  const asked = useAnswer<Agents>(analyticsPath('activity', range, { group_by: 'agent' }));
  const days = daysOf(range);
  const agents = new Map<string, Map<Day, number>>();
  for (const { group_key, date, daily_active_users } of asked.answer?.data ?? []) {
    const of = agents.get(group_key) ?? new Map<Day, number>();
    agents.set(group_key, of.set(date, daily_active_users));
  }
  const names = [...agents.keys()].sort();
  const shown = names.map((name) => nameOf('agent', name));
  const cells = names.flatMap((name): DayCell[] => {
    const of = agents.get(name) ?? new Map<Day, number>();
    const most = Math.max(1, ...of.values());
    return days.map((day) => ({
      ...{ name: nameOf('agent', name), day, share: (of.get(day) ?? 0) / most, color: '--accent' },
    }));
  });
  const built = new Set(quality.answer?.data.map(({ date }) => date));
  const unbuilt = missingIn(range, quality.answer?.data);
  return (
    <Panel
      name="who-reports"
      title="Who reports"
      note={`people by agent and day, each row on its own scale${unbuilt.length > 0 ? '; striped days aren’t built' : ''}`}
      asked={asked}
      table={
        asked.answer && {
          columns: ['Day', ...shown],
          rows: days.map((day) => [
            day,
            ...names.map((name) => agents.get(name)?.get(day) ?? (built.has(day) ? 0 : null)),
          ]),
        }
      }
      definition="daily/user_agents"
      span={12}
    >
      <DayCells range={range} names={shown} cells={cells} unbuilt={unbuilt} />
      {silent.length > 0 && (
        <p class="note">
          <i class="state" />
          No longer reporting:{' '}
          {silent.slice(0, SILENT).map(({ user_id, agent, last_day }, index) => (
            <Fragment key={`${user_id} ${agent}`}>
              {index > 0 && ', '}
              <bdi>{agent || 'an agent'}</bdi> of <bdi>{user_id}</bdi> since {dayText(last_day)}
            </Fragment>
          ))}
          {silent.length > SILENT && `, and ${silent.length - SILENT} more ("daybook status" lists all)`}
        </p>
      )}
    </Panel>
  );
}

function Reasons({ asked }: Pick<QualityProps, 'asked'>) {
  const reasons = new Map<string, number>();
  for (const { rejected_by_reason } of asked.answer?.data ?? [])
    for (const { reason, count } of rejected_by_reason)
      reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  const rows = mostFirst(reasons);
  return (
    <Panel
      name="rejects"
      title="Rejected, by reason"
      asked={asked}
      isTable
      table={
        asked.answer && { columns: ['Reason', 'Lines'], rows: rows.map(([reason, count]) => [reason, count]) }
      }
      definition="report/quality_by_reason"
      span={4}
    >
      <BarList
        columns={['Reason', 'Lines']}
        none={asked.answer === undefined ? '–' : 'No line was rejected in this range.'}
        rows={rows.map(([reason, count]) => ({
          key: reason,
          name: reason,
          value: count,
          cells: [cell(count, 'count')],
        }))}
      />
    </Panel>
  );
}

function Restated({ asked }: Pick<QualityProps, 'asked'>) {
  const rows = (asked.answer?.data ?? []).flatMap(
    ({ date, late, restatements, first_built_at, built_at }) => {
      const why = [...new Set(restatements.map(({ reason }) => reason))].join(', ');
      const tables = new Set(restatements.map(({ table }) => table)).size;
      return restatements.length === 0 ? [] : [{ date, why, late, tables, first_built_at, built_at }];
    },
  );
  return (
    <Panel
      name="restated"
      title="Restated days"
      note="days whose numbers changed after they were built"
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: ['Day', 'Why', 'Late events', 'Tables changed', 'First built', 'Built again'],
          rows: rows.map((row) => [
            row.date,
            row.why,
            row.late,
            row.tables,
            row.first_built_at,
            row.built_at,
          ]),
        }
      }
      definition="report/quality_restatements"
      span={8}
    >
      {rows.length === 0 ? (
        <p class="note none">
          {asked.answer === undefined ? '–' : 'No built day has changed in this range.'}
        </p>
      ) : (
        <ScrolledTable
          label="Rows of restated days"
          columns={['Day', 'Why', 'Late events', 'Tables changed', 'Built again']}
          numbers={['Late events', 'Tables changed']}
        >
          {rows.map(({ date, why, late, tables, built_at }) => (
            <tr key={date}>
              <th scope="row">{weekdayText(date)}</th>
              <td>{why}</td>
              <td class="number">{cell(late, 'count')}</td>
              <td class="number">{tables}</td>
              <td>{instantText(built_at)}</td>
            </tr>
          ))}
        </ScrolledTable>
      )}
    </Panel>
  );
}
