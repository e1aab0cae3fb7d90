import { join } from 'node:path';
import { MS_PER_DAY } from '../../day.js';
import { quote, quoteInstant } from '../sql-text.js';
import type { Parameters, Row, Store } from '../store.js';
import { columnsOf } from '../tables.js';
import { erasedIn } from './erased-names.js';

/** How long entries are kept. */
export const KEPT_DAYS = 90;

/** Whom an answer is about: users by name, everyone with a row each, or totals that tell no person apart. */
export const SCOPES = ['user', 'everyone', 'totals'] as const;
export type Scope = (typeof SCOPES)[number];

/** A row of `access_log`. Instants are Unix milliseconds. */
export interface AccessEntry {
  readonly orgId: string;
  readonly entryNo: number;
  readonly askedAt: number;
  readonly fingerprint: string;
  readonly userId: string | null;
  readonly address: string;
  readonly path: string;
  readonly scope: Scope;
  readonly about: string | null;
  readonly sqlDigest: string | null;
  readonly sqlTables: string | null;
  readonly status: number;
}

/** Which entries of an organization are wanted. */
export interface AccessFilter {
  readonly scope?: readonly string[] | undefined;
  readonly about?: readonly string[] | undefined;
  readonly userId?: readonly string[] | undefined;
  readonly fingerprint?: readonly string[] | undefined;
  /** From this instant on, and before that one: Unix milliseconds. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  /** Only entries before this one. */
  readonly before?: number | undefined;
}

const text = (value: string | null) => (value === null ? 'NULL' : quote(value));

/** What an entry says instead of the name of somebody who was erased. */
const ERASED = 'erased';

/** Adds entries with one statement. A name of somebody who was erased is left out. */
export async function addEntries(store: Store, entries: readonly AccessEntry[]): Promise<void> {
  const told = await Promise.all(
    entries.map(async (entry) => {
      const isErased = await erasedIn(store, entry.orgId);
      const without = (name: string | null) => (name !== null && isErased?.(name) === true ? ERASED : name);
      return { ...entry, userId: without(entry.userId), about: without(entry.about) };
    }),
  );
  const rows = told.map(
    ({
      orgId,
      entryNo,
      askedAt,
      fingerprint,
      userId,
      address,
      path,
      scope,
      about,
      sqlDigest,
      sqlTables,
      status,
    }) =>
      `(${[
        ...[quote(orgId), entryNo, quoteInstant(askedAt)],
        ...[fingerprint, userId, address, path, scope, about, sqlDigest, sqlTables].map(text),
        status,
      ].join(', ')})`,
  );
  await store.append(`INSERT INTO access_log VALUES ${rows.join(', ')}`);
}

/** The newest entries of an organization, newest first. */
export async function newestEntries(
  store: Store,
  orgId: string,
  { scope, about, userId, fingerprint, from, until, before }: AccessFilter,
  limit: number,
): Promise<AccessEntry[]> {
  const conditions = ['org_id = $org_id'];
  const parameters: Record<string, Parameters[string]> = { org_id: orgId };
  const only = (condition: string, name: string, value: Parameters[string] | undefined) => {
    if (value === undefined) return;
    conditions.push(condition);
    parameters[name] = value;
  };
  only('scope IN $scope', 'scope', scope);
  only('about IN $about', 'about', about);
  only('user_id IN $user_id', 'user_id', userId);
  only('fingerprint IN $fingerprint', 'fingerprint', fingerprint);
  only('asked_at >= instant($from)', 'from', from);
  only('asked_at < instant($until)', 'until', until);
  only('entry_no < $before', 'before', before);
  const rows = await store.select(
    `SELECT * FROM access_log WHERE ${conditions.join(' AND ')} ORDER BY entry_no DESC LIMIT ${limit}`,
    parameters,
  );
  return rows.map(entryOf);
}

function entryOf(row: Row): AccessEntry {
  const textOrNull = (value: unknown) => (value === null ? null : String(value));
  return {
    orgId: String(row.org_id),
    entryNo: Number(row.entry_no),
    askedAt: Number(row.asked_at),
    fingerprint: String(row.fingerprint),
    userId: textOrNull(row.user_id),
    address: String(row.address),
    path: String(row.path),
    scope: row.scope as Scope,
    about: textOrNull(row.about),
    sqlDigest: textOrNull(row.sql_digest),
    sqlTables: textOrNull(row.sql_tables),
    status: Number(row.status),
  };
}

/** Removes the entries that are older than KEPT_DAYS. */
export async function removeOldEntries(store: Store, now: number): Promise<void> {
  await store.run([
    {
      sql: 'DELETE FROM access_log WHERE asked_at < instant($before)',
      parameters: { before: now - KEPT_DAYS * MS_PER_DAY },
    },
  ]);
}

/** The file of a data folder in which `daybook sql` gets the log, by an id of hexadecimal digits. A killed process may leave it: see isSpool. */
export function logPath(data: string, id: string): string {
  return join(data, `rows-access_log_${id}.parquet`);
}

/** Writes the log of an organization, or of all, to a Parquet file. */
export async function writeLog(store: Store, path: string, orgId?: string): Promise<void> {
  const columns = columnsOf('access_log').map(({ name, type }) => `CAST(${name} AS ${type}) AS ${name}`);
  const where = orgId === undefined ? '' : `WHERE org_id = ${quote(orgId)}`;
  const entries = `SELECT * FROM access_log ${where}`;
  await store.copy(`SELECT ${columns.join(', ')} FROM entries ORDER BY entry_no`, { entries }, path);
}
