import { createRequire } from 'node:module';
import type * as api from '@duckdb/node-api';

/**
 * The package of DuckDB, required: to import it Node first reads all of its text for the names that it exports, which takes
 * every process longer than to load it.
 */
const duckdb = createRequire(import.meta.url)('@duckdb/node-api') as typeof api;

export const {
  BIGINT,
  DATE,
  DOUBLE,
  DuckDBArrayType,
  DuckDBDateValue,
  DuckDBDecimalType,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBStructType,
  DuckDBTimestampMillisecondsValue,
  DuckDBTypeId,
  LIST,
  MAP,
  STRUCT,
  StatementType,
  TIMESTAMP_MS,
  VARCHAR,
} = duckdb;

export type DuckDBInstance = api.DuckDBInstance;
export type DuckDBTypeId = api.DuckDBTypeId;
export type StatementType = api.StatementType;
export type {
  DuckDBConnection,
  DuckDBPreparedStatement,
  DuckDBType,
  DuckDBValue,
} from '@duckdb/node-api';
