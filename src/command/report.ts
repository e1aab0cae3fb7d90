import { Argument, type Command, Option } from 'commander';
import { ANSWERS, type Answer, GROUPS } from '../api/answer-names.js';
import { lastClosedDay, parseDay } from '../day.js';
import { UsageError } from '../exit.js';
import { call } from '../socket/call.js';
import { csv, table } from '../terminal.js';
import { type Invocation, print } from './program.js';

type Row = Record<string, unknown>;

interface ReportOptions {
  readonly org: string;
  readonly from: string;
  readonly to: string;
  readonly groupBy?: string;
  readonly format: 'table' | 'json' | 'csv';
}

/** Adds `report` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('report')
    .description('print one answer of the analytics API')
    .addArgument(new Argument('<answer>', 'which numbers').choices(ANSWERS))
    .requiredOption('--org <org>', 'organization')
    .requiredOption('--from <day>', 'first day')
    .requiredOption('--to <day>', 'last day')
    .option(
      '--group-by <what>',
      'agent (tokens, activity, users), model (tokens), tool_name (tools) or client (activity)',
    )
    .addOption(
      new Option('--format <format>', 'table, csv, or json as in "data" of the endpoint')
        .choices(['table', 'json', 'csv'])
        .default('table'),
    )
    .action((answer: Answer, options: ReportOptions) => run(answer, options, invocation));
}

async function run(answer: Answer, options: ReportOptions, { settings, clock }: Invocation): Promise<void> {
  const { org: orgId, groupBy, format } = options;
  const from = parseDay(options.from, '--from');
  const to = parseDay(options.to, '--to');
  if (from > to) throw new UsageError('--from must not be after --to.');
  const last = lastClosedDay(clock());
  if (to > last)
    throw new UsageError(`--to must be ${last} or earlier: later days have not ended yet (UTC).`);
  const groups = GROUPS[answer];
  if (groupBy !== undefined && !groups.includes(groupBy)) {
    throw new UsageError(
      groups.length === 0
        ? `${answer} has no --group-by.`
        : `--group-by of ${answer} must be ${groups.join(' or ')}.`,
    );
  }
  const chosen = settings();
  if (from < chosen.historyStart)
    process.stderr.write(
      `Days before ${chosen.historyStart} are not served: set DAYBOOK_HISTORY_START to change that.\n`,
    );
  const rows = await call(chosen, clock, 'report', { answer, orgId, from, to, groupBy });
  if (format === 'json') return print(JSON.stringify(rows));
  if (format === 'table') return print(table(rows.map((row) => FOR_PEOPLE[answer]?.(row) ?? row)));
  const { columnsOf } = await import('../api/answer-rows.js');
  print(csv(rows, columnsOf(answer, groupBy)));
}

/** How rows with nested members are shown in a table. */
const FOR_PEOPLE: Partial<Record<Answer, (row: Row) => Row>> = {
  quality: withoutDigests,
  coverage: withChannelNames,
};

/** A row's channels, each with its number of events. */
function withChannelNames({ channels, ...row }: Row): Row {
  const shown = (channels as Row[]).map(({ channel, events }) => `${channel} ${events}`);
  return { ...row, channels: shown.join(', ') };
}

/** A day's quality for people: nobody reads all digests in a line, or all of a day's restatements. */
function withoutDigests({ digests, restatements, ...day }: Row): Row {
  return { ...day, restatements: Array.isArray(restatements) ? restatements.length : 0 };
}
