import { SqlError } from './sql-error.js';

/** A name in a query that the query doesn't define: a table, a function in FROM, or any other function. */
export interface Reference {
  readonly kind: 'table' | 'source' | 'function';
  /** The catalog and schema before the name, if written. */
  readonly schema: readonly string[];
  readonly name: string;
}

/** The common table expressions in scope, innermost first. */
interface Scope {
  readonly name: string;
  readonly outer: Scope | undefined;
}

/** Visits a part of the tree, with the names in scope there. */
type Visit = (part: unknown, scope: Scope | undefined, walk: Walk) => void;
type Members = Readonly<Record<string, unknown>>;

/** A walk through a tree: parts to visit, and names found. A list, because a tree can be deeper than the stack. */
interface Walk {
  readonly waiting: (readonly [Visit, unknown, Scope | undefined])[];
  readonly found: Reference[];
}

/**
 * All tables and functions in the tree of a SELECT, as json_serialize_sql returns it. Common table expressions in scope are left out, by
 * DuckDB's rules of scope. Throws a SqlError for any unknown part of a tree, because nobody has considered what it can do.
 */
export function referencesIn(statement: unknown): Reference[] {
  const walk: Walk = { waiting: [[STATEMENT, statement, undefined]], found: [] };
  for (let next = walk.waiting.pop(); next !== undefined; next = walk.waiting.pop()) {
    const [visit, part, scope] = next;
    visit(part, scope, walk);
  }
  return walk.found;
}

/** DuckDB ignores the case of ASCII letters only, so toLowerCase would merge different names. */
function lower(name: unknown): string {
  return String(name).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function unknownForm(what: string): SqlError {
  return new SqlError('query', `SQL can't use ${what} here: write the query another way`);
}

function membersOf(part: unknown): Members {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) throw unknownForm('this form');
  return part as Members;
}

/** A part without names: texts, numbers, types. An expression in it would go unchecked, so it is refused. */
const data: Visit = (part, scope, walk) => {
  if (typeof part !== 'object' || part === null) return;
  if ('class' in part) throw unknownForm(`an expression of the class ${part.class}`);
  for (const member of Object.values(part)) walk.waiting.push([data, member, scope]);
};

const listOf =
  (visit: Visit): Visit =>
  (part, scope, walk) => {
    if (!Array.isArray(part)) throw unknownForm('this form');
    for (const element of part) walk.waiting.push([visit, element, scope]);
  };

type Shape = Readonly<Record<string, Visit>>;

/** A part with these members and no others. */
const shape =
  (members: Shape): Visit =>
  (part, scope, walk) => {
    for (const [name, member] of Object.entries(membersOf(part))) {
      const visit = Object.hasOwn(members, name) ? members[name] : undefined;
      if (visit === undefined) throw unknownForm(`the syntax element ${name}`);
      walk.waiting.push([visit, member, scope]);
    }
  };

/** A part whose member names one of these kinds. */
const oneOf =
  (member: 'class' | 'type', kinds: () => Readonly<Record<string, Visit>>): Visit =>
  (part, scope, walk) => {
    const kind = String(membersOf(part)[member]);
    const visit = Object.hasOwn(kinds(), kind) ? kinds()[kind] : undefined;
    if (visit === undefined) throw unknownForm(`a syntax element of the kind ${kind}`);
    visit(part, scope, walk);
  };

const expression = oneOf('class', () => EXPRESSIONS);
const expressions = listOf(expression);
const table = oneOf('type', () => TABLES);
const query = oneOf('type', () => QUERIES);
const select = shape({ node: query, named_param_map: data });
const order = shape({ type: data, null_order: data, expression });
const orders = listOf(order);
const modifier = oneOf('type', () => MODIFIERS);
const keyed = listOf(shape({ key: data, value: expression }));

const STATEMENT = select;

/** Runs `note` on a part before its members are visited. */
const noted =
  (note: (members: Members, scope: Scope | undefined) => Reference | undefined, visit: Visit): Visit =>
  (part, scope, walk) => {
    const found = note(membersOf(part), scope);
    if (found !== undefined) walk.found.push(found);
    visit(part, scope, walk);
  };

