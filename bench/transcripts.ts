import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateTranscripts } from './generate-transcripts.js';
import { median, runProcess } from './run-process.js';

const ROUNDS = 3;
const GIGABYTES = Number(process.env.BENCH_GIGABYTES ?? 1.3);
const FILES = 3000;

/**
 * Ingest, build and first report of a folder of transcripts, against one report of ccusage on it; a repeated report; and the
 * folder once more, as it is and with a file that has grown.
 */
export async function transcripts(root: string): Promise<void> {
  const ccusage = join(root, 'test', 'ccusage', 'node_modules', '.bin', 'ccusage');
  if (!existsSync(ccusage))
    throw new Error('ccusage is not there: npm install --no-package-lock --prefix test/ccusage');
  const folder = generateTranscripts(join(root, 'bench', 'out', 'data'), GIGABYTES * 1e9, FILES);
  const cli = join(root, 'dist', 'cli.js');
  const theirs = () =>
    runProcess(ccusage, ['claude', 'daily', '--json', '--offline', '--timezone', 'UTC'], {
      CLAUDE_CONFIG_DIR: folder,
    });
  const rounds: {
    first: number;
    unchanged: number;
    grown: number;
    again: number;
    served: number;
    memory: number;
    ccusage: number;
  }[] = [];
  await theirs();
  for (let round = 0; round < ROUNDS; round += 1) {
    const data = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
    const ours = (...args: string[]) => runProcess('node', [cli, '--data', data, ...args]);
    const report = () =>
      ours(
        'report',
        'tokens',
        '--org',
        'bench',
        '--from',
        '2026-05-01',
        '--to',
        '2026-06-10',
        '--group-by',
        'model',
        '--format',
        'json',
      );
    try {
      const other = await theirs();
      const ingest = () =>
        ours(
          'ingest',
          '--org',
          'bench',
          '--source',
          'claude-code',
          '--user',
          'dev',
          join(folder, 'projects'),
        );
      const ingested = await ingest();
      const built = await ours('build');
      const first = await report();
      if (first.output.length < 1000) throw new Error('the report is empty');
      const again = await report();
      const served = await overHttp(cli, data);
      const unchanged = await ingest();
      const grown = await withGrownFile(folder, ingest);
      rounds.push({
        first: ingested.seconds + built.seconds + first.seconds,
        unchanged: unchanged.seconds / ingested.seconds,
        grown: grown.seconds / ingested.seconds,
        again: again.seconds,
        served,
        memory: Math.max(ingested.memory, built.memory, first.memory),
        ccusage: other.seconds,
      });
      console.log(
        `round ${round + 1}: ingest ${ingested.seconds.toFixed(2)}, unchanged ${unchanged.seconds.toFixed(2)}, one file grown ${grown.seconds.toFixed(2)}, build ${built.seconds.toFixed(2)}, report ${first.seconds.toFixed(2)}, again ${again.seconds.toFixed(3)}, over HTTP ${served.toFixed(3)} s; ccusage ${other.seconds.toFixed(2)} s`,
      );
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  }
  const first = median(rounds.map((round) => round.first / round.ccusage));
  const again = median(rounds.map((round) => round.ccusage / round.again));
  const memory = Math.max(...rounds.map((round) => round.memory));
  console.log(`ingest + build + first report / one ccusage report: ${first.toFixed(2)} (bar: at most 2.2)`);
  const unchanged = median(rounds.map((round) => round.unchanged));
  console.log(`ingest of the unchanged folder / first ingest: ${unchanged.toFixed(3)} (bar: at most 0.05)`);
  const grown = median(rounds.map((round) => round.grown));
  console.log(`ingest with one file that has grown / first ingest: ${grown.toFixed(3)} (bar: at most 0.1)`);
  const served = median(rounds.map((round) => round.ccusage / round.served));
  console.log(
    `repeated ccusage report / repeated report, over HTTP: ${served.toFixed(0)} (bar: at least 20)`,
  );
  console.log(`the same, of a command that opens the database: ${again.toFixed(1)}`);
  console.log(`peak memory: ${memory} MiB (bar: below 1536)`);
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

/** Seconds of a repeated report over HTTP. */
async function overHttp(cli: string, data: string): Promise<number> {
  const key = (
    await runProcess('node', [cli, '--data', data, 'keys', 'create', '--org', 'bench', '--role', 'owner'])
  ).output.split('\n')[0];
  const server = spawn('node', [cli, '--data', data, 'serve', '--port', '0'], {
    env: { ...process.env, DAYBOOK_LOG_LEVEL: 'error' },
  });
  try {
    let text = '';
    for await (const chunk of server.stdout) {
      text += chunk;
      const [, url] = /Daybook serves on (\S+)/.exec(text) ?? [];
      if (url === undefined) continue;
      const ask = async () => {
        const started = performance.now();
        const answer = await fetch(
          `${url}/api/v1/analytics/tokens?startDate=2026-05-01&endDate=2026-06-10&group_by=model`,
          {
            headers: { authorization: `Bearer ${key}` },
          },
        );
        if ((await answer.text()).length < 1000) throw new Error('the answer is empty');
        return (performance.now() - started) / 1000;
      };
      await ask();
      return await ask();
    }
    throw new Error('the server ended');
  } finally {
    server.kill('SIGTERM');
    await once(server, 'close');
  }
}
