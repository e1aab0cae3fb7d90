import { appendFileSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { COLLECT_FOLDER, type Connection, connectionOf } from '../collect/collect-folder.js';
import { RunFiles } from '../collect/run-events.js';
import { rmSync } from '../disk/renames.js';
import { reasonOf, UsageError } from '../exit.js';
import type { Config } from '../settings/config.js';
import { count } from '../terminal/counted.js';
import { ENDING, runChild } from './child-program.js';
import { numberFrom } from './number-option.js';
import { type Invocation, note } from './program.js';
import { markdownOf, type RunSummary, textOf } from './run-summary.js';

interface RunOptions {
  readonly server?: string;
  readonly key?: string;
  readonly user?: string;
  readonly anyFolder?: boolean;
  readonly summary?: string;
  readonly wait: number;
}

/** The forms of a summary in a file, by the end of its name. */
const FORMS: Readonly<Record<string, (summary: RunSummary) => string>> = {
  '.json': (summary) => `${JSON.stringify(summary)}\n`,
  '.md': markdownOf,
};

/** Adds `run` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('run')
    .description(
      'run a command, such as an agent in CI, send the events of this run alone, and print its cost',
    )
    .usage('[options] -- <command> [arguments...]')
    .argument('<command...>', 'the command and its arguments, behind --')
    .option('--server <url>', 'address of the service (default: DAYBOOK_URL, else the installed one)')
    .option(
      '--key <key>',
      'API key (default: DAYBOOK_KEY, which other users cannot see, else the installed one)',
    )
    .option('--user <id>', 'user whose run this is, if the key belongs to no user')
    .option('--any-folder', 'also count sessions that work outside of the current folder')
    .option('--summary <file>', 'write tokens and cost to a .json or .md file')
    .option('--wait <seconds>', 'how long to try when the service does not answer', numberFrom(0, 86_400), 60)
    .action((words: string[], options: RunOptions) => run(words, options, invocation));
}

/** Whatever happens to the events, the exit code is the command's. Only options that are wrong have one of their own. */
async function run(words: readonly string[], options: RunOptions, invocation: Invocation): Promise<void> {
  const { environment, clock } = invocation;
  const form = formOf(options.summary);
  const summaryFile = options.summary === undefined ? undefined : resolve(options.summary);
  const connection = connectionFor(options, environment);
  const settings = invocation.settings();
  const before = lookBefore(clock);
  try {
    // The command may be an agent, which does what somebody has written: it doesn't need the key.
    const { DAYBOOK_KEY: _, ...inherited } = environment;
    const { code, hasRun } = await runChild(words, inherited);
    process.exitCode = code;
    if (!hasRun || before === undefined) return;
    const stop = () => {
      note('This run was stopped before all of its events were sent.');
      rmSync(before.folder, { recursive: true, force: true });
      process.exit(code);
    };
    for (const signal of ENDING) process.once(signal, stop);
    const ended = { ...before, code, connection, settings, form, summaryFile };
    await finish(ended, options, invocation).catch(notCollected);
    for (const signal of ENDING) process.off(signal, stop);
  } finally {
    if (before !== undefined) rmSync(before.folder, { recursive: true, force: true });
  }
}

/** A folder for temporary files, and what agents have written so far; undefined, with a sentence, if the machine is in the way. */
function lookBefore(clock: () => number): { folder: string; files: RunFiles } | undefined {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'daybook-run-'));
    return { folder, files: RunFiles.look(folder, clock) };
  } catch (error) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    notCollected(error);
    return undefined;
  }
}

function notCollected(error: unknown): void {
  note(`The events of this run can't be collected: ${reasonOf(error).replace(/\.?$/, '.')}`);
}

function formOf(file: string | undefined): (typeof FORMS)[string] | undefined {
  if (file === undefined) return undefined;
  const found = Object.entries(FORMS).find(([ending]) => file.endsWith(ending));
  if (found === undefined) throw new UsageError('--summary must name a file that ends in .json or .md.');
  return found[1];
}

/**
 * The connection from the options or the environment, else the installed one; undefined if a part of it is missing, as secrets are in CI for
 * pull requests of strangers. Throws a UsageError for one that is wrong.
 */
