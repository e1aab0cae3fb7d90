import pg from 'pg';
import type { Value } from '../store.js';

type Read = (text: string) => Value;

const text: Read = (value) => value;

/** Reads an instant as Unix milliseconds. One without a time zone is of UTC, as in all tables. */
const instant: Read = (value) => {
  const [, day, time, zone] =
    /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d(?::\d\d)?)?$/.exec(value) ?? [];
  if (day === undefined) throw new TypeError(`"${value}" is no instant in ISO 8601: set DateStyle to ISO`);
  const from = zone === undefined ? 'Z' : zone.length === 3 ? `${zone}:00` : zone;
  return Date.parse(`${day}T${time}${from}`);
};

const day: Read = (value) => {
  if (!/^\d{4,}-\d\d-\d\d$/.test(value))
    throw new TypeError(`"${value}" is no day in ISO 8601: set DateStyle to ISO`);
  return value;
};

const { builtins } = pg.types;

/** The number of the type of lists of texts, which the client's own list lacks. */
const TEXTS = 1009;

/** How values come out as Store promises them, by the numbers of their types. */
const READERS: Readonly<Record<number, Read>> = {
  [builtins.BOOL]: (value) => value === 't',
  [builtins.INT2]: Number,
  [builtins.INT4]: Number,
  [builtins.INT8]: Number,
  [builtins.OID]: Number,
  [builtins.FLOAT4]: Number,
  [builtins.FLOAT8]: Number,
  [builtins.NUMERIC]: Number,
  [builtins.TEXT]: text,
  [builtins.VARCHAR]: text,
  [builtins.BPCHAR]: text,
  [builtins.UUID]: text,
  [builtins.JSON]: text,
  // The types of names in the catalogue, and of a text of which nothing says its type.
  19: text,
  705: text,
  [builtins.DATE]: day,
  [builtins.TIMESTAMP]: instant,
  [builtins.TIMESTAMPTZ]: instant,
  [TEXTS]: pg.types.getTypeParser(TEXTS as never),
};

/** Throws for a value of a type that Store has none for. */
export const VALUES: pg.CustomTypesConfig = {
  getTypeParser: ((type: number) => (value: string) => {
    const read = READERS[type];
    if (read === undefined)
      throw new TypeError(`a column of type ${type} can't be read: cast it in the SELECT`);
    return read(value);
  }) as pg.CustomTypesConfig['getTypeParser'],
};
