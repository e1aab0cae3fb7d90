import type { Day } from '../../day.js';
import { quote } from '../sql-text.js';
import type { Store } from '../store.js';
import { inTurn } from './of-store.js';

/** What a vendor bills on a day, in lines of JSON: item, usd, gross_usd and tokens. */
export interface BilledDay {
  readonly day: Day;
  readonly text: string;
  /** A digest of the text. */
  readonly state: string;
}

/** How many rows a statement writes. */
const TOGETHER = 1000;

/** The digests of the days of a bill that were fetched. */
export async function billedDays(
  store: Pick<Store, 'select'>,
  orgId: string,
  report: string,
): Promise<Map<string, string>> {
  const rows = await store.select(
    "SELECT day, digest FROM vendor_bills WHERE org_id = $org_id AND report = $report AND item = ''",
    { org_id: orgId, report },
  );
  return new Map(rows.map(({ day, digest }) => [String(day), String(digest)]));
}

/** Replaces days of a bill. The note of a day comes last: cut off before, the day is fetched again. */
export async function replaceBilledDays(
  store: Store,
  orgId: string,
  {
    vendor,
    name,
    tells,
  }: { readonly vendor: string; readonly name: string; readonly tells: 'money' | 'tokens' },
  days: readonly BilledDay[],
): Promise<void> {
  const rowOf = (day: Day, item: string, values: readonly unknown[], digest: string) =>
    `(${[quote(orgId), quote(name), quote(vendor), quote(day), quote(item), ...values.map((value) => value ?? 'NULL'), quote(digest)].join(', ')})`;
  const rows = days.flatMap(({ day, text }) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { item, usd, gross_usd, tokens } = JSON.parse(line);
        return rowOf(day, item, [usd, gross_usd, tokens], '');
      }),
  );
  rows.push(
    ...days.map(({ day, state }) =>
      rowOf(day, '', tells === 'money' ? [0, 0, null] : [null, null, 0], state),
    ),
  );
  const inserts: string[] = [];
  for (let next = 0; next < rows.length; next += TOGETHER)
    inserts.push(`INSERT INTO vendor_bills VALUES ${rows.slice(next, next + TOGETHER).join(', ')}`);
  const isReplaced = `org_id = ${quote(orgId)} AND report = ${quote(name)} AND day IN (${days.map(({ day }) => quote(day)).join(', ')})`;
  // Otherwise two that replace the same days would both leave their rows.
  await inTurn(store, `vendor_bills ${orgId}`, (turn) =>
    turn.run([`DELETE FROM vendor_bills WHERE ${isReplaced}`, ...inserts].map((sql) => ({ sql }))),
  );
}