function connectionFor(options: RunOptions, environment: Invocation['environment']): Connection | undefined {
  if (options.key === '-')
    throw new UsageError('The command gets the standard input, so --key - has none: set DAYBOOK_KEY.');
  const server = options.server ?? (environment.DAYBOOK_URL || undefined);
  const key = options.key ?? (environment.DAYBOOK_KEY || undefined);
  const isInstalled = existsSync(join(COLLECT_FOLDER, 'connection.json'));
  const isNamed =
    server === undefined && key === undefined ? isInstalled : server !== undefined && key !== undefined;
  return isNamed ? connectionOf(COLLECT_FOLDER, { server, key, user: options.user }) : undefined;
}

/** A command that has ended. */
interface EndedRun {
  readonly folder: string;
  readonly files: RunFiles;
  readonly code: number;
  readonly connection: Connection | undefined;
  readonly settings: Config;
  readonly form: (typeof FORMS)[string] | undefined;
  readonly summaryFile: string | undefined;
}

/** Collects, counts, prints, sends and writes the summary. */
async function finish(
  { folder, files, code, connection, settings, form, summaryFile }: EndedRun,
  { user, anyFolder, wait }: RunOptions,
  { environment, clock }: Invocation,
): Promise<void> {
  const endedAt = clock();
  const problems: string[] = [];
  const say = (sentence: string) => {
    problems.push(sentence);
    note(sentence);
  };
  const { lines, elsewhere, leftOut } = await files.events(
    user ?? connection?.user ?? 'run',
    anyFolder === true ? undefined : process.cwd(),
  );
  for (const sentence of leftOut) say(sentence);
  if (elsewhere.length > 0)
    say(
      `Sessions in other folders had events at the same time and are left out (${elsewhere.slice(0, 3).join(', ')}): --any-folder counts them.`,
    );
  const found: RunSummary = {
    exit_code: code,
    started_at: new Date(files.startedAt).toISOString(),
    duration_ms: endedAt - files.startedAt,
    events: lines.length,
    ...{ events_sent: 0, problem: null, models: [], total: null },
  };
  const counted =
    lines.length === 0 ? found : { ...found, ...(await usage(lines, folder, settings, endedAt)) };
  if (lines.length === 0) say('No agent wrote a session in this run.');
  else note(textOf(counted));
  const events_sent = lines.length === 0 ? 0 : await send(lines, connection, { folder, wait, clock, say });
  const summary = { ...counted, events_sent, problem: problems.length === 0 ? null : problems.join(' ') };
  const write = (path: string, text: string, how: (path: string, text: string) => void) => {
    try {
      how(path, text);
    } catch (error) {
      note(`The summary can't be written: ${reasonOf(error)}.`);
    }
  };
  if (form !== undefined && summaryFile !== undefined) write(summaryFile, form(summary), writeFileSync);
  const page = environment.GITHUB_STEP_SUMMARY ?? '';
  if (page !== '') write(page, markdownOf(summary), appendFileSync);
}

/** What the models used. Loads the engine only here, because a run without events doesn't need it. */
async function usage(
  lines: readonly string[],
  folder: string,
  { memoryMb, threads, rateCard, prices }: Config,
  now: number,
): Promise<Pick<RunSummary, 'models' | 'total'>> {
  const { usageOf } = await import('../collect/run-usage.js');
  const rows = await usageOf(lines, join(folder, 'store'), { memoryMb, threads, rateCard, prices, now });
  const shown = rows.map(({ is_total, ...row }) => ({ isTotal: is_total === 1, row }));
  return {
    models: shown.filter(({ isTotal }) => !isTotal).map(({ row }) => row),
    total: shown.find(({ isTotal }) => isTotal)?.row ?? null,
  };
}

/** Sends events, and says how that went. Answers how many the service has. */
async function send(
  lines: readonly string[],
  connection: Connection | undefined,
  {
    folder,
    wait,
    clock,
    say,
  }: { folder: string; wait: number; clock: () => number; say: (s: string) => void },
): Promise<number> {
  if (connection === undefined) {
    say('Nothing was sent, because no service is named: set DAYBOOK_URL and DAYBOOK_KEY.');
    return 0;
  }
  const { sendRun } = await import('../collect/run-sending.js');
  const options = { folder: join(folder, 'spool'), waitMs: wait * 1000, clock, say: note };
  const { sent, problem } = await sendRun(lines, connection, options);
  if (problem === undefined) note(`${count(sent, 'event')} sent to ${connection.server}.`);
  else
    say(
      `${sent} of ${count(lines.length, 'event')} sent: ${problem} "daybook collect" sends the others from the agents' own files, as long as these are on this machine.`,
    );
  return sent;
}
