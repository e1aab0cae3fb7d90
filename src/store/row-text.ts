import {
  DuckDBArrayType,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from '../arrow/duckdb-driver.js';
import { quote } from './sql-text.js';

/** A column that has a name and the expression that has its value. */
export interface Expression {
  readonly name: string;
  readonly type: DuckDBType;
  readonly sql: string;
}

/** The types of numbers that have all their digits. */
export const EXACT: readonly DuckDBTypeId[] = [
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.UHUGEINT,
  DuckDBTypeId.DECIMAL,
];
/** The types whose text in DuckDB is JSON. */
const PLAIN: ReadonlySet<DuckDBTypeId> = new Set([...EXACT, DuckDBTypeId.BIGNUM, DuckDBTypeId.BOOLEAN]);
const INSTANTS = new Set([DuckDBTypeId.TIMESTAMP, DuckDBTypeId.TIMESTAMP_S, DuckDBTypeId.TIMESTAMP_NS]);
/** Numbers of more digits have an exponent. */
const WHOLE_BELOW = '1e15';

/**
 * A value as plain text: instants as RFC 3339 has them, in UTC, those of milliseconds with three digits of them; whole numbers
 * without a decimal point; and everything else as DuckDB writes it.
 */
function textOf(type: DuckDBType, value: string): string {
  const { typeId } = type;
  const text = `CAST(${value} AS VARCHAR)`;
  const finite = (one: string) => `CASE WHEN isfinite(${value}) THEN ${one} ELSE ${text} END`;
  if (typeId === DuckDBTypeId.FLOAT || typeId === DuckDBTypeId.DOUBLE)
    return `CASE WHEN abs(${value}) < ${WHOLE_BELOW} AND ${value} = trunc(${value}) THEN CAST(CAST(${value} AS BIGINT) AS VARCHAR) ELSE ${text} END`;
  if (typeId === DuckDBTypeId.TIMESTAMP_MS) return finite(`strftime(${value}, '%Y-%m-%dT%H:%M:%S.%gZ')`);
  if (typeId === DuckDBTypeId.TIMESTAMP_TZ)
    return finite(`replace(CAST(${value} AT TIME ZONE 'UTC' AS VARCHAR), ' ', 'T') || 'Z'`);
  return INSTANTS.has(typeId) ? finite(`replace(${text}, ' ', 'T') || 'Z'`) : text;
}

/** A value as JSON, and NULL as NULL. Numbers have all their digits; infinity and NaN are null. */
function jsonOf(type: DuckDBType, value: string, depth = 0): string {
  const orNull = (of: DuckDBType, one: string) => `coalesce(${jsonOf(of, one, depth + 1)}, 'null')`;
  const element = `e${depth}`;
  const joined = (list: string, one: string) =>
    `array_to_string(list_transform(${list}, lambda ${element}: ${one}), ',')`;
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) {
    const list = type instanceof DuckDBArrayType ? `CAST(${value} AS ${type.valueType}[])` : value;
    return `'[' || ${joined(list, orNull(type.valueType, element))} || ']'`;
  }
  if (type instanceof DuckDBMapType) {
    const key = `CAST(to_json(CAST(${element}.key AS VARCHAR)) AS VARCHAR)`;
    return `'{' || ${joined(`map_entries(${value})`, `${key} || ':' || ${orNull(type.valueType, `${element}.value`)}`)} || '}'`;
  }
  if (type instanceof DuckDBStructType) {
    const members = type.entryTypes.map(
      (of, index) =>
        `${quote(`${index === 0 ? '{' : ','}${JSON.stringify(type.entryNames[index] || String(index + 1))}:`)}, ${orNull(of, `struct_extract_at(${value}, ${index + 1})`)}`,
    );
    return `CASE WHEN ${value} IS NOT NULL THEN concat(${members.join(', ')}, '}') END`;
  }
  if (PLAIN.has(type.typeId)) return `CAST(${value} AS VARCHAR)`;
  if (type.typeId === DuckDBTypeId.FLOAT || type.typeId === DuckDBTypeId.DOUBLE)
    return `CASE WHEN isfinite(${value}) THEN ${textOf(type, value)} END`;
  return `CAST(to_json(${textOf(type, value)}) AS VARCHAR)`;
}

/** A row as an object of JSON, as SQL. */
export function jsonRow(columns: readonly Expression[]): string {
  const members = columns.map(
    ({ name, type, sql }, index) =>
      `${quote(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`)}, coalesce(${jsonOf(type, sql)}, 'null')`,
  );
  return `concat(${members.join(', ')}, '}')`;
}

/** A row as a line of CSV (RFC 4180), as SQL: nothing for null, JSON for what is nested. */
export function csvRow(columns: readonly Expression[]): string {
  const fields = columns.map(({ type, sql }) => {
    const isNested =
      type instanceof DuckDBListType ||
      type instanceof DuckDBArrayType ||
      type instanceof DuckDBMapType ||
      type instanceof DuckDBStructType;
    const quoted = (text: string) => `'"' || replace(${text}, '"', '""') || '"'`;
    if (isNested) return quoted(jsonOf(type, sql));
    if (PLAIN.has(type.typeId)) return `CAST(${sql} AS VARCHAR)`;
    const text = textOf(type, sql);
    return `CASE WHEN regexp_matches(${text}, '[",\\r\\n]') THEN ${quoted(text)} ELSE ${text} END`;
  });
  return `concat(${fields.join(`, ',', `)}, chr(13) || chr(10))`;
}
