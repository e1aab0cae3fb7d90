import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { meaningOf } from './definition.js';
import type { Session } from './duckdb-session.js';
import { withoutPacking } from './line-numbers.js';
import { inOrder, patternOf, quote, readFunctions, readSql, uses } from './sql-text.js';
import { ERASED_PERSON } from './state/erased-names.js';
import type { SideFile, SourceSql } from './store.js';
import { columnsOf } from './tables.js';

/** A file that is read. */
interface File {
  readonly path: string;
}

/** The bytes of the longest line or document of a source. */
export function limitOf({ limitMb }: SourceSql): number {
  return limitMb << 20;
}

/** The bytes of the largest file of lines of a source, also unpacked. */
export function fileLimitOf({ fileGb = 4 }: SourceSql): number {
  return fileGb * 2 ** 30;
}

/**
 * The bytes of the longest line that is read as it is: the reader has room for several of these in each thread, and fills it. Of longer lines
 * the whole batch is read numbered.
 */
const USUAL_BYTES = 16 << 20;

/** How much longer a line can be with its number or fault in it. */
const MORE_BYTES = 64 << 10;

/** The columns of `events` that a source's SQL can answer: the rules find out the others. */
const MEMBERS = columnsOf('events').filter(
  ({ name }) => !['org_id', 'day', 'occurred_at', 'batch'].includes(name),
);
export const EVENT_MEMBERS = MEMBERS.map(({ name }) => name);

/** No row, with all columns that the rules read: it gives a source's SQL those that it leaves out. */
export const NO_EVENT = `SELECT ${[
  { name: 'source', type: 'INTEGER' },
  { name: 'line_no', type: 'BIGINT' },
  { name: 'form_fault', type: 'VARCHAR' },
  { name: 'named_org_id', type: 'VARCHAR' },
  { name: 'occurred_ms', type: 'BIGINT' },
  ...MEMBERS,
]
  .map(({ name, type }) => `CAST(NULL AS ${type}) AS ${name}`)
  .join(', ')} WHERE false`;

/** A JSON document that lists members and their DuckDB types: members.json. */
type Structure = string | [Structure] | { [member: string]: Structure };

function typeOf(structure: Structure): string {
  if (typeof structure === 'string') return structure;
  if (Array.isArray(structure)) return `${typeOf(structure[0])}[]`;
  const members = Object.entries(structure).map(([name, type]) => `"${name}" ${typeOf(type)}`);
  return `STRUCT(${members.join(', ')})`;
}

/** The files of a source's folder. */
interface Texts {
  /** The members that are columns of `lines`; undefined where it has one column, `line`. */
  readonly members: { readonly json: string; readonly columns: ReadonlyMap<string, string> } | undefined;
  /** The views that `events` reads from, each after those that it reads from itself. */
  readonly views: readonly { readonly name: string; readonly text: string }[];
  readonly events: string;
  /** The statement that gives the rows of a SQLite database. */
  readonly rows: string;
}

const READ = new WeakMap<SourceSql, Texts>();

function textsOf(source: SourceSql): Texts {
  const known = READ.get(source);
  if (known !== undefined) return known;
  const read = (file: string) => readFileSync(join(source.sql, file), 'utf8');
  const own = readdirSync(source.sql).filter((file) => file.endsWith('.sql'));
  const views = [...own.map((file) => join(source.sql, file)), ...(source.views ?? [])].map((path) => ({
    name: basename(path, '.sql'),
    text: readFileSync(path, 'utf8'),
  }));
  const json = existsSync(join(source.sql, 'members.json')) ? read('members.json') : undefined;
  const texts = {
    members:
      json === undefined
        ? undefined
        : {
            json,
            columns: new Map(
              Object.entries(JSON.parse(json) as Record<string, Structure>).map(([name, structure]) => [
                name,
                typeOf(structure),
              ]),
            ),
          },
    views: inOrder(views.filter(({ name }) => name !== 'events')),
    events: read('events.sql'),
    rows: source.databases === undefined ? '' : read('sqlite/rows.sql'),
  };
  READ.set(source, texts);
  return texts;
}

