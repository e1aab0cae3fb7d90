import { type Address, hrefOf, isFiltered, rangeOf, usedIn } from './address.js';
import { BarList } from './bar-list.js';
import { BudgetPanel } from './budget-chart.js';
import { ActiveUsers, Autonomy, Lists } from './daily-panels.js';
import { Empty } from './empty.js';
import { Foot } from './foot.js';
import { cell } from './format.js';
import { Groups } from './groups.js';
import { Hidden, type HiddenPanels } from './hidden-panels.js';
import { PersonMark } from './mark-sentence.js';
import { CostByModel, TokensByModel } from './model-charts.js';
import { NeedsALook } from './needs-a-look.js';
import { Numbers } from './numbers.js';
import { OwnPlace } from './own-place.js';
import type { PageProps, RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { PersonDays } from './person-days.js';
import { RangeHead } from './range-head.js';
import { may } from './session.js';
import { useSummary } from './summary.js';
import { openDayOf, TodaySoFar, useToday } from './today.js';
import { WhatChanged } from './what-changed.js';

/** All numbers at a glance. */
export function Overview({ address, session }: PageProps) {
  const last = session.days.last;
  const isManager = may(session, 'read analytics');
  const seesNames = may(session, 'see people by name');
  // What can't be filtered isn't shown under a filter.
  const isWhole = !isFiltered(address);
  const hasToday = seesNames && isWhole && address.choices.today !== undefined;
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
        hasToday={seesNames && isWhole}
      />
      {!isManager && isWhole && session.user_id !== null && (
        <PersonMark address={address} last={last} session={session} userId={undefined} />
      )}
      <div class="panels">
        {hasToday && <TodaySoFar asked={today} />}
        <Numbers address={address} last={last} open={open} isOwn={!isManager} />
        {isManager && isWhole && (
          <>
            <BudgetPanel address={address} last={last} session={session} span={8} height={320} />
            <NeedsALook address={address} last={last} session={session} />
          </>
        )}
        <WhatChanged address={address} last={last} session={session} span={12} />
        <CostByModel address={address} last={last} />
        {isManager && isWhole && <ActiveUsers address={address} last={last} open={open} />}
        <TokensByModel address={address} last={last} />
        {seesNames && isWhole && <Autonomy address={address} last={last} open={open} />}
        {!isManager && isWhole && session.user_id !== null && (
          <>
            <BudgetPanel address={address} last={last} session={session} isOwn />
            <PersonDays address={address} last={last} userId={undefined} />
            <OwnPlace address={address} last={last} />
          </>
        )}
        {seesNames && usedIn(address) === undefined && <AutonomousPeople address={address} last={last} />}
        <Groups address={address} last={last} name="places" isOfOne={!isManager} />
        {seesNames && isWhole ? (
          <Lists address={address} last={last} />
        ) : (
          <>
            <Groups address={address} last={last} name="mcp-servers" />
            <Groups address={address} last={last} name="tools" />
          </>
        )}
        <Hidden
          address={address}
          ratios={seesNames ? 'Autonomy ratio, most autonomous people' : 'Autonomy ratio'}
          panels={isManager ? unfilteredOf(address, seesNames) : OWN}
        />
      </div>
      <Foot address={address} last={last} session={session} />
    </>
  );
}

const OWN: readonly HiddenPanels[] = [
  { names: 'Whether you are stuck', why: 'A mark is made of all calls.' },
  { names: 'Will the budget hold?', why: 'Your budget is of all that you use in a month.' },
  { names: 'Sessions and autonomy, languages', why: 'They are counted by person and day, not by session.' },
  { names: 'Your place', why: 'A place is told among the whole numbers of all people.' },
];

/** The panels of a manager that no filter applies to. */
function unfilteredOf(address: Address, seesNames: boolean): readonly HiddenPanels[] {
  const byDay = { ...address, choices: { ...address.choices, metric: 'active_users' } };
  return [
    { names: 'Needs a look', why: 'It is about the whole organization.' },
    { names: 'Will the budget hold?', why: 'A budget is of a whole month and of all that it is set for.' },
    {
      names: 'Active users by week and month',
      why: 'They are counted for the whole organization.',
      way: ['See the active users of each day', byDay],
    },
    ...(seesNames
      ? [
          {
            names: 'Autonomy of tool calls',
            why: 'The levels of calls are counted for the whole organization.',
          },
          {
            names: 'Skills, commands, hooks, languages, files',
            why: 'They are counted by day for the whole organization, not by session.',
          },
        ]
      : []),
    ...(seesNames && address.choices.today !== undefined
      ? [{ names: 'Today so far', why: 'The day that isn’t over is counted for the whole organization.' }]
      : []),
  ];
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
          dollars: ['Cost'],
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
