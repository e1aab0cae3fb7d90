import { useLayoutEffect, useState } from 'preact/hooks';
import { monthBefore } from '../../src/input/month-before.js';
import { own } from '../../src/input/own.js';
import { queryText } from '../../src/input/query-text.js';
import { addDays, before, type Day, isDay, monthOf, quarterOf, type Range, today } from './days.js';

/** The members that a page can be filtered by, named as in the API. */
export const FILTERS = [
  'user_id',
  'team',
  'cost_center',
  'model',
  'agent',
  'repo',
  'client',
  'tool',
  'mcp_server',
] as const;
export type Filter = (typeof FILTERS)[number];
/** The values of each filter: any of them may be so. */
export type Filters = Readonly<Partial<Record<Filter, readonly string[]>>>;

export const RANGES = {
  month: 'This month',
  'last-month': 'Last month',
  '7d': '7 d',
  '30d': '30 d',
  '90d': '90 d',
  quarter: 'Quarter',
} as const;
export type RangeName = keyof typeof RANGES | 'custom';

/** Everything that a link to the page determines. */
export interface Address {
  /** The parts of the path: `['people', 'ada']`; empty for the overview. */
  readonly path: readonly string[];
  readonly rangeName: RangeName;
  /** The days of a custom range. */
  readonly custom: Range | undefined;
  readonly filters: Filters;
  /** The subject of a page: it filters the page's numbers, and can't be removed. */
  readonly fixed?: Filters;
  /** Everything else that is chosen on a page. */
  readonly choices: Readonly<Record<string, string>>;
  /** Parameters of the link that the page doesn't know. They were left out. */
  readonly unknown?: readonly string[];
}

/** The choices of the pages, by the first segment of their path; other pages have those of the empty one. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  '': ['metric', 'sort', 'today', 'name'],
  operations: ['after', 'repository'],
  sql: ['sql', 'x', 'y', 'group'],
};

/** All that the address of a page can have, besides the values of a statement's parameters. */
export function parametersOf(place: string): readonly string[] {
  return ['range', 'from', 'to', ...FILTERS, ...(own(CHOICES, place) ?? own(CHOICES, '') ?? [])];
}

/** The path at which the service is reached, ending with a slash. */
const BASE = new URL(document.baseURI).pathname;
/** The address of the service, as commands take it. */
export const SERVER = document.baseURI.replace(/\/$/, '');

export function parseAddress({ pathname, search }: { pathname: string; search: string }): Address {
  const path = pathname.slice(BASE.length).split('/').filter(Boolean).map(decodeURIComponent);
  const given = new URLSearchParams(search);
  const { range = '30d', from = '', to = '', ...others } = Object.fromEntries(given);
  // A range can only have days that are over, in UTC.
  const yesterday = addDays(today(), -1);
  const isRange = isDay(from) && isDay(to) && from <= to && from <= yesterday;
  const custom = isRange ? { from, to: to < yesterday ? to : yesterday } : undefined;
  const isFilter = (name: string) => (FILTERS as readonly string[]).includes(name);
  const place = path[0] ?? '';
  const isKnown = (name: string) =>
    parametersOf(place).includes(name) || (place === 'sql' && name.startsWith('$'));
  return {
    path,
    rangeName: custom !== undefined ? 'custom' : Object.hasOwn(RANGES, range) ? (range as RangeName) : '30d',
    custom,
    filters: Object.fromEntries(
      Object.keys(others)
        .filter(isFilter)
        .map((name) => [name, [...new Set(given.getAll(name))]]),
    ),
    choices: Object.fromEntries(Object.entries(others).filter(([name]) => !isFilter(name) && isKnown(name))),
    unknown: Object.keys(others).filter((name) => !isKnown(name)),
  };
}

export function hrefOf({ path, rangeName, custom, filters, choices }: Address): string {
  const search = queryText({
    ...(rangeName === 'custom' ? custom : rangeName === '30d' ? {} : { range: rangeName }),
    ...filters,
    ...choices,
  });
  return BASE + path.map(encodeURIComponent).join('/') + (search === '' ? '' : `?${search}`);
}

/** The days of an address. `last` is the newest built day. */
export function rangeOf({ rangeName, custom }: Address, last: Day): Range {
  if (rangeName === 'custom' && custom !== undefined) return custom;
  if (rangeName === 'quarter') return { from: quarterOf(last), to: last };
  if (rangeName === 'month') return { from: monthOf(last), to: last };
  if (rangeName === 'last-month') {
    const to = addDays(monthOf(last), -1);
    return { from: monthOf(to), to };
  }
  return { from: addDays(last, 1 - Number.parseInt(rangeName, 10)), to: last };
}

/** What the numbers of an address are compared with: a month with the same days of the month before, other days with as many before. */
export function comparedWith(address: Address): 'previous' | 'month' {
  return address.rangeName === 'month' || address.rangeName === 'last-month' ? 'month' : 'previous';
}

/** The days that those of an address are compared with. */
export function earlierOf(address: Address, last: Day): Range {
  const range = rangeOf(address, last);
  return comparedWith(address) === 'month' ? monthBefore(range) : before(range);
}

/** Goes to an address, as a new history entry or in place of the current one. */
export function go(address: Address, isReplacing = false): void {
  history[isReplacing ? 'replaceState' : 'pushState'](null, '', hrefOf(address));
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** The current address. Renders again when it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(() => parseAddress(location));
  // Before the page is painted, since it can be used from then on.
  useLayoutEffect(() => {
    const changed = () => setAddress(parseAddress(location));
    window.addEventListener('popstate', changed);
    return () => window.removeEventListener('popstate', changed);
  }, []);
  return address;
}

/** Whether an address has filters that a reader can remove. */
export function isFiltered({ filters }: Address): boolean {
  return FILTERS.some((name) => filters[name] !== undefined);
}

/** What the chosen sessions have used: `Bash or Edit`, `search of github`. Undefined without a filter by tool or MCP server. */
export function usedIn({ filters, fixed }: Address): string | undefined {
  const { tool, mcp_server } = { ...filters, ...fixed };
  const names = [tool, mcp_server].flatMap((values) => (values === undefined ? [] : [values.join(' or ')]));
  return names.length === 0 ? undefined : names.join(' of ');
}

/** Whether a filter has this value. */
export function isChosen({ filters }: Address, name: Filter, value: string): boolean {
  return filters[name]?.includes(value) === true;
}

/** The same address with this value in a filter too, or without it if it is already there. */
export function toggled(address: Address, name: Filter, value: string): Address {
  const { [name]: present = [], ...others } = address.filters;
  const values = present.includes(value) ? present.filter((one) => one !== value) : [...present, value];
  return { ...address, filters: values.length === 0 ? others : { ...others, [name]: values } };
}
