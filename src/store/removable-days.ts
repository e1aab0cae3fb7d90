import type { Day } from '../day.js';
import { readSql } from './sql-text.js';
import { keyOf, type OrgDay, orgDayOf, type Store } from './store.js';

/** Those of some days that are built from all that came for them, and whose events aren't gone yet. */
export async function removableOf(select: Store['select'], days: readonly OrgDay[]): Promise<OrgDay[]> {
  const last = days.reduce<string>((latest, { day }) => (day > latest ? day : latest), '');
  if (last === '') return [];
  const rows = await select(readSql('build/removable.sql'), { last: { day: last as Day } });
  const asked = new Set(days.map(keyOf));
  return rows.map(orgDayOf).filter((day) => asked.has(keyOf(day)));
}
