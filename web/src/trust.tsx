import { Fragment } from 'preact';
import { type Address, hrefOf, isFiltered, rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { BarList } from './bar-list.js';
import { type Cell, DayCells } from './cells.js';
import { Channels } from './channels.js';
import { analyticsPath, useAnswer, useFresh } from './client.js';
import { DayChart, type Series, tableOf } from './day-chart.js';
import { type Day, daysOf, isWeekend, missingIn } from './days.js';
import { Empty } from './empty.js';
import { Facts } from './facts.js';
import { cell, countOf, dayText, exactly, instantText, nameOf, waitingText, weekdayText } from './format.js';
import { Known } from './known.js';
import type { PageProps } from './page-props.js';
import { Panel } from './panel.js';
import { type QualityProps, useQuality } from './quality.js';
import { RangeHead } from './range-head.js';
import { mostFirst } from './ranking.js';
import { ReportedCosts } from './reported-costs.js';
import { ScrolledTable } from './scrolled-table.js';
import { Silence } from './silence.js';
import { VendorBills } from './vendor-bills.js';

type Status = Answers['getStatus']['data'];
type Agents = { data: Extract<Answers['getAnalyticsActivity']['data'][number], { group_key: string }>[] };

/** Shows whether the numbers on other pages can be trusted. */
export function Trust({ address, session }: PageProps) {
  const last = session.days.last;
  const range = last === null ? undefined : rangeOf(address, last);
  const asked = useQuality(range);
  const status = useFresh<Answers['getStatus']>(range && 'api/v1/status').answer?.data;
  if (last === null || range === undefined) return <Empty session={session} />;
  const unfiltered: Address = { ...address, filters: {} };
  return (
    <>
      <RangeHead
        address={unfiltered}
        session={session}
        last={last}
        title="Trust"
        lead="How far the numbers of the other pages can be trusted"
        about={isFiltered(address) && <Unfiltered address={address} />}
      />
      {status !== undefined && status.days_stale > 0 && <Stale status={status} last={last} />}
      <div class="panels">
        <Facts asked={asked} range={range} status={status} address={unfiltered} last={last} />
        <Reports asked={asked} range={range} />
        <Silence session={session} />
        <Known asked={asked} range={range} />
        <RejectedLines asked={asked} range={range} />
        <Reasons asked={asked} />
        <ReportedCosts range={range} />
        <Channels range={range} />
        <VendorBills range={range} />
        <Restated asked={asked} />
      </div>
    </>
  );
}

/** Says that the filters of the address choose nothing here. */
function Unfiltered({ address }: { address: Address }) {
  return (
    <p class="warned">
      Filters don’t apply to this page: it is about the days of the whole organization.{' '}
      <a href={hrefOf({ ...address, filters: {} })}>Remove them</a>
    </p>
  );
}

/** Says that numbers are about to change. */
function Stale({ status, last }: { status: Status; last: Day }) {
  const { days_stale, oldest_stale_day } = status;
  return (
    <p class="stale" role="status">
      {waitingText(days_stale)}, the oldest {dayText(oldest_stale_day ?? last)}: their numbers are old or
      missing. The service builds at night, and "daybook build" at once.
    </p>
  );
}

/** How many days without anybody are named. */
const GAPS = 5;
/** How many people must use an agent on a typical working day before a day without any is worth a look. */
const TYPICAL = 3;

/** The built working days on which nobody used an agent that people use on most working days. */
function gapsOf(people: ReadonlyMap<Day, number>, built: readonly Day[]): Day[] {
  const workingDays = built.filter((day) => !isWeekend(day));
  const counts = workingDays.map((day) => people.get(day) ?? 0).sort((one, other) => one - other);
  const typical = counts[Math.floor(counts.length / 2)] ?? 0;
  return typical < TYPICAL ? [] : workingDays.filter((day) => !people.get(day));
}

/** Shows which agent reported on which day. */
function Reports({ asked: quality, range }: QualityProps) {
  const asked = useAnswer<Agents>(analyticsPath('activity', range, { group_by: 'agent' }));
  const days = daysOf(range);
  const agents = new Map<string, Map<Day, number>>();
  for (const { group_key, date, daily_active_users } of asked.answer?.data ?? []) {
    const of = agents.get(group_key) ?? new Map<Day, number>();
    agents.set(group_key, of.set(date, daily_active_users));
  }
  const names = [...agents.keys()].sort();
  const shown = names.map((name) => nameOf('agent', name));
  const built = new Set(quality.answer?.data.map(({ date }) => date));
  const gaps = [...agents].flatMap(([agent, people]) => {
    const missing = gapsOf(
      people,
      days.filter((day) => built.has(day)),
    );
    return missing.length === 0 ? [] : [{ agent: nameOf('agent', agent), missing }];
  });
  const cells = names.flatMap((name): Cell[] => {
    const of = agents.get(name) ?? new Map<Day, number>();
    const most = Math.max(1, ...of.values());
    return [...of].map(([day, people]) => ({
      ...{ name: nameOf('agent', name), column: day, share: people / most },
      title: `${weekdayText(day)}: ${people === 1 ? '1 person' : `${exactly(people, 'count')} people`}`,
    }));
  });
  const outlined = gaps.flatMap(({ agent, missing }) =>
    missing.map((column) => ({
      ...{ name: agent, column, share: 0, color: '--warn' },
      title: `${weekdayText(column)}: nobody`,
    })),
  );
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
      <DayCells range={range} names={shown} cells={[...cells, ...outlined]} unbuilt={unbuilt} />
      {gaps.length > 0 && (
        <p class="note">
          <i class="state" />
          Nobody on a working day:{' '}
          {gaps.map(({ agent, missing }, index) => (
            <Fragment key={agent}>
              {index > 0 && '; '}
              <bdi>{agent}</bdi> on {missing.slice(0, GAPS).map(dayText).join(', ')}
              {missing.length > GAPS && ` and ${countOf(missing.length - GAPS, 'more day')}`}
            </Fragment>
          ))}
        </p>
      )}
    </Panel>
  );
}

const NO_REJECTS = 'No line was rejected in this range.';

/** The number of rejected lines per day. */
function RejectedLines({ asked, range }: QualityProps) {
  const days = new Map(asked.answer?.data.map(({ date, rejected }) => [date, rejected]));
  const series: Series[] = [
    {
      ...{ name: 'Rejected', color: '--warn', mark: 'column' },
      values: daysOf(range).map((day) => days.get(day) ?? null),
    },
  ];
  return (
    <Panel
      name="rejected-by-day"
      title="Rejected lines"
      note="by day"
      asked={asked}
      table={asked.answer && tableOf({ range, series })}
      definition="report/quality"
      span={4}
    >
      {asked.answer?.data.some(({ rejected }) => rejected > 0) ? (
        <DayChart
          label="Rejected lines"
          range={range}
          unbuilt={missingIn(range, asked.answer.data)}
          unit="count"
          series={series}
          height={160}
          isPeakNamed
        />
      ) : (
        <p class="note none">{asked.answer === undefined ? '–' : NO_REJECTS}</p>
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
        isKnown={asked.answer !== undefined}
        none={NO_REJECTS}
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
      span={6}
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
