import type { DuckDBType } from '@duckdb/node-api';
import { ANSWERS, type Answer, fileOf, GROUPS, isTotals } from '../src/api/answer-names.js';
import { type Reading, readReport } from '../src/api/answer-rows.js';
import { preparedBudgets, readBudgets } from '../src/api/budget-rows.js';
import { readSilence } from '../src/api/silence-answers.js';
import { DuckDBListType, DuckDBStructType } from '../src/arrow/duckdb-driver.js';
import type { Day } from '../src/day.js';
import type { AnswerText, Column, Member, TableText } from '../src/store/catalog-types.js';
import { FIRST_TABLES } from '../src/store/day-builder.js';
import { isTable, readViews } from '../src/store/definition.js';
import { inOrder, readSql, readSqlFolder } from '../src/store/sql-text.js';
import { silenceSql } from '../src/store/state/silence.js';
import type { Store } from '../src/store/store.js';
import { NOW } from './world.js';

/** Writes src/store/catalog.ts: names and types as DuckDB has them, and the comments beside them in `sql/`. */

/** The types of tables and answers, which rows are written, compared and described by. */
const TYPES = [
  'VARCHAR',
  'BIGINT',
  'DOUBLE',
  'BOOLEAN',
  'DATE',
  'TIMESTAMP_MS',
  'DECIMAL(12,6)',
  'DECIMAL(18,9)',
];
/** Views and sums have more: of literals, keys and sums. */
const OF_QUERIES = [...TYPES, 'INTEGER', 'UBIGINT', 'HUGEINT', 'DECIMAL(38,12)'];
const OF_ANSWERS = [...TYPES, 'DECIMAL(38,6)', 'DECIMAL(38,12)', 'DECIMAL(38,22)', 'MAP(VARCHAR, BIGINT)'];

/** Throws for a type that nobody has considered. */
function knownType(of: string, type: string, known: readonly string[]): string {
  if (known.includes(type)) return type;
  throw new TypeError(
    `${of} has the unknown type ${type}: cast it in sql/, or see to it wherever types are read`,
  );
}

function listed(names: string): string[] {
  return names === '' ? [] : names.split(', ');
}

/** The comment above a text: the meaning of a row, its grain, and the columns that are shown first. */
function headOf(text: string) {
  const lines = text.split('\n');
  const head = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('--')),
  );
  const comment = head.map((line) => line.slice('-- '.length)).join(' ');
  const [about = '', rest = ''] = comment.split(/ ?Grain: /);
  const [, grain = ''] = /^\(([\w, ]+)\)\./.exec(rest) ?? [];
  const [, first = ''] = /Shown first: ([\w, ]+)\./.exec(rest) ?? [];
  return { about, grain: listed(grain), shownFirst: listed(first) };
}

/**
 * A line that has a column or member, and may have a comment behind it: `name TYPE NOT NULL,  -- comment`, `... AS name,  -- comment`,
 * `name,  -- comment`, `'name': ...  -- comment`.
 */
const LINE =
  /^ +(?:'(?<key>\w+)': .*?|.* AS (?<alias>\w+)|(?<column>\w+)(?: +[A-Z].*?)?|.*?),?(?: +-- (?<comment>.*))?$/;

/** A column that a numbered change adds, with the comment on the line before it. */
const ADDED = /^-- (.*)\nALTER TABLE (\w+) ADD COLUMN (\w+)/gm;

/** The comments beside the columns of a table or view. */
function commentsOf(table: string, text: string): Map<string, string> {
  const comments = new Map<string, string>();
  for (const line of text.split('\n')) {
    const { alias, column, comment } = LINE.exec(line)?.groups ?? {};
    const name = alias ?? column;
    if (line.startsWith('  ') && line[2] !== ' ' && name !== undefined && comment !== undefined)
      comments.set(name, comment);
  }
  for (const change of readSqlFolder('change'))
    for (const [, comment = '', changed, column = ''] of change.text.matchAll(ADDED))
      if (changed === table) comments.set(column, comment);
  return comments;
}

