import { useState } from 'preact/hooks';
import { type Filter, hrefOf, toggled } from './address.js';
import { BarList } from './bar-list.js';
import { cell, change, nameOf } from './format.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { FILTER_NAMES } from './range-head.js';
import { COST, FIGURES, GROUP_OF, type Numbers, useSummary } from './summary.js';
import { Tabs } from './tabs.js';

export interface GroupList {
  readonly title: string;
  readonly filter: Filter;
  readonly sort: keyof Numbers;
}

/** How many rows a list shows. */
const LISTED = 6;
/** The pages that have all groups of a list. */
const PAGE_OF: Partial<Record<Filter, string>> = { repo: 'repositories', model: 'models', user_id: 'people' };

interface GroupsProps extends RangeProps {
  readonly name: string;
  /** Lists that the panel can show, the first of them first. */
  readonly lists: readonly [GroupList, ...GroupList[]];
}

/** The largest groups of a range: a row is a filter. */
export function Groups({ address, last, name, lists }: GroupsProps) {
  const [at, setAt] = useState(0);
  const { title, filter, sort } = lists[at] ?? lists[0];
  const { unit, name: measure } = FIGURES.find(({ member }) => member === sort) ?? COST;
  const asked = useSummary(address, last, {
    groupBy: GROUP_OF[filter],
    sort,
    limit: LISTED,
    compare: 'previous',
  });
  const rows = asked.answer?.data ?? [];
  const page = PAGE_OF[filter];
  return (
    <Panel
      name={name}
      title={
        lists.length === 1 ? title : <Tabs names={lists.map((list) => list.title)} at={at} choose={setAt} />
      }
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: [FILTER_NAMES[filter], measure, 'Users', `${measure} before`],
          rows: rows.map((row) => [
            row.group_key ?? '',
            row[sort],
            row.active_users,
            row.previous?.[sort] ?? null,
          ]),
        }
      }
      definition="report/summary"
      span={4}
    >
      <BarList
        columns={[FILTER_NAMES[filter], measure, 'Users', 'Change']}
        none={asked.answer === undefined ? '–' : undefined}
        rows={rows.map((row) => {
          const value = row.group_key || '(none)';
          return {
            key: value,
            name: nameOf(filter, row.group_key),
            href: hrefOf(toggled(address, filter, value)),
            isChosen: address.filters[filter] === value,
            value: row[sort],
            cells: [
              cell(row[sort], unit),
              cell(row.active_users, 'count'),
              change(row[sort], row.previous?.[sort]),
            ],
          };
        })}
        more={
          page !== undefined && asked.answer !== undefined ? (
            <a href={hrefOf({ ...address, path: [page], choices: {} })}>All {title.toLowerCase()}</a>
          ) : undefined
        }
      />
    </Panel>
  );
}
