import type { Command } from 'commander';
import { call } from '../socket/call.js';
import { count, table } from '../terminal.js';
import { type Invocation, print } from './program.js';

/** Adds `status` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('status')
    .description('show events, built days and rejects of each organization')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => run(options, invocation));
}

async function run(options: { json?: boolean }, { settings, clock }: Invocation): Promise<void> {
  const status = await call(settings(), clock, 'status', {});
  if (options.json === true) return print(JSON.stringify(status));
  const { organizations, last_run: run, set_aside } = status;
  for (const { path, reason } of set_aside) print(`Set aside: ${path}: ${reason}.`);
  if (organizations.length === 0) return print('There are no events yet: "daybook ingest" reads some.');
  print(
    table(
      organizations.map(({ rejects, ...counts }) => ({
        ...counts,
        rejects: Object.values(rejects).reduce((sum, lines) => sum + lines, 0),
      })),
    ),
  );
  for (const { org_id, rejects } of organizations) {
    for (const [reason, lines] of Object.entries(rejects)) print(`  ${org_id}: ${lines} rejected, ${reason}`);
  }
  if (run !== null) {
    const failed = run.error === null ? '' : `, ${run.days_failed} failed: ${run.error}`;
    print(
      `Last build: ${new Date(run.ended_at).toISOString()} (${run.cause}), ${count(run.days_built, 'day')} built${failed}`,
    );
  }
}
