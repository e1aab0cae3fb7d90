import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { chunksOf, type Rows } from '../arrow/duckdb-chunks.js';
import { textBytes } from '../arrow/text-lines.js';
import type { Day } from '../day.js';
import { KINDS } from '../input/kinds.js';
import { type CostTerms, costTermsSql } from '../money/cost-terms.js';
import { repoKeyOf } from '../store/repo-key.js';
import { csvRow, jsonRow } from '../store/row-text.js';
import { namesIn, readSql, uses, withSources } from '../store/sql-text.js';
import { type ClosedNames, closedNamesOf } from '../store/state/closed-names.js';
import { SMALLEST_GROUP } from '../store/state/privacy-revisions.js';
import type { ReadColumns, Row, Store } from '../store/store.js';
import { memberNames } from '../store/tables.js';
import { csvLine } from '../terminal/csv-line.js';
import { ANSWERS, type Answer, fileOf, hasRowPages, isKind, isPaged, isTotals } from './answer-names.js';
import { shapesOf } from './answer-shape.js';
import { type Guard, quietDaysSql } from './protection.js';
import {
  belongingOf,
  cursorOf,
  Filters,
  filterSetsSql,
  GUARD_FILES,
  parametersOf,
  type Slice,
  sourceFilesOf,
  type Totals,
} from './totals-query.js';

/** The formats of an answer's rows. */
export type Form = 'json' | 'csv' | 'arrow';

export interface ReportRequest {
  readonly orgId: string;
  readonly from: Day;
  readonly to: Day;
  readonly groupBy?: string | undefined;
  /** Users or rows per page, and `next_cursor` of the previous page; only for users, coverage and totals. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** The only requested users; only for users and coverage. */
  readonly userIds?: readonly string[] | undefined;
  /** The only teams and cost centres; only for users and coverage. */
  readonly belonging?: Pick<Totals, 'team' | 'cost_center'> | undefined;
  /** The other parameters, and the first day that rows are compared with; only for totals. */
  readonly totals?: Totals | undefined;
  readonly historyStart?: Day | undefined;
  /** What may not be told, if the reader may not see people by name. */
  readonly guard?: Guard | undefined;
  /** The days that it is compared with, if not those right before it: a guard makes a range longer. Only for totals. */
  readonly before?: Slice | undefined;
  /** What the organization pays; only for totals. */
  readonly terms?: CostTerms | undefined;
  /** Which teams and cost centres telemetry can't tell; undefined if it tells none. Only for requests that ask for them. */
  readonly closedNames?: ClosedNames | undefined;
}

/** Whether a request asks for teams or cost centres. */
export function asksBelonging(
  answer: Answer,
  { groupBy, guard, totals, belonging = totals }: ReportRequest,
): boolean {
  const isByTeam = answer === 'changes' && guard === undefined;
  return isByTeam || KINDS.some((kind) => groupBy === kind || belonging?.[kind] !== undefined);
}

/** What of an organization's newest settings a request needs to know which teams and cost centres people belong to. */
export async function belongingSettings(
  store: Store,
  answer: Answer,
  request: ReportRequest,
): Promise<Pick<ReportRequest, 'closedNames'>> {
  return asksBelonging(answer, request) ? { closedNames: await closedNamesOf(store, request.orgId) } : {};
}

