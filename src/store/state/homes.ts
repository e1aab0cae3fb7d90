import { TABLES } from '../catalog.js';

/**
 * The tables of state: small, and exact. With DAYBOOK_STATE they are in PostgreSQL. All others are data, which stays in the store. The value
 * says whether others on a node keep facts of it in memory, so that its changes are counted.
 */
const STATE = {
  access_log: { isCounted: false },
  alert_revisions: { isCounted: true },
  alerts: { isCounted: true },
  aliases: { isCounted: true },
  budget_revisions: { isCounted: true },
  computers: { isCounted: true },
  control_revisions: { isCounted: true },
  deleted_scim_users: { isCounted: true },
  deliveries: { isCounted: false },
  ended_tickets: { isCounted: true },
  erased_names: { isCounted: true },
  erasures: { isCounted: true },
  heartbeats: { isCounted: false },
  hidden_marks: { isCounted: false },
  keys: { isCounted: true },
  memberships: { isCounted: true },
  organization_secrets: { isCounted: true },
  organizations: { isCounted: true },
  people: { isCounted: true },
  people_revisions: { isCounted: true },
  privacy_revisions: { isCounted: true },
  readiness_reports: { isCounted: true },
  renamed_days: { isCounted: true },
  runs: { isCounted: false },
  scim_groups: { isCounted: true },
  scim_members: { isCounted: true },
  scim_users: { isCounted: true },
  silence_acknowledgements: { isCounted: true },
  transfers: { isCounted: true },
  vendor_bills: { isCounted: true },
  vendor_pulls: { isCounted: false },
  vendor_revisions: { isCounted: true },
  vendor_roster: { isCounted: true },
} as const satisfies Readonly<Record<string, { readonly isCounted: boolean }>>;

export type StateTable = keyof typeof STATE;

export const STATE_TABLES = Object.keys(STATE) as readonly StateTable[];

/**
 * The tables of state that are published in ClickHouse, so that queries of data can join them, with the columns that tell their rows apart
 * there. Of rows that are alike in them only one is shown.
 */
export const PUBLISHED: Readonly<Record<string, readonly string[]>> = {
  aliases: ['org_id', 'alias'],
  heartbeats: ['org_id', 'user_id', 'collector_id', 'agent', 'seen_at'],
  hidden_marks: ['org_id', 'user_id', 'since', 'day', 'hidden_at', 'author'],
  memberships: ['org_id', 'user_id', 'kind', 'first_day'],
  organizations: ['org_id'],
  people: ['org_id', 'user_id'],
  people_revisions: ['org_id', 'revision'],
  readiness_reports: ['org_id', 'report_id'],
  renamed_days: ['org_id', 'day', 'revision'],
  silence_acknowledgements: ['org_id', 'user_id', 'kind', 'name', 'last_day', 'acknowledged_at', 'author'],
  vendor_bills: ['org_id', 'report', 'vendor', 'day', 'item', 'digest'],
  vendor_roster: ['org_id', 'report', 'user_id', 'team'],
};

/** The same by name. */
export const PUBLISHED_TABLES: readonly string[] = Object.keys(PUBLISHED);

export function isState(table: string): table is StateTable {
  return Object.hasOwn(STATE, table);
}

export function isPublished(table: string): boolean {
  return Object.hasOwn(PUBLISHED, table);
}

/** Whether changes of a table of state are counted. */
export function isCounted(table: StateTable): boolean {
  return STATE[table].isCounted;
}

/** Whether a statement is about tables of state only. */
export function isAboutState(sql: string): boolean {
  const tables = tablesIn(sql);
  return tables.length > 0 && tables.every(isState);
}

/**
 * The tables and views that a statement reads or changes. An expression, since it finds out which engine parses the statement.
 */
export function tablesIn(sql: string): string[] {
  const names = [...sql.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)/g)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => Object.hasOwn(TABLES, name));
}