/** The content of a file, as read_blob gives it; null when it is no JSON. */
const JSON_CONTENT = 'try_cast(try(decode(content)) AS JSON)';

function pathsOf(files: readonly File[]): string {
  return `[${files.map(({ path }) => quote(patternOf(path))).join(', ')}]`;
}

/** A row of a source's `lines`. */
export function unitOf({ unit, documents, databases }: SourceSql, path: string): SourceSql['unit'] {
  if (databases?.test(path) === true) return 'database';
  return documents?.test(withoutPacking(path)) === true ? 'document' : unit;
}

/** A file, with the number that its lines carry, and its format. */
interface UnitFile extends File {
  readonly source: number;
  readonly unit: SourceSql['unit'];
}

/** Reads the lines of files as they are. A line that is not JSON becomes nulls. */
export function readFiles(source: SourceSql, files: readonly UnitFile[]): string {
  const documents = files.filter(({ unit }) => unit === 'document');
  const others = files.filter(({ unit }) => unit !== 'document');
  return [
    ...(documents.length > 0 ? [readDocuments(source, documents)] : []),
    ...(others.length > 0 ? [readLineFiles(source, others)] : []),
  ].join(' UNION ALL ');
}

/** The number of the file that a row of a reader is from. */
function numberOf(files: readonly UnitFile[]): string {
  const isIndex = files.every(({ source }, index) => source === index);
  return `CAST(${isIndex ? 'file_index' : `[${files.map(({ source }) => source)}][CAST(file_index AS INTEGER) + 1]`} AS INTEGER) AS source`;
}

function readDocuments(source: SourceSql, files: readonly UnitFile[]): string {
  return readLines(
    source,
    `SELECT ${numberOf(files)}, CAST(1 AS BIGINT) AS line_no, ${JSON_CONTENT} AS line FROM read_blob(${pathsOf(files)})`,
  );
}

function readLineFiles(source: SourceSql, files: readonly UnitFile[]): string {
  const { members } = textsOf(source);
  const paths = pathsOf(files);
  const options = `format = 'newline_delimited', ignore_errors = true, hive_partitioning = false, maximum_object_size = ${Math.min(limitOf(source), USUAL_BYTES) + (source.isChecked === true ? MORE_BYTES : 0)}`;
  const [lineNo, numbering] = source.isOrdered
    ? ['ordinality', 'WITH ORDINALITY']
    : ['CAST(NULL AS BIGINT)', ''];
  const row = `${numberOf(files)}, ${lineNo} AS line_no`;
  if (members === undefined)
    return `SELECT ${row}, json AS line FROM read_ndjson_objects(${paths}, ${options}) ${numbering}`;
  const names = [...members.columns.keys()].map((name) => `"${name}"`);
  const columns = [...members.columns].map(([name, type]) => `${quote(name)}: ${quote(type)}`);
  return `SELECT ${row}, ${names.join(', ')} FROM read_json(${paths}, columns = {${columns.join(', ')}}, ${options}) ${numbering}`;
}

/** The statement of SQLite that gives the rows of a source's databases: see RowsRequest. */
export function rowsOfDatabase(source: SourceSql): string {
  return textsOf(source).rows;
}

/** Changes when a line can give other events than before. */
export function meaningOfSource(source: SourceSql): string {
  const { members, views, events, rows } = textsOf(source);
  const rules = [readFunctions(), readSql('source/functions.sql'), readSql('ingest/rules.sql')];
  const texts = [...rules, ...views.map(({ text }) => text), events, rows].map(meaningOf);
  const { unit, documents, isOrdered = false, limitMb } = source;
  return hash('md5', JSON.stringify([unit, documents?.source, isOrdered, limitMb, members?.json, ...texts]));
}

