import { Argument, type Command, Option } from 'commander';
import { ANSWERS, type Answer, fileOf, GROUPS, hasRowPages } from '../api/answer-names.js';
import { checkRange } from '../api/report-range.js';
import { lastClosedDay, parseDay, parseInstant } from '../day.js';
import { UsageError } from '../exit.js';
import { outputWidth } from '../settings/config.js';
import { printData } from '../terminal/printing.js';
import { count, csv, faint, table } from '../terminal/terminal.js';
import { numberText } from '../terminal/text-table.js';
import { type Invocation, note, print } from './program.js';
import type { AskedReport, Report } from './remote-report.js';
import { isRemote, type ServerOptions, serviceOf, withServer } from './server-options.js';
import { ABOUT_COSTS, askedTotals, type TotalsOptions, withTotals } from './totals-options.js';

/** The width of a table that isn't printed in a terminal. */
const WIDTH = 80;

interface ReportOptions extends ServerOptions, TotalsOptions {
  readonly org?: string;
  readonly from?: string;
  readonly to?: string;
  readonly groupBy?: string;
  readonly month?: string;
  readonly asOf?: string;
  readonly format?: 'table' | 'json' | 'csv';
  readonly wide?: boolean;
}

/** The help for each value of --group-by, with the answers that have it. */
const GROUPED = [...new Set(Object.values(GROUPS).flat())].map((group) => {
  const answers = ANSWERS.filter((answer) => GROUPS[answer].includes(group));
  return `${group} (${answers.join(', ')})`;
});

/** Adds `report` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const report = withTotals(
    program
      .command('report')
      .description('print the numbers of built days: tokens, tools, users and more')
      .addArgument(
        new Argument('<answer>', 'which numbers, as the endpoint of the same name has them').choices([
          ...ANSWERS,
          'budgets',
        ]),
      )
      .option('--org <org>', 'organization (default: the only one)')
      .option('--from <day>', 'first day (default: 30 days up to the last one)')
      .option('--to <day>', 'last day (default: the newest one that has data)')
      .option('--group-by <what>', `one row per group: ${GROUPED.join(', ')}`)
      .option('--month <month>', 'the month of budgets, such as 2026-06 (default: this one)')
      .option('--as-of <instant>', 'what was published at this instant, such as 2026-06-10T09:00:00Z')
      .addOption(
        new Option(
          '--format <format>',
          'table, csv, or json as in "data" of the endpoint (default: table; of focus csv)',
        ).choices(['table', 'json', 'csv']),
      )
      .option('--wide', 'show all columns and all entries, however wide the table gets'),
  );
  withServer(report).action((answer: Answer | 'budgets', options: ReportOptions) => {
    if (answer === 'budgets') return runBudgets(options, invocation);
    if (options.month !== undefined) throw new UsageError('--month is for budgets: use --from and --to.');
    return run(answer, options, invocation);
  });
}

/** The options that say which budgets are wanted and how they are printed. */
const OF_BUDGETS = ['org', 'month', 'format', 'wide', 'server', 'key'];

async function runBudgets(options: ReportOptions, { settings, clock }: Invocation): Promise<void> {
  const other = Object.keys(options).find((name) => !OF_BUDGETS.includes(name));
  if (other !== undefined)
    throw new UsageError('budgets have no other options than --org, --month, --format and --wide.');
  const { org: orgId, month, format } = options;
  const { Month } = await import('../api/budget-query.js');
  const asked = Month.optional().safeParse(month);
  if (!asked.success) throw new UsageError(`--month must be a month as YYYY-MM, not "${month}".`);
  const report = isRemote(options)
    ? await (await import('./remote-report.js')).remoteBudgets(await serviceOf(options, clock), orgId, month)
    : await (await import('../socket/call.js')).call(settings(), clock, 'reportBudgets', { orgId, month });
  const { rows } = report;
  if (format === 'json') return print(JSON.stringify(rows));
  const { memberNames, shownFirst } = await import('../store/tables.js');
  if (format === 'csv') {
    printData(csv(rows, memberNames('budgets')), process.stdout);
    return;
  }
  print(faint(`budgets of ${report.orgId}, ${report.month}`));
  if (rows.length === 0) return print('There are no budgets: "daybook budgets set" sets one.');
  const width = options.wide === true ? Number.POSITIVE_INFINITY : (outputWidth() ?? WIDTH);
  print(table([...rows], { width, first: shownFirst('budgets'), rest: '--wide shows all' }));
  const [{ unbuilt_days = 0 } = {}] = rows;
  if (Number(unbuilt_days) > 0)
    print(
      `${count(Number(unbuilt_days), 'day')} of the month that are over are not built: "daybook build" builds them.`,
    );
}

