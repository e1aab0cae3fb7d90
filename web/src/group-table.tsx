import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { type Address, comparedWith, type Filter, go, hrefOf, rangeOf, usedIn } from './address.js';
import { read, useAnswer, usePages } from './client.js';
import { CHANGE, Change, useSummed } from './cost-change.js';
import { addDays, type Day, daysOf, lengthOf, type Range, weekday } from './days.js';
import { cell, change, countOf, exactly, moved, nameOf, type Unit } from './format.js';
import { costMoveOf } from './movers.js';
import type { RangeProps } from './page-props.js';
import { Paging } from './paging.js';
import { Panel } from './panel.js';
import { SortedHead } from './sorted-head.js';
import { Spark } from './strip.js';
import {
  groupOf,
  JOINED,
  type Numbers,
  ROWS,
  type Summary,
  type SummaryRow,
  summaryPath,
  useSummary,
  useTotal,
} from './summary.js';
import { useTyped } from './typed-text.js';

const PAGE = 25;
type Column = readonly [member: keyof Numbers, name: string, unit: Unit];
const COLUMNS: readonly Column[] = [
  ['active_users', 'Users', 'count'],
  ['active_days', 'Days', 'count'],
  ['sessions', 'Sessions', 'count'],
  ['autonomy_ratio', 'Calls a turn', 'ratio'],
  ['cost_usd', 'Cost', 'dollars'],
  ['billable_tokens', 'Credits', 'count'],
  ['tool_calls', 'Tool calls', 'count'],
  ['failed_call_ratio', 'Failed', 'rate'],
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
  const wanted = address.choices.sort ?? '';
  const [named] = wanted.split(':');
  const sort = named === CHANGE || COLUMNS.some(([member]) => member === named) ? wanted : 'cost_usd';
  const range = rangeOf(address, last);
  const query = { groupBy: groupOf(filter), sort, limit: PAGE, compare: comparedWith(address) } as const;
  const first = summaryPath(range, address.filters, query);
  const [turned, setTurned] = useState<{ of: string; cursors: readonly string[] }>();
  // Pages of another order or range no longer apply.
  const cursors = turned?.of === first ? turned.cursors : [];
  const cursor = cursors.at(-1);
  const asked = useSummary(address, last, cursor === undefined ? query : { ...query, cursor });
  const rows = asked.answer?.data ?? [];
  const begin = cursors.length * PAGE;
  const total = useTotal(address, last).answer?.data[0];
  const isCut = asked.answer?.meta.has_more === true || cursors.length > 0;
  const counted = useAnswer<Summary>(
    isCut && filter !== 'user_id'
      ? summaryPath(range, address.filters, { groupBy: groupOf(filter), limit: ROWS })
      : undefined,
  );
  const of = countText(filter === 'user_id' ? total?.active_users : isCut ? undefined : rows.length, counted);
  const next = asked.isLoading ? undefined : asked.answer?.meta.next_cursor;
  const keys = rows.map(({ group_key }) => group_key ?? '');
  const costsOf = useCosts(address, last, filter, keys);
  const used = usedIn(address);
  const columns = COLUMNS.flatMap((column): Column[] => {
    const [member, , unit] = column;
    if (member === 'active_users' && filter === 'user_id') return [];
    // Calls of some tools per turn mean nothing.
    if (used === undefined) return [column];
    if (member === 'failed_call_ratio') return [[member, `Failed of ${used}`, unit]];
    return member === 'tool_calls'
      ? [[member, `Calls of ${used}`, unit]]
      : member === 'autonomy_ratio'
        ? []
        : [column];
  });
  const [sorted] = sort.split(':');
  const head = (member: string, name: string) => (
    <SortedHead address={address} sort={sort} member={member} name={name} />
  );
  const isCompared = total?.previous != null;
  const sum = useSummed(address, last, filter, total);
  const hrefOfGroup = (row: SummaryRow) =>
    hrefOf({ ...address, choices: { name: row.group_key || '(none)' } });
  return (
    <Panel
      name={`all-${title.toLowerCase()}`}
      title={title}
      note={rows.length === 0 ? undefined : `${begin + 1}–${begin + rows.length}${of}`}
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: [
            title,
            ...columns.flatMap(([member, name]) => (member === 'cost_usd' ? [name, 'Change'] : [name])),
          ],
          dollars: ['Cost', 'Change'],
          rows: rows.map((row) => [
            row.group_key ?? '',
            ...columns.flatMap(([member]) =>
              member === 'cost_usd' ? [row.cost_usd, row.previous && costMoveOf(row)] : [row[member]],
            ),
          ]),
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
              {columns.map(([member, name]) => (
                <Fragment key={member}>
                  {head(member, name)}
                  {member === 'cost_usd' && (
                    <>
                      {head(CHANGE, 'Change')}
                      <th scope="col" class="number">
                        in %
                      </th>
                    </>
                  )}
                </Fragment>
              ))}
              <th scope="col" class="sparked">
                Cost by {intervalOf(range)}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.group_key} data-key={row.group_key}>
                <th scope="row" class="named">
                  {row.group_key === JOINED ? (
                    row.group_key
                  ) : (
                    <a href={hrefOfGroup(row)} title={row.group_key ?? ''}>
                      <bdi>{nameOf(filter, row.group_key)}</bdi>
                    </a>
                  )}
                </th>
                {columns.map(([member, , unit]) => (
                  <Fragment key={member}>
                    <td class={member === sorted ? 'number strong' : 'number'}>
                      {member === 'cost_usd' && row.cost_usd === null ? 'no price' : cell(row[member], unit)}
                    </td>
                    {member === 'cost_usd' && (
                      <Change row={row} isCompared={isCompared} isSorted={sorted === CHANGE} />
                    )}
                  </Fragment>
                ))}
                <td class="sparked">
                  <Spark now={costsOf(row.group_key ?? '')} />
                </td>
              </tr>
            ))}
          </tbody>
          {total !== undefined && rows.length > 0 && (
            <tfoot>
              <tr>
                <th scope="row">All {title.toLowerCase()}</th>
                {columns.map(([member, , unit]) => (
                  <Fragment key={member}>
                    <td class="number">
                      {member === 'cost_usd' && total.cost_usd === null
                        ? 'no price'
                        : cell(total[member], unit)}
                    </td>
                    {member === 'cost_usd' && (
                      <>
                        <td class="number" data-change={sum?.usd}>
                          {sum && moved(sum.usd)}
                        </td>
                        <td class="number soft">
                          {sum?.groups === undefined
                            ? change(total.cost_usd, total.previous?.cost_usd)
                            : countOf(sum.groups, one)}
                        </td>
                      </>
                    )}
                  </Fragment>
                ))}
                <td class="sparked" />
              </tr>
            </tfoot>
          )}
        </table>
        {asked.answer !== undefined && rows.length === 0 && <p class="note none">None in this range.</p>}
      </div>
      <Paging cursors={cursors} next={next} turn={(cursors) => setTurned({ of: first, cursors })} />
    </Panel>
  );
}