/** Reads the lines that another SELECT gives: `source`, `line_no` and `line`, which is null where it is no JSON. */
export function readLines(source: SourceSql, lines: string): string {
  const { members } = textsOf(source);
  return members === undefined
    ? `SELECT source, line_no, line FROM (${lines})`
    : `SELECT source, line_no, event.* FROM (SELECT source, line_no, from_json(line, ${quote(members.json)}) AS event FROM (${lines}))`;
}

/**
 * One SELECT that gives the events of the lines that another SELECT gives, before the rules. Of a source with sections, the lines are those
 * of one section: it is the view that `events` reads as `section`.
 */
export function readEvents(source: SourceSql, lines: string, section?: string): string {
  const { views, events } = textsOf(source);
  const texts = [
    { name: 'lines', text: readLines(source, lines) },
    ...views,
    ...(section === undefined ? [] : [{ name: 'section', text: `FROM ${section}` }]),
  ];
  const readers = [...views, { name: 'events', text: events }];
  // A text that several others read must not parse the documents again for each of them.
  const kindOf = (name: string) =>
    readers.filter((reader) => uses(reader, name)).length > 1 ? 'MATERIALIZED' : '';
  return `WITH ${texts.map(({ name, text }) => `${name} AS ${kindOf(name)} (${text})`).join(', ')} SELECT * FROM (${events})`;
}

/** The records of one line of a file have numbers of their own: so many times the line's, and those that follow. */
export const PLACES_OF_A_LINE = 1024;

/** Whether lines of a source are mended: those of agents, which hold words, and not those that were written for Daybook. */
export function isMendable({ keepsText, isChecked }: SourceSql): boolean {
  return keepsText !== true && isChecked !== true;
}

/**
 * Reads the lines that numberLines has written: with their faults and as texts, and as JSON where they are. `longest` is the bytes of
 * the longest one: the reader takes several times as much memory.
 */
export function readNumbered(spool: string, longest: number): string {
  return `SELECT source, line_no * ${PLACES_OF_A_LINE} + coalesce(part, 0) AS line_no, read_fault, text, part IS NOT NULL AS is_mended, CASE WHEN read_fault IS NULL THEN try_cast(text AS JSON) END AS line
    FROM read_json(${quote(spool)}, format = 'newline_delimited', maximum_object_size = ${longest + MORE_BYTES},
      columns = {source: 'INTEGER', line_no: 'BIGINT', read_fault: 'VARCHAR', text: 'VARCHAR', part: 'INTEGER'})`;
}

/** The same for lines that have their numbers and faults in them: the lines in `faults`. */
export const CHECKED_LINES = `SELECT source, "$line" AS line_no, "$fault" AS read_fault, decode(from_base64("$text")) AS text, false AS is_mended, CAST('{}' AS JSON) AS line
  FROM lines
  WHERE (source, "$line") IN (SELECT source, line_no FROM faults)`;

/** Tells a row of `lines` that is no JSON from one that is. */
function isUnread(source: SourceSql): string {
  const columns = [...(textsOf(source).members?.columns.keys() ?? ['line'])];
  return columns.map((name) => `"${name}" IS NULL`).join(' AND ');
}

/** Finds the files that have lines that are no JSON. */
export function unreadOf(source: SourceSql): string {
  return `SELECT source FROM all_lines WHERE ${isUnread(source)}`;
}

/**
 * Sets up a source's SQL over lines: `checked` is a row an event, or its fault. Other lines can take their place.
 * Lines that are no JSON are left out, and counted on the way in the sequence `unread_lines`. The session has the functions
 * of sql/ingest and the table `batch_files`, which says whose each file is, and when it was received. `refused` is the condition that an event is
 * of somebody who was erased.
 */
