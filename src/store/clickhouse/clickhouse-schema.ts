import { UsageError } from '../../exit.js';
import { SCRATCH_TABLES } from '../day-builder.js';
import { type Definitions, isTable, readDefinitions, readViews } from '../definition.js';
import type { ReferencePaths } from '../reference-data.js';
import { ROLL_UPS, rollUpView } from '../roll-ups.js';
import {
  bringUpToDate,
  carriedOver,
  changesAfter,
  type Defined,
  isOfNewerVersion,
  namesOf,
  newestChange,
} from '../schema-change.js';
import { functionsIn, namesIn, readSqlFolder, type SqlText } from '../sql-text.js';
import { isState } from '../state/homes.js';
import { columnNames, columnsOf } from '../tables.js';
import { functionNames, readClickHouseFunctions } from './clickhouse-functions.js';
import type { ClickHouseSession } from './clickhouse-session.js';
import { countedByLastRow } from './names.js';
import { publishedDefinitions } from './published-tables.js';

/** The tables that builds write, one for each query of sql/daily. */
const DAILY = readSqlFolder('daily').map(({ name }) => name);

const OWN = readSqlFolder('clickhouse');
const OWN_VIEWS = OWN.filter((one) => !isTable(one));

/** The tables whose rows say which settle uses them, by its number in `batch`. Nobody else reads them. */
export const SETTLE_SCRATCH = ['incoming', 'incoming_rejects'] as const;

/** The same of a build, by its number in `build`, and in `attempt` of `building`. */
export const BUILD_SCRATCH = [...SCRATCH_TABLES, 'building'] as const;

const SCRATCH: readonly string[] = [...SETTLE_SCRATCH, ...BUILD_SCRATCH];

/** The tables with rows that don't count, not yet or not for everybody. A name without `_rows` means the rows that do. */
const WITH_OTHERS = new Set([...DAILY, ...SCRATCH, ...OWN_VIEWS.map(({ name }) => name)]);

/** Has acknowledged rows on disk, which ClickHouse leaves to the operating system by default. */
const ON_DISK = 'fsync_after_insert = 1, fsync_part_directory = 1';

/** The number of the change that made the table of keys. */
const MADE_KEYS = 38;

/** Begins a line that only ClickHouse reads. */
const OWN_LINE = '--clickhouse ';

/** Where the rows of a table are, whether they count or not. */
export function rowsOf(table: string): string {
  return WITH_OTHERS.has(table) ? `${table}_rows` : table;
}

/**
 * Statements that make or change tables, for ClickHouse: the `--clickhouse` lines are part of them.
 * Expressions, since only the names and types in these statements differ, and DuckDB's parser doesn't read them back as text.
 */
function forClickHouse(text: string): string {
  const lines = text.split('\n').map((line) => {
    const own = line.startsWith(OWN_LINE) ? line.slice(OWN_LINE.length) : line;
    if (!own.startsWith('ENGINE = ')) return own;
    return own.includes('SETTINGS') ? `${own}, ${ON_DISK}` : `${own} SETTINGS ${ON_DISK}`;
  });
  return (
    lines
      .join('\n')
      .replaceAll(
        /\b(CREATE TABLE|ALTER TABLE) (?:IF NOT EXISTS )?(\w+)/g,
        (_, verb: string, table: string) =>
          `${verb}${verb === 'CREATE TABLE' ? ' IF NOT EXISTS' : ''} ${rowsOf(table)}`,
      )
      // By itself only a new table's columns can have nulls.
      .replaceAll(/\bADD COLUMN (\w+) ([A-Z]+(?:\([\d, ]+\))?)/g, 'ADD COLUMN IF NOT EXISTS $1 Nullable($2)')
  );
}

/** Shows of a day table the rows of the builds that count. */
function viewOf(table: string): string {
  return `CREATE OR REPLACE VIEW ${table} AS
SELECT ${columnNames(table).join(', ')}
FROM ${rowsOf(table)}
WHERE (org_id, day, build) IN (SELECT org_id, day, build FROM newest_days)`;
}

/** The views of day tables and of `sql/clickhouse`. */
const COUNTING_VIEWS: readonly SqlText[] = [
  ...OWN_VIEWS,
  ...DAILY.map((name) => ({ name, text: viewOf(name) })),
];