export interface Page {
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** The rows of an answer: one result for each slice of its range, at least one. */
export interface Reading {
  /** The names of its members, in their order. */
  readonly columns: readonly string[];
  readonly page?: Page | undefined;
  readonly results: AsyncIterable<Rows>;
}

/** Begins the name that a SELECT of `sql/report` has in one of `sql/answer`. */
const REPORT = 'report_';

/** The names of an answer's members, in their order. */
export function columnsOf(answer: Answer, groupBy?: string): string[] {
  return memberNames(fileOf(answer, groupBy));
}

/** The files of answers that say where the next page begins. */
const PAGED: readonly string[] = ANSWERS.filter(hasRowPages);

/** The SELECT of the answer in a file of `sql/answer`. For JSON and CSV it returns one text per row, in JSON with a leading comma. */
export function sqlOfAnswer(file: string, form: Form): string {
  const sql = readSql(`answer/${file}.sql`);
  if (form === 'arrow') return sql;
  const columns = shapesOf(file).map(({ name, type }) => ({ name, type, sql: name }));
  const text = form === 'csv' ? csvRow(columns) : `concat(',', ${jsonRow(columns)})`;
  return `SELECT ${text}${PAGED.includes(file) ? ', next_cursor' : ''} FROM (\n${sql}\n)`;
}

/** A page of users: its first and its last, undefined if it is empty. */
async function pageOf(
  select: Store['select'],
  answer: Answer,
  { orgId, from, to, limit, cursor = '', userIds, belonging = {}, closedNames }: ReportRequest,
): Promise<Page & { first?: string | undefined; last?: string | undefined }> {
  const whole = { has_more: false, next_cursor: null };
  if (userIds?.length === 1 && Object.values(belonging).every((values) => values === undefined))
    return { ...whole, first: userIds[0], last: userIds[0] };
  const size = limit ?? Number.MAX_SAFE_INTEGER - 1;
  const rows = await select(reportSql(`${answer}_page`, closedNames), {
    ...{ org_id: orgId, earliest: { day: from }, from: { day: from }, to: { day: to } },
    ...{ cursor, limit: size, user_id: userIds ?? null, ...belongingOf(undefined, belonging, closedNames) },
  });
  const users = rows.slice(0, size).map((row) => String(row.user_id));
  const ends = { first: users[0], last: users.at(-1) };
  return rows.length > size
    ? { ...ends, has_more: true, next_cursor: ends.last ?? null }
    : { ...ends, ...whole };
}

/**
 * Reads the rows of an answer for the built days of a range, both ends included, in the order of its file in `sql/report`: one slice
 * of the range at a time, except users, coverage and other totals than focus, which are read at once. Without a limit all users are on one
 * page. All SELECTs must see one state of the store.
 */
export async function readReport(
  select: Store['select'],
  readColumns: ReadColumns,
  answer: Answer,
  form: Form,
  request: ReportRequest,
  slices: readonly Slice[] = [request],
): Promise<Reading> {
  const isWhole = isKind(request.groupBy) || request.groupBy === 'vendor';
  const page = isPaged(answer) && !isWhole ? await pageOf(select, answer, request) : undefined;
  const sql = sqlOfAnswer(fileOf(answer, request.groupBy), form);
  const columns = columnsOf(answer, request.groupBy);
  if (isTotals(answer)) {
    const asked = await withRepoKeys(select, request);
    const read = ({ from, to }: Slice) => {
      const { text, parameters } = totalsSql(answer, { ...asked, from, to });
      return readColumns(sql, { [`${REPORT}${answer}`]: text }, parameters);
    };
    if (answer === 'focus')
      return { columns, results: eachOf(slices.length === 0 ? [request] : slices, read) };
    const rows = await read(request);
    return { columns, ...(hasRowPages(answer) ? await pageOfRows(rows) : { results: resultsOf(rows) }) };
  }
  const reports = [...namesIn(sql)].filter((name) => name.startsWith(REPORT));
  const sources = Object.fromEntries(
    reports.map((report) => [report, reportSql(report.slice(REPORT.length), request.closedNames)]),
  );
  async function* results(): AsyncGenerator<DuckDBResult> {
    for (const { from, to } of isPaged(answer) || slices.length === 0 ? [request] : slices) {
      yield await readColumns(sql, sources, {
        ...{ org_id: request.orgId, earliest: { day: from }, from: { day: from }, to: { day: to } },
        ...{ user_id: request.userIds ?? null, group_by: request.groupBy ?? 'none' },
        floor: request.guard?.floor ?? 0,
        ...belongingOf(request.groupBy, request.belonging ?? {}, request.closedNames),
        // No user has the empty name.
        ...(page === undefined ? {} : { first_user_id: page.first ?? '', last_user_id: page.last ?? '' }),
      });
    }
  }
  const reading = { columns, results: results() };
  if (page === undefined)
    return isWhole ? { ...reading, page: { has_more: false, next_cursor: null } } : reading;
  return { ...reading, page: { has_more: page.has_more, next_cursor: page.next_cursor } };
}

/** Files of `sql/report` that others of them read. */
const SHARED = ['agent_day', 'captured_day', 'belongs_to', 'placed_user'];

/** The source of belongs_to.sql with what telemetry tells: none unless it may. */
function toldBelonging(closedNames: ClosedNames | undefined): Record<'told_belonging', string> {
  return {
    told_belonging:
      closedNames === undefined
        ? "SELECT '' AS kind, '' AS user_id, DATE '1970-01-01' AS first_day, DATE '1970-01-01' AS last_day, '' AS name WHERE 1 = 0"
        : readSql('report/told_belonging.sql'),
  };
}

/** The sources and the parameters of a SELECT that asks which team people belong to. */
export function teamsOf(closedNames: ClosedNames | undefined) {
  return {
    sources: { ...toldBelonging(closedNames), belongs_to: readSql('report/belongs_to.sql') },
    parameters: belongingOf('team', {}, closedNames),
  };
}

/** A SELECT of `sql/report`, with those that it reads, and that these read. */
function reportSql(name: string, closedNames: ClosedNames | undefined): string {
  const texts = [readSql(`report/${name}.sql`)];
  const sources: [string, string][] = [];
  // The last ones read the first ones.
  for (const shared of SHARED.toReversed()) {
    if (!texts.some((text) => uses({ name, text }, shared))) continue;
    const text = readSql(`report/${shared}.sql`);
    texts.push(text);
    sources.unshift([shared, text]);
    if (shared === 'belongs_to') sources.unshift(...Object.entries(toldBelonging(closedNames)));
  }
  return withSources(texts[0] ?? '', Object.fromEntries(sources));
}

/** A request whose filter has the keys of repositories, as the day tables have them. */
async function withRepoKeys(select: Store['select'], request: ReportRequest): Promise<ReportRequest> {
  const named = request.totals?.repo;
  if (named === undefined) return request;
  const keys = await Promise.all(named.map((repo) => repoKeyOf(select, repo)));
  const repo = [...new Set(keys)].sort();
  return { ...request, totals: { ...request.totals, repo } };
}

/** Those of GUARD_FILES that are computed once for all their readers. TRICKY: ClickHouse can't if one of them reads another. */
const COMPUTED_ONCE = ['shown_cell'];

/** No rows of shown_person.sql. */
const NOBODY =
  "SELECT DATE '1970-01-01' AS day, '' AS user_id, '' AS found_key, '' AS group_key, 1 AS is_told WHERE 1 = 0";

/** No rows of data_begin.sql. */
const NEVER = "SELECT '' AS name, DATE '1970-01-01' AS first_day WHERE 1 = 0";

/** What of a request for totals an answer has by itself. */
interface Own {
  readonly groupBy?: string | undefined;
  readonly totals: Totals;
}

/** What costs and what changed are always asked for. What changed is read by team, if teams may be told apart. */
const OWN: Partial<Record<Answer, (totals: Totals, guard: Guard | undefined) => Own>> = {
  costs: (totals) => ({ totals: { ...totals, interval: 'day' } }),
  changes: (totals, guard) => ({
    groupBy: guard === undefined ? 'team' : undefined,
    totals: { ...totals, compare: totals.compare ?? 'previous' },
  }),
};

/** The statement that answers totals, with the files that it reads rows from, and its parameters. */
export function totalsSql(answer: Answer, { orgId, totals = {}, ...request }: ReportRequest) {
  const asked = { ...request, totals, ...OWN[answer]?.(totals, request.guard) };
  const sources = {
    quiet_day: quietDaysSql(request.guard?.quietDays),
    ...(request.guard === undefined ? { shown_person: NOBODY } : { filter_set: filterSetsSql(totals) }),
    ...toldBelonging(request.closedNames),
    ...textsOf(sourceFilesOf(answer, asked)),
    ...(asked.totals.compare === undefined ? { data_begin: NEVER } : {}),
    cost_terms: costTermsSql(request.terms),
  };
  const text = withSources(readSql(`report/${answer}.sql`), sources, COMPUTED_ONCE);
  const range = { org_id: orgId, from: { day: request.from }, to: { day: request.to } };
  const currency = request.terms?.currency ?? null;
  return { text, parameters: { ...range, currency, ...parametersOf(asked) } };
}

/**
 * Where a person's numbers of a range stand among those of the others: rows of sql/report/place.sql. Each number that isn't the person's own is the
 * mean of as many people as a group has at least.
 */
export function placeOf(
  select: Store['select'],
  request: ReportRequest,
  reader: string,
  floor: number = SMALLEST_GROUP.usual,
): Promise<Row[]> {
  const { text, parameters } = totalsSql('summary', { ...request, groupBy: 'user', totals: {} });
  const sql = withSources(readSql('report/place.sql'), { summary_row: text });
  return select(sql, { ...parameters, reader, people_together: Math.max(floor, SMALLEST_GROUP.usual) });
}

function textsOf(files: Readonly<Record<string, string>>): Record<string, string> {
  const texts = Object.entries(files).map(([name, file]) => {
    const text = readSql(`report/${file}.sql`);
    return [name, name === 'small_joined' ? text.replaceAll('set_person', 'told_cell') : text];
  });
  return Object.fromEntries(texts);
}

/**
 * The first value of a filter by which a guarded request would give few people away: that of a group which is joined with others where the rows
 * are grouped by it, under the other filters. Undefined if there is none.
 */
export async function tellingFilter(
  select: Store['select'],
  { orgId, ...request }: ReportRequest,
): Promise<{ filter: string; value: string } | undefined> {
  const { totals = {} } = await withRepoKeys(select, { orgId, ...request });
  const filters = Object.entries(totals).filter(([name]) => Object.hasOwn(Filters, name));
  for (const [filter, values] of filters) {
    if (!Array.isArray(values)) continue;
    const asked = {
      ...request,
      groupBy: filter,
      totals: { ...Object.fromEntries(filters), [filter]: undefined },
    };
    const { shown_person: _, ...files } = GUARD_FILES;
    const sources = {
      quiet_day: quietDaysSql(request.guard?.quietDays),
      filter_set: filterSetsSql(asked.totals),
      ...toldBelonging(request.closedNames),
      ...textsOf({ belongs_to: 'belongs_to', ...files }),
    };
    const sql = 'SELECT group_key FROM shown_cell WHERE period = $from';
    const text = withSources(sql, sources, COMPUTED_ONCE);
    const range = { org_id: orgId, from: { day: request.from }, to: { day: request.to } };
    const rows = await select(text, { ...range, ...parametersOf(asked) });
    const shown = new Set(rows.map(({ group_key }) => String(group_key)));
    const value = values.find((one) => !shown.has(one === '(none)' ? '' : one));
    if (value !== undefined) return { filter, value };
  }
  return undefined;
}

/** A page of rows: its last column has the place behind each row, as long as there are more pages. */
async function pageOfRows(result: DuckDBResult): Promise<Omit<Reading, 'columns'>> {
  const chunks: DuckDBDataChunk[] = [];
  for await (const chunk of chunksOf(result)) chunks.push(chunk);
  const last = chunks.at(-1);
  const place = last?.getColumnValues(last.columnCount - 1).at(-1) ?? null;
  const rows: Rows = {
    fetchChunk: async () => chunks.shift() ?? null,
    columnNames: () => result.columnNames().slice(0, -1),
    columnTypes: () => result.columnTypes().slice(0, -1),
  };
  const next_cursor = place === null ? null : cursorOf(String(place));
  return { page: { has_more: place !== null, next_cursor }, results: resultsOf(rows) };
}

/** The rows of each slice, which are read when the ones before have been. */
async function* eachOf(
  slices: readonly Slice[],
  read: (slice: Slice) => Promise<Rows>,
): AsyncGenerator<Rows> {
  for (const { from, to } of slices) yield await read({ from, to });
}

/** Rows that come as one result. */
export async function* resultsOf(rows: Rows): AsyncGenerator<Rows> {
  yield rows;
}

/** The JSON of an answer's rows as elements of a list, without brackets. */
export async function* elementsOf({ results }: Reading): AsyncGenerator<Uint8Array> {
  let first = 1;
  for await (const bytes of textBytes(results)) {
    yield bytes.subarray(first);
    first = 0;
  }
}

/** The CSV of the rows of an answer, under a header. */
export async function* csvOf({ results, columns }: Reading): AsyncGenerator<string | Uint8Array> {
  yield csvLine(columns);
  yield* textBytes(results);
}

/** All rows of one answer as objects: see readReport. */
export async function rowsOfReport(
  select: Store['select'],
  readColumns: ReadColumns,
  answer: Answer,
  request: ReportRequest,
): Promise<{ data: Record<string, unknown>[]; page?: Page | undefined }> {
  const reading = await readReport(select, readColumns, answer, 'json', request);
  return { data: await objectsOf(reading), page: reading.page };
}

/** The rows of a reading in JSON as objects. */
export async function objectsOf({ results }: Reading): Promise<Record<string, unknown>[]> {
  const data: Record<string, unknown>[] = [];
  for await (const result of results)
    for await (const chunk of chunksOf(result))
      for (const row of chunk.getColumnValues(0)) data.push(JSON.parse(String(row).slice(1)));
  return data;
}

/** The same, of one state of the store. */
export function report(store: Store, answer: Answer, request: ReportRequest) {
  return store.snapshot((select, readColumns) => rowsOfReport(select, readColumns, answer, request));
}
