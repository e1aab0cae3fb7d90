import type { Command } from 'commander';
import { z } from 'zod';
import { call } from '../socket/call.js';
import type { CommandResult } from '../socket/commands.js';
import { count, table } from '../terminal/terminal.js';
import { plainText } from '../terminal/text-table.js';
import { type Invocation, print } from './program.js';
import { isRemote, type ServerOptions, serviceOf, withServer } from './server-options.js';
import { troubleOf } from './vendor-trouble.js';

interface StatusOptions extends ServerOptions {
  readonly json?: boolean;
}

/** The status. A service reports only the organization, not its own builds or files. */
type Status = Pick<CommandResult<'status'>, 'organizations'> & Partial<CommandResult<'status'>>;

/** Adds `status` to the program. */
export function add(program: Command, invocation: Invocation): void {
  withServer(
    program
      .command('status')
      .description('show the events, built days and rejected lines of each organization')
      .option('--json', 'print JSON'),
  ).action((options: StatusOptions) => run(options, invocation));
}

/** Reads the status of the data folder, or of a key's organization from a service. */
async function read(options: StatusOptions, { settings, clock }: Invocation): Promise<Status> {
  if (!isRemote(options)) return call(settings(), clock, 'status', {});
  const service = await serviceOf(options, clock);
  const { Status } = await import('../api/status-routes.js');
  const { data } = await service.get(z.object({ data: Status }), 'api/v1/status');
  const { data_days, ...organization } = data;
  return { organizations: [organization] };
}

async function run(options: StatusOptions, invocation: Invocation): Promise<void> {
  const status = await read(options, invocation);
  if (options.json === true) return print(JSON.stringify(status));
  const { organizations, last_run: run, set_aside = [] } = status;
  for (const { path, reason } of set_aside) print(`Set aside: ${path}: ${reason}.`);
  if (organizations.length === 0) return print('There are no events yet: "daybook ingest" reads some.');
  print(
    table(
      organizations.map(
        ({
          rejects,
          silence,
          silent_collectors,
          silent_agents,
          without_user,
          vendor_reports,
          ...counts
        }) => ({
          ...counts,
          rejects: Object.values(rejects).reduce((sum, lines) => sum + lines, 0),
        }),
      ),
      { first: SHOWN_FIRST, rest: '--json has all' },
    ),
  );
  for (const organization of organizations) {
    const { org_id, rejects, silence, silent_collectors, silent_agents, without_user, vendor_reports } =
      organization;
    if (organization.events_of_open_day > 0)
      print(
        `  ${org_id}: ${count(organization.events_of_open_day, 'event')} of today, which counts when it has ended (UTC)`,
      );
    for (const [reason, lines] of Object.entries(rejects))
      print(`  ${org_id}: ${count(lines, 'line')} rejected (${reason})`);
    if (silence.live_collectors > 0)
      print(`  ${org_id}: ${count(silence.live_collectors, 'collector')} reporting`);
    if (silent_collectors.length > 0)
      print(
        `  ${org_id}: ${silenceOf(
          'collectors',
          silent_collectors.map(({ host, ...one }) => ({ ...one, what: host ?? 'unnamed machine' })),
        )}`,
      );
    if (silent_agents.length > 0)
      print(
        `  ${org_id}: ${silenceOf(
          'agents',
          silent_agents.map(({ agent, ...one }) => ({ ...one, what: nameOf(agent) })),
        )}`,
      );
    for (const { agent, events } of without_user)
      print(
        `  ${org_id}: ${count(events, 'event')} of ${nameOf(agent)} in the last 14 days without a user, counted for "unknown"`,
      );
    for (const report of vendor_reports) print(`  ${org_id}: ${troubleOf(report)}`);
  }
  if (run) {
    const failed = run.error === null ? '' : `, ${run.days_failed} failed: ${run.error}`;
    print(
      `Last build: ${plainText(new Date(run.ended_at).toISOString())} (${run.cause}), ${count(run.days_built, 'day')} built${failed}`,
    );
  }
}

/** The most important columns. */
const SHOWN_FIRST = [
  'org_id',
  'events',
  'first_day',
  'newest_built_day',
  'days_built',
  'days_stale',
  'rejects',
];

/** How many silent collectors, and agents, are named. */
const NAMED = 5;

/** An agent's name in sentences. */
function nameOf(agent: string): string {
  return agent === '' ? 'an unnamed agent' : agent;
}

/** The sentence about users whose collectors or agents went silent. */
function silenceOf(
  whose: string,
  silent: readonly { user_id: string; what: string; last_day: string }[],
): string {
  const users = new Set(silent.map(({ user_id }) => user_id)).size;
  const named = silent
    .slice(0, NAMED)
    .map(({ user_id, what, last_day }) => `${user_id} (${what}, last on ${last_day})`);
  const others = silent.length > NAMED ? ` and ${silent.length - NAMED} more` : '';
  return `${whose} of ${count(users, 'user')} went silent: ${named.join(', ')}${others}`;
}
