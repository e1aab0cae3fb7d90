import type { Command } from 'commander';
import { call } from '../socket/call.js';
import { table } from '../terminal/terminal.js';
import { type Invocation, print } from './program.js';

/** Adds `organizations` to the program. */
export function add(program: Command, { settings, clock }: Invocation): void {
  const organizations = program
    .command('organizations')
    .description('list the organizations, and remove an empty one');

  organizations
    .command('list', { isDefault: true })
    .description('list the organizations; "daybook organizations" does the same')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const found = await call(settings(), clock, 'listOrganizations', {});
      if (json === true) return print(JSON.stringify(found));
      const rows = found.map(({ created_at, ...one }) => ({
        ...one,
        created_at: new Date(created_at).toISOString(),
      }));
      print(rows.length === 0 ? 'There are none yet: "daybook keys create" makes one.' : table(rows));
    });

  organizations
    .command('remove')
    .description(
      'remove an organization that has no events, computers, controls or reports, and no valid key',
    )
    .argument('<org>', 'organization')
    .action(async (orgId: string) => {
      await call(settings(), clock, 'removeOrganization', { orgId });
      print(`The organization ${orgId} is removed.`);
    });
}
