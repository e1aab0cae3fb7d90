import type { Store } from '../store.js';
import { Revisions } from './revisions.js';

/** What organizations have said of their alerts, with encrypted secrets; '' before the first change. */
export const alertRevisions = new Revisions('alert_revisions', 'settings', '');

/** The organizations that have said anything of alerts, by name. */
export async function organizationsWithAlerts(store: Pick<Store, 'select'>): Promise<string[]> {
  const rows = await store.select('SELECT DISTINCT org_id FROM alert_revisions ORDER BY org_id');
  return rows.map(({ org_id }) => String(org_id));
}
