import { BUILT_TABLES } from './day-builder.js';
import { ROLL_UPS } from './roll-ups.js';
import { digestSql } from './row-digest.js';
import { quote, withSources } from './sql-text.js';
import type { Rewriting, RowChange } from './store.js';

/** The statements of a rewriting, for one transaction. */
export function rewritingStatements(rewriting: Rewriting): { readonly sql: string }[] {
  const { orgId, found, changes, added, days, reason, at } = rewriting;
  const isMeant = `org_id = ${quote(orgId)} AND day IN (SELECT day FROM ${days})`;
  const statements = [
    ...Object.entries(found).map(([name, text]) => `CREATE OR REPLACE TEMP TABLE ${name} AS ${text}`),
    ...changes.flatMap(changeStatements),
    ...ROLL_UPS.flatMap(({ name, text, tables }) => {
      const rows = Object.fromEntries(
        tables.map((table) => [table, `SELECT * FROM ${table} WHERE ${isMeant}`]),
      );
      return [
        `DELETE FROM ${name} WHERE ${isMeant}`,
        `INSERT INTO ${name} BY NAME SELECT * FROM (${withSources(text, rows)}) ORDER BY ALL`,
      ];
    }),
    'DELETE FROM due; DELETE FROM fresh_digests',
    `INSERT INTO due SELECT org_id, day FROM days WHERE ${isMeant}`,
    `INSERT INTO fresh_digests BY NAME ${BUILT_TABLES.map(digestSql).join(' UNION ALL ')}`,
    `INSERT INTO restatements BY NAME
    SELECT digests.org_id, digests.day, digests.table_name, digests.digest AS old_digest, fresh_digests.digest AS new_digest,
      instant(${at}) AS built_at, ${quote(reason)} AS reason
    FROM digests
    JOIN fresh_digests ON fresh_digests.org_id = digests.org_id AND fresh_digests.day = digests.day AND fresh_digests.table_name = digests.table_name
    WHERE digests.digest <> fresh_digests.digest`,
    `DELETE FROM digests WHERE (org_id, day, table_name) IN (SELECT org_id, day, table_name FROM fresh_digests);
    INSERT INTO digests BY NAME FROM fresh_digests;
    DELETE FROM due; DELETE FROM fresh_digests`,
    ...Object.entries(added).map(([table, text]) => `INSERT INTO ${table} ${text}`),
    ...Object.keys(found).map((name) => `DROP TABLE temp.${name}`),
  ];
  return statements.map((sql) => ({ sql }));
}

/** The statements of one change. */
export function changeStatements({ table, where, set, lookedUp, merged }: RowChange): string[] {
  if (merged !== undefined)
    return [
      `CREATE OR REPLACE TEMP TABLE merged_rows AS SELECT ${merged.columns.join(', ')} FROM ${table} WHERE ${where} GROUP BY ${merged.by.join(', ')}`,
      `DELETE FROM ${table} WHERE ${where}`,
      `INSERT INTO ${table} BY NAME FROM merged_rows`,
      'DROP TABLE temp.merged_rows',
    ];
  if (lookedUp !== undefined) {
    const { column, pairs } = lookedUp;
    return [
      `UPDATE ${table} SET ${column} = pair.new_value FROM (${pairs}) AS pair WHERE ${where} AND pair.old_value = ${table}.${column}`,
    ];
  }
  if (set === undefined) return [`DELETE FROM ${table} WHERE ${where}`];
  const values = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
  return [`UPDATE ${table} SET ${values.join(', ')} WHERE ${where}`];
}
