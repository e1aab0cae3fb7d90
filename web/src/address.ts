import { useEffect, useState } from 'preact/hooks';
import { addDays, type Day, isDay, quarterOf, type Range, today } from './days.js';

/** The members by which a page can be filtered, as the API has them. */
export const FILTERS = ['user_id', 'model', 'agent', 'repo', 'client', 'tool', 'mcp_server'] as const;
export type Filter = (typeof FILTERS)[number];
export type Filters = Readonly<Partial<Record<Filter, string>>>;

export const RANGES = { '7d': '7 d', '30d': '30 d', '90d': '90 d', quarter: 'Quarter' } as const;
export type RangeName = keyof typeof RANGES | 'custom';

/** Everything that a link to the page shows. */
export interface Address {
  /** The parts of the path: `['people', 'ada']`; empty for the overview. */
  readonly path: readonly string[];
  readonly rangeName: RangeName;
  /** Of a custom range. */
  readonly custom: Range | undefined;
  readonly filters: Filters;
  /** What a page is about: it filters its numbers, and isn't a filter to remove. */
  readonly fixed?: Filters;
  /** Everything else: what is chosen on a page. */
  readonly choices: Readonly<Record<string, string>>;
}

/** Where the service is reached, ending with a slash. */
const BASE = new URL(document.baseURI).pathname;
/** The address of the service, as commands take it. */
export const SERVER = document.baseURI.replace(/\/$/, '');

export function parseAddress({ pathname, search }: { pathname: string; search: string }): Address {
  const path = pathname.slice(BASE.length).split('/').filter(Boolean).map(decodeURIComponent);
  const { range = '30d', from = '', to = '', ...others } = Object.fromEntries(new URLSearchParams(search));
  // Only of days that are over, in UTC.
  const yesterday = addDays(today(), -1);
  const isRange = isDay(from) && isDay(to) && from <= to && from <= yesterday;
  const custom = isRange ? { from, to: to < yesterday ? to : yesterday } : undefined;
  const isFilter = (name: string) => (FILTERS as readonly string[]).includes(name);
  const entries = Object.entries(others);
  return {
    path,
    rangeName: custom !== undefined ? 'custom' : Object.hasOwn(RANGES, range) ? (range as RangeName) : '30d',
    custom,
    filters: Object.fromEntries(entries.filter(([name]) => isFilter(name))),
    choices: Object.fromEntries(entries.filter(([name]) => !isFilter(name))),
  };
}

export function hrefOf({ path, rangeName, custom, filters, choices }: Address): string {
  const search = new URLSearchParams({
    ...(rangeName === 'custom' ? custom : rangeName === '30d' ? {} : { range: rangeName }),
    ...filters,
    ...choices,
  }).toString();
  return BASE + path.map(encodeURIComponent).join('/') + (search === '' ? '' : `?${search}`);
}

/** The days of an address, of which the last that is built is `last`. */
export function rangeOf({ rangeName, custom }: Address, last: Day): Range {
  if (rangeName === 'custom' && custom !== undefined) return custom;
  if (rangeName === 'quarter') return { from: quarterOf(last), to: last };
  return { from: addDays(last, 1 - Number.parseInt(rangeName, 10)), to: last };
}

/** Goes to an address: a new entry of the history, or in place of the present one. */
export function go(address: Address, isReplacing = false): void {
  history[isReplacing ? 'replaceState' : 'pushState'](null, '', hrefOf(address));
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** The address, and again whenever it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(() => parseAddress(location));
  useEffect(() => {
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

/** The same address with a filter; without it where it is set to that already. */
export function toggled(address: Address, name: Filter, value: string): Address {
  const { [name]: present, ...others } = address.filters;
  return { ...address, filters: present === value ? others : { ...others, [name]: value } };
}