export async function defineSource(
  session: Session,
  source: SourceSql,
  lines: string,
  refused?: string,
): Promise<void> {
  const { views, events } = textsOf(source);
  await countFromZero(session);
  await replaceLines(session, lines);
  const texts = [
    {
      name: 'lines',
      text: `SELECT * FROM all_lines WHERE CASE WHEN ${isUnread(source)} THEN nextval('unread_lines') < 0 ELSE true END`,
    },
    ...views,
    { name: 'typed_lines', text: `(${events}) UNION ALL BY NAME ${NO_EVENT}` },
    { name: 'checked', text: withRefusal(readSql('ingest/rules.sql'), refused) },
  ];
  for (const { name, text } of texts) await session.run(`CREATE OR REPLACE TEMP VIEW ${name} AS ${text}`);
}

/** The rules, and that no event is of somebody who was erased. */
function withRefusal(rules: string, refused: string | undefined): string {
  return refused === undefined
    ? rules
    : `SELECT * REPLACE (CASE WHEN fault IS NOT NULL THEN fault WHEN ${refused} THEN ${quote(ERASED_PERSON)} END AS fault) FROM (${rules})`;
}

/** Lets other lines take the place of those that defineSource was given. */
export async function replaceLines(session: Session, lines: string): Promise<void> {
  await session.run(`CREATE OR REPLACE TEMP VIEW all_lines AS ${lines}`);
}

/** Counts lines that are left out, and events with a fault, from zero on. */
export async function countFromZero(session: Session): Promise<void> {
  await session.run(
    'CREATE OR REPLACE TEMP SEQUENCE unread_lines MINVALUE 0; CREATE OR REPLACE TEMP SEQUENCE faulty_events MINVALUE 0',
  );
}

/** The files that can say more of one of a source. */
export function sideFilesOf({ sideFiles = [] }: SourceSql, path: string): readonly SideFile[] {
  if (typeof sideFiles === 'function') return sideFiles(path);
  const stem = path.replace(/(\.[^./\\]+?)(\.gz|\.zst)?$/, '');
  return sideFiles.map((ending) => ({ path: `${stem}${ending}`, ending }));
}

/** Makes the table `side_files` of the files beside others: their `source`, the ending, and the document, null where it is no JSON. */
export async function readSideFiles(
  session: Session,
  source: SourceSql,
  files: readonly { readonly sideFiles?: readonly SideFile[] }[],
): Promise<void> {
  if (source.sideFiles === undefined) return;
  const found = files.flatMap(({ sideFiles = [] }, index) => sideFiles.map((file) => ({ ...file, index })));
  await session.run(
    'CREATE OR REPLACE TEMP TABLE side_files (source INTEGER, ending VARCHAR, document JSON)',
  );
  if (found.length === 0) return;
  const rows = found.map(({ index, ending }, position) => `(${position}, ${index}, ${quote(ending)})`);
  await session.run(
    `INSERT INTO side_files SELECT place.source, place.ending, ${JSON_CONTENT}
    FROM read_blob(${pathsOf(found)}) AS side_file
    JOIN (VALUES ${rows.join(', ')}) AS place (position, source, ending) ON place.position = side_file.file_index`,
  );
}

/**
 * The optimizers that lines are read without: they copy the rules into every column and filter that use them, so that a line is
 * parsed many times, and make a join of every list of names, which takes memory. The second one would also leave lines out before
 * those that are no JSON are counted.
 */
export const HARMFUL_OPTIMIZERS = [
  'filter_pushdown',
  'cte_filter_pusher',
  'expression_rewriter',
  'in_clause',
];

/**
 * Does something with the lines of files that defineSource has set up.
 * TRICKY: the disabled optimizers are a setting of the whole instance. Other queries that are planned meanwhile are slower, not wrong.
 */
export async function overLines<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.run(`SET disabled_optimizers = '${HARMFUL_OPTIMIZERS}'`);
  try {
    return await work();
  } finally {
    // A failed transaction takes no statement, and the error that made it fail must not be hidden.
    await session.run("SET disabled_optimizers = ''").catch(() => undefined);
  }
}
