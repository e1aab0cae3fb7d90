import { z } from 'zod';
import { TABLES } from '../store/catalog.js';
import { shownColumns } from '../store/tables.js';
import { NAMES } from './lake-database.js';

/** A table or view that SQL can read. */
export const SqlTable = z
  .object({
    name: z.string().meta({ examples: ['activity'] }),
    kind: z.enum(['events', 'day table', 'reference', 'record', 'view']).meta({ examples: ['day table'] }),
    about: z
      .string()
      .meta({ description: 'what a row is', examples: ['One row is one day of one organization.'] }),
    grain: z
      .array(z.string())
      .meta({ description: 'columns that together identify a row', examples: [['org_id', 'day']] }),
    columns: z
      .array(
        z.object({
          name: z.string(),
          type: z.string().meta({ description: 'type in DuckDB' }),
          comment: z.string().nullable(),
        }),
      )
      .meta({
        examples: [
          [{ name: 'weekly_active_users', type: 'BIGINT', comment: 'on any of the trailing 7 days' }],
        ],
      }),
  })
  .meta({ id: 'SqlTable' });
export type SqlTable = z.infer<typeof SqlTable>;

/** All tables and views that SQL can read. A view on tables that aren't in the lake doesn't exist here. */
export const SQL_TABLES: readonly SqlTable[] = Object.entries(TABLES).flatMap(
  ([name, { kind, about, grain }]) =>
    kind === undefined || !NAMES.has(name)
      ? []
      : [
          {
            ...{ name, kind, about, grain: [...grain] },
            columns: shownColumns(name).map(({ name, type, comment = null }) => ({ name, type, comment })),
          },
        ],
);
