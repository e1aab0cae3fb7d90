import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../aggregate/build-days.js';
import { createKey } from '../api/api-keys.js';
import { type Day, lastClosedDay } from '../day.js';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import { ingest } from '../ingest/ingest-files.js';
import { inputFiles } from '../ingest/input-files.js';
import { CLAUDE_CODE } from '../ingest/source.js';
import { ChecksFailed } from '../store/day-checks.js';
import { readSql } from '../store/sql-text.js';
import type { Store } from '../store/store.js';

const ORG = 'demo';

/** The result of the demo: its key, which is shown only this once, and in `summary` a row per user. */
export type Demo = NonNullable<Awaited<ReturnType<typeof loadDemo>>>;

/**
 * Fills an unused database with the sample: each folder becomes a user of the organization `demo`. Does nothing and answers undefined if
 * the database isn't empty. After an interruption it begins again.
 */
export async function loadDemo(store: Store, historyStart: Day, clock: () => number) {
  const organizations = await store.select('SELECT org_id FROM organizations');
  const loaded = await store.select("SELECT name FROM facts WHERE name = 'demo'");
  const isOther = organizations.some(({ org_id }) => org_id !== ORG);
  if (isOther || (organizations.length > 0 && loaded.length > 0)) return undefined;
  const sample = join(PACKAGE_ROOT, 'data', 'sample');
  for (const entry of readdirSync(sample, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const files = inputFiles([join(sample, entry.name)], CLAUDE_CODE);
    await ingest(store, { orgId: ORG, source: CLAUDE_CODE, userId: entry.name, files }, clock);
  }
  const { breaches } = await build(store, {}, clock);
  if (breaches.length > 0) throw new ChecksFailed(breaches);
  const { key } = await createKey(store, { orgId: ORG, role: 'owner', userId: 'demo' }, clock());
  await store.run([{ sql: "INSERT INTO facts VALUES ('demo', 'loaded')" }]);
  const summary = await store.select(readSql('report/user_totals.sql'), {
    org_id: ORG,
    from: { day: historyStart },
    to: { day: lastClosedDay(clock()) },
  });
  const days = summary.flatMap((row) => [row.first_day as Day, row.last_day as Day]).sort();
  return {
    orgId: ORG,
    key,
    summary,
    firstDay: days[0] ?? historyStart,
    lastDay: days.at(-1) ?? historyStart,
  };
}
