import { hrefOf, rangeOf } from './address.js';
import { BarList } from './bar-list.js';
import { ActiveUsers, Autonomy, Lists } from './daily-panels.js';
import { Empty } from './empty.js';
import { Foot } from './foot.js';
import { cell } from './format.js';
import { Groups } from './groups.js';
import { CostByModel, TokensByModel } from './model-charts.js';
import { Numbers } from './numbers.js';
import { OwnPlace } from './own-place.js';
import type { PageProps, RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { PersonDays } from './person-days.js';
import { RangeHead } from './range-head.js';
import { may } from './session.js';
import { useSummary } from './summary.js';
import { openDayOf, TodaySoFar, useToday } from './today.js';

/** All numbers at a glance. */
export function Overview({ address, session }: PageProps) {
  const last = session.days.last;
  const isManager = may(session, 'read analytics');
  const seesNames = may(session, 'see people by name');
  const hasToday = seesNames && address.choices.today !== undefined;
  const today = useToday(hasToday && last !== null);
  if (last === null) return <Empty session={session} />;
  const found = openDayOf(today);
  // The open day means nothing beside days that ended long ago.
  const open = rangeOf(address, last).to === last ? found : undefined;
  return (
    <>
      <RangeHead
        address={address}
        session={session}
        last={last}
        title={isManager ? 'Overview' : 'Your numbers'}
        hasToday={seesNames}
      />
      <div class="panels">
        {hasToday && <TodaySoFar asked={today} />}
        <Numbers address={address} last={last} open={open} isOwn={!isManager} />
        <CostByModel address={address} last={last} />
        {isManager && <ActiveUsers address={address} last={last} open={open} />}
        <TokensByModel address={address} last={last} />
        {seesNames && <Autonomy address={address} last={last} open={open} />}
        {!isManager && session.user_id !== null && (
          <>
            <PersonDays address={address} last={last} userId={undefined} />
            <OwnPlace address={address} last={last} />
          </>
        )}
        {seesNames && <AutonomousPeople address={address} last={last} />}
        <Groups address={address} last={last} name="places" isOfOne={!isManager} />
        {seesNames ? (
          <Lists address={address} last={last} />
        ) : (
          <>
            <Groups address={address} last={last} name="mcp-servers" />
            <Groups address={address} last={last} name="tools" />
          </>
        )}
      </div>
      <Foot address={address} last={last} session={session} />
    </>
  );
}

/** The people whose agents work most autonomously. */
function AutonomousPeople({ address, last }: RangeProps) {
  const asked = useSummary(address, last, { groupBy: 'user', sort: 'autonomy_ratio', limit: 6 });
  const rows = asked.answer?.data ?? [];
  return (
    <Panel
      name="people"
      title="Most autonomous people"
      note="tool calls a turn"
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: ['Person', 'Ratio', 'Cost'],
          rows: rows.map((row) => [row.group_key ?? '', row.autonomy_ratio, row.cost_usd]),
        }
      }
      definition="report/summary"
      span={4}
    >
      <BarList
        columns={['Person', 'Ratio', 'Cost']}
        isKnown={asked.answer !== undefined}
        rows={rows.map((row) => ({
          key: row.group_key ?? '',
          name: row.group_key ?? '',
          href: hrefOf({ ...address, path: ['people'], choices: { name: row.group_key ?? '' } }),
          value: row.autonomy_ratio ?? 0,
          cells: [cell(row.autonomy_ratio, 'ratio'), cell(row.cost_usd, 'dollars')],
        }))}
        more={
          asked.answer && (
            <a href={hrefOf({ ...address, path: ['people'], choices: { sort: 'autonomy_ratio' } })}>
              All people
            </a>
          )
        }
      />
    </Panel>
  );
}
