import { z } from 'zod';
import { nameText } from '../input/name-text.js';
import { GroupName } from '../store/state/person.js';
import type { Store } from '../store/store.js';

/** How many rows the table can have. */
const ROWS_AT_MOST = 1000;

const GroupRow = z
  .strictObject({
    /** The name that the identity provider gives the group. */
    group: nameText(256).meta({ examples: ['daybook-compilers'] }),
    team: GroupName.meta({ examples: ['Compilers'] }).optional(),
    costCenter: GroupName.meta({ examples: ['4711'] }).optional(),
  })
  .refine(
    ({ team, costCenter }) => team !== undefined || costCenter !== undefined,
    'must have a team or a costCenter',
  );

/** An owner's table: which team or cost centre the members of a group belong to. Of several rows for a person the first one counts. */
export const GroupTable = z
  .array(GroupRow)
  .max(ROWS_AT_MOST)
  .refine(
    (rows) => new Set(rows.map(({ group }) => group)).size === rows.length,
    'must not have two rows of one group',
  );
export type GroupTable = Readonly<z.infer<typeof GroupTable>>;

const WithTable = z.object({ people: z.object({ groups: GroupTable }) });

/** The table in the newest settings of an organization; empty if there is none. */
export async function groupTableOf(store: Store, orgId: string): Promise<GroupTable> {
  const [row] = await store.select(
    'SELECT settings FROM control_revisions WHERE org_id = $org_id ORDER BY revision DESC LIMIT 1',
    { org_id: orgId },
  );
  return row === undefined
    ? []
    : (WithTable.safeParse(JSON.parse(String(row.settings))).data?.people.groups ?? []);
}
