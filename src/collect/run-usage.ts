import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DaySchema } from '../day.js';
import { CANONICAL } from '../ingest/source.js';
import { DuckDbStore, type StoreOptions } from '../store/duckdb-store.js';
import { readSql } from '../store/sql-text.js';
import type { Row } from '../store/store.js';

/** The rules require an organization. */
const ORG = 'run';

/**
 * What a run used: the rows of sql/report/run_usage.sql over its events, as the service would count them. They are counted in a store of
 * their own in `folder`.
 */
export async function usageOf(
  lines: readonly string[],
  folder: string,
  settings: Pick<StoreOptions, 'memoryMb' | 'threads' | 'rateCard' | 'prices' | 'now'>,
): Promise<Row[]> {
  const { now } = settings;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'events.ndjson');
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  const store = await DuckDbStore.open(folder, { ...settings, data: folder });
  try {
    const files = [{ path, name: 'run', orgId: ORG, receivedAt: now }];
    await store.settle({ source: CANONICAL, files, settledAt: now });
    const days = await store.select('SELECT DISTINCT day FROM events ORDER BY day');
    const due = days.map(({ day }) => ({ orgId: ORG, day: DaySchema.parse(day) }));
    return await store.preview(due, (select) => select(readSql('report/run_usage.sql')));
  } finally {
    await store.close();
  }
}
