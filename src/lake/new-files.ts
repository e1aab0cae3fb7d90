import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Day } from '../day.js';
import { rm } from '../disk/renames.js';
import { patternOf, quote } from '../store/sql-text.js';
import type { Sources, Store, WrittenFile } from '../store/store.js';
import { shownColumns } from '../store/tables.js';
import { type LakeTable, orderOf, PUBLISHED_AT, tableFolder } from './lake-paths.js';
import { parted } from './merge-plan.js';
import { rowsOfDays } from './stored-days.js';

/** Rows of an organization's table that go to one file. */
export interface NewFile {
  readonly orgId: string;
  /** When it is published: Unix milliseconds. */
  readonly at: number;
  /** Its days. Those without `published_at` are read from the store, the others from `sources`. */
  readonly days: readonly { readonly day: Day; readonly rows: number; readonly published_at?: number }[];
  /** Paths in the table's folder. */
  readonly sources: readonly string[];
}

/** Files with together so few rows are written by one statement: their rows stay in order then. */
const ROWS_TOGETHER = 100_000;
const FILES_TOGETHER = 500;

/** Writes Parquet files into a folder, until they are moved to their places. */
export class NewFiles {
  private statements = 0;

  constructor(private readonly folder: string) {}

  async open(): Promise<void> {
    await this.clear();
    mkdirSync(this.folder, { recursive: true });
  }

  clear(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  /** Writes files of a table, and answers each written file. One without rows isn't written. */
  async write(
    store: Store,
    lake: string,
    table: LakeTable,
    files: readonly NewFile[],
  ): Promise<Map<NewFile, WrittenFile>> {
    const written = new Map<NewFile, WrittenFile>();
    const rowsOf = ({ days }: NewFile) => days.reduce((sum, { rows }) => sum + rows, 0);
    for (const group of parted(files, rowsOf, ROWS_TOGETHER, FILES_TOGETHER)) {
      const found = await this.copy(
        store,
        rowsSql(lake, table, group),
        sourcesOf(table, group),
        group.length,
      );
      for (const [slot, file] of group.entries()) {
        const one = found.get(slot);
        if (one !== undefined && one.rows > 0) written.set(file, one);
      }
    }
    return written;
  }

  /** Writes the rows of a SELECT to a file for each value of its first column, `slot`, which counts from 0. */
  async copy(store: Store, sql: string, sources: Sources, count: number): Promise<Map<number, WrittenFile>> {
    this.statements += 1;
    const path = join(this.folder, String(this.statements));
    if (count === 1) {
      const [file] = await store.copy(`SELECT * EXCLUDE (slot) FROM (${sql})`, sources, `${path}.parquet`);
      return new Map(file === undefined ? [] : [[0, file]]);
    }
    const files = await store.copy(sql, sources, path, ['slot']);
    const slots = new Map(files.map((file) => [Number(/slot=(\d+)(?!\d)[^=]*$/.exec(file.path)?.[1]), file]));
    if (slots.size !== files.length) throw new Error(`DuckDB wrote several files for one in ${path}`);
    return slots;
  }
}

/** A day of a new file. */
const TARGET = JSON.stringify([
  { slot: 'INTEGER', org_id: 'VARCHAR', day: 'DATE', published_ms: 'BIGINT', at: 'BIGINT' },
]);

/** The rows of new files, each with the number of its file as `slot`. Hundreds of days are planned faster as one text than as VALUES. */
function rowsSql(lake: string, table: LakeTable, files: readonly NewFile[]): string {
  const targets = files.flatMap(({ orgId, at, days }, slot) =>
    days.map(({ day, published_at: published_ms = null }) => ({
      slot,
      org_id: orgId,
      day,
      published_ms,
      at,
    })),
  );
  const columns = shownColumns(table).map(({ name, type }) =>
    type.startsWith('TIMESTAMP')
      ? `CAST(row_of.${name} AS TIMESTAMPTZ) AS ${name}`
      : `CAST(row_of.${name} AS ${type}) AS ${name}`,
  );
  const paths = files.flatMap(({ orgId, sources }) =>
    sources.map((path) => join(tableFolder(lake, orgId, table), path)),
  );
  const published =
    paths.length === 0
      ? ''
      : `UNION ALL BY NAME SELECT * FROM read_parquet([${[...new Set(paths)].map((path) => quote(patternOf(path))).join(', ')}], union_by_name = true, hive_partitioning = false)`;
  return `SELECT
  target.slot AS slot,
  ${columns.join(',\n  ')},
  make_timestamptz(coalesce(target.published_ms, target.at) * 1000) AS ${PUBLISHED_AT}
FROM (
  SELECT *, CAST(NULL AS TIMESTAMPTZ) AS ${PUBLISHED_AT} FROM of_days
  ${published}
) AS row_of
JOIN (SELECT unnest(from_json(${quote(JSON.stringify(targets))}, ${quote(TARGET)}), recursive := true)) AS target
  ON target.org_id = row_of.org_id
  AND target.day = row_of.day
  AND target.published_ms IS NOT DISTINCT FROM epoch_ms(row_of.${PUBLISHED_AT})
ORDER BY ${['slot', ...orderOf(table)].join(', ')}`;
}

/** The rows that are read from the store. If there are many days, rows of days in between are among them. */
function sourcesOf(table: LakeTable, files: readonly NewFile[]): Sources {
  const asked = files.map(({ orgId, days }) => ({
    orgId,
    days: days.filter(({ published_at }) => published_at === undefined).map(({ day }) => day),
  }));
  return { of_days: rowsOfDays(table, asked) };
}
