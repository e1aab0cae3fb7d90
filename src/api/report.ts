import { setImmediate } from 'node:timers/promises';
import type { DuckDBResult } from '@duckdb/node-api';
import type { Day } from '../day.js';
import { readSql } from '../store/sql.js';
import type { Parameters, ReadColumns, Row, Store } from '../store/store.js';

/** The families of numbers, in the order of the specification. */
export const FAMILIES = ['tokens', 'tools', 'activity', 'productivity', 'users'] as const;
export type Family = (typeof FAMILIES)[number];

/** All answers of the analytics API: the families, and the numbers that say how far those can be trusted (ours). */
export const ANSWERS = [...FAMILIES, 'quality'] as const;
export type Answer = (typeof ANSWERS)[number];

/** What a family's rows can be grouped by (public-api.md 4.6-4.10). */
export const GROUPS: Partial<Record<Answer, string>> = {
  tokens: 'model',
  tools: 'tool_name',
  activity: 'client',
};

export interface ReportRequest {
  readonly orgId: string;
  readonly from: Day;
  readonly to: Day;
  readonly groupBy?: string | undefined;
  /** Users per page, and the last user of the page before: of users only. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** The only user that is asked for: of users only. */
  readonly userId?: string | undefined;
}

/** A row as `data` holds it. */
export type ReportRow = Record<string, unknown>;

export interface Page {
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** The rows of one answer, as `data` holds them. */
export interface Report {
  readonly data: ReportRow[];
  readonly page?: Page | undefined;
}

/** Reads an answer's rows part by part, so that not all of them have to be there at once. */
export interface Reading {
  readonly page?: Page | undefined;
  readonly parts: AsyncIterable<ReportRow[]>;
}

/** A part of a range, both ends included. */
export interface Slice {
  readonly from: Day;
  readonly to: Day;
}

/** How many rows are shaped before others get a turn. */
const ROWS_A_TURN = 500;

const LISTED_CLIENTS = ['terminal-ui', 'web', 'non-interactive-cli'];

/** The rows of a query by day, in the query's order. */
class Rows {
  private readonly byDay = new Map<string, Row[]>();

  constructor(rows: readonly Row[]) {
    for (const row of rows) {
      const of = this.byDay.get(String(row.day));
      if (of === undefined) this.byDay.set(String(row.day), [row]);
      else of.push(row);
    }
  }