/** How many groups there are: known, or counted in an answer of at most a thousand. */
function countText(known: number | undefined, { answer }: { answer: Summary | undefined }): string {
  const count = known ?? answer?.data.length;
  if (count === undefined) return '';
  const isMore = known === undefined && answer?.meta.has_more;
  return isMore ? ` of more than ${exactly(count, 'count')}` : ` of ${exactly(count, 'count')}`;
}

/** The interval of a table's lines, such that all rows have few enough points for one answer, except in ranges of years. */
function intervalOf(range: Range): 'day' | 'week' | 'month' {
  const days = lengthOf(range);
  return days <= ROWS / PAGE ? 'day' : days <= (7 * ROWS) / PAGE ? 'week' : 'month';
}

/** The first days of the complete days, weeks or months in a range. */
function beginningsOf(range: Range): Day[] {
  const interval = intervalOf(range);
  if (interval === 'day') return daysOf(range);
  const begins = (day: Day) => (interval === 'week' ? weekday(day) === 1 : day.endsWith('-01'));
  const days = [...daysOf(range), addDays(range.to, 1)].filter(begins);
  // The last element is only the end of the last interval.
  return days.slice(0, -1);
}

/** The costs of a page's groups over time; null where one isn't known. */
function useCosts(
  address: Address,
  last: Day,
  filter: Filter,
  keys: readonly string[],
): (key: string) => (number | null)[] {
  const range = rangeOf(address, last);
  const interval = intervalOf(range);
  const query = { groupBy: groupOf(filter), interval, keys, limit: ROWS };
  const { answer } = usePages<Summary>(
    keys.length === 0 ? undefined : summaryPath(range, address.filters, query),
  );
  // Says which intervals have a built day: in these, a group without a row has no cost.
  const all = usePages<Summary>(summaryPath(range, address.filters, { interval, limit: ROWS }));
  const built = new Set(all.answer?.data.map(({ date }) => date));
  const costs = new Map<string, Map<Day, number | null>>();
  for (const { group_key, date, cost_usd } of answer?.data ?? []) {
    if (group_key === null || date === null) continue;
    const of = costs.get(group_key) ?? new Map<Day, number | null>();
    costs.set(group_key, of.set(date, cost_usd));
  }
  const beginnings = beginningsOf(range);
  return (key) => {
    const of = costs.get(key);
    if (of === undefined || all.answer === undefined) return [];
    return beginnings.map((day) => {
      const cost = of.get(day);
      return cost === undefined ? (built.has(day) ? 0 : null) : cost;
    });
  };
}

/** How many names are offered during typing. */
const OFFERED = 8;

/** Finds any group of the range by a part of its name, however many there are. */
function Search({ address, last, filter, one }: Omit<GroupTableProps, 'title'>) {
  const [text, setText] = useState('');
  const typed = useTyped(text);
  const pathOf = (search: string) =>
    summaryPath(rangeOf(address, last), address.filters, {
      ...{ groupBy: groupOf(filter), sort: 'cost_usd', limit: OFFERED, search },
    });
  const { answer, error } = useAnswer<Summary>(typed === '' ? undefined : pathOf(typed));
  const found = (answer?.data ?? []).flatMap(({ group_key }) => group_key || []);
  const open = (name: string) => {
    setText('');
    go({ ...address, choices: { name } });
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (text === '') return;
    const { data } = (await read(pathOf(text))) as Summary;
    open(data[0]?.group_key || text);
  };
  return (
    // The list below shows the error.
    <form class="search" onSubmit={(event) => void submit(event).catch(() => {})}>
      <input
        type="search"
        maxLength={255}
        aria-label={`Search a ${one}`}
        placeholder={`Search a ${one}`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {text !== '' && (answer !== undefined || error !== undefined) && (
        <div class="pop values">
          {error === undefined &&
            found.map((name) => (
              <button key={name} type="button" title={name} onClick={() => open(name)}>
                <bdi>{nameOf(filter, name)}</bdi>
              </button>
            ))}
          {error !== undefined && <p class="note">{error.message}</p>}
          {error === undefined && found.length === 0 && (
            <p class="note">Nothing in this range has this name</p>
          )}
          {answer?.meta.has_more && <p class="note">There are more: type more of the name</p>}
        </div>
      )}
    </form>
  );
}
