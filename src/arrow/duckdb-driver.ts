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
  DECIMAL,
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
  version: engineVersion,
} = duckdb;

/**
 * Makes a connection on which a query means the same on every machine: by itself the engine takes its calendar and its time zone from the
 * language and the clock of the machine. TRICKY: neither is inherited by a further connection, not even as a global setting.
 */
export async function connectTo(instance: DuckDBInstance): Promise<api.DuckDBConnection> {
  const connection = await instance.connect();
  await connection.run("SET Calendar = 'gregorian'; SET TimeZone = 'UTC'; SET default_collation = ''");
  return connection;
}

export type DuckDBInstance = api.DuckDBInstance;
export type DuckDBTypeId = api.DuckDBTypeId;
export type StatementType = api.StatementType;
export type {
  DuckDBConnection,
  DuckDBPreparedStatement,
  DuckDBType,
  DuckDBValue,
} from '@duckdb/node-api';