/** The texts that make tables and views, by their names. */
function textsOf(): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { text } of readSqlFolder('change'))
    for (const [, table = ''] of text.matchAll(/^CREATE TABLE (\w+) \(/gm)) texts.set(table, text);
  for (const { name, text } of [...readSqlFolder('schema'), ...readSqlFolder('rollup')])
    texts.set(name, text);
  return texts;
}

const DAILY = readSqlFolder('daily');

function kindOf(name: string, text: string): TableText['kind'] {
  if (name === 'events') return 'events';
  if (['prices', 'price_multipliers', 'people', 'aliases', 'memberships'].includes(name)) return 'reference';
  if (['digests', 'rejects', 'restatements'].includes(name)) return 'record';
  if (DAILY.some((table) => table.name === name)) return 'day table';
  return text.includes('CREATE OR REPLACE VIEW') ? 'view' : undefined;
}

const KINDS: readonly TableText['kind'][] = ['events', 'reference', 'day table', 'record', 'view', undefined];

/** The tables and views of a new store, those that people can read first. */
async function tablesOf(store: Store): Promise<Record<string, TableText>> {
  const rows = await store.select(
    'SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index',
  );
  const tables = [...textsOf()].map(([name, text]) => {
    const { about, grain } = headOf(text);
    const comments = commentsOf(name, text);
    const types = isTable({ name, text }) ? TYPES : OF_QUERIES;
    const columns = rows
      .filter(({ table_name }) => table_name === name)
      .map(({ column_name, data_type, is_nullable }): Column => {
        const column = String(column_name);
        const comment = comments.get(column);
        return {
          name: column,
          type: knownType(`${name}.${column}`, String(data_type), types),
          isNullable: is_nullable === true,
          ...(comment === undefined ? {} : { comment }),
        };
      });
    const kind = kindOf(name, text);
    return [name, { ...(kind === undefined ? {} : { kind }), about, grain, columns }] as const;
  });
  const place = ([name, { kind }]: (typeof tables)[number]) => `${KINDS.indexOf(kind)} ${name}`;
  return Object.fromEntries(tables.sort((one, other) => (place(one) < place(other) ? -1 : 1)));
}

/** The names of the day tables, each after those that its query reads, by views or not. */
function orderedDayTables(): string[] {
  return inOrder([...readViews(), ...DAILY])
    .filter((one) => DAILY.includes(one))
    .map(({ name }) => name)
    .filter((name) => !(FIRST_TABLES as readonly string[]).includes(name));
}

/** The comments of an answer: by the column that a member is in, which is empty for columns, and by the member's name. */
function answerComments(text: string): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  const newest = new Map<string, string>();
  let inside = new Map<string, string>();
  let columns = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line === 'SELECT') columns = new Map();
    const { key, alias, comment } = LINE.exec(line)?.groups ?? {};
    const name = key ?? alias ?? '';
    const about = comment ?? newest.get(name);
    if (name !== '' && about !== undefined) newest.set(name, about);
    if (alias !== undefined && inside.size > 0) {
      found.set(alias, inside);
      inside = new Map();
    }
    if (about !== undefined) (alias === undefined ? inside : columns).set(name, about);
  }
  return found.set('', columns);
}

/** A column of an answer, or a member that is nested in a column or member. */
function memberOf(
  name: string,
  type: DuckDBType,
  comments: ReadonlyMap<string, ReadonlyMap<string, string>>,
  owner = '',
): Member {
  const comment = comments.get(owner)?.get(name);
  const inside = name === '' ? owner : name;
  const head = (shown: string) => ({ name, type: shown, ...(comment === undefined ? {} : { comment }) });
  if (type instanceof DuckDBListType)
    return { ...head('LIST'), members: [memberOf('', type.valueType, comments, inside)] };
  if (type instanceof DuckDBStructType) {
    const members = type.entryNames.map((entry, index) =>
      memberOf(entry, type.entryTypes[index] as DuckDBType, comments, inside),
    );
    return { ...head('STRUCT'), members };
  }
  return head(knownType(`the member ${name} of an answer`, String(type), OF_ANSWERS));
}

