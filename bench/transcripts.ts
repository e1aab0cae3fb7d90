import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask } from './asking.js';
import { generateTranscripts } from './generate-transcripts.js';
import { peakOf, programOf, runProcess, type Taken } from './run-process.js';
import { serveFilled } from './service.js';
import { compare, count } from './table.js';
import {
  reportOfOurs,
  reportOfTheirs,
  requireCcusage,
  type TokensOfDays,
  tokensOfBare,
  tokensOfOurs,
  tokensOfTheirs,
} from './tokens.js';

const ORG = 'bench';
const NOTHING: Taken = { seconds: Number.NaN, memory: 0 };
const RANGE = ['2026-05-01', '2026-06-10'] as const;
/** As in a folder of 3,000 files that have 1.3 GB. */
const BYTES_PER_FILE = 433_000;

/** Steps that come one after the other, as one. */
function together(...steps: readonly Taken[]): Taken {
  return {
    seconds: steps.reduce((sum, { seconds }) => sum + seconds, 0),
    memory: Math.max(...steps.map(({ memory }) => memory)),
  };
}

/** Throws unless two found the same tokens. */
function requireSame(who: string, found: TokensOfDays, expected: TokensOfDays): void {
  const [one, other] = [found, expected].map((tokens) => JSON.stringify([...tokens].sort()));
  if (found.size === 0 || one !== other) throw new Error(`${who} finds other tokens than ccusage`);
}

/** Does something while a file of a folder, the middle one by size, has its last line twice. */
async function withGrownFile<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((a, b) => statSync(a).size - statSync(b).size);
  const path = paths[Math.floor(paths.length / 2)] ?? '';
  const text = readFileSync(path, 'utf8');
  appendFileSync(path, `${text.trimEnd().split('\n').at(-1)}\n`);
  try {
    return await work();
  } finally {
    truncateSync(path, Buffer.byteLength(text));
  }
}

/** What a service takes to report: when nobody has asked before, and then again. */
async function served(root: string, data: string): Promise<Taken[]> {
  const service = await serveFilled(root, data, [ORG]);
  try {
    const [from, to] = RANGE;
    const asked = {
      path: `/api/v1/analytics/tokens?startDate=${from}&endDate=${to}&group_by=model`,
      key: service.keys[0] ?? '',
    };
    const answers = await ask(service.url, [asked, asked]);
    return answers.map(({ ms }) => ({ seconds: ms / 1000, memory: peakOf(service.child.pid) }));
  } finally {
    await service.stop();
  }
}

/** One round on transcripts in `home/projects`, with an empty folder to work in: everything beside ccusage, and Daybook's steps. */
async function roundOf(root: string, home: string, work: string): Promise<Record<string, Taken>[]> {
  const projects = join(home, 'projects');
  const theirs = () => reportOfTheirs(root, home, { HOME: work, XDG_CACHE_HOME: join(work, '.cache') });
  const ccusage = await theirs();
  const ccusageAgain = await theirs();
  const expected = tokensOfTheirs(ccusage.output);
  const alone = async (engine: string) => {
    const pattern = join(projects, '*', '*.jsonl');
    const taken = await runProcess('node', [programOf('bare-engine'), engine, 'tokens', pattern]);
    requireSame(engine, tokensOfBare(taken.output), expected);
    return taken;
  };
  const duckdb = await alone('duckdb');
  const clickhouse = await alone('clickhouse');

  const data = join(work, 'data');
  const ours = (...args: string[]) =>
    runProcess('node', [join(root, 'dist', 'cli.js'), '--data', data, ...args]);
  const ingest = () => ours('ingest', '--org', ORG, '--source', 'claude-code', '--user', 'dev', projects);
  const all = async () => {
    const steps = { ingest: await ingest(), build: await ours('build') };
    const report = await ours(...reportOfOurs(ORG, ...RANGE));
    requireSame('Daybook', tokensOfOurs(report.output), expected);
    return { ...steps, report };
  };
  const local = async () => {
    const args = ['local', '--json', '--from', RANGE[0]];
    const environment = { HOME: work, CLAUDE_CONFIG_DIR: home };
    const taken = await runProcess('node', [join(root, 'dist', 'cli.js'), ...args], environment);
    const { total } = JSON.parse(taken.output);
    const outputs = [...expected.values()].reduce((sum, [, output = 0]) => sum + output, 0);
    if (total.output_tokens !== outputs)
      throw new Error(`daybook local has ${total.output_tokens} tokens of output, not ${outputs}`);
    return taken;
  };
  const localFirst = await local();
  const localAgain = await local();
  const first = await all();
  const again = await all();
  const grown = await withGrownFile(projects, ingest);
  const [asked = NOTHING, askedAgain = NOTHING] = await served(root, data);
  return [
    {
      ccusage,
      'ccusage, repeated': ccusageAgain,
      'DuckDB alone': duckdb,
      'ClickHouse alone': clickhouse,
      'Daybook: ingest, build, report': together(...Object.values(first)),
      'Daybook, repeated': together(...Object.values(again)),
      'daybook local': localFirst,
      'daybook local, repeated': localAgain,
      'Daybook: report by a command': again.report,
      'Daybook: report by a service': asked,
      'Daybook: the same by a service, repeated': askedAgain,
    },
    {
      'Daybook: ingest': first.ingest,
      'Daybook: ingest, nothing has changed': again.ingest,
      'Daybook: ingest, one file has grown': grown,
      'Daybook: build, with the lake': first.build,
      'Daybook: report': first.report,
    },
  ];
}

/**
 * Transcripts of so many bytes: tokens per day and model by ccusage, by DuckDB and ClickHouse alone, and by Daybook, which must all find the
 * same. Each is a process from its start to its end, but for what a service is asked.
 */
export async function transcripts(
  root: string,
  folder: string,
  bytes: number,
  rounds: number,
): Promise<void> {
  requireCcusage(root);
  const files = Math.ceil(bytes / BYTES_PER_FILE);
  const home = generateTranscripts(folder, bytes, files);
  const all: Record<string, Taken>[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const work = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
    try {
      all.push(await roundOf(root, home, work));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  console.log(`${count(bytes / 1e6)} MB of transcripts in ${count(files)} files`);
  compare(all);
}
