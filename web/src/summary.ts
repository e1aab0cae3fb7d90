import { type Address, comparedWith, type Filter, type Filters, rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { type Asked, analyticsPath, useAnswer, usePages } from './client.js';
import type { Day, Range } from './days.js';

export type Summary = Answers['getAnalyticsSummary'];
export type SummaryRow = Summary['data'][number];
/** The numbers of a range, or of a group in it. */
export type Numbers = NonNullable<SummaryRow['previous']>;

export type Group = 'user' | Exclude<Filter, 'user_id'>;

/** The group whose values a filter chooses. */
export function groupOf(filter: Filter): Group {
  return filter === 'user_id' ? 'user' : filter;
}

export interface SummaryQuery {
  readonly groupBy?: Group;
  readonly interval?: 'day' | 'week' | 'month';
  readonly sort?: string;
  readonly limit?: number;
  readonly cursor?: string;
  readonly compare?: 'previous' | 'month';
  /** Only groups whose key contains this text, or is one of these. */
  readonly search?: string | undefined;
  readonly keys?: readonly string[];
}

export function summaryPath(range: Range, filters: Filters, query: SummaryQuery): string {
  const { groupBy, keys, ...others } = query;
  return analyticsPath('summary', range, {
    group_by: groupBy,
    group_keys: keys && JSON.stringify(keys),
    ...others,
    ...filters,
  });
}

/** Asks for the numbers of the address: its range and filters. */
export function useSummary(address: Address, last: Day, query: SummaryQuery): Asked<Summary> {
  return useAnswer<Summary>(
    summaryPath(rangeOf(address, last), { ...address.filters, ...address.fixed }, query),
  );
}

/** The path of the numbers of an address in one row, compared with those of the range before. Its parts share the answer. */
export function totalPath(address: Address, last: Day): string {
  const filters = { ...address.filters, ...address.fixed };
  return summaryPath(rangeOf(address, last), filters, { compare: comparedWith(address) });
}

/** Asks for the numbers of the address in one row. */
export function useTotal(address: Address, last: Day): Asked<Summary> {
  return useAnswer<Summary>(totalPath(address, last));
}

/** The most rows in one answer. */
export const ROWS = 1000;

/** The key of the groups that are joined because few people are in them. */
export const JOINED = '(small groups)';

/** Asks for the numbers of the address on each of its days, and four weeks before. */
export function useDailySummary(address: Address, last: Day): Asked<Summary> {
  const filters = { ...address.filters, ...address.fixed };
  return usePages<Summary>(
    summaryPath(rangeOf(address, last), filters, { interval: 'day', compare: 'previous', limit: ROWS }),
  );
}
