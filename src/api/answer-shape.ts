import { z } from 'zod';
import {
  BIGINT,
  DATE,
  DECIMAL,
  DOUBLE,
  type DuckDBType,
  LIST,
  MAP,
  STRUCT,
  TIMESTAMP_MS,
  VARCHAR,
} from '../arrow/duckdb-driver.js';
import { DaySchema } from '../day.js';
import { ANSWERS } from '../store/catalog.js';
import type { Member } from '../store/catalog-types.js';

/** A column of an answer, or a member nested in one. */
export interface Shape {
  readonly name: string;
  readonly type: DuckDBType;
  readonly schema: z.ZodType;
}

const Count = z.int().min(0);
const Amount = z.number().min(0);

/** The types of values in answers, by their names in SQL. */
const TYPES: Readonly<Record<string, readonly [DuckDBType, z.ZodType]>> = {
  BIGINT: [BIGINT, Count],
  DOUBLE: [DOUBLE, Amount],
  VARCHAR: [VARCHAR, z.string()],
  DATE: [DATE, DaySchema],
  TIMESTAMP_MS: [TIMESTAMP_MS, z.iso.datetime({ precision: 3 })],
  'DECIMAL(38,6)': [DECIMAL(38, 6), Amount],
  'DECIMAL(38,12)': [DECIMAL(38, 12), Amount],
  'DECIMAL(38,22)': [DECIMAL(38, 22), Amount],
  'MAP(VARCHAR, BIGINT)': [MAP(VARCHAR, BIGINT), z.record(z.string(), Count)],
};

/** The schema of a member, with its comment: the meaning, whether it can be negative, its possible values as `: one | other`, and an example after `, e.g. `. */
function commented({ schema, type }: Shape, comment: string): z.ZodType {
  const [said = '', example] = comment.split(', e.g. ');
  const colon = said.includes(' | ') ? said.lastIndexOf(': ') : said.length;
  const description = said.slice(0, colon);
  const choices = colon === said.length ? undefined : said.slice(colon + ': '.length).split(' | ');
  const isText = type === VARCHAR || type === DATE || type === TIMESTAMP_MS;
  const shown = choices?.[0] ?? (example === undefined || isText ? example : JSON.parse(example));
  const signed = schema === Amount && description.includes('negative') ? z.number() : schema;
  const chosen = choices === undefined ? signed : z.enum(choices);
  const nullable = description.endsWith(' or null') ? chosen.nullable() : chosen;
  return nullable.meta({ description, ...(shown === undefined ? {} : { examples: [shown] }) });
}

function typed({ name, type }: Member, inside: readonly Shape[]): Shape {
  const [element] = inside;
  if (type === 'LIST' && element !== undefined)
    return { name, type: LIST(element.type), schema: z.array(element.schema) };
  if (type === 'STRUCT')
    return {
      name,
      type: STRUCT(Object.fromEntries(inside.map((member) => [member.name, member.type]))),
      schema: z.strictObject(Object.fromEntries(inside.map((member) => [member.name, member.schema]))),
    };
  const known = TYPES[type];
  if (known === undefined)
    throw new TypeError(`the member ${name} of an answer has the unknown type ${type}`);
  return { name, type: known[0], schema: known[1] };
}

function shapeOf(member: Member): Shape {
  const shape = typed(member, (member.members ?? []).map(shapeOf));
  return member.comment === undefined ? shape : { ...shape, schema: commented(shape, member.comment) };
}

/** The columns of the answer in `sql/answer/<file>.sql`, in order. */
export function shapesOf(file: string): readonly Shape[] {
  return (ANSWERS[file]?.members ?? []).map(shapeOf);
}