async function run(answer: Answer, options: ReportOptions, invocation: Invocation): Promise<void> {
  const { org: orgId, groupBy, format = answer === 'focus' ? 'csv' : 'table' } = options;
  const from = options.from === undefined ? undefined : parseDay(options.from, '--from');
  const to = options.to === undefined ? undefined : parseDay(options.to, '--to');
  checkRange({ from, to }, lastClosedDay(invocation.clock()));
  const groups = GROUPS[answer];
  if (groupBy !== undefined && !groups.includes(groupBy)) {
    throw new UsageError(
      groups.length === 0
        ? `${answer} has no --group-by.`
        : `--group-by of ${answer} must be ${groups.join(' or ')}.`,
    );
  }
  const totals = await askedTotals(answer, groupBy, options);
  const asOf = options.asOf === undefined ? undefined : parseInstant(options.asOf, '--as-of');
  if (asOf !== undefined && isRemote(options))
    throw new UsageError('--as-of works only without a service: leave --server and --key out.');
  const read = await reader(options, invocation);
  const asked = { answer, orgId, from, to, groupBy, limit: options.limit, totals, asOf };
  const report = await read(asked);
  const { rows, noData } = report;
  if (noData !== null) note(noData);
  const { lacking = [] } = report;
  if (lacking.length > 0) {
    const { troubleOf } = await import('./vendor-trouble.js');
    for (const one of lacking) note(`The ${troubleOf(one)}.`);
  }
  if (format === 'json') return print(JSON.stringify(rows));
  const file = fileOf(answer, groupBy);
  const { memberNames, shownFirst } = await import('../store/tables.js');
  if (format === 'csv') {
    printData(csv(rows, memberNames(file)), process.stdout);
    return;
  }
  print(faint(`${answer} of ${report.orgId}, ${report.from} to ${report.to}`));
  const width = options.wide === true ? Number.POSITIVE_INFINITY : (outputWidth() ?? WIDTH);
  const first = withTerms(shownFirst(file), rows);
  const shown = totals?.compare === undefined ? first : first.flatMap((name) => [name, `${BEFORE}${name}`]);
  print(table(rows.map(named), { width, first: shown, rest: '--wide shows all' }));
  if (answer === 'costs' && rows.length > 0)
    print(await total(read, { ...asked, from: report.from, to: report.to }));
  if (hasRowPages(answer)) print(faint(ABOUT_COSTS));
  if (answer !== 'coverage' || groupBy !== 'vendor') return;
  const { billSentence } = await import('./bill-sentence.js');
  for (const row of rows) {
    const sentence = billSentence(row);
    if (sentence !== undefined) print(sentence);
  }
}

/** The columns that are shown first, with the contracted cost beside the list price if the organization has terms. */
function withTerms(first: readonly string[], [row]: Report['rows']): string[] {
  const hasTerms = typeof row?.currency === 'string';
  return first.flatMap((name) =>
    name === 'cost_usd' && hasTerms ? [name, 'contracted_cost', 'currency'] : [name],
  );
}

/** The prefix of columns with the numbers of the days before. */
const BEFORE = 'previous_';

/** A row for printing: the empty group is called `(none)`, as in filters, and each number stands beside that of the days before. */
function named({ previous, ...row }: Report['rows'][number]): Report['rows'][number] {
  const before = new Map(Object.entries(previous ?? {}));
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => [
      [name, name === 'group_key' && value === '' ? '(none)' : value],
      ...(before.has(name) ? [[`${BEFORE}${name}`, before.get(name)]] : []),
    ]),
  );
}

/** The total cost, from the summary, because maybe only a page of the rows of costs is printed. */
async function total(read: Read, asked: AskedReport): Promise<string> {
  const { rows } = await read({ ...asked, answer: 'summary', groupBy: undefined, limit: undefined });
  const [{ cost_usd = null, contracted_cost = null, currency = null, unpriced_tokens = 0 } = {}] = rows;
  const dollars = cost_usd === null ? 'unknown' : `${numberText(Number(cost_usd), 2)} USD`;
  const amount = contracted_cost === null ? 'unknown' : numberText(Number(contracted_cost), 2);
  const contracted = currency === null ? '' : ` at list price, ${amount} ${currency} by contract`;
  return `Total: ${dollars}${contracted}; ${numberText(Number(unpriced_tokens), 0)} tokens have no price.`;
}

type Read = (asked: AskedReport) => Promise<Report>;

/** Reads reports from the service in the options, else from the data folder, which a running service may have open. */
async function reader(options: ReportOptions, { settings, clock }: Invocation): Promise<Read> {
  if (isRemote(options)) {
    const [service, { remoteReport }] = await Promise.all([
      serviceOf(options, clock),
      import('./remote-report.js'),
    ]);
    return (asked) => remoteReport(service, asked, clock());
  }
  const chosen = settings();
  const { call, settingsOfService } = await import('../socket/call.js');
  if (options.from !== undefined) {
    const { historyStart } = await settingsOfService(chosen);
    if (options.from < historyStart)
      note(`Days before ${historyStart} are not served: set DAYBOOK_HISTORY_START to change that.`);
  }
  return (asked) => call(chosen, clock, 'report', asked);
}
