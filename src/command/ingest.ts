import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { UsageError } from '../exit.js';
import { inputFiles } from '../ingest/files.js';
import { bytes, count, withProgress } from '../terminal.js';
import { call } from './call.js';
import type { CommandResult } from './commands.js';
import { type Invocation, print } from './program.js';

interface IngestOptions {
  readonly org: string;
  readonly source: 'canonical' | 'claude-code';
  readonly user?: string;
  readonly strict?: boolean;
  readonly json?: boolean;
}

/** Adds `ingest` to the program. */
export function add(program: Command, invocation: Invocation): void {
  program
    .command('ingest')
    .description(
      'read events or transcripts from files (also .gz and .zst), folders, or - for standard input',
    )
    .argument(
      '[path...]',
      'files and folders to read (default with --source claude-code: ~/.claude/projects)',
    )
    .requiredOption('--org <org>', 'organization that the events belong to')
    .addOption(
      new Option('--source <format>', 'format of the lines')
        .choices(['canonical', 'claude-code'])
        .default('canonical'),
    )
    .option('--user <id>', 'user whose transcripts these are (default: your user name)')
    .option('--strict', 'exit with 1 if any line is rejected')
    .option('--json', 'print one JSON object')
    .action((paths: string[], options: IngestOptions) => run(paths, options, invocation));
}

async function run(paths: string[], options: IngestOptions, { settings, clock }: Invocation): Promise<void> {
  const chosen = settings();
  if (options.source === 'canonical' && options.user !== undefined) {
    throw new UsageError('--user is only for --source claude-code: canonical events name their user.');
  }
  if (paths.length === 0 && options.source === 'canonical')
    throw new UsageError('Name the files or folders to read, or - for standard input.');
  const named = paths.length > 0 ? paths : [join(homedir(), '.claude', 'projects')];
  const started = performance.now();
  const spool = join(chosen.data, 'inbox', `stdin-${process.pid}`);
  try {
    if (named.includes('-')) {
      await mkdir(join(chosen.data, 'inbox'), { recursive: true });
      await pipeline(process.stdin, createWriteStream(spool));
    }
    const files = inputFiles(
      named.map((path) => (path === '-' ? spool : path)),
      options.source,
    );
    const request = {
      orgId: options.org,
      format: options.source,
      userId: options.source === 'canonical' ? undefined : (options.user ?? userInfo().username),
      files,
    };
    const result = await withProgress('Reading', (progress) =>
      call(chosen, clock, 'ingest', request, progress),
    );
    if (files.length === 0)
      process.stderr.write(
        `Found no files to read in ${named.join(', ')}: docs/events.md says which names count.\n`,
      );
    const seconds = (performance.now() - started) / 1000;
    print(
      options.json === true ? jsonOf(result, seconds) : summaryOf(result, seconds, options.source, spool),
    );
    const { accepted, duplicates, rejected, examples } = result;
    if (
      rejected > 0 &&
      options.source === 'canonical' &&
      examples.every(({ detail }) => /^(event_id|user_id) is required/.test(detail))
    )
      process.stderr.write('If these are Claude Code transcripts, add --source claude-code.\n');
    const isAllRejected = rejected > 0 && accepted + duplicates === 0;
    if (isAllRejected || (options.strict === true && rejected > 0)) process.exitCode = 1;
  } finally {
    await rm(spool, { force: true });
  }
}

type Ingested = CommandResult<'ingest'>;

function jsonOf({ accepted, duplicates, rejected, byReason }: Ingested, seconds: number): string {
  return JSON.stringify({
    accepted,
    duplicates,
    rejected,
    by_reason: byReason,
    seconds: Number(seconds.toFixed(3)),
  });
}

/** What was taken in, for people. Lines of the spool came from standard input. */
function summaryOf(
  result: Ingested,
  seconds: number,
  format: IngestOptions['source'],
  spool: string,
): string {
  const { accepted, duplicates, rejected, byReason, examples } = result;
  const read = accepted + duplicates + rejected;
  const rate = seconds < 1 ? '' : `: ${Math.round(read / seconds)} events/s`;
  return [
    `${count(result.files, 'file')}, ${bytes(result.bytes)}, in ${seconds.toFixed(1)} s${rate}`,
    `${accepted} accepted, ${count(duplicates, 'duplicate')}, ${rejected} rejected`,
    ...(read === 0 && result.bytes > 0 && format === 'claude-code'
      ? ['  No line is from a Claude Code transcript: leave out --source to ingest events.']
      : []),
    ...Object.entries(byReason).map(([reason, lines]) => `  ${lines} ${reason}`),
    ...examples.map(
      ({ source, line_no, detail }) => `  ${source === spool ? '-' : source}:${line_no}: ${detail}`,
    ),
    ...(rejected > examples.length ? ['  ... The table rejects has all of them.'] : []),
  ].join('\n');
}
