import { join } from 'node:path';
import { VERSION } from '../disk/package-root.js';
import { quote } from '../store/sql-text.js';
import { shownColumns } from '../store/tables.js';
import { type LakeTable, NO_DAY, PUBLISHED_AT } from './lake-paths.js';
import type { DataFile, Snapshot, TableState } from './snapshot.js';

/** The folder of a table's log. */
export const LOG = '_delta_log';

/** Delta's names of the types that tables have. */
const TYPES: Readonly<Record<string, string>> = {
  VARCHAR: 'string',
  BIGINT: 'long',
  DOUBLE: 'double',
  'DECIMAL(18,9)': 'decimal(18,9)',
  BOOLEAN: 'boolean',
  DATE: 'date',
  TIMESTAMP_MS: 'timestamp',
};

function numberOf(version: number): string {
  return String(version).padStart(20, '0');
}

/** The path of a commit, from the folder of its table. */
export function commitPath(version: number): string {
  return join(LOG, `${numberOf(version)}.json`);
}

/** The path of the file that leads readers to the newest checkpoint. */
export const LAST_CHECKPOINT = join(LOG, '_last_checkpoint');

/** The version of a commit or checkpoint, by its path; undefined for another path. */
export function versionOf(path: string): { version: number; isCheckpoint: boolean } | undefined {
  const [, version, kind] = /^_delta_log.(\d{20})\.(json|checkpoint\.parquet)$/.exec(path) ?? [];
  return version === undefined ? undefined : { version: Number(version), isCheckpoint: kind !== 'json' };
}

/** The path of a checkpoint. */
export function checkpointPath(version: number): string {
  return join(LOG, `${numberOf(version)}.checkpoint.parquet`);
}

const PROTOCOL = { protocol: { minReaderVersion: 1, minWriterVersion: 2 } };

function metaData(table: LakeTable, { id, created_at }: TableState) {
  const fields = [
    ...shownColumns(table).map(({ name, type, comment = '' }) => ({
      name,
      type: TYPES[type],
      nullable: true,
      metadata: { comment },
    })),
    {
      name: PUBLISHED_AT,
      type: 'timestamp',
      nullable: true,
      metadata: { comment: 'when the rows of the day were published' },
    },
  ];
  return {
    metaData: {
      id,
      name: table,
      format: { provider: 'parquet', options: {} },
      schemaString: JSON.stringify({ type: 'struct', fields }),
      partitionColumns: [],
      configuration: {},
      createdTime: created_at,
    },
  };
}

/** The action that adds a file to the table. Its days let engines skip files that a query doesn't need. */
function add({ path, bytes, rows, days }: DataFile, at: number, dataChange: boolean) {
  const sorted = Object.keys(days).sort();
  const stats = {
    numRecords: rows,
    ...(sorted[0] === NO_DAY
      ? {}
      : { minValues: { day: sorted[0] }, maxValues: { day: sorted.at(-1) }, nullCount: { day: 0 } }),
  };
  return {
    add: {
      path,
      partitionValues: {},
      size: bytes,
      modificationTime: at,
      dataChange,
      stats: JSON.stringify(stats),
    },
  };
}

function lines(actions: readonly object[]): string {
  return `${actions.map((action) => JSON.stringify(action)).join('\n')}\n`;
}

/** The commit that leads from one state of a table to the next: always the same text. */
export function commitText(
  table: LakeTable,
  before: TableState | undefined,
  { published_at, tables }: Snapshot,
): string {
  const after = tables[table];
  if (after === undefined) throw new TypeError(`the snapshot has no table ${table}`);
  const there = new Set(before?.files.map(({ path }) => path));
  const stays = new Set(after.files.map(({ path }) => path));
  return lines([
    {
      commitInfo: {
        timestamp: published_at,
        operation: 'WRITE',
        operationParameters: {},
        engineInfo: `daybook/${VERSION}`,
      },
    },
    ...(before === undefined ? [PROTOCOL] : []),
    ...(before?.columns === after.columns ? [] : [metaData(table, after)]),
    ...(before?.files ?? [])
      .filter(({ path }) => !stays.has(path))
      .map(({ path }) => ({ remove: { path, deletionTimestamp: published_at, dataChange: true } })),
    ...after.files.filter(({ path }) => !there.has(path)).map((file) => add(file, published_at, true)),
  ]);
}

const MAP = 'MAP(VARCHAR, VARCHAR)';

/** The members of a checkpoint, as DuckDB reads them from JSON. */
const SHAPE = JSON.stringify({
  protocol: { minReaderVersion: 'INTEGER', minWriterVersion: 'INTEGER' },
  metaData: {
    id: 'VARCHAR',
    name: 'VARCHAR',
    format: { provider: 'VARCHAR', options: MAP },
    schemaString: 'VARCHAR',
    partitionColumns: ['VARCHAR'],
    configuration: MAP,
    createdTime: 'BIGINT',
  },
  add: {
    path: 'VARCHAR',
    partitionValues: MAP,
    size: 'BIGINT',
    modificationTime: 'BIGINT',
    dataChange: 'BOOLEAN',
    stats: 'VARCHAR',
  },
  remove: { path: 'VARCHAR', deletionTimestamp: 'BIGINT', dataChange: 'BOOLEAN' },
});

/**
 * A SELECT of the rows of checkpoints, with the number of the checkpoint as `slot`, and the number of rows of each. A checkpoint has all actions
 * that lead to the state of its table.
 */
export function checkpointsSql(
  tables: readonly { readonly table: LakeTable; readonly state: TableState }[],
): {
  sql: string;
  sizes: number[];
} {
  const checkpoints = tables.map(({ table, state }) => [
    PROTOCOL,
    metaData(table, state),
    ...state.files.map((file) => add(file, newestIn(file), false)),
    ...state.removed.map(({ path, at }) => ({ remove: { path, deletionTimestamp: at, dataChange: false } })),
  ]);
  const rows = checkpoints.flatMap((actions, slot) =>
    actions.map((action) => `(${slot}, ${quote(JSON.stringify(action))})`),
  );
  return {
    sql: `SELECT slot, unnest(from_json(action, ${quote(SHAPE)})) FROM (VALUES ${rows.join(', ')}) AS actions (slot, action) ORDER BY slot`,
    sizes: checkpoints.map((actions) => actions.length),
  };
}

/** When the newest rows of a file were published. */
function newestIn({ days }: DataFile): number {
  return Math.max(...Object.values(days).map(({ published_at }) => published_at));
}

/** The text that leads readers to a checkpoint. */
export function lastCheckpointText(version: number, size: number): string {
  return `${JSON.stringify({ version, size })}\n`;
}
