import { readSqlFolder } from './sql-text.js';

/** A column as the text that makes its table has it. */
export interface Column {
  readonly name: string;
  /** In SQL, as `BIGINT`. */
  readonly type: string;
  readonly isNullable: boolean;
}

/** A table or view as the texts of `sql/` describe it. */
export interface TableText {
  readonly name: string;
  /** The meaning of a row, in a sentence or two. */
  readonly about: string;
  /** The columns that identify a row. */
  readonly grain: readonly string[];
  /** The comments of columns, by name; not every column has one. */
  readonly comments: ReadonlyMap<string, string>;
  /** The columns of a table, in order. Those of a view are its query's. */
  readonly columns: readonly Column[];
}

/** A column with a comment: of a table `name TYPE, -- comment`, of a view `expression AS name, -- comment` or `name, -- comment`. */
const COMMENTED = /^ {2}(?:.* AS (\w+)|(\w+) +[A-Z].*?|(\w+)),? +-- (.*)$/gm;

const COLUMN = /^ {2}(\w+) +([A-Z]+(?:\([\d, ]+\))?)( NOT NULL)?/gm;

/** Reads the description of the table or view that a text makes. */
export function tableOf({ name, text }: { name: string; text: string }): TableText {
  const [, head = ''] = /^((?:--.*\n)+)/.exec(text) ?? [];
  const [about = '', grain = ''] = head.replaceAll(/^-- |\n$/gm, '').split(/\nGrain: /);
  const found = [...text.matchAll(COMMENTED)];
  return {
    name,
    about: about.replaceAll('\n', ' '),
    grain: [...grain.matchAll(/\w+/g)].map(String),
    comments: new Map(
      found.map(([, alias, column, same, comment]) => [String(alias ?? column ?? same), String(comment)]),
    ),
    columns: text.includes('CREATE TABLE')
      ? [...text.matchAll(COLUMN)].map(([, column, type, isPresent]) => ({
          name: String(column),
          type: String(type),
          isNullable: isPresent === undefined,
        }))
      : [],
  };
}

/** A column that a numbered change adds to a table, with the comment on the line before it. */
const ADDED = /^(?:-- (.*)\n)?ALTER TABLE (\w+) ADD COLUMN (\w+) ([A-Z]+(?:\([\d, ]+\))?)/gm;

/** A raw table, with the columns that later changes have added to it. */
export function readRawTable(name: string): TableText {
  const changes = readSqlFolder('change').map(({ text }) => text);
  const made = changes.find((text) => text.includes(`CREATE TABLE ${name} (`));
  if (made === undefined) throw new Error(`no change makes ${name}`);
  const original = tableOf({ name, text: made });
  const added = changes.flatMap((text) => [...text.matchAll(ADDED)]).filter(([, , table]) => table === name);
  return {
    ...original,
    comments: new Map([
      ...original.comments,
      ...added.flatMap(([, comment, , column]) =>
        comment === undefined ? [] : [[String(column), comment] as const],
      ),
    ]),
    columns: [
      ...original.columns,
      ...added.map(([, , , column, type]) => ({
        name: String(column),
        type: String(type),
        isNullable: true,
      })),
    ],
  };
}

/** The names of a raw table's columns, in order. */
export function rawColumns(name: string): string[] {
  return readRawTable(name).columns.map((column) => column.name);
}