/** The columns of an answer, which is asked as the service asks it. */
async function answerOf(store: Store, answer: Answer, groupBy?: string): Promise<AnswerText> {
  const text = readSql(`answer/${fileOf(answer, groupBy)}.sql`);
  const comments = answerComments(text);
  const range = { from: '2026-06-01' as Day, to: '2026-06-02' as Day };
  const members = await store.snapshot(async (select, readColumns) => {
    const { results } = await readReport(select, readColumns, answer, 'arrow', {
      ...{ orgId: 'acme', ...range, groupBy },
    });
    return membersOf(results, comments);
  });
  return { shownFirst: headOf(text).shownFirst, members };
}

/** The columns of results. */
async function membersOf(
  results: Reading['results'],
  comments: ReturnType<typeof answerComments>,
): Promise<Member[]> {
  for await (const rows of results)
    return rows
      .columnNames()
      .map((name, index) => memberOf(name, rows.columnTypes()[index] as DuckDBType, comments));
  return [];
}

/** The columns of the answer about silence, which is asked as the service asks it. */
async function silenceAnswer(store: Store): Promise<AnswerText> {
  const text = readSql('answer/silence.sql');
  const members = await store.snapshot(async (_, readColumns) => {
    const { results } = await readSilence(
      readColumns,
      silenceSql(['acme'], '2026-06-02' as Day, ['silent']),
      'arrow',
    );
    return membersOf(results, answerComments(text));
  });
  return { shownFirst: headOf(text).shownFirst, members };
}

/** The columns of the answer about budgets, which are asked for as the service asks for them. */
async function budgetsAnswer(store: Store): Promise<AnswerText> {
  const text = readSql('answer/budgets.sql');
  const prepared = await preparedBudgets(store, { orgId: 'acme' }, '2026-05-01' as Day, NOW);
  const members = await store.snapshot(async (select, readColumns) => {
    const { results } = await readBudgets(select, readColumns, prepared, 'arrow');
    return membersOf(results, answerComments(text));
  });
  return { shownFirst: headOf(text).shownFirst, members };
}

/** The text of src/store/catalog.ts, from a store that has nothing yet. */
export async function catalogText(store: Store): Promise<string> {
  const answers: Record<string, AnswerText> = {};
  for (const answer of ANSWERS)
    for (const group of [undefined, ...(isTotals(answer) ? [] : GROUPS[answer])])
      answers[fileOf(answer, group)] = await answerOf(store, answer, group);
  answers.silence = await silenceAnswer(store);
  answers.budgets = await budgetsAnswer(store);
  const constant = (name: string, type: string, value: object) =>
    `export const ${name}: Readonly<Record<string, ${type}>> = ${written(value)};\n`;
  return `// Written by "npm run docs" from sql/, and compared with it by test/catalog.test.ts.
import type { AnswerText, TableText } from './catalog-types.js';

/** All tables and views, those first that people can read. */
${constant('TABLES', 'TableText', await tablesOf(store))}
/** The day tables, each after those that its query reads. FIRST_TABLES are written before them. */
export const DAY_TABLES = ${written(orderedDayTables())} as const;

/** The answers, by their files in sql/answer. */
${constant('ANSWERS', 'AnswerText', answers)}`;
}

/** A value as TypeScript, on one line if there is nothing nested in it. */
function written(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const entries = Object.entries(value).map(([name, one]) => [isList ? '' : `${name}: `, one] as const);
  const isFlat = entries.every(([, one]) => typeof one !== 'object');
  const inner = isFlat ? '' : `${indent}  `;
  const texts = entries.map(([name, one]) => `${inner}${name}${written(one, inner)}`);
  const [begin, end] = isList ? '[]' : '{}';
  if (isFlat) return isList ? `[${texts.join(', ')}]` : `{ ${texts.join(', ')} }`;
  return `${begin}\n${texts.join(',\n')},\n${indent}${end}`;
}
