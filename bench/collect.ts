import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateTranscripts } from './generate-transcripts.js';
import { runProcess } from './run-process.js';

const GIGABYTES = Number(process.env.BENCH_GIGABYTES ?? 1.3);
const FILES = 3000;
const IDLE_ROUNDS = 5;

/** What a process does as it ends, to say what it took. */
const USAGE = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const usage = { seconds: (user + system) / 1e6, memory: process.resourceUsage().maxRSS / 1024 };
  require('node:fs').writeFileSync(process.env.BENCH_USAGE, JSON.stringify(usage));
});`;

/** The first round of `collect` over a folder of transcripts, and rounds without anything new, with a service on this machine. */
export async function collect(root: string): Promise<void> {
  const transcripts = generateTranscripts(join(root, 'bench', 'out', 'data'), GIGABYTES * 1e9, FILES);
  const cli = join(root, 'dist', 'cli.js');
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  const data = join(folder, 'data');
  const preload = join(folder, 'usage.cjs');
  writeFileSync(preload, USAGE);
  const server = spawn('node', [cli, '--data', data, 'serve', '--port', '0'], {
    env: { ...process.env, DAYBOOK_LOG_LEVEL: 'error', DAYBOOK_BUILD_AT: 'off' },
  });
  try {
    let said = '';
    for await (const chunk of server.stdout) {
      said += chunk;
      if (said.includes('Daybook serves on')) break;
    }
    const [, url = ''] = /Daybook serves on (\S+)/.exec(said) ?? [];
    const keys = ['--data', data, 'keys', 'create', '--org', 'bench', '--role', 'member', '--user', 'dev'];
    const [key = ''] = (await runProcess('node', [cli, ...keys])).output.split('\n');
    const round = async () => {
      const usage = join(folder, 'usage.json');
      const { output } = await runProcess('node', [cli, 'collect', '--folder', join(folder, 'collect')], {
        HOME: folder,
        CLAUDE_CONFIG_DIR: transcripts,
        DAYBOOK_URL: url,
        DAYBOOK_KEY: key,
        NODE_OPTIONS: `--require ${preload}`,
        BENCH_USAGE: usage,
      });
      const { seconds, memory } = JSON.parse(readFileSync(usage, 'utf8')) as Record<string, number>;
      return `${seconds?.toFixed(2)} s of processor time, ${memory?.toFixed(0)} MiB: ${output.trim()}`;
    };
    console.log(`first round: ${await round()} (bar: below 300 MiB)`);
    for (let idle = 0; idle < IDLE_ROUNDS; idle += 1)
      console.log(`idle round: ${await round()} (bar: below 0.5 s)`);
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null) await once(server, 'close');
    rmSync(folder, { recursive: true, force: true });
  }
}