/** Statements of `sql/clickhouse`, and the views of day tables. A view of scratch tables is there for one build, which names it. */
const OWN_DEFINITIONS = [
  ...OWN.filter(isTable).map(({ name, text }) => ({ name, text: forClickHouse(text) })),
  ...COUNTING_VIEWS.filter(({ text }) => ![...namesIn(text)].some((name) => SCRATCH.includes(name))).map(
    ({ name, text }) => ({ name, text: countedByLastRow(text) }),
  ),
];

/** A table that has rows that don't count only where several nodes write. */
const REMOVED_DAYS: [name: string, query: string] = [
  'removed_days',
  'SELECT org_id, day, removed_at FROM removed_days_rows WHERE build_counts(build)',
];

let known: ReadonlyMap<string, string> | undefined;

/** The queries of all views, by the views' names. */
export function viewQueries(): ReadonlyMap<string, string> {
  if (known !== undefined) return known;
  const rollUps = ROLL_UPS.map((one) => ({ name: one.name, text: rollUpView(one) }));
  const views = [...readViews(), ...rollUps, ...COUNTING_VIEWS].map(({ name, text }): [string, string] => [
    name,
    text.split(`CREATE OR REPLACE VIEW ${name} AS\n`)[1] ?? '',
  ]);
  known = new Map([REMOVED_DAYS, ...views]);
  return known;
}

/** The views whose rows depend on what counts, directly or not. */
function countingViews(): ReadonlySet<string> {
  const views = viewQueries();
  const found = new Set<string>();
  const isOne = (name: string, text: string) =>
    countedByLastRow(text) !== text || [...namesIn(text)].some((other) => other !== name && found.has(other));
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const [name, text] of views) if (isOne(name, text)) found.add(name);
  }
  return found;
}

/** Without views of what counts: where several nodes write, a query that doesn't name the numbers fails, and answers nothing wrong. */
function withoutCounting(definitions: Definitions): Definitions {
  const counting = countingViews();
  return {
    ...definitions,
    views: definitions.views.filter(({ name }) => !counting.has(name)),
    rollUps: definitions.rollUps.filter(({ name }) => !counting.has(name)),
  };
}

/** The same of published state. */
const PUBLISHED_DEFINITIONS = publishedDefinitions().map(({ name, text }) => ({
  name,
  text: forClickHouse(text),
}));

/** The statements of a change about tables that are here. */
function dataOnly(text: string): string {
  return text
    .split(';\n')
    .filter((statement) => !isState(/\b(?:CREATE|ALTER) TABLE (\w+)/.exec(statement)?.[1] ?? ''))
    .join(';\n');
}

/** A ClickHouse database, which has only data if state is elsewhere. */
export function definedIn(session: ClickHouseSession, isStateElsewhere = false): Defined {
  const run: Defined['run'] = (sql, parameters) => session.run(sql, parameters);
  /** Makes a table again, which takes the place of the old one when it is whole: readers see one or the other. */
  const replace = async (table: string, fill: (into: string) => Promise<void>) => {
    await run(`DROP TABLE IF EXISTS ${table}_new SYNC`);
    await fill(`${table}_new`);
    await run(`EXCHANGE TABLES ${table}_new AND ${table}`);
    await run(`DROP TABLE IF EXISTS ${table}_new SYNC`);
  };
  const definitions = readDefinitions(readClickHouseFunctions(), {
    tableText: forClickHouse,
    own: OWN_DEFINITIONS,
    published: isStateElsewhere ? PUBLISHED_DEFINITIONS : [],
    rollUpText: rollUpView,
  });
  return {
    definitions: isStateElsewhere ? withoutCounting(definitions) : definitions,
    isShared: isStateElsewhere,
    select: (sql) => session.select(sql),
    run,
    define: (text) => (text === definitions.functions ? makeFunctions(session) : session.define(text)),
    tables: async () =>
      namesOf(
        await session.select(
          'SELECT name AS table_name FROM system.tables WHERE database = currentDatabase()',
        ),
      ),
    columns: async () => {
      const rows = await session.select(
        'SELECT table AS table_name, groupArray(name) AS names FROM system.columns WHERE database = currentDatabase() GROUP BY table',
      );
      const names = new Map(rows.map((row) => [row.table_name, row.names as unknown as string[]]));
      return (table) => names.get(rowsOf(table)) ?? [];
    },
    renew: async ({ name, text }, old) => {
      const table = rowsOf(name);
      if (!DAILY.includes(name) || old.length === 0) {
        await run(`DROP TABLE IF EXISTS ${table} SYNC`);
        await session.define(text);
        return;
      }
      if (isStateElsewhere) {
        const added = columnsOf(name).filter((column) => !old.includes(column.name));
        const more = added.map((column) => `ADD COLUMN IF NOT EXISTS ${column.name} ${column.type}`);
        // Not a copy, which would lose what other nodes write meanwhile. Whatever else is different, such as the order, changes no row.
        if (more.length > 0) await run(`ALTER TABLE ${table} ${more.join(', ')}`);
        return;
      }
      const columns = [...columnsOf(name), { name: 'build', type: 'BIGINT' }];
      await replace(table, async (into) => {
        await session.define(text.replace(`CREATE TABLE IF NOT EXISTS ${table} (`, `CREATE TABLE ${into} (`));
        // Each build has a partition of its own, and an insert by itself takes a hundred at most.
        await run(
          `INSERT INTO ${into} (${columns.map((column) => column.name).join(', ')})
          SELECT ${carriedOver(columns, old)} FROM ${table}
          WHERE (org_id, day, build) IN (SELECT org_id, day, build FROM newest_days)
          SETTINGS max_partitions_per_insert_block = 0`,
        );
      });
    },
    fill: ({ table, insert }) =>
      replace(table, async (into) => {
        await run(`CREATE TABLE ${into} AS ${table}`);
        await run(insert(into));
      }),
  };
}

