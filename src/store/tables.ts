import { BUILT_TABLES } from './day-builder.js';
import { readSqlFolder } from './sql-text.js';
import { readRawTable, type TableText, tableOf } from './table-text.js';

/**
 * The order in which events are stored. Similar events stand together, which makes columns small, and queries for a type or a user
 * skip the others.
 */
export const EVENT_ORDER = [
  'org_id',
  'day',
  'type',
  'user_id',
  'session_id',
  'occurred_at',
  'event_id',
] as const;

/** All tables that can be read, by their kind: the events, the tables of built days, the reference tables of views, and the views. */
export function readTables(): Record<'events' | 'days' | 'references' | 'views', TableText[]> {
  const schema = readSqlFolder('schema');
  const isOfDays = ({ name }: { name: string }) => (BUILT_TABLES as readonly string[]).includes(name);
  return {
    events: [readRawTable('events')],
    references: [readRawTable('prices')],
    days: schema.filter(isOfDays).map(tableOf),
    views: schema.filter(({ text }) => text.includes('CREATE OR REPLACE VIEW')).map(tableOf),
  };
}
