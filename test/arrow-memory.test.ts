import {
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  type DuckDBValue,
  listValue,
  mapValue,
} from '@duckdb/node-api';
import duckdb, { type Vector } from '@duckdb/node-bindings';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { arrowBytes } from '../src/arrow/arrow-stream.js';
import {
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
} from '../src/arrow/duckdb-driver.js';

let connection: DuckDBConnection;

beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(() => connection.closeSync());

/** A type, and four of its values as SQL: the first two are shown, one of the others is in the memory behind nulls. */
const SIMPLE: readonly (readonly [type: string, values: readonly string[]])[] = [
  ...['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT'].map(
    (type) => [type, ['1', '2', '86', '105']] as const,
  ),
  ...['FLOAT', 'DOUBLE', 'DECIMAL(38, 6)'].map((type) => [type, ['0.5', '2', '1234.5', '0.25']] as const),
  ['DATE', ["'2026-01-01'", "'2026-06-30'", "'1999-12-31'", "'2001-02-03'"]],
  ['TIME', ["'00:00:01'", "'10:00:00'", "'23:59:59'", "'12:34:56'"]],
  ...['TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP', 'TIMESTAMP_NS', 'TIMESTAMPTZ'].map(
    (type) =>
      [
        type,
        ["'2026-01-01 00:00:00'", "'2026-06-30 00:00:00'", "'1999-12-31 01:02:03'", "'2001-02-03 04:05:06'"],
      ] as const,
  ),
  ['BOOLEAN', ['true', 'false', 'true', 'false']],
  ['VARCHAR', ["'ada'", "''", "'zoe'", "'bob@zeta'"]],
  ['VARCHAR', ["'a text that is longer than twelve bytes'", "'x'", "repeat('zoe ', 9)", "repeat('bob ', 5)"]],
  ['BLOB', ["'\\x00\\x01'::BLOB", "''::BLOB", "'zoe'::BLOB", "repeat('bob ', 5)::BLOB"]],
];

/**
 * A type that contains another one, and its value in a row: lists have a value that isn't set between two that are, and members of
 * structs have `member`.
 */
const NESTINGS: readonly (readonly [
  type: (of: string) => string,
  value: (set: string, unset: string, member: string) => string,
])[] = [
  [(of) => of, (_set, _unset, member) => member],
  [(of) => `${of}[]`, (set, unset) => `[${set}, ${unset}, ${set}]`],
  [(of) => `STRUCT(one ${of}, other BIGINT)`, (_set, _unset, member) => `{ 'one': ${member}, 'other': 1 }`],
  [(of) => `MAP(VARCHAR, ${of})`, (set, unset) => `MAP { 'a': ${set}, 'b': ${unset}, 'c': ${set} }`],
  [
    (of) => `STRUCT(one ${of})[]`,
    (set, unset) => `[{ 'one': ${set} }, { 'one': ${unset} }, { 'one': ${set} }]`,
  ],
  [
    (of) => `STRUCT(list ${of}[], of STRUCT(one ${of}))`,
    (set, unset, member) => `{ 'list': [${set}, ${unset}, ${set}], 'of': { 'one': ${member} } }`,
  ],
  [
    (of) => `STRUCT(map MAP(INTEGER, ${of}[]))`,
    (set, unset) => `{ 'map': MAP { 1: [${set}, ${unset}, ${set}], 2: [] } }`,
  ],
];

const CASES = SIMPLE.flatMap(([of, [one, other, zoe, bob]]) =>
  NESTINGS.map(([type, value]) => {
    const withUnset = (unset = '') => [
      value(one ?? '', unset, one ?? ''),
      value(other ?? '', unset, other ?? ''),
      value(one ?? '', unset, unset),
    ];
    return { type: type(of), zoe: withUnset(zoe), bob: withUnset(bob) };
  }),
);

/** How many rows are in the chunk, and how many of them are read: memory behind the last one isn't the answer's. */
const ROWS = 61;
const READ = 43;