/** Makes the functions of this version that the server doesn't have. Those of other versions stay: others may use them. */
async function makeFunctions(session: ClickHouseSession): Promise<void> {
  const there = new Set(
    (await session.select("SELECT name FROM system.functions WHERE origin = 'SQLUserDefined'")).map(
      ({ name }) => name,
    ),
  );
  const names = functionNames();
  const missing = functionsIn(readClickHouseFunctions()).filter(({ text }) => {
    const [, name = ''] = /FUNCTION (\w+)/.exec(text) ?? [];
    return !there.has(names.get(name) ?? '');
  });
  await session.define(missing.map(({ text }) => text).join('\n'));
}

/**
 * Brings a ClickHouse database up to date, as applyChanges does for DuckDB, unless that of several nodes is a newer version's. Each step can be
 * done twice, and is noted when it is done. After an interruption the next run goes on from there.
 */
export async function applyChanges(
  session: ClickHouseSession,
  settings: ReferencePaths & { now: number },
  isStateElsewhere = false,
): Promise<string> {
  const database = definedIn(session, isStateElsewhere);
  if (await isOfNewerVersion(database)) {
    await makeFunctions(session);
    return database.definitions.days;
  }
  // Not each time: a cluster makes tables when all of its replicas are there, and a start can do without one.
  if (!(await database.tables()).has('changes'))
    await session.define(
      `CREATE TABLE IF NOT EXISTS changes (number BIGINT NOT NULL, name VARCHAR NOT NULL, applied_at TIMESTAMP(3) NOT NULL) ENGINE = MergeTree ORDER BY number SETTINGS ${ON_DISK}`,
    );
  for (const { number, name, text } of changesAfter(await newestChange(database))) {
    await session.define(forClickHouse(isStateElsewhere ? dataOnly(text) : text));
    await database.run('INSERT INTO changes SELECT $number, $name, fromUnixTimestamp64Milli($now)', {
      number,
      name,
      now: settings.now,
    });
  }
  // The database may come from another server.
  await makeFunctions(session);
  await bringUpToDate(database, settings);
  return database.definitions.days;
}

/** Throws a UsageError for a database that has state itself although it should be elsewhere, or the other way round. */
export async function requireHome(database: Defined, isStateElsewhere: boolean): Promise<void> {
  const isOwn = (await database.tables()).has('keys');
  if (isStateElsewhere && isOwn)
    throw new UsageError(
      'The ClickHouse database of DAYBOOK_STORE has the organizations, keys and other state itself: name another database, or leave DAYBOOK_STATE out.',
    );
  if (!isStateElsewhere && !isOwn && (await newestChange(database)) >= MADE_KEYS)
    throw new UsageError(
      'The ClickHouse database of DAYBOOK_STORE has data only: set DAYBOOK_STATE to the PostgreSQL database with its organizations, keys and other state.',
    );
}
