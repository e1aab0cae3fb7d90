import { isatty } from 'node:tty';
import type { Command } from 'commander';
import { isFull } from '../disk/folder.js';
import { codeOf, MayPass, UsageError } from '../exit.js';
import type { Demo } from '../service/demo.js';
import { type Config, optionOf } from '../settings/config.js';
import { call } from '../socket/call.js';
import { StoreUnavailable } from '../store/store-fault.js';
import { table } from '../terminal/terminal.js';
import { fail, type Invocation, note, print } from './program.js';

/** How many seconds longer than a request a build or a command may take when the service stops. */
const STOP_GRACE_SECONDS = 20;

/** The exit code of a start that may go well later (EX_TEMPFAIL). The units don't restart what ends with 2. */
const TRY_AGAIN = 75;

/** The system's errors that pass: of a disk that is away for a while, and of a machine that has too little of something. */
const PASSING = ['EIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY'];

interface ServeOptions {
  readonly demo?: boolean;
}

/** Adds `serve` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('serve')
    .description('serve the REST API and build days, until stopped')
    .option(...optionOf('DAYBOOK_HOST'))
    .option(...optionOf('DAYBOOK_PORT'))
    .option(...optionOf('DAYBOOK_ROLE'))
    .option('--demo', 'load the sample if the database is new')
    .action((options: ServeOptions) =>
      run(options, invocation).catch((error) => {
        fail(error);
        if (mayPass(error)) process.exitCode = TRY_AGAIN;
      }),
    );
}

/** Whether a start that failed can go well later, although nobody changed anything here. */
function mayPass(error: unknown): boolean {
  return (
    error instanceof MayPass ||
    error instanceof StoreUnavailable ||
    isFull(error) ||
    PASSING.includes(codeOf(error))
  );
}

async function run(options: ServeOptions, { serviceSettings, clock }: Invocation): Promise<void> {
  const hadTerminal = isatty(0);
  let renew = () => {};
  let stop: ((code: number) => void) | undefined;
  // Other signals end a start at once.
  process.on('SIGHUP', () => {
    // A terminal that was closed sends this too, and leaves nobody who could stop the service.
    if (!hadTerminal || isatty(0)) renew();
    else if (stop === undefined) process.exit(129);
    else stop(129);
  });
  const chosen = serviceSettings(options);
  // Loaded here, so that the other commands start faster.
  const [{ serve }, { loadDemo }] = await Promise.all([
    import('../service/server.js'),
    import('../service/demo.js'),
  ]);
  let demo: Demo | undefined;
  const serving = await serve(chosen, clock, async (store) => {
    if (options.demo === true) demo = await loadDemo(store, chosen.historyStart, clock);
  });
  renew = serving.renewCertificate;
  let isStopping = false;
  stop = (code) => {
    // Interrupted work is undone or repeated by the next start: no acknowledged event is lost.
    if (isStopping) process.exit(code);
    isStopping = true;
    serving.stop().catch(fail);
    setTimeout(
      () => {
        note('Daybook stops before all work is done: the next start continues it.');
        process.exit(1);
      },
      1000 * (chosen.timeoutSeconds + STOP_GRACE_SECONDS),
    ).unref();
  };
  process.on('SIGINT', () => stop?.(130));
  process.on('SIGTERM', () => stop?.(143));
  if (demo !== undefined) print(welcome(demo, serving.url));
  if (options.demo === true) print(await invitation(chosen, clock, serving.url, demo));
  print(`Daybook serves on ${serving.url} from ${chosen.data}. Stop it with Ctrl-C.`);
}

/** The text of the demo's first start: its content, the key, and a request to try. */
function welcome({ orgId, key, summary, firstDay, lastDay }: Demo, url: string): string {
  return [
    `The sample is loaded: real sessions of ${summary.length} public projects, each as one user of the organization ${orgId}.`,
    '',
    table(summary),
    '',
    `Owner key of ${orgId} (shown only once): ${key}`,
    '',
    `curl -H 'Authorization: Bearer ${key}' \\`,
    `  '${url}/api/v1/analytics/activity?startDate=${firstDay}&endDate=${lastDay}'`,
    '\n',
  ].join('\n');
}

/** Tells where to see the numbers in a browser: with a link that signs in, if there is only one organization. */
async function invitation(
  chosen: Config,
  clock: () => number,
  url: string,
  demo: Demo | undefined,
): Promise<string> {
  try {
    // The sample's days are far apart: the link covers all of them.
    const query = demo === undefined ? '' : `from=${demo.firstDay}&to=${demo.lastDay}`;
    const { link } = await call(chosen, clock, 'signInLink', { url, query });
    return `Look at the numbers in a browser (this link works once, for ten minutes):\n\n  ${link}\n`;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return 'To look at the numbers in a browser, run "daybook open --org <org>": it prints a link.\n';
  }
}
