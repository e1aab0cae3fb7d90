import type { Day } from '../day.js';
import { quote, readSql } from './sql.js';
import type { OrgDay, Store } from './store.js';

/** Those of some days that are built from all that came for them, and whose events aren't gone yet. */
export async function removableOf(select: Store['select'], days: readonly OrgDay[]): Promise<OrgDay[]> {
  const last = days.reduce<string>((latest, { day }) => (day > latest ? day : latest), '');
  if (last === '') return [];
  const rows = await select(readSql('build/removable.sql'), { last: { day: last as Day } });
  const asked = new Set(days.map(({ orgId, day }) => `${day} ${orgId}`));
  return rows
    .map((row) => ({ orgId: String(row.org_id), day: row.day as Day }))
    .filter(({ orgId, day }) => asked.has(`${day} ${orgId}`));
}

/** Days as the rows of a VALUES list. */
export function valuesOf(days: readonly OrgDay[]): string {
  return days.map(({ orgId, day }) => `(${quote(orgId)}, CAST('${day}' AS DATE))`).join(', ');
}
