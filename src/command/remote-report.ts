import { z } from 'zod';
import { type Answer, hasRowPages, isPaged } from '../api/answer-names.js';
import { noDataSentence, reportRange } from '../api/report-range.js';
import type { Totals } from '../api/totals-query.js';
import { type Day, DaySchema, lastClosedDay } from '../day.js';
import { UsageError } from '../exit.js';
import type { TroubledReport } from '../store/state/vendor-pulls.js';
import type { RemoteService } from './remote-service.js';

/** A report as requested by options. */
export interface AskedReport {
  readonly answer: Answer;
  readonly orgId?: string | undefined;
  readonly from?: Day | undefined;
  readonly to?: Day | undefined;
  readonly groupBy?: string | undefined;
  /** Reads the rows that were published at this instant: Unix milliseconds. */
  readonly asOf?: number | undefined;
  /** The maximum of rows, and other options of totals. */
  readonly limit?: number | undefined;
  readonly totals?: Totals | undefined;
}

/** The rows of a report with their organization, and a sentence if its range has no data. */
export interface Report {
  readonly rows: readonly Record<string, unknown>[];
  readonly orgId: string;
  readonly from: Day;
  readonly to: Day;
  readonly noData: string | null;
  /** Vendors' reports that lack something, if that matters to the answer. */
  readonly lacking?: readonly TroubledReport[];
}

/** How many users a page has, and how many rows of totals. */
const PAGE = 100;
const TOTALS_PAGE = 1000;

const Page = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  meta: z.object({ org_id: z.string(), next_cursor: z.string().nullish() }),
});

/** The part of the service's status that the default range needs. */
const DataDays = z.object({ data: z.object({ org_id: z.string(), data_days: z.array(DaySchema) }) });

/** Reads a report through a service. The key determines the organization and the user. */
export async function remoteReport(service: RemoteService, asked: AskedReport, now: number): Promise<Report> {
  const { answer, orgId, groupBy, limit = Number.POSITIVE_INFINITY, totals } = asked;
  const { data: status } = await service.get(DataDays, 'api/v1/status');
  if (orgId !== undefined && orgId !== status.org_id)
    throw new UsageError(`This key belongs to ${status.org_id}: leave --org out, or use a key of ${orgId}.`);
  const range = reportRange(asked, status.data_days, lastClosedDay(now));
  const rows: Record<string, unknown>[] = [];
  let cursor: string | undefined;
  do {
    const { data, meta } = await service.get(Page, `api/v1/analytics/${answer}`, {
      ...{ startDate: range.from, endDate: range.to, group_by: groupBy },
      ...(isPaged(answer) ? { limit: String(PAGE), cursor } : {}),
      ...(hasRowPages(answer) ? { limit: String(Math.min(TOTALS_PAGE, limit - rows.length)), cursor } : {}),
      ...totals,
    });
    for (const row of data) rows.push(row);
    // A page without rows ends the loop, which could otherwise go on for ever.
    cursor = data.length === 0 ? undefined : (meta.next_cursor ?? undefined);
  } while (cursor !== undefined && rows.length < limit);
  return {
    rows,
    orgId: status.org_id,
    ...range,
    noData: noDataSentence(status.org_id, range, status.data_days),
  };
}

const BudgetsOfMonth = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  meta: z.object({ org_id: z.string(), month: z.string() }),
});

/** Reads the budgets of a month through a service. The key determines the organization. */
export async function remoteBudgets(
  service: RemoteService,
  orgId: string | undefined,
  month: string | undefined,
): Promise<{ orgId: string; month: string; rows: Report['rows'] }> {
  const { data, meta } = await service.get(BudgetsOfMonth, 'api/v1/analytics/budgets', { month });
  if (orgId !== undefined && orgId !== meta.org_id)
    throw new UsageError(`This key belongs to ${meta.org_id}: leave --org out, or use a key of ${orgId}.`);
  return { orgId: meta.org_id, month: meta.month, rows: data };
}
