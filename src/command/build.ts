import type { Command } from 'commander';
import { parseDay } from '../day.js';
import { UsageError } from '../exit.js';
import { call } from '../socket/call.js';
import { sentenceOf } from '../store/day-checks.js';
import { count, withProgress } from '../terminal/terminal.js';
import { type Invocation, note, print } from './program.js';

interface BuildOptions {
  readonly from?: string;
  readonly to?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** Adds `build` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('build')
    .description('build the days that have ended (UTC) and are new or have changed events')
    .option('--from <day>', 'build all days from this one on, changed or not')
    .option('--to <day>', 'build all days up to this one, changed or not')
    .option('--all', "build every day that has ended; can't be combined with --from or --to")
    .option('--json', 'print one JSON object')
    .action((options: BuildOptions) => run(options, invocation));
}

async function run(options: BuildOptions, { settings, clock }: Invocation): Promise<void> {
  const started = performance.now();
  const { from, to, all } = options;
  const range = {
    from: from === undefined ? undefined : parseDay(from, '--from'),
    to: to === undefined ? undefined : parseDay(to, '--to'),
    all,
  };
  if (all === true && (from !== undefined || to !== undefined))
    throw new UsageError("--all can't be combined with --from or --to: it builds every closed day.");
  const { days, breaches, setAside, error } = await withProgress('Building', (progress) =>
    call(settings(), clock, 'build', range, progress),
  );
  const seconds = (performance.now() - started) / 1000;
  for (const breach of breaches) note(sentenceOf(breach));
  for (const { path, reason } of setAside) note(`Set aside: ${path}: ${reason}.`);
  if (error !== null) note(error);
  if (breaches.length > 0 || error !== null) process.exitCode = 1;
  if (options.json === true) {
    print(
      JSON.stringify({
        days: days.map(({ orgId, day }) => ({ org_id: orgId, day })),
        failed: breaches.map(({ orgId, ...breach }) => ({ org_id: orgId, ...breach })),
        set_aside: setAside,
        seconds: Number(seconds.toFixed(3)),
      }),
    );
    return;
  }
  const span = days.length === 0 ? '' : `, ${days[0]?.day} to ${days.at(-1)?.day},`;
  print(
    days.length === 0
      ? breaches.length > 0
        ? 'No day was built.'
        : `Every closed day is up to date${setAside.length === 0 ? '' : ' except for files that are set aside in the inbox'}.`
      : `${count(days.length, 'day')}${span} built in ${seconds.toFixed(1)} s.`,
  );
}
