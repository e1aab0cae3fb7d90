import { createWriteStream } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { refuseHalfRestored } from '../disk/data-files.js';
import { makeFolder } from '../disk/folder.js';
import { LeftOut } from '../disk/foreign-file.js';
import { rm } from '../disk/renames.js';
import { UsageError } from '../exit.js';
import { foldersHere, type InputFile, inputFiles } from '../ingest/input-files.js';
import { CANONICAL, SOURCES, type Source, sourceOf } from '../ingest/source.js';
import { type Config, expandPaths } from '../settings/config.js';
import { call } from '../socket/call.js';
import type { CommandResult } from '../socket/commands.js';
import { bytes, count, withProgress } from '../terminal/terminal.js';
import { AGENTS, type AgentHere, agentsHere, filesOf } from './agents-here.js';
import { leftOutLines } from './left-out.js';
import { inOrganization, NEW, type Refused } from './new-organization.js';
import { type Invocation, note, print } from './program.js';

interface IngestOptions {
  readonly org: string;
  readonly source: string;
  readonly user?: string;
  readonly new?: boolean;
  readonly strict?: boolean;
  readonly json?: boolean;
}

/** The source that reads all agents' files. */
const ALL = 'all';

/** Adds `ingest` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('ingest')
    .description(
      'read events or transcripts from files (also .gz and .zst), folders, or - for standard input',
    )
    .argument('[path...]', 'files and folders to read (default: where the agent keeps them)')
    .requiredOption('--org <org>', 'organization that the events belong to')
    .addOption(
      new Option('--source <name>', 'what wrote the files; all reads every agent of this machine')
        .choices([...SOURCES.map(({ name }) => name), ALL])
        .default(CANONICAL.name),
    )
    .option('--user <id>', 'user whose transcripts these are (default: your user name)')
    .option(...NEW)
    .option('--strict', 'exit with 1 if any line is rejected')
    .option('--json', 'print one JSON object')
    .action((paths: string[], options: IngestOptions) =>
      options.source === ALL ? runAll(paths, options, invocation) : run(paths, options, invocation),
    );
}

async function run(paths: string[], options: IngestOptions, { settings, clock }: Invocation): Promise<void> {
  const chosen = settings();
  const source = sourceOf(options.source);
  if (source.namesUsers && options.user !== undefined)
    throw new UsageError(`--user can't be combined with --source ${source.name}: its lines name their user.`);
  if (paths.length === 0 && source.folders.length === 0)
    throw new UsageError('Name the files or folders to read, or - for standard input.');
  const named = paths.length > 0 ? paths : foldersOf(source);
  const started = performance.now();
  // In the data folder, where the process with the database can read it. Opening the database removes leftovers of killed processes.
  const spool = join(chosen.data, `stdin-${process.pid}`);
  try {
    if (named.includes('-')) {
      refuseHalfRestored(chosen.data);
      makeFolder(chosen.data);
      await pipeline(process.stdin, createWriteStream(spool, { mode: 0o600 }));
    }
    const given = named.map((path) => (path === '-' ? spool : path));
    const leftOut = new Set<string>();
    const files = inputFiles(given, source, (error) => {
      // A file that was named must be read; one that was found in a folder can be left out.
      if (error instanceof LeftOut && paths.some((path) => resolve(path) === error.path)) throw error;
      leftOut.add(error.message);
    }).map((file) => (file.path === spool ? { ...file, state: undefined } : file));
    const result = await read(source, files, options, { chosen, clock });
    for (const sentence of result.leftOut) leftOut.add(sentence);
    if (files.length === 0)
      note(`Found no files to read in ${named.join(', ')}: docs/events.md says which names count.`);
    const seconds = (performance.now() - started) / 1000;
    const all = { ...result, leftOut: [...leftOut] };
    print(options.json === true ? jsonOf(all, seconds) : summaryOf(all, seconds, source, spool));
    const { accepted, duplicates, rejected, examples } = result;
    if (
      rejected > 0 &&
      source.namesUsers &&
      examples.every(({ detail }) => /^(event_id|user_id) is required/.test(detail))
    )
      note(
        `If an agent wrote these files, name it: --source ${AGENTS.map(({ name }) => name).join(' or ')}.`,
      );
    const isAllRejected = rejected > 0 && accepted + duplicates === 0;
    if (isAllRejected || leftOut.size > 0 || (options.strict === true && rejected > 0)) process.exitCode = 1;
  } finally {
    await rm(spool, { force: true });
  }
}

/** Takes in files of a source. */
function read(
  source: Source,
  files: readonly InputFile[],
  options: IngestOptions,
  { chosen, clock }: { chosen: Config; clock: () => number },
): Promise<Ingested> {
  const userId = source.namesUsers ? undefined : (options.user ?? userInfo().username);
  const request = { orgId: options.org, source: source.name, userId, files: filesOf(files) };
  return inOrganization(options, 'Nothing was read.', (isNew) =>
    withProgress(`Reading ${source.title}`, (progress) =>
      call(chosen, clock, 'ingest', { ...request, isNew }, progress),
    ),
  );
}

