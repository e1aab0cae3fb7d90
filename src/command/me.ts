import type { Command } from 'commander';
import { z } from 'zod';
import { checkRange, DAYS_BY_DEFAULT } from '../api/report-range.js';
import { addDays, lastClosedDay, parseDay } from '../day.js';
import { outputWidth } from '../settings/config.js';
import { shownFirst } from '../store/tables.js';
import { faint, table } from '../terminal/terminal.js';
import { type Invocation, print } from './program.js';
import type { RemoteService } from './remote-service.js';
import { isRemote, type ServerOptions, serviceOf, withServer } from './server-options.js';
import { ABOUT_COSTS } from './totals-options.js';

interface MeOptions extends ServerOptions {
  readonly from?: string;
  readonly to?: string;
  readonly wide?: boolean;
  readonly json?: boolean;
}

/** The width of a table that isn't printed in a terminal. */
const WIDTH = 80;

const Own = z.object({
  data: z.array(z.looseObject({ user_id: z.string() })),
  meta: z.object({ org_id: z.string() }),
});

const Totals = z.object({ data: z.array(z.record(z.string(), z.unknown())) });

/** Columns that say nothing in the totals of one user and range. */
const EMPTY = ['date', 'group_key', 'active_users', 'previous'];

/** Adds `me` to the program. */
export function add(program: Command, invocation: Invocation): void {
  withServer(
    program
      .command('me')
      .description('show your own numbers of the last 30 days; asks a service')
      .option('--from <day>', 'first day (default: 30 days up to the last one)')
      .option('--to <day>', 'last day (default: yesterday, in UTC)')
      .option('--wide', 'show all columns and all entries, however wide the table gets')
      .option('--json', 'print JSON'),
    'address of the service (default: DAYBOOK_URL, else that of "daybook collect install")',
  ).action((options: MeOptions) => run(options, invocation));
}

async function run(options: MeOptions, invocation: Invocation): Promise<void> {
  const last = lastClosedDay(invocation.clock());
  const to = options.to === undefined ? last : parseDay(options.to, '--to');
  const from =
    options.from === undefined ? addDays(to, 1 - DAYS_BY_DEFAULT) : parseDay(options.from, '--from');
  checkRange({ from, to }, last);
  const service = await connect(options, invocation);
  const { data, meta } = await service.get(Own, 'api/v1/analytics/me', { startDate: from, endDate: to });
  if (options.json === true) return print(JSON.stringify(data));
  const [first] = data;
  if (first === undefined)
    return print(
      `${meta.org_id} has no numbers of yours from ${from} to ${to}: a day is counted after its end (UTC), once its events have arrived.`,
    );
  print(faint(`${first.user_id} of ${meta.org_id}, ${from} to ${to}`));
  const width = options.wide === true ? Number.POSITIVE_INFINITY : (outputWidth() ?? WIDTH);
  const rows = data.map(({ user_id, user_email, ...row }) => row);
  const rest = '--wide shows all';
  const range = { startDate: from, endDate: to, user_id: first.user_id };
  const [total = {}] = (await service.get(Totals, 'api/v1/analytics/summary', range)).data;
  print(table(rows, { width, first: shownFirst('users').slice(1), rest }));
  print(faint('\nall of these days'));
  const own = Object.fromEntries(Object.entries(total).filter(([name]) => !EMPTY.includes(name)));
  const shown = shownFirst('summary').filter((name) => !EMPTY.includes(name));
  print(table([own], { width, first: shown, rest }));
  print(faint(ABOUT_COSTS));
}

/**
 * The service from the options or the environment, else the one that `daybook collect install` set up on this machine. Throws a
 * UsageError if there is none.
 */
async function connect(options: ServerOptions, { clock, environment }: Invocation): Promise<RemoteService> {
  if (isRemote(options) || (environment.DAYBOOK_KEY ?? '') !== '') return serviceOf(options, clock);
  const [{ COLLECT_FOLDER, connectionOf }, { RemoteService }] = await Promise.all([
    import('../collect/collect-folder.js'),
    import('./remote-service.js'),
  ]);
  const { server, key } = connectionOf(COLLECT_FOLDER, {});
  return RemoteService.of({ server, key }, clock);
}