  on(day: unknown): readonly Row[] {
    return this.byDay.get(String(day)) ?? [];
  }
}

/** Shapes rows, and lets others have their turn meanwhile: there can be many. */
async function shaped<T>(rows: readonly Row[], shape: (row: Row) => T): Promise<T[]> {
  const made: T[] = [];
  for (const row of rows) {
    made.push(shape(row));
    if (made.length % ROWS_A_TURN === 0) await setImmediate();
  }
  return made;
}

/** Picks members of a row in this order, each under its own or another name. */
function pick(row: Row, members: Record<string, string>): ReportRow {
  const picked: ReportRow = {};
  for (const name in members) picked[name] = row[members[name] ?? name];
  return picked;
}

function same(...columns: string[]): Record<string, string> {
  return Object.fromEntries(columns.map((column) => [column, column]));
}

const TOKENS = same(
  'billable_tokens',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
);
const MODEL = { ...same('model_id', 'model_tier'), ...TOKENS };

type Read = (query: string, more?: Parameters) => Promise<Row[]>;

async function tokens(read: Read, groupBy?: string): Promise<ReportRow[]> {
  const models = await read('tokens_by_model');
  if (groupBy !== undefined)
    return shaped(models, (row) => pick(row, { date: 'day', group_key: 'model_id', ...TOKENS }));
  const days = await read('tokens');
  const byModel = new Rows(models);
  const users = new Map<unknown, ReportRow[]>(days.map(({ day }) => [day, []]));
  let before: Row | undefined;
  let modelsOfUser: ReportRow[] = [];
  await shaped(await read('tokens_by_user'), (row) => {
    if (row.user_id !== before?.user_id || row.day !== before?.day) {
      modelsOfUser = [];
      const user = { user_id: 'user_id', user_email: 'user_email', billable_tokens: 'user_billable_tokens' };
      users.get(row.day)?.push({ ...pick(row, user), by_model: modelsOfUser });
    }
    modelsOfUser.push(pick(row, MODEL));
    before = row;
  });
  return days.map((day) => ({
    ...pick(day, { date: 'day', ...TOKENS }),
    by_model: byModel.on(day.day).map((row) => pick(row, MODEL)),
    by_user: users.get(day.day) ?? [],
  }));
}

async function tools(read: Read, groupBy?: string): Promise<ReportRow[]> {
  const byTool = await read('tools_by_tool');
  if (groupBy !== undefined) {
    return byTool.map((row) => pick(row, { date: 'day', group_key: 'tool_key', tool_calls: 'tool_calls' }));
  }
  const tool = new Rows(byTool);
  const server = new Rows(await read('tools_by_server'));
  const skill = new Rows(await read('tools_by_skill'));
  const command = new Rows(await read('tools_by_slash_command'));
  const hook = new Rows(await read('tools_by_hook'));
  return (await read('tools')).map((day) => ({
    date: day.day,
    tool_calls: day.tool_calls,
    by_tool: tool.on(day.day).map((row) => pick(row, { tool: 'tool_key', invocations: 'tool_calls' })),
    mcp_users_with_mcp: day.mcp_users_with_mcp,
    mcp_by_server: server
      .on(day.day)
      .map((row) => pick(row, { server: 'server_key', invocations: 'tool_calls' })),
    skills_invocations: day.skills_invocations,
    skills_by_name: skill.on(day.day).map((row) => pick(row, { name: 'skill_name', count: 'uses' })),
    slash_commands_invocations: day.slash_commands_invocations,
    slash_commands_by_name: command
      .on(day.day)
      .map((row) => pick(row, { name: 'command_name', count: 'uses' })),
    hooks_invocations: day.hooks_invocations,
    hooks_by_event: hook
      .on(day.day)
      .map((row) =>
        pick(row, { event: 'hook_event', matcher: 'matcher', command: 'command', count: 'runs' }),
      ),
    ...pick(
      day,
      same(
        'web_users',
        'autonomy_ratio_avg',
        'autonomy_ratio_p50',
        'autonomy_ratio_p90',
        'tool_calls_per_session_avg',
        'user_turns_per_session_avg',
      ),
    ),
    tool_autonomy_level_ratio: pick(day, {
      auto_high: 'auto_high_ratio',
      auto_medium: 'auto_medium_ratio',
      auto_low: 'auto_low_ratio',
      manual: 'manual_ratio',
    }),
  }));
}

async function activity(read: Read, groupBy?: string): Promise<ReportRow[]> {
  const clients = await read('activity_by_client');
  if (groupBy !== undefined) {
    return clients.map((row) =>
      pick(row, { date: 'day', group_key: 'client', daily_active_users: 'daily_active_users' }),
    );
  }
  const byClient = new Rows(clients);
  return (await read('activity')).map((day) => ({
    ...pick(day, {
      date: 'day',
      ...same('daily_active_users', 'weekly_active_users', 'monthly_active_users'),
    }),
    // The listed clients come first and always; a client can have any name, so none may become a prototype's.
    daily_active_users_by_client: Object.fromEntries([
      ...LISTED_CLIENTS.map((client): [string, unknown] => [client, 0]),
      ...byClient.on(day.day).map((row): [string, unknown] => [String(row.client), row.daily_active_users]),
    ]),
    ...pick(day, same('sessions', 'messages', 'user_messages')),
  }));
}

async function productivity(read: Read): Promise<ReportRow[]> {
  const extension = new Rows(await read('productivity_by_extension'));
  const language = new Rows(await read('productivity_by_language'));
  return (await read('productivity')).map((day) => ({
    ...pick(day, { date: 'day', ...same('files_created', 'files_edited') }),
    by_extension: extension.on(day.day).map((row) => pick(row, { extension: 'extension', count: 'files' })),
    by_language: language.on(day.day).map((row) => pick(row, { language: 'language', count: 'files' })),
    ...pick(day, same('git_commits', 'git_prs_created')),
  }));
}

const USER = {
  ...same('user_id', 'user_email'),
  date: 'day',
  ...same('tool_calls', 'billable_tokens', 'primary_model', 'primary_model_tier'),
  ...same('files_created', 'files_edited', 'git_commits', 'git_prs_created'),
  ...same('mcp_calls', 'skill_calls', 'slash_commands', 'hooks'),
  ...same('sessions', 'messages', 'user_messages', 'assistant_messages'),
  ...same('autonomy_ratio', 'delegation_level'),
};

/** The users of a page, the first and the last; undefined when there is nobody. */
interface PageOfUsers extends Page {
  readonly users?: { readonly first_user_id: string; readonly last_user_id: string };
}

async function pageOf(read: Read, { limit, cursor, userId }: ReportRequest): Promise<PageOfUsers> {
  const whole = { has_more: false, next_cursor: null };
  if (userId !== undefined) return { ...whole, users: { first_user_id: userId, last_user_id: userId } };
  const size = limit ?? Number.MAX_SAFE_INTEGER - 1;
  const rows = await read('users_page', { cursor: cursor ?? '', limit: size });
  const found = rows.map((row) => String(row.user_id));
  const page = found.slice(0, size);
  const [first] = page;
  const last = page.at(-1);
  if (first === undefined || last === undefined) return whole;
  const has_more = found.length > size;
  return {
    users: { first_user_id: first, last_user_id: last },
    has_more,
    next_cursor: has_more ? last : null,
  };
}

async function users(read: Read, { users: range }: PageOfUsers): Promise<ReportRow[]> {
  if (range === undefined) return [];
  const keyOf = ({ user_id, day }: Row) => `${day} ${user_id}`;
  const languages = new Map<string, string[]>();
  await shaped(await read('users_by_language', range), (row) => {
    const key = keyOf(row);
    const of = languages.get(key);
    if (of === undefined) languages.set(key, [String(row.language)]);
    else of.push(String(row.language));
  });
  return shaped(await read('users', range), (row) => ({
    ...pick(row, USER),
    languages: languages.get(keyOf(row)) ?? [],
  }));
}

/** An instant (Unix milliseconds) as answers have it. */
function instant(at: unknown): string {
  return new Date(Number(at)).toISOString();
}

async function quality(read: Read): Promise<ReportRow[]> {
  const reason = new Rows(await read('quality_by_reason'));
  const digest = new Rows(await read('quality_digests'));
  const restatement = new Rows(await read('quality_restatements'));
  return (await read('quality')).map((day) => ({
    ...pick(day, { date: 'day', ...same('events', 'accepted', 'duplicates', 'late', 'rejected') }),
    rejected_by_reason: reason.on(day.day).map((row) => pick(row, { reason: 'reason', count: 'lines' })),
    ...pick(
      day,
      same(
        'parse_artifacts',
        'events_without_client',
        'events_without_autonomy_mode',
        'models_not_on_rate_card',
      ),
    ),
    built_at: instant(day.built_at),
    first_built_at: instant(day.first_built_at),
    digests: digest
      .on(day.day)
      .map((row) => pick(row, { table: 'table_name', rows: 'row_count', digest: 'digest' })),
    restatements: restatement.on(day.day).map((row) => ({
      built_at: instant(row.built_at),
      ...pick(row, { table: 'table_name', ...same('old_digest', 'new_digest', 'reason') }),
    })),
  }));
}

/** The rows of an answer for one part of its range. */
async function readSlice(
  select: Store['select'],
  answer: Answer,
  { orgId, groupBy }: ReportRequest,
  { from, to }: Slice,
  page: PageOfUsers | undefined,
): Promise<ReportRow[]> {
  const read = readerOf(select, orgId, { from, to });
  switch (answer) {
    case 'tokens':
      return tokens(read, groupBy);
    case 'tools':
      return tools(read, groupBy);
    case 'activity':
      return activity(read, groupBy);
    case 'productivity':
      return productivity(read);
    case 'quality':
      return quality(read);
    case 'users':
      return page === undefined ? [] : users(read, page);
  }
}

function readerOf(select: Store['select'], orgId: string, { from, to }: Slice): Read {
  const range = { org_id: orgId, from: { day: from }, to: { day: to } };
  return (query, more = {}) => select(readSql(`report/${query}.sql`), { ...range, ...more });
}

/**
 * Reads the rows of one answer for the built days of a range, both ends included, ordered as metrics.md says
 * (public-api.md 2.6, 4.6-4.10): a slice of the range at a time, but users, who come by user, at once. Without a limit,
 * users are all of one page. All SELECTs must see one state of the store.
 */
export async function readReport(
  select: Store['select'],
  answer: Answer,
  request: ReportRequest,
  slices: readonly Slice[] = [request],
): Promise<Reading> {
  const page =
    answer === 'users' ? await pageOf(readerOf(select, request.orgId, request), request) : undefined;
  async function* parts(): AsyncGenerator<ReportRow[]> {
    for (const slice of answer === 'users' ? [request] : slices)
      yield await readSlice(select, answer, request, slice, page);
  }
  return { page: pageIn(page), parts: parts() };
}

function pageIn(page: PageOfUsers | undefined): Page | undefined {
  return page === undefined ? undefined : { has_more: page.has_more, next_cursor: page.next_cursor };
}

/** The same rows column by column, with nested types: a result for each slice, at least one. */
export async function readReportColumns(
  select: Store['select'],
  readColumns: ReadColumns,
  answer: Answer,
  request: ReportRequest,
  slices: readonly Slice[],
): Promise<{ page?: Page | undefined; results: AsyncIterable<DuckDBResult> }> {
  const found =
    answer === 'users' ? await pageOf(readerOf(select, request.orgId, request), request) : undefined;
  const sql = readSql(
    `arrow/${request.groupBy === undefined ? answer : `${answer}_by_${request.groupBy}`}.sql`,
  );
  const reports = new Set([...sql.matchAll(/\breport_(\w+)/g)].map(([, name]) => String(name)));
  const sources = Object.fromEntries(
    [...reports].map((name) => [`report_${name}`, readSql(`report/${name}.sql`)]),
  );
  async function* results(): AsyncGenerator<DuckDBResult> {
    for (const { from, to } of answer === 'users' || slices.length === 0 ? [request] : slices) {
      yield await readColumns(sql, sources, {
        ...{ org_id: request.orgId, from: { day: from }, to: { day: to } },
        // No user has the empty name.
        ...(found === undefined ? {} : (found.users ?? { first_user_id: '', last_user_id: '' })),
      });
    }
  }
  return { page: pageIn(found), results: results() };
}

/** The rows of all parts. */
export async function rowsIn(parts: AsyncIterable<ReportRow[]>): Promise<ReportRow[]> {
  const rows: ReportRow[] = [];
  for await (const part of parts) for (const row of part) rows.push(row);
  return rows;
}

/** All rows of one answer, of one state of the store: see readReport. */
export function report(store: Store, answer: Answer, request: ReportRequest): Promise<Report> {
  return store.snapshot(async (select) => {
    const { page, parts } = await readReport(select, answer, request);
    return { data: await rowsIn(parts), page };
  });
}
