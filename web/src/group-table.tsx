import { useEffect, useState } from 'preact/hooks';
import { type Address, type Filter, go, hrefOf, rangeOf } from './address.js';
import { useAnswer } from './client.js';
import { type Day, daysOf, lengthOf } from './days.js';
import { cell, change, nameOf, type Unit } from './format.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { Spark } from './strip.js';
import { GROUP_OF, type Numbers, type Summary, type SummaryRow, summaryPath, useSummary } from './summary.js';

const PAGE = 25;
type Column = readonly [member: keyof Numbers, name: string, unit: Unit];
const COLUMNS: readonly Column[] = [
  ['active_users', 'Users', 'count'],
  ['active_days', 'Days', 'count'],
  ['sessions', 'Sessions', 'count'],
  ['autonomy_ratio', 'Calls a turn', 'ratio'],
  ['cost_usd', 'Cost', 'dollars'],
  ['billable_tokens', 'Billable tokens', 'count'],
  ['tool_calls', 'Tool calls', 'count'],
  ['commits', 'Commits', 'count'],
  ['pull_requests', 'PRs', 'count'],
];

interface GroupTableProps extends RangeProps {
  readonly filter: Filter;
  readonly title: string;
  readonly one: string;
}

/** All groups of a range, sorted and paged by the service. */
export function GroupTable({ address, last, filter, title, one }: GroupTableProps) {
  const sort = COLUMNS.some(([member]) => member === address.choices.sort?.split(':')[0])
    ? (address.choices.sort ?? '')
    : 'cost_usd';
  const range = rangeOf(address, last);
  const query = { groupBy: GROUP_OF[filter], sort, limit: PAGE, compare: 'previous' } as const;
  const first = summaryPath(range, address.filters, query);
  /** Where the pages begin that were turned to, the first of them aside. */
  const [turned, setTurned] = useState<readonly string[]>([]);
  useEffect(() => setTurned([]), [first]);
  const cursor = turned.at(-1);
  const asked = useSummary(address, last, cursor === undefined ? query : { ...query, cursor });
  const rows = asked.answer?.data ?? [];
  const next = asked.answer?.meta.next_cursor;
  const columns = COLUMNS.filter(([member]) => member !== 'active_users' || filter !== 'user_id');
  const [sorted, direction = 'desc'] = sort.split(':');
  const hrefOfGroup = (row: SummaryRow) =>
    hrefOf({ ...address, choices: { name: row.group_key || '(none)' } });
  return (
    <Panel
      name={`all-${title.toLowerCase()}`}
      title={title}
      note={`${turned.length * PAGE + 1}–${turned.length * PAGE + rows.length}, sorted by the service`}
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: [title, ...columns.map(([, name]) => name)],
          rows: rows.map((row) => [row.group_key ?? '', ...columns.map(([member]) => row[member])]),
        }
      }
      definition="report/summary"
      span={12}
    >
      <Search address={address} last={last} filter={filter} one={one} />
      <div class="scrolls">
        <table class="groups">
          <thead>
            <tr>
              <th scope="col">{one.charAt(0).toUpperCase() + one.slice(1)}</th>
              {columns.map(([member, name]) => {
                const isSorted = member === sorted;
                const to = isSorted && direction === 'desc' ? `${member}:asc` : member;
                return (
                  <th
                    key={member}
                    scope="col"
                    class="number"
                    aria-sort={isSorted ? (direction === 'asc' ? 'ascending' : 'descending') : undefined}
                  >
                    <a href={hrefOf({ ...address, choices: { ...address.choices, sort: to } })}>
                      {name}
                      {isSorted && (direction === 'asc' ? ' ↑' : ' ↓')}
                    </a>
                  </th>
                );
              })}
              <th scope="col" class="number">
                Change
              </th>
              <th scope="col">Cost, {lengthOf(range)} days</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.group_key} data-key={row.group_key}>
                <th scope="row" class="named">
                  <a href={hrefOfGroup(row)} title={row.group_key ?? ''}>
                    <bdi>{nameOf(filter, row.group_key)}</bdi>
                  </a>
                </th>
                {columns.map(([member, , unit]) => (
                  <td key={member} class={member === sorted ? 'number strong' : 'number'}>
                    {member === 'cost_usd' && row.cost_usd === null ? 'no price' : cell(row[member], unit)}
                  </td>
                ))}
                <td class="number soft">{change(row.cost_usd, row.previous?.cost_usd)}</td>
                <td class="sparked">
                  <RowSpark address={address} last={last} filter={filter} value={row.group_key || '(none)'} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {asked.answer !== undefined && rows.length === 0 && <p class="note none">None in this range.</p>}
      </div>
      <p class="paging">
        <button type="button" disabled={turned.length === 0} onClick={() => setTurned(turned.slice(0, -1))}>
          Previous
        </button>
        <button
          type="button"
          disabled={next === undefined || next === null}
          onClick={() => next && setTurned([...turned, next])}
        >
          Next
        </button>
      </p>
    </Panel>
  );
}

interface RowSparkProps extends RangeProps {
  readonly filter: Filter;
  readonly value: string;
}

/** What a group cost each day, as a line. */
function RowSpark({ address, last, filter, value }: RowSparkProps) {
  const of = { ...address, filters: { ...address.filters, [filter]: value } };
  const { answer } = useSummary(of, last, { interval: 'day', limit: 1000 });
  const rows = new Map(answer?.data.map((row) => [row.date as Day, row.cost_usd]));
  const isPriced = [...rows.values()].some((cost) => cost !== null);
  return <Spark now={isPriced ? daysOf(rangeOf(address, last)).map((day) => rows.get(day) ?? 0) : []} />;
}

/** How many names are offered while somebody types. */
const NAMES = 1000;

/** The path of the names that are offered; charts of all groups use the same answer. */
export function namesPath(address: Address, last: Day, filter: Filter): string {
  return summaryPath(rangeOf(address, last), address.filters, {
    groupBy: GROUP_OF[filter],
    sort: 'cost_usd',
    limit: NAMES,
  });
}

function Search({ address, last, filter, one }: Omit<GroupTableProps, 'title'>) {
  const [text, setText] = useState('');
  const { answer } = useAnswer<Summary>(text === '' ? undefined : namesPath(address, last, filter));
  const names = (answer?.data ?? []).map(({ group_key }) => group_key ?? '');
  const found = names
    .filter((name) => name !== '' && name.toLowerCase().includes(text.toLowerCase()))
    .slice(0, 8);
  const open = (name: string) => {
    setText('');
    go({ ...address, choices: { name } });
  };
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        const name = found[0] ?? text;
        if (name !== '' && answer !== undefined) open(name);
      }}
    >
      <input
        type="search"
        aria-label={`Search a ${one}`}
        placeholder={`Search a ${one}`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {text !== '' && answer !== undefined && (
        <div class="pop values">
          {found.map((name) => (
            <button key={name} type="button" title={name} onClick={() => open(name)}>
              <bdi>{nameOf(filter, name)}</bdi>
            </button>
          ))}
          {found.length === 0 && (
            <p class="note">
              {answer.meta.has_more
                ? `Not among the ${NAMES} with the highest cost: press Enter for exactly this name`
                : 'Nothing in this range has this name'}
            </p>
          )}
        </div>
      )}
    </form>
  );
}
