import type { Column } from '../catalog-types.js';
import { rowsOf } from '../clickhouse/clickhouse-schema.js';
import { BUILT_TABLES } from '../day-builder.js';
import { GROUPS } from '../group.js';
import type { Row } from '../store.js';
import { columnsOf } from '../tables.js';

type Field = Pick<Column, 'name' | 'type'>;

/** A table of data on its way from DuckDB to the ClickHouse database of several nodes. */
export interface MovedTable {
  readonly name: string;
  /** Where its rows go. */
  readonly into: string;
  /** The columns there. */
  readonly columns: readonly Field[];
  /** The SELECT of DuckDB that gives them. */
  readonly select: string;
  /** Whether it has rows of days. */
  readonly isDaily: boolean;
}

/** What the numbers of rows are made from. */
export interface Numbering {
  /** The newest batch of the source. */
  readonly batch: number;
  /** The months before the first built one, counted from year 0, and how many there are from that one to the last. */
  readonly before: number;
  readonly months: number;
  /** The definition of days in the source, and the one that means the same in ClickHouse. */
  readonly definitions: readonly [from: string, to: string];
}

const MONTH = 'extract(year FROM day) * 12 + extract(month FROM day)';

/** The SELECT of DuckDB that gives the members of Numbering but the last. */
export const NUMBERING = `SELECT
  greatest((SELECT coalesce(max(batch), 0) FROM batches), 1) AS batch,
  coalesce(min(${MONTH}), 1) - 1 AS before,
  coalesce(max(${MONTH}) - min(${MONTH}), 0) + 1 AS months
FROM day_inputs`;

export function numberingOf(row: Row | undefined, definitions: Numbering['definitions']): Numbering {
  return {
    batch: Number(row?.batch),
    before: Number(row?.before),
    months: Number(row?.months),
    definitions,
  };
}

/** The newest numbers of a group that count once all is moved. */
export function newestNumbers({ batch, months }: Numbering, group: number): { batch: number; build: number } {
  return { batch: GROUPS * batch + group, build: GROUPS * (months + 1) + group };
}

/** The number of an organization's group in DuckDB's SQL, which has GROUPS times a counter in it: see groupOf. */
function numbered(counter: string): string {
  return `CAST(${GROUPS} * (${counter}) + strpos('0123456789abcdef', left(sha256(org_id), 1)) - 1 AS BIGINT)`;
}

/** The tables whose rows count with the build of their day, beside those of days. */
const OF_DAYS = ['days', 'digests', 'day_inputs'];

/** Those whose rows count with a build. Touches do until the next build of their day, so theirs is a later one. */
const OF_BUILDS = ['restatements', 'touches', 'removed_days'];

const OF_BATCHES = [
  'events',
  'rejects',
  'mended_lines',
  'arrivals',
  'batches',
  'ingested_files',
  'user_emails',
];

/**
 * All tables of data. A batch keeps its number as the counter of its group's numbers. Days of one month are of one build, so that its rows go when
 * all of them were built anew.
 */
export function movedTables({ batch, before, months, definitions }: Numbering): MovedTable[] {
  const build = numbered(`${MONTH} - ${before}`);
  const last = numbered(String(months + 1));
  const [from, to] = definitions;
  const mapped: Record<string, string> = {
    batch: `CASE WHEN batch < 0 THEN batch ELSE ${numbered('batch')} END`,
    definitions: `CASE WHEN definitions = '${from}' THEN '${to}' ELSE definitions END`,
  };
  const tableOf = (name: string, added: Readonly<Record<string, string>>): MovedTable => {
    const own = columnsOf(name);
    const expressions = [
      ...own.map((column) => `${mapped[column.name] ?? column.name} AS ${column.name}`),
      ...Object.entries(added).map(([column, expression]) => `${expression} AS ${column}`),
    ];
    return {
      name,
      // The only one that has another table where one process writes.
      into: name === 'removed_days' ? 'removed_days_rows' : rowsOf(name),
      columns: [...own, ...Object.keys(added).map((column) => ({ name: column, type: 'BIGINT' }))],
      select: `SELECT ${expressions.join(', ')} FROM ${name}`,
      isDaily: own.some((column) => column.name === 'day'),
    };
  };
  return [
    ...OF_BATCHES.map((name) =>
      tableOf(name, name === 'user_emails' ? { batch: numbered(String(batch)) } : {}),
    ),
    ...[...BUILT_TABLES, ...OF_DAYS].map((name) =>
      tableOf(name, name === 'days' ? { build, version: build } : { build }),
    ),
    ...OF_BUILDS.map((name) => tableOf(name, { build: last })),
  ];
}
