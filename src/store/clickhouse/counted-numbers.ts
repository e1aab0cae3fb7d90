import { GROUPS } from '../group.js';

/** What rows count by: the batch that brought them, or the build that computed them. */
export const KINDS = ['batch', 'build'] as const;
export type Kind = (typeof KINDS)[number];

/** Numbers of one group that never come to count: these, and every sixteenth between them. */
export interface Hole {
  readonly first: number;
  readonly last: number;
}

/** The numbers of one kind that count: of each group those up to its newest one, without the holes. */
export interface Counting {
  /** By group. */
  readonly newest: readonly number[];
  readonly holes: readonly Hole[];
}

export interface Counted {
  readonly batch: Counting;
  readonly build: Counting;
  /** How often tables began or ended to be exchanged for others: odd while they are. */
  readonly exchanges: number;
}

/** Holes of so many numbers are named one by one. */
const NAMED_AT_MOST = 8;

/** Numbers that an attempt takes which never comes to count begin here: none is as large. */
export const NEVER = 2 ** 52;

/**
 * The condition that the number in a column counts, in ClickHouse's SQL. It names a few numbers, however many days and batches there are.
 */
export function isCounted({ newest, holes }: Counting, column: string): string {
  const single: number[] = [];
  const ranges: string[] = [];
  for (const { first, last } of holes) {
    const numbers = (last - first) / GROUPS + 1;
    if (numbers <= NAMED_AT_MOST)
      for (let number = first; number <= last; number += GROUPS) single.push(number);
    else
      ranges.push(
        `NOT (${column} % ${GROUPS} = ${first % GROUPS} AND ${column} BETWEEN ${first} AND ${last})`,
      );
  }
  const conditions = [
    `${column} <= ${Math.max(...newest)}`,
    `${column} <= [${newest.join(', ')}][${column} % ${GROUPS} + 1]`,
    ...(single.length > 0 ? [`${column} NOT IN (${single.join(', ')})`] : []),
    ...ranges,
  ];
  return conditions.join(' AND ');
}

/** The same numbers, with other ones of one group as the newest. */
export function withNewest(counted: Counted, group: number, newest: Partial<Record<Kind, number>>): Counted {
  const changed = (kind: Kind): Counting => ({
    ...counted[kind],
    newest: counted[kind].newest.map((number, other) =>
      other === group ? (newest[kind] ?? number) : number,
    ),
  });
  return { ...counted, batch: changed('batch'), build: changed('build') };
}

/** Names what counts: as long as it stays the same, so do the rows that count. */
export function revisionOf(counted: Counted): string {
  return [...KINDS.map((kind) => counted[kind].newest.join(' ')), counted.exchanges].join(' | ');
}
