import { randomUUID } from 'node:crypto';
import { ApiError } from '../api/errors.js';
import { withoutCredentials } from '../network/url-credentials.js';
import { repoKeyOf } from '../store/repo-key.js';
import { quote, quoteInstant, readSql } from '../store/sql-text.js';
import type { Row, Store } from '../store/store.js';
import { type Level, levelOf } from './maturity-level.js';
import { Report, type Submission } from './readiness-report.js';
import { shippedById } from './readiness-rules.js';
import { repoIdOf } from './repository-url.js';

/** How many reports are read at a time: each is at most as large as a body. */
const AT_ONCE = 20;

const SQL = {
  cursor: readSql('readiness/cursor.sql'),
  ids: readSql('readiness/ids.sql'),
  reports: readSql('readiness/reports.sql'),
  repositories: readSql('readiness/repositories.sql'),
};

/** The error if an organization has nothing with the id after which a page should begin. */
function unknownCursor(id: string, what: string): ApiError {
  return new ApiError(400, `The parameter startAfter must be the id of ${what}, and ${id} is none.`);
}

/** A criterion of a report, with Daybook's level and description of it. */
interface ReportedCriterion {
  readonly id: string;
  readonly level: Level | undefined;
  readonly description: string | null;
  readonly numerator: number;
  readonly denominator: number;
}

/** The criteria of a report. Those that Daybook ships have its level unless the report has another. */
export function criteriaOf({ report }: Pick<Submission, 'report'>): ReportedCriterion[] {
  const shipped = shippedById();
  return Object.entries(report).map(([id, { numerator, denominator, level }]) => {
    const known = shipped.get(id);
    return {
      id,
      level: level ?? known?.level,
      description: known?.description ?? null,
      numerator,
      denominator,
    };
  });
}

/** Stores a report, without passwords and tokens in the addresses of its texts, and returns it as stored. */
export async function saveReport(
  store: Store,
  orgId: string,
  submitted: Submission,
  now: number,
): Promise<Report> {
  const repoUrl = withoutCredentials(submitted.repoUrl);
  const key = await repoKeyOf(store.select.bind(store), repoUrl);
  const whole: Report = {
    reportId: randomUUID(),
    createdAt: now,
    repoId: repoIdOf(key),
    level: levelOf(criteriaOf(submitted)) ?? null,
    ...submitted,
    repoUrl,
  };
  const document = withoutCredentials(JSON.stringify(whole));
  // As literals: ClickHouse takes parameters in the address of a request, which is too short for a report.
  const values = [
    quote(orgId),
    quote(whole.reportId),
    quoteInstant(now),
    quote(whole.repoId),
    quote(key),
    quote(document),
  ];
  await store.run([{ sql: `INSERT INTO readiness_reports VALUES (${values.join(', ')})` }]);
  return Report.parse(JSON.parse(document));
}

/** A stored report as it came, except that its repository has the id of its present key. */
function documentIn({ repo, document }: Row): object {
  return { ...JSON.parse(String(document)), repoId: repoIdOf(String(repo)) };
}

/** The keys of the repositories that have these ids, or had them when one of their reports came. */
async function keysOf(store: Store, orgId: string, repoIds: readonly string[]): Promise<string[]> {
  const rows = await store.select(SQL.ids, { org_id: orgId });
  const found = rows.filter(({ repo_id, repo }) =>
    [String(repo_id), repoIdOf(String(repo))].some((id) => repoIds.includes(id)),
  );
  return [...new Set(found.map(({ repo }) => String(repo)))];
}

/**
 * The JSON of an organization's reports, newest first, in portions: `limit` of them after the one with an id. Reports that arrive
 * meanwhile come before all of them. Throws 400 for an unknown id.
 */
export async function* reportsOf(
  store: Store,
  orgId: string,
  {
    repoIds,
    limit,
    startAfter,
  }: { repoIds?: readonly string[] | undefined; limit: number; startAfter?: string | undefined },
): AsyncGenerator<string[]> {
  let before = { at: Date.UTC(9999, 0), id: '' };
  if (startAfter !== undefined) {
    const [row] = await store.select(SQL.cursor, { org_id: orgId, report_id: startAfter });
    if (row === undefined) throw unknownCursor(startAfter, 'a report');
    before = { at: Number(row.created_at), id: startAfter };
  }
  const keys = repoIds === undefined ? undefined : await keysOf(store, orgId, repoIds);
  // No repository has the empty key.
  const repo = keys?.length === 0 ? [''] : (keys ?? null);
  for (let left = limit; left > 0; left -= AT_ONCE) {
    const size = Math.min(left, AT_ONCE);
    const rows = await store.select(SQL.reports, {
      org_id: orgId,
      repo,
      before_at: before.at,
      before_id: before.id,
      limit: size,
    });
    yield rows.map((row) => JSON.stringify(documentIn(row)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < size) return;
    before = { at: Number(last.created_at), id: String(last.report_id) };
  }
}

/** A repository with its two newest reports, or its only one. */
export interface Repository {
  readonly latest: Report;
  readonly before: Report | undefined;
}

/** An organization's repositories ordered by their keys: `limit` of them after the one with an id. Throws 400 for an unknown id. */
export async function repositoriesOf(
  store: Store,
  orgId: string,
  { limit, startAfter }: { limit: number; startAfter?: string | undefined },
): Promise<Repository[]> {
  let after = '';
  if (startAfter !== undefined) {
    const [key] = await keysOf(store, orgId, [startAfter]);
    if (key === undefined) throw unknownCursor(startAfter, 'a repository');
    after = key;
  }
  const rows = await store.select(SQL.repositories, { org_id: orgId, after, limit });
  const reports = new Map<string, Report[]>();
  for (const row of rows) {
    const report = Report.parse(documentIn(row));
    reports.set(report.repoId, [...(reports.get(report.repoId) ?? []), report]);
  }
  return [...reports.values()].flatMap(([latest, before]) =>
    latest === undefined ? [] : [{ latest, before }],
  );
}
