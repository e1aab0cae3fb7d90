import { join } from 'node:path';
import type { Answer } from '../api/answer-names.js';
import { type ReportRequest, rowsOfReport } from '../api/answer-rows.js';
import { UsageError } from '../exit.js';
import { requireKept, snapshotAt, whyMissing } from '../lake/earlier-snapshot.js';
import { fetchPublished } from '../lake/fetched-lake.js';
import { LAKE, LAKE_TABLES } from '../lake/lake-paths.js';
import { readSnapshot } from '../lake/snapshot.js';
import type { Config } from '../settings/config.js';
import { Session } from '../store/duckdb-session.js';
import { ROLL_UPS, rollUpView } from '../store/roll-ups.js';
import { quote } from '../store/sql-text.js';
import type { Store } from '../store/store.js';
import { columnNames, columnsOf } from '../store/tables.js';
import { openLake, readLake, VIEWS } from './lake-database.js';

/** What reports read from the store. */
const OF_TODAY = ['known_emails', 'memberships'] as const;
const OF_LAKE = [...LAKE_TABLES, ...VIEWS.map(({ name }) => name)].filter(
  (name) => !(OF_TODAY as readonly string[]).includes(name),
);

/** The answers about what has arrived since, which the lake doesn't have. */
const OF_NOW: readonly Answer[] = ['quality'];

/**
 * Answers a report from the rows that were published at an instant, by the same SELECTs as from the store. E-mails, teams and prices are those
 * of today.
 * Both instants are Unix milliseconds. Throws a UsageError if the lake can't answer it.
 */
export async function earlierReport(
  store: Store,
  config: Config,
  answer: Answer,
  request: ReportRequest,
  asOf: number,
  now: number,
): Promise<Record<string, unknown>[]> {
  const { orgId } = request;
  if (OF_NOW.includes(answer))
    throw new UsageError(`${answer} can't be combined with --as-of: it is about what has arrived until now.`);
  if (request.groupBy === 'vendor')
    throw new UsageError("Bills of vendors can't be combined with --as-of: only their newest form is kept.");
  requireKept(asOf, config, now);
  await fetchPublished(config, orgId, asOf);
  const lake = join(config.data, LAKE);
  const snapshot = readSnapshot(lake, orgId);
  if (snapshot === undefined)
    throw new UsageError(
      `Nothing of the organization ${orgId} is published yet: "daybook build" publishes it.`,
    );
  const published = snapshotAt(lake, snapshot, asOf);
  if (published === undefined) throw new UsageError(`${whyMissing(lake, snapshot, asOf)}.`);
  const present = await Promise.all(OF_TODAY.map((table) => tableSql(store, orgId, table)));
  const connection = await openLake(config);
  try {
    await readLake(connection, lake, { snapshots: [published], only: OF_LAKE });
    const session = new Session(connection);
    await session.run([...present.flat(), ...ROLL_UPS.map(rollUpView)].join(';\n'));
    const { data } = await rowsOfReport(session.select, session.readColumns, answer, request);
    return data;
  } finally {
    connection.closeSync();
  }
}

/** The statements that make a table with an organization's present rows. */
async function tableSql(store: Store, orgId: string, table: (typeof OF_TODAY)[number]): Promise<string[]> {
  const columns = columnsOf(table);
  const rows = await store.select(
    `SELECT ${columnNames(table).join(', ')} FROM ${table} WHERE org_id = $org_id`,
    { org_id: orgId },
  );
  const values = rows.map((row) => `(${columns.map(({ name }) => quote(String(row[name]))).join(', ')})`);
  return [
    `CREATE TABLE ${table} (${columns.map(({ name, type }) => `${name} ${type}`).join(', ')})`,
    ...(values.length === 0 ? [] : [`INSERT INTO ${table} VALUES ${values.join(', ')}`]),
  ];
}
