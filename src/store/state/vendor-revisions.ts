import type { Store } from '../store.js';
import { Revisions } from './revisions.js';

/** What organizations have said of the vendors' APIs that are pulled, with encrypted keys; '' before the first change. */
export const vendorRevisions = new Revisions('vendor_revisions', 'settings', '');

/** The organizations that have said anything of vendors, by name. */
export async function organizationsWithVendors(store: Pick<Store, 'select'>): Promise<string[]> {
  const rows = await store.select('SELECT DISTINCT org_id FROM vendor_revisions ORDER BY org_id');
  return rows.map(({ org_id }) => String(org_id));
}