function schemaOf(...names: readonly unknown[]): string[] {
  return names.filter((name) => name !== undefined).map(lower);
}

const functionOf =
  (kind: 'function' | 'source') =>
  ({ catalog, schema, function_name }: Members): Reference => ({
    kind,
    schema: schemaOf(catalog, schema),
    name: lower(function_name),
  });

/** Only an unqualified name can be a common table expression. */
function tableOf({ catalog_name, schema_name, table_name }: Members, scope: Scope | undefined) {
  const name = lower(table_name);
  const schema = schemaOf(catalog_name, schema_name);
  if (schema.length === 0)
    for (let one = scope; one !== undefined; one = one.outer) if (one.name === name) return undefined;
  return { kind: 'table', schema, name } as const;
}

const anExpression = { class: data, type: data, alias: data, query_location: data };

const call = {
  ...anExpression,
  function_name: data,
  schema: data,
  catalog: data,
  children: expressions,
  filter: expression,
  order_bys: modifier,
  distinct: data,
  is_operator: data,
};

/** The classes of expressions. */
const EXPRESSIONS: Readonly<Record<string, Visit>> = {
  BETWEEN: shape({ ...anExpression, input: expression, lower: expression, upper: expression }),
  CASE: shape({
    ...anExpression,
    case_checks: listOf(shape({ when_expr: expression, then_expr: expression })),
    else_expr: expression,
  }),
  CAST: shape({ ...anExpression, child: expression, cast_type: data, try_cast: data }),
  COLLATE: shape({ ...anExpression, child: expression, collation: data }),
  COLUMN_REF: shape({ ...anExpression, column_names: data }),
  COMPARISON: shape({ ...anExpression, left: expression, right: expression }),
  CONJUNCTION: shape({ ...anExpression, children: expressions }),
  CONSTANT: shape({ ...anExpression, value: data }),
  FUNCTION: noted(functionOf('function'), shape({ ...call, export_state: exportState })),
  LAMBDA: shape({ ...anExpression, lhs: expression, expr: expression, syntax_type: data }),
  OPERATOR: shape({ ...anExpression, type: operator, children: expressions }),
  PARAMETER: shape({ ...anExpression, identifier: data }),
  POSITIONAL_REFERENCE: shape({ ...anExpression, index: data }),
  STAR: shape({
    ...anExpression,
    relation_name: data,
    exclude_list: data,
    replace_list: keyed,
    columns: data,
    expr: expression,
    qualified_exclude_list: data,
    rename_list: data,
  }),
  SUBQUERY: shape({
    ...anExpression,
    subquery_type: data,
    subquery: select,
    child: expression,
    comparison_type: data,
  }),
  WINDOW: noted(
    functionOf('function'),
    shape({
      ...anExpression,
      function_name: data,
      schema: data,
      catalog: data,
      children: expressions,
      partitions: expressions,
      orders,
      start: data,
      end: data,
      start_expr: expression,
      end_expr: expression,
      offset_expr: expression,
      default_expr: expression,
      ignore_nulls: data,
      filter_expr: expression,
      exclude_clause: data,
      distinct: data,
      arg_orders: orders,
    }),
  ),
};

const OPERATORS = new Set([
  'ARRAY_CONSTRUCTOR',
  'ARRAY_EXTRACT',
  'ARRAY_SLICE',
  'ARROW',
  'COMPARE_IN',
  'COMPARE_NOT_IN',
  'GROUPING_FUNCTION',
  'OPERATOR_COALESCE',
  'OPERATOR_IS_NOT_NULL',
  'OPERATOR_IS_NULL',
  'OPERATOR_NOT',
  'OPERATOR_NULLIF',
  'OPERATOR_TRY',
  'OPERATOR_UNPACK',
  'STRUCT_EXTRACT',
]);

function operator(type: unknown): void {
  if (!OPERATORS.has(String(type))) throw unknownForm(`the operator ${type}`);
}

/** An aggregate's inner state is bytes that other functions would trust. */
function exportState(isExported: unknown): void {
  if (isExported === true) throw unknownForm('EXPORT_STATE');
}