/** Says of values of a vector that they aren't set, and leaves their bytes where they are. `isHidden` chooses them by their place. */
function hide(vector: Vector, count: number, isHidden: (index: number) => boolean): void {
  duckdb.vector_ensure_validity_writable(vector);
  const bits = duckdb.vector_get_validity(vector, Math.ceil(count / 64) * 8);
  for (let index = 0; index < count; index += 1)
    if (isHidden(index)) duckdb.validity_set_row_invalid(bits, index);
  duckdb.copy_data_to_vector_validity(vector, 0, bits.buffer as ArrayBuffer, bits.byteOffset, bits.length);
}

/** Hides some of what is inside of a vector, at every depth. */
function hideInside(vector: Vector, type: DuckDBType, count: number): void {
  if (type instanceof DuckDBStructType) {
    for (const [index, entry] of type.entryTypes.entries())
      hideInside(duckdb.struct_vector_get_child(vector, index), entry, count);
  } else if (type instanceof DuckDBListType || type instanceof DuckDBMapType) {
    const elements = duckdb.list_vector_get_child(vector);
    const size = duckdb.list_vector_get_size(vector);
    if (type instanceof DuckDBListType) hideInside(elements, type.valueType, size);
    else hideInside(duckdb.struct_vector_get_child(elements, 1), type.valueType, size);
  } else {
    hide(vector, count, (index) => index % 3 === 1);
  }
}

/** The stream of a column with two values, in which some values aren't set. Behind those is the third value. */
async function streamOf(type: string, values: readonly string[]): Promise<Buffer> {
  const sql = `SELECT UNNEST([${values.map((value) => `CAST(${value} AS ${type})`).join()}]) AS value`;
  const result = await connection.run(sql);
  const types = result.columnTypes();
  const of = types[0] as DuckDBType;
  const [shown, another, behind] = (await result.getRows()).map(([value]) => value as DuckDBValue);
  const isHidden = (index: number) => index % 4 === 2 || (index >= 16 && index < 24) || index >= READ;
  // A list that isn't set has no elements, and where it would begin and end is left as it was.
  const isList = of instanceof DuckDBListType || of instanceof DuckDBMapType;
  const unset = of instanceof DuckDBListType ? listValue([]) : isList ? mapValue([]) : behind;
  const hasLists = /\[\]|MAP/.test(type);
  const chunk = DuckDBDataChunk.create(types, ROWS);
  chunk.setColumnValues(
    0,
    Array.from({ length: ROWS }, (_, index) => {
      if (isHidden(index) && (isList || !hasLists)) return unset as DuckDBValue;
      return (index % 3 === 1 ? behind : index % 2 === 0 ? shown : another) as DuckDBValue;
    }),
  );
  const vector = duckdb.data_chunk_get_vector(chunk.chunk, 0);
  hideInside(vector, of, ROWS);
  if (isList || !hasLists) hide(vector, READ, isHidden);
  const memory = Buffer.alloc(16, values[2]);
  for (let index = 0; isList && index < READ; index += 1)
    if (isHidden(index))
      duckdb.copy_data_to_vector(vector, index * 16, memory.buffer as ArrayBuffer, memory.byteOffset, 16);
  chunk.rowCount = READ;
  const chunks = [chunk];
  const rows = {
    columnNames: () => ['value'],
    columnTypes: () => types,
    fetchChunk: async () => chunks.shift() ?? null,
  };
  const pieces: Uint8Array[] = [];
  const results = async function* () {
    yield rows;
  };
  for await (const piece of arrowBytes(results())) pieces.push(piece);
  return Buffer.concat(pieces);
}

test.each(CASES)('a column of $type has no bytes of memory behind its values', async ({ type, zoe, bob }) => {
  expect((await streamOf(type, zoe)).equals(await streamOf(type, bob))).toBe(true);
});
