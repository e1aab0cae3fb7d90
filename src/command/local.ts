import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { DAYS_BY_DEFAULT } from '../api/report-range.js';
import { addDays, type Day, dayOf, parseDay } from '../day.js';
import { call } from '../socket/call.js';
import { count, faint, table, withProgress } from '../terminal/terminal.js';
import { numberText } from '../terminal/text-table.js';
import { agentsHere, filesOf } from './agents-here.js';
import { leftOutLines } from './left-out.js';
import { type Invocation, note, print } from './program.js';

/** The data folder of one person's own numbers, below the home folder. */
const FOLDER = join('.daybook', 'local');
/** No agent's session is older. */
const FIRST_DAY = '2024-01-01' as Day;

interface LocalOptions {
  readonly week?: boolean;
  readonly month?: boolean;
  readonly models?: boolean;
  readonly from?: string;
  readonly json?: boolean;
}

/** The members of the summary that are printed, and their names. */
const COLUMNS = {
  input_tokens: 'input',
  output_tokens: 'output',
  cache_write_tokens: 'cache write',
  cache_read_tokens: 'cache read',
  cost_usd: 'USD',
} as const;

/** Adds `local` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('local')
    .description("print what your agents' sessions on this machine cost, day by day; nothing leaves it")
    .addOption(new Option('--week', 'one row per week').conflicts(['month', 'models']))
    .addOption(new Option('--month', 'one row per month').conflicts(['models']))
    .option('--models', 'one row per model')
    .option('--from <day>', 'first day (default: 30 days up to today; with --week and --month all)')
    .option('--json', 'print one JSON object')
    .action((options: LocalOptions) => run(options, invocation));
}

async function run(options: LocalOptions, { settings, clock }: Invocation): Promise<void> {
  const rows = options.week ? 'week' : options.month ? 'month' : options.models ? 'model' : 'day';
  const today = dayOf(clock());
  const usual = rows === 'week' || rows === 'month' ? FIRST_DAY : addDays(today, 1 - DAYS_BY_DEFAULT);
  const from = options.from === undefined ? usual : parseDay(options.from, '--from');
  const agents = agentsHere();
  const asked = {
    ...({ userId: userInfo().username, from, rows } as const),
    agents: agents.map(({ source, files }) => ({ source: source.name, files: filesOf(files) })),
  };
  const config = { ...settings(), data: join(homedir(), FOLDER), clickhouse: undefined };
  const found = await withProgress('Reading sessions', (progress) =>
    call(config, clock, 'local', asked, progress),
  );
  const leftOut = [...agents.flatMap((agent) => agent.leftOut), ...found.leftOut];
  for (const line of leftOutLines(leftOut)) note(line);
  if (leftOut.length > 0) process.exitCode = 1;
  if (options.json === true) {
    print(JSON.stringify({ from, to: today, rows: found.rows, total: found.total, unreadable: leftOut }));
    return;
  }
  const here = agents.filter(({ files }) => files.length > 0);
  const files = here.map((agent) => `${agent.source.name} (${count(agent.files.length, 'file')})`);
  if (here.length === 0)
    return print(
      'No agent has kept a session on this machine: docs/local.md says where they are looked for.',
    );
  print(faint(`${files.join(', ')}; ${rows === 'model' ? `${from} to ${today}, ` : ''}days in UTC`));
  if (found.rows.length === 0)
    return print(`No session since ${from} has tokens: --from names an earlier day.`);
  print(table([...found.rows, found.total].map((row) => lineOf(row, rows, row === found.total))));
  const unpriced = Number(found.total.unpriced_tokens);
  if (unpriced > 0)
    print(
      `${numberText(unpriced, 0)} tokens have no price and are in no cost${rows === 'model' ? '' : ': --models shows of which models'}.`,
    );
  print(faint(`At list prices. For charts: daybook serve --data ~/${FOLDER}`));
}

/** A row as it is printed. */
function lineOf(
  row: Readonly<Record<string, unknown>>,
  rows: string,
  isTotal: boolean,
): Record<string, unknown> {
  const name = isTotal ? 'total' : rows === 'model' ? row.group_key : row.date;
  return Object.fromEntries([
    [rows, name],
    ...Object.entries(COLUMNS).map(([member, column]) => [column, row[member]]),
  ]);
}