const aTable = { type: data, alias: data, sample: data, query_location: data };

/** What FROM can have. */
const TABLES: Readonly<Record<string, Visit>> = {
  BASE_TABLE: noted(
    tableOf,
    shape({ ...aTable, catalog_name: data, schema_name: data, table_name: data, column_name_alias: data }),
  ),
  EMPTY: shape(aTable),
  EXPRESSION_LIST: shape({
    ...aTable,
    expected_names: data,
    expected_types: data,
    values: listOf(expressions),
  }),
  JOIN: shape({
    ...aTable,
    left: table,
    right: table,
    condition: expression,
    join_type: data,
    ref_type: data,
    using_columns: data,
    delim_flipped: data,
    is_implicit: data,
  }),
  PIVOT: shape({
    ...aTable,
    source: table,
    aggregates: expressions,
    unpivot_names: data,
    // Not pivot_enum, which names a type.
    pivots: listOf(
      shape({
        pivot_expressions: expressions,
        unpivot_names: data,
        entries: listOf(shape({ values: data, star_expr: expression, alias: data })),
      }),
    ),
    groups: data,
    column_name_alias: data,
    include_nulls: data,
  }),
  // DESCRIBE and SUMMARIZE of a query. Without a query it is SHOW, which lists the engine's tables.
  SHOW_REF: shape({ ...aTable, query, show_type: data }),
  SUBQUERY: shape({ ...aTable, subquery: select, column_name_alias: data }),
  TABLE_FUNCTION: shape({
    ...aTable,
    function: noted(functionOf('source'), shape({ ...call, export_state: exportState })),
    column_name_alias: data,
    with_ordinality: data,
  }),
};

const MODIFIERS: Readonly<Record<string, Visit>> = {
  DISTINCT_MODIFIER: shape({ type: data, distinct_on_targets: expressions }),
  LIMIT_MODIFIER: shape({ type: data, limit: expression, offset: expression }),
  LIMIT_PERCENT_MODIFIER: shape({ type: data, limit: expression, offset: expression }),
  ORDER_MODIFIER: shape({ type: data, orders }),
};

const commonTable = shape({ aliases: data, query: select, materialized: data, key_targets: expressions });

/**
 * A query. Each of its common table expressions sees those before it and those around the query, but not itself. Everything else in the
 * query sees all of them. In a recursive one, `right` also sees its own name.
 */
const queryOf =
  (members: Shape, right?: Visit): Visit =>
  (part, scope, walk) => {
    const { cte_map, ...rest } = membersOf(part);
    let inner = scope;
    for (const entry of entriesOf(cte_map)) {
      const { key, value, ...others } = membersOf(entry);
      walk.waiting.push([shape({}), others, scope], [commonTable, value, inner]);
      inner = { name: lower(key), outer: inner };
    }
    const own = { name: lower(rest.cte_name), outer: inner };
    const all = { type: data, modifiers: listOf(modifier), ...members };
    if (right === undefined) return shape(all)(rest, inner, walk);
    shape({ ...all, right: (half) => right(half, own, walk) })(rest, inner, walk);
  };

function entriesOf(cteMap: unknown): readonly unknown[] {
  if (cteMap === undefined) return [];
  const { map = [], ...others } = membersOf(cteMap);
  if (!Array.isArray(map) || Object.keys(others).length > 0) throw unknownForm('this form of WITH');
  return map;
}

const QUERIES: Readonly<Record<string, Visit>> = {
  SELECT_NODE: queryOf({
    select_list: expressions,
    from_table: table,
    where_clause: expression,
    group_expressions: expressions,
    group_sets: data,
    aggregate_handling: data,
    having: expression,
    sample: data,
    qualify: expression,
  }),
  SET_OPERATION_NODE: queryOf({
    setop_type: data,
    left: query,
    right: query,
    setop_all: data,
    children: listOf(query),
  }),
  RECURSIVE_CTE_NODE: queryOf(
    { cte_name: data, union_all: data, left: query, aliases: data, key_targets: expressions },
    query,
  ),
};
