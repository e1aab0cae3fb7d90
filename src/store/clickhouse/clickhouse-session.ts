import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { type ClickHouseClient, type ClickHouseSettings, drainStream } from '@clickhouse/client';
import { readSql } from '../sql-text.js';
import type { Parameter, Parameters, Row, Value } from '../store.js';

/** The settings that engine/clickhouse.sql lists, which make ClickHouse read SQL as the standard has it. */
const SETTINGS: ClickHouseSettings = {
  output_format_json_quote_64bit_integers: 1,
  ...Object.fromEntries(
    [...readSql('engine/clickhouse.sql').matchAll(/^SET (\w+) = '?([^';]+)'?;$/gm)].map(([, name, value]) => [
      String(name),
      String(value),
    ]),
  ),
};

/** The type of ClickHouse that goes with a parameter. */
function typeOf(value: Parameter): string {
  if (value === null) return 'Nullable(String)';
  if (typeof value === 'object') return 'Date';
  if (typeof value === 'string') return 'String';
  return Number.isInteger(value) ? 'Int64' : 'Float64';
}

/**
 * A text that both engines read, in ClickHouse's spelling: `$name` as `{name:Type}`, and a backslash in a string doubled,
 * since ClickHouse gives it a meaning there that the standard doesn't.
 */
export function spelled(sql: string, parameters: Parameters): string {
  return sql
    .replaceAll('\\', '\\\\')
    .replace(/\$(\w+)/g, (text, name: string) =>
      Object.hasOwn(parameters, name) ? `{${name}:${typeOf(parameters[name] as Parameter)}}` : text,
    );
}

/** Converts a value as Store promises it, by its column's type. */
function toValue(value: unknown, type: string): Value {
  if (value === null) return null;
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(type)?.[1];
  if (inner !== undefined) return toValue(value, inner);
  if (/^((U?Int|Float)\d+|Decimal\()/.test(type)) return Number(value);
  if (type.startsWith('DateTime')) return Date.parse(`${String(value).replace(' ', 'T')}Z`);
  if (type === 'Bool') return value === true;
  if (type === 'String' || type === 'Date' || type === 'Date32') return String(value);
  const element = /^Array\((.*)\)$/.exec(type)?.[1];
  if (element !== undefined && Array.isArray(value)) return value.map((one) => toValue(one, element));
  throw new TypeError(`a column of type ${type} can't be read: cast it in the SELECT`);
}

/** Queries of one ClickHouse database, with what this project asks of one. */
export class ClickHouseSession {
  constructor(readonly client: ClickHouseClient) {}

  /** The rows of one SELECT, in the spelling that both engines read. */
  async select(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    const result = await this.client.query({
      query: spelled(sql, parameters),
      format: 'JSONCompactEachRowWithNamesAndTypes',
      ...this.with(parameters),
    });
    const [names = [], types = [], ...rows] = await result.json<unknown[]>();
    return rows.map((row) =>
      Object.fromEntries(
        names.map((name, column) => [String(name), toValue(row[column], String(types[column]))]),
      ),
    );
  }

  /** Runs one statement, in the spelling that both engines read. */
  async run(sql: string, parameters: Parameters = {}): Promise<void> {
    await this.client.command({ query: spelled(sql, parameters), ...this.with(parameters) });
  }

  /** Runs statements that ClickHouse alone reads, one after the other. */
  async define(text: string): Promise<void> {
    for (const statement of text.split(/;\s*$/m)) {
      const isEmpty = statement.replaceAll(/^\s*--.*$/gm, '').trim() === '';
      if (!isEmpty && !/^\s*SET /m.test(statement))
        await this.client.command({ query: statement, clickhouse_settings: SETTINGS });
    }
  }

  /** Sends the rows of a Parquet file to a table; the file streams to the server as it is. */
  async upload(path: string, table: string, columns: readonly string[]): Promise<void> {
    const file = await open(path);
    const values = file.createReadStream({ autoClose: false });
    try {
      const { stream } = await this.client.exec({
        query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT Parquet`,
        values,
        clickhouse_settings: SETTINGS,
      });
      await drainStream(stream);
    } finally {
      values.destroy();
      await file.close();
    }
  }

  /** Writes the rows of one SELECT to a Parquet file, as they stream from the server. */
  async download(sql: string, parameters: Parameters, path: string): Promise<void> {
    const { stream } = await this.client.exec({
      query: `${spelled(sql, parameters)} FORMAT Parquet`,
      ...this.with(parameters),
    });
    await pipeline(stream, createWriteStream(path));
  }

  private with(parameters: Parameters) {
    const values = Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? value.day : value,
    ]);
    return { query_params: Object.fromEntries(values), clickhouse_settings: SETTINGS };
  }
}