/** Reads the files of every agent on this machine, and prints for each agent what was found and what was left out. */
async function runAll(
  paths: readonly string[],
  options: IngestOptions,
  { settings, clock }: Invocation,
): Promise<void> {
  if (paths.length > 0)
    throw new UsageError(`Paths can't be combined with --source ${ALL}: name the source of the paths.`);
  const chosen = settings();
  const agents: Agent[] = [];
  for (const { source, folders, files, ...found } of agentsHere()) {
    const result = files.length > 0 ? await read(source, files, options, { chosen, clock }) : NOTHING;
    const leftOut = [...new Set([...found.leftOut, ...result.leftOut])];
    agents.push({ source, folders, leftOut, found: files.length, result });
    if (leftOut.length > 0) process.exitCode = 1;
    if (options.strict === true && result.rejected > 0) process.exitCode = 1;
  }
  print(options.json === true ? jsonOfAll(agents) : agents.map(linesOf).join('\n'));
}

/** An agent, and what came of its files. */
interface Agent extends Omit<AgentHere, 'files'> {
  /** How many files were found. */
  readonly found: number;
  readonly result: Pick<
    Ingested,
    'files' | 'accepted' | 'duplicates' | 'rejected' | 'mended' | 'examples' | 'leftOut'
  >;
}

function jsonOfAll(agents: readonly Agent[]): string {
  return JSON.stringify({
    agents: agents.map(({ source, folders, leftOut, found, result }) => ({
      agent: source.name,
      folders,
      files: found,
      read: result.files,
      accepted: result.accepted,
      duplicates: result.duplicates,
      rejected: result.rejected,
      mended: result.mended,
      unreadable: leftOut,
    })),
  });
}

/** The result for an agent as a sentence. */
function sentenceOf({ folders, found, result }: Agent): string {
  const { files, accepted, duplicates, rejected, mended } = result;
  if (folders.length === 0) return 'not found';
  if (found === 0) return 'no sessions';
  if (files === 0) return `${count(found, 'file')}, nothing new`;
  return [
    `${files === found ? '' : `${files} of `}${count(found, 'file')}, ${accepted} accepted`,
    ...(duplicates > 0 ? [count(duplicates, 'duplicate')] : []),
    ...(rejected > 0 ? [`${rejected} rejected`] : []),
    ...(mended > 0 ? [`${count(mended, 'line')} mended`] : []),
  ].join(', ');
}

/** The line for an agent, with its problems below. */
function linesOf(agent: Agent): string {
  const { source, result, leftOut } = agent;
  return [
    `${source.name.padEnd(LONGEST_NAME)}  ${sentenceOf(agent)}`,
    ...result.examples.map((one) => `  ${one.source}:${one.line_no}: ${one.detail}`),
    ...leftOutLines(leftOut),
  ].join('\n');
}

const LONGEST_NAME = Math.max(...AGENTS.map(({ name }) => name.length));

/** The result for an agent that isn't here. */
const NOTHING: Agent['result'] = {
  files: 0,
  accepted: 0,
  duplicates: 0,
  rejected: 0,
  mended: 0,
  examples: [],
  leftOut: [],
};

/** The default folders of a source that exist here; all of them if none does, so that an error can name them. */
function foldersOf(source: Source): string[] {
  const found = foldersHere(source);
  return found.length > 0 ? found : source.folders.flatMap(expandPaths);
}

type Ingested = Exclude<CommandResult<'ingest'>, Refused>;

function jsonOf(
  { accepted, duplicates, rejected, mended, byReason, unchanged, leftOut }: Ingested,
  seconds: number,
): string {
  return JSON.stringify({
    accepted,
    duplicates,
    rejected,
    mended,
    by_reason: byReason,
    unchanged_files: unchanged,
    unreadable: leftOut,
    seconds: Number(seconds.toFixed(3)),
  });
}

/** A summary of the ingest. Lines of the spool are called standard input. */
function summaryOf(result: Ingested, seconds: number, { title }: Source, spool: string): string {
  const { accepted, duplicates, rejected, mended, byReason, unchanged, examples, leftOut } = result;
  const read = accepted + duplicates + rejected;
  const rate = seconds < 1 || read === 0 ? '' : `: ${Math.round(read / seconds)} events/s`;
  return [
    `${count(result.files, 'file')}, ${bytes(result.bytes)}, in ${seconds.toFixed(1)} s${rate}${unchanged === 0 ? '' : ` (${count(unchanged, 'unchanged file')} not read again)`}`,
    `${accepted} accepted, ${count(duplicates, 'duplicate')}, ${rejected} rejected${mended > 0 ? `, ${count(mended, 'line')} mended` : ''}`,
    ...(read === 0 && result.bytes > 0
      ? [`  No line is one of ${title}: name what wrote the files with --source.`]
      : []),
    ...Object.entries(byReason).map(([reason, lines]) => `  ${lines} ${reason}`),
    ...examples.map(
      ({ source, line_no, detail }) => `  ${source === spool ? '-' : source}:${line_no}: ${detail}`,
    ),
    ...(rejected > examples.length ? ['  ... "daybook status" counts all of them by reason.'] : []),
    ...leftOutLines(leftOut),
  ].join('\n');
}
