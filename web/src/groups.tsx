import { useState } from 'preact/hooks';
import { comparedWith, type Filter, hrefOf, isChosen, toggled, usedIn } from './address.js';
import { BarList } from './bar-list.js';
import { COST, FIGURES, type Figure } from './figures.js';
import { cell, change, nameOf } from './format.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { FILTER_NAMES } from './range-head.js';
import { groupOf, JOINED, type Numbers, useSummary } from './summary.js';
import { Tabs } from './tabs.js';

interface GroupList {
  readonly title: string;
  readonly filter: Filter;
  readonly sort: keyof Numbers;
}

/** The lists of each panel, in order. */
const LISTS = {
  places: [
    { title: 'Repositories', filter: 'repo', sort: 'sessions' },
    { title: 'Agents', filter: 'agent', sort: 'sessions' },
    { title: 'Clients', filter: 'client', sort: 'sessions' },
    { title: 'Teams', filter: 'team', sort: 'cost_usd' },
  ],
  people: [{ title: 'People', filter: 'user_id', sort: 'cost_usd' }],
  tools: [{ title: 'Tools', filter: 'tool', sort: 'tool_calls' }],
  'mcp-servers': [{ title: 'MCP servers', filter: 'mcp_server', sort: 'tool_calls' }],
} satisfies Readonly<Record<string, readonly [GroupList, ...GroupList[]]>>;

type Column = Pick<Figure, 'member' | 'name' | 'unit'>;
const USERS: Column = { member: 'active_users', name: 'Users', unit: 'count' };
const FAILED: Column = { member: 'failed_call_ratio', name: 'Failed', unit: 'rate' };

/** How many rows a list shows. */
const LISTED = 6;
/** The pages that show all groups of a list. */
const PAGE_OF: Partial<Record<Filter, string>> = {
  repo: 'repositories',
  model: 'models',
  team: 'teams',
  user_id: 'people',
  tool: 'tools',
  mcp_server: 'tools',
};

interface GroupsProps extends RangeProps {
  readonly name: keyof typeof LISTS;
  /** The subject of the page, which has no list. */
  readonly without?: Filter;
  /** Whether all numbers are one person's. */
  readonly isOfOne?: boolean;
  readonly span?: 4 | 6;
}

/** The largest groups of a range. Each row is a filter. */
export function Groups({ address, last, name, without, isOfOne = false, span = 4 }: GroupsProps) {
  const [at, setAt] = useState(0);
  const all: readonly [GroupList, ...GroupList[]] = LISTS[name];
  const lists = all.filter((list) => list.filter !== without);
  const { title, filter, sort } = lists[at] ?? all[0];
  const { unit, name: measure } = FIGURES.find(({ member }) => member === sort) ?? COST;
  const asked = useSummary(address, last, {
    groupBy: groupOf(filter),
    sort,
    limit: LISTED,
    compare: comparedWith(address),
  });
  const isOfCalls = sort === 'tool_calls';
  const others: readonly Column[] = isOfCalls ? [FAILED] : isOfOne ? [] : [USERS];
  const rows = asked.answer?.data ?? [];
  const page = PAGE_OF[filter];
  const used = usedIn(address);
  return (
    <Panel
      name={name}
      title={
        lists.length === 1 ? title : <Tabs names={lists.map((list) => list.title)} at={at} choose={setAt} />
      }
      note={used === undefined || lists.length > 1 ? undefined : `sessions that used ${used}`}
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: [FILTER_NAMES[filter], measure, ...others.map(({ name }) => name), `${measure} before`],
          ...(unit === 'dollars' ? { dollars: [measure, `${measure} before`] } : {}),
          rows: rows.map((row) => [
            row.group_key ?? '',
            row[sort],
            ...others.map(({ member }) => row[member]),
            row.previous?.[sort] ?? null,
          ]),
        }
      }
      definition="report/summary"
      span={span}
    >
      <BarList
        columns={[
          FILTER_NAMES[filter],
          isOfCalls ? 'Calls' : measure,
          ...others.map(({ name }) => name),
          'Change',
        ]}
        isKnown={asked.answer !== undefined}
        rows={rows.map((row) => {
          const value = row.group_key || '(none)';
          return {
            key: value,
            name: nameOf(filter, row.group_key),
            href: value === JOINED ? undefined : hrefOf(toggled(address, filter, value)),
            isChosen: isChosen(address, filter, value),
            value: row[sort],
            cells: [
              cell(row[sort], unit),
              ...others.map(({ member, unit }) => cell(row[member], unit)),
              change(row[sort], row.previous?.[sort]),
            ],
          };
        })}
        more={
          page !== undefined && asked.answer !== undefined ? (
            <a href={hrefOf({ ...address, path: [page], choices: {} })}>
              All {title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}
            </a>
          ) : asked.answer?.meta.has_more ? (
            `only the ${LISTED} with the most are shown`
          ) : undefined
        }
      />
    </Panel>
  );
}
