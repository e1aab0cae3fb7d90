import { BUILT_TABLES } from './build.js';
import { readSql, readSqlFolder } from './sql.js';

/** A column as the text that makes its table has it. */
export interface Column {
  readonly name: string;
  /** In SQL, as `BIGINT`. */
  readonly type: string;
  readonly isNullable: boolean;
}

/** What the texts of `sql/` say of a table or view that is there to be read. */
export interface TableText {
  readonly name: string;
  /** What a row is, in a sentence or two. */
  readonly about: string;
  /** The columns that no two rows have alike. */
  readonly grain: readonly string[];
  /** What a column is, by its name; not every one needs it. */
  readonly comments: ReadonlyMap<string, string>;
  /** The columns of a table, in order. Those of a view are its query's. */
  readonly columns: readonly Column[];
}

/** A column with a comment: of a table `name TYPE, -- comment`, of a view `expression AS name, -- comment` or `name, -- comment`. */
const COMMENTED = /^ {2}(?:(\w+) +[A-Z].*?|.* AS (\w+)|(\w+)),? +-- (.*)$/gm;

const COLUMN = /^ {2}(\w+) +([A-Z]+(?:\(\d+\))?)( NOT NULL)?/gm;

function tableOf({ name, text }: { name: string; text: string }): TableText {
  const [, head = ''] = /^((?:--.*\n)+)/.exec(text) ?? [];
  const [about = '', grain = ''] = head.replaceAll(/^-- |\n$/gm, '').split(/\nGrain: /);
  const found = [...text.matchAll(COMMENTED)];
  return {
    name,
    about: about.replaceAll('\n', ' '),
    grain: [...grain.matchAll(/\w+/g)].map(String),
    comments: new Map(
      found.map(([, column, alias, same, comment]) => [String(column ?? alias ?? same), String(comment)]),
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

/** All tables to be read, by their kind: the events, the tables of built days, and views that give words a face. */
export function readTables(): Record<'events' | 'days' | 'views', TableText[]> {
  const schema = readSqlFolder('schema');
  const isOfDays = ({ name }: { name: string }) => (BUILT_TABLES as readonly string[]).includes(name);
  return {
    events: [tableOf({ name: 'events', text: readSql('change/0001-events.sql') })],
    days: schema.filter(isOfDays).map(tableOf),
    views: schema.filter(({ text }) => text.includes('CREATE OR REPLACE VIEW')).map(tableOf),
  };
}
