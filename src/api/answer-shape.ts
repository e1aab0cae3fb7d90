import { z } from 'zod';
import {
  BIGINT,
  DATE,
  DOUBLE,
  type DuckDBType,
  LIST,
  MAP,
  STRUCT,
  TIMESTAMP_MS,
  VARCHAR,
} from '../arrow/duckdb-driver.js';
import { DaySchema } from '../day.js';
import { readSql } from '../store/sql-text.js';

/** A column of an answer, or a member nested in one. */
export interface Shape {
  readonly name: string;
  readonly type: DuckDBType;
  readonly schema: z.ZodType;
}

const Count = z.int().min(0);

/** The types of values in answers, by their names in SQL. */
const TYPES: Readonly<Record<string, readonly [DuckDBType, z.ZodType]>> = {
  BIGINT: [BIGINT, Count],
  DOUBLE: [DOUBLE, z.number().min(0)],
  VARCHAR: [VARCHAR, z.string()],
  DATE: [DATE, DaySchema],
  TIMESTAMP_MS: [TIMESTAMP_MS, z.iso.datetime({ precision: 3 })],
  'MAP(VARCHAR, BIGINT)': [MAP(VARCHAR, BIGINT), z.record(z.string(), Count)],
};

/**
 * A line that has a member, or begins or ends one with nested members: `CAST(... AS TYPE) AS name,  -- comment`, `'name': CAST(...
 * AS TYPE)`, `list(`, `list_transform(`, `{`, `} AS name`, `CASE WHEN ... THEN {`; or one that uses a list from above: `coalesce(name, []) AS name`, `'name': name`.
 */
const MEMBER =
  /^ *(?:'(?<key>\w+)': |lambda \w+: )?(?:(?<begins>list\(|list_transform\(|(?:CASE WHEN .* THEN )?\{)|CAST\(.* AS (?<type>[A-Z_]+(?:\(.*\))?)\)|(?<ends>[)}])(?: END)?|(?:coalesce\()?(?<above>\w+)(?:, \[\]\))?)(?: AS (?<alias>\w+))?,?(?: +-- (?<comment>.*))?$/;

/** A comment: what a member is, its possible values, and an example. */
const COMMENT = /^(?<description>.*?)(?:: (?<values>\S+(?: \| \S+)+))?(?:, e\.g\. (?<example>.*))?$/;

/** The schema of a member, with its comment as description. */
function commented({ schema, type }: Shape, comment: string): z.ZodType {
  const { description = '', values, example } = COMMENT.exec(comment)?.groups ?? {};
  const choices = values?.split(' | ');
  const isText = type === VARCHAR || type === DATE || type === TIMESTAMP_MS;
  const shown = choices?.[0] ?? (example === undefined || isText ? example : JSON.parse(example));
  const chosen = choices === undefined ? schema : z.enum(choices);
  const nullable = / or null$/.test(description) ? chosen.nullable() : chosen;
  return nullable.meta({ description, ...(shown === undefined ? {} : { examples: [shown] }) });
}

/** The shape of a struct, a list or a value. */
function shapeOf(name: string, ends: string | undefined, type: string, inside: readonly Shape[]): Shape {
  if (ends === '}')
    return {
      name,
      type: STRUCT(Object.fromEntries(inside.map((member) => [member.name, member.type]))),
      schema: z.strictObject(Object.fromEntries(inside.map((member) => [member.name, member.schema]))),
    };
  const [element] = inside;
  if (element !== undefined) return { name, type: LIST(element.type), schema: z.array(element.schema) };
  const known = TYPES[type];
  if (known === undefined)
    throw new TypeError(`the member ${name} of an answer has the unknown type ${type}`);
  return { name, type: known[0], schema: known[1] };
}

/**
 * The columns of the answer in `sql/answer/<file>.sql`, in order. A member without a comment has the comment of the last member of the
 * same name above.
 */
export function shapesOf(file: string): readonly Shape[] {
  const comments = new Map<string, string>();
  const lists = new Map<string, Shape>();
  let columns: Shape[] = [];
  const begun: { key: string; inside: Shape[] }[] = [];
  for (const line of readSql(`answer/${file}.sql`).split('\n')) {
    if (line === 'SELECT') columns = [];
    const { key, begins, type = '', ends, above = '', alias, comment } = MEMBER.exec(line)?.groups ?? {};
    if (begins !== undefined) begun.push({ key: key ?? '', inside: [] });
    const known = lists.get(above);
    const ended = ends === undefined ? undefined : begun.pop();
    if (type === '' && ended === undefined && known === undefined) continue;
    const name = alias ?? key ?? ended?.key ?? '';
    const about = comment ?? comments.get(name);
    if (about !== undefined && name !== '') comments.set(name, about);
    const shape = known ?? shapeOf(name, ends, type, ended?.inside ?? []);
    const whole = about === undefined ? shape : { ...shape, schema: commented(shape, about) };
    if (ends === ')') lists.set(name, whole);
    (begun.at(-1)?.inside ?? columns).push(whole);
  }
  return columns;
}
