import { z } from 'zod';
import type { Kind } from '../../input/kinds.js';
import type { Store } from '../store.js';

/** The names of teams and cost centres that the owner's table of groups has: telemetry can't tell them. */
export type ClosedNames = Readonly<Record<Kind, readonly string[]>>;

const WithSwitch = z.object({
  people: z.object({
    toldTeams: z.literal(true),
    groups: z.array(z.object({ team: z.string().optional(), costCenter: z.string().optional() })).default([]),
  }),
});

/**
 * What telemetry can't tell, by the newest settings of an organization; undefined unless an owner lets telemetry tell teams and cost centres at
 * all.
 */
export async function closedNamesOf(store: Store, orgId: string): Promise<ClosedNames | undefined> {
  const [row] = await store.select(
    'SELECT settings FROM control_revisions WHERE org_id = $org_id ORDER BY revision DESC LIMIT 1',
    { org_id: orgId },
  );
  const people =
    row === undefined ? undefined : WithSwitch.safeParse(JSON.parse(String(row.settings))).data?.people;
  const namesOf = (names: readonly (string | undefined)[]) => [
    ...new Set(names.filter((name) => name !== undefined)),
  ];
  return (
    people && {
      team: namesOf(people.groups.map(({ team }) => team)),
      cost_center: namesOf(people.groups.map(({ costCenter }) => costCenter)),
    }
  );
}
