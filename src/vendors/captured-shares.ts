import type { Day } from '../day.js';
import { readSql, withSources } from '../store/sql-text.js';
import type { Store } from '../store/store.js';

/** How much of what a vendor reports of an agent better channels have. */
export interface CapturedShare {
  readonly agent: string;
  readonly users: number;
  /** Of the tokens. */
  readonly share: number;
  /** Of what the vendor says that they cost; null if it doesn't. */
  readonly costShare: number | null;
  readonly from: Day;
  readonly to: Day;
}

/** The shares of the built days of a range, by agent. */
export async function capturedShares(
  store: Pick<Store, 'select'>,
  orgId: string,
  from: Day,
  to: Day,
): Promise<CapturedShare[]> {
  const sources = { captured_day: readSql('report/captured_day.sql') };
  const rows = await store.select(withSources(readSql('report/captured.sql'), sources), {
    ...{ org_id: orgId, from: { day: from }, to: { day: to } },
  });
  return rows.map(({ agent, users, captured_ratio, captured_cost_ratio }) => ({
    ...{ agent: String(agent), users: Number(users), share: Number(captured_ratio), from, to },
    costShare: captured_cost_ratio === null ? null : Number(captured_cost_ratio),
  }));
}
