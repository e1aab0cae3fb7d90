import type { Parameters, Row, Store } from '../store.js';

/** Which rows, and of these which part; all of an organization's by default. */
export interface ScimChoice {
  /** SQL with parameters. */
  readonly where?: string;
  readonly parameters?: Parameters;
  readonly offset?: number;
  readonly count?: number;
}

/** Rows of an organization in a table of SCIM resources, the oldest first. */
export function scimRows(
  store: Store,
  table: 'scim_users' | 'scim_groups',
  orgId: string,
  { where = 'TRUE', parameters = {}, offset = 0, count }: ScimChoice = {},
): Promise<Row[]> {
  const part = count === undefined ? '' : `LIMIT ${count} OFFSET ${offset}`;
  return store.select(
    `SELECT * FROM ${table} WHERE org_id = $org_id AND ${where} ORDER BY created_at, scim_id ${part}`,
    { org_id: orgId, ...parameters },
  );
}

/** How many rows of an organization a table of SCIM resources has. */
export async function countScimRows(
  store: Store,
  table: 'scim_users' | 'scim_groups',
  orgId: string,
): Promise<number> {
  const [row] = await store.select(`SELECT count(*) AS resources FROM ${table} WHERE org_id = $org_id`, {
    org_id: orgId,
  });
  return Number(row?.resources);
}
