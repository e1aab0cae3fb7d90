import { own } from '../../src/input/own.js';
import type { Filter } from './address.js';
import { hrefOf, isFiltered, usedIn } from './address.js';
import { BudgetPanel } from './budget-chart.js';
import { Empty } from './empty.js';
import { Foot } from './foot.js';
import { nameOf } from './format.js';
import { GroupTable } from './group-table.js';
import { Groups } from './groups.js';
import { Hidden, type HiddenPanels } from './hidden-panels.js';
import { PersonMark, TeamMark } from './mark-sentence.js';
import { CostByModel, TokensByModel } from './model-charts.js';
import { Numbers } from './numbers.js';
import type { PageProps } from './page-props.js';
import { PeopleDots } from './people-dots.js';
import { PersonDays, PersonFacts } from './person-days.js';
import { PersonSql } from './person-sql.js';
import { RangeHead } from './range-head.js';
import { may } from './session.js';
import { WhatChanged } from './what-changed.js';

interface Kind {
  readonly filter: Filter;
  readonly title: string;
  /** The name of a single one. */
  readonly one: string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  people: { filter: 'user_id', title: 'People', one: 'person' },
  teams: { filter: 'team', title: 'Teams', one: 'team' },
  repositories: { filter: 'repo', title: 'Repositories', one: 'repository' },
  models: { filter: 'model', title: 'Models', one: 'model' },
};

const OF_PERSON: readonly HiddenPanels[] = [
  { names: 'Whether the person is stuck', why: 'A mark is made of all calls.' },
  { names: 'Most used model, last active day', why: 'They are of all of the person’s days.' },
  {
    names: 'Sessions and autonomy, hours, sessions, languages',
    why: 'They are counted by person and day, or asked in SQL.',
  },
];

const OF_TEAM: readonly HiddenPanels[] = [
  { names: 'Who is stuck', why: 'Marks are made of all calls.' },
  { names: 'Will the budget hold?', why: 'A budget is of all that the team uses in a month.' },
];

const HIDDEN: Partial<Record<Filter, readonly HiddenPanels[]>> = { user_id: OF_PERSON, team: OF_TEAM };

/** All people, teams, repositories or models of the range; or one of them, with the same charts. */
export function GroupPage({ address, session }: PageProps) {
  const { filter, title, one } = own(KINDS, address.path[0] ?? '') ?? {
    filter: 'user_id',
    title: '',
    one: '',
  };
  const last = session.days.last;
  if (last === null) return <Empty session={session} />;
  const { name, ...choices } = address.choices;
  if (!name)
    return (
      <>
        <RangeHead address={address} session={session} last={last} title={title} without={filter} />
        <div class="panels">
          {filter === 'user_id' && usedIn(address) === undefined && (
            <PeopleDots address={address} last={last} />
          )}
          {filter === 'model' && <CostByModel address={address} last={last} span={12} />}
          <GroupTable key={title} address={address} last={last} filter={filter} one={one} title={title} />
          {filter === 'model' && <TokensByModel address={address} last={last} span={12} />}
          <Hidden
            address={address}
            ratios={filter === 'user_id' ? 'Calls a turn, autonomy against cost' : 'Calls a turn'}
          />
        </div>
        <Foot address={address} last={last} session={session} />
      </>
    );
  const { [filter]: _, ...filters } = address.filters;
  const of = { ...address, filters, fixed: { [filter]: [name] } };
  return (
    <>
      <RangeHead
        address={of}
        session={session}
        last={last}
        without={filter}
        about={
          filter === 'user_id' && !isFiltered(of) && <PersonFacts address={of} last={last} userId={name} />
        }
        title={
          <>
            <a class="above" href={hrefOf({ ...address, choices })}>
              {title}
            </a>{' '}
            / <bdi title={name}>{nameOf(filter, name)}</bdi>
          </>
        }
      />
      {filter === 'user_id' && !isFiltered(of) && (
        <PersonMark address={of} last={last} session={session} userId={name} />
      )}
      {filter === 'team' && !isFiltered(of) && <TeamMark address={of} last={last} team={name} />}
      <div class="panels">
        <Numbers address={of} last={last} />
        <WhatChanged address={of} last={last} session={session} span={12} />
        {filter === 'team' && !isFiltered(of) && (
          <BudgetPanel address={address} last={last} session={session} team={name} />
        )}
        {filter !== 'model' && <CostByModel address={of} last={last} height={288} />}
        <TokensByModel address={of} last={last} span={filter === 'model' ? 12 : 6} />
        {filter === 'user_id' && !isFiltered(of) && (
          <PersonDays address={of} last={last} userId={name}>
            {may(session, 'run SQL') ? <PersonSql address={of} last={last} userId={name} /> : undefined}
          </PersonDays>
        )}
        <Groups
          address={of}
          last={last}
          name="places"
          without={filter}
          isOfOne={filter === 'user_id'}
          span={6}
        />
        {filter !== 'user_id' && may(session, 'see people by name') && (
          <Groups address={of} last={last} name="people" span={6} />
        )}
        <Groups address={of} last={last} name="tools" span={6} />
        <Groups address={of} last={last} name="mcp-servers" span={6} />
        <Hidden address={of} ratios="Autonomy ratio" panels={HIDDEN[filter] ?? []} />
      </div>
      <Foot address={of} last={last} session={session} />
    </>
  );
}
