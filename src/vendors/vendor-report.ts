import { join } from 'node:path';
import type { Day } from '../day.js';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import type { SourceSql } from '../store/store.js';
import type { VendorClient } from './vendor-client.js';
import type { VendorName } from './vendor-settings.js';

/** What a vendor says of somebody on a day, in members that the report's SQL reads. */
export interface ReportRow {
  /** Under which name it counts. */
  readonly user: string;
  /** The address, if the vendor says it. */
  readonly email: string | null;
  readonly [member: string]: unknown;
}

/** A report of a vendor, of which a day is fetched at a time. */
export interface Report {
  readonly vendor: VendorName;
  /** Makes events of its lines. Its name is that of the report. */
  readonly source: SourceSql;
  /** How many days the vendor needs until it says something of a day; 0 without it. */
  readonly lateDays?: number;
  /** For how many days after a day the vendor may change what it says of it. */
  readonly revisedDays: number;
  /** All rows of a day of an account, in any order. Throws PullFault. */
  readonly fetch: (client: VendorClient, day: Day, account: string) => Promise<readonly ReportRow[]>;
}

/** How the lines of a report are read. */
export function reportSource(name: string): SourceSql {
  return { name, sql: join(PACKAGE_ROOT, 'sql', 'source', name), unit: 'line', limitMb: 4 };
}
