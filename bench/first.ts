import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateTranscripts } from './generate-transcripts.js';
import { median, runProcess } from './run-process.js';

const ROUNDS = 3;
const BYTES = 28e6;
const FILES = 320;
const FROM = '2026-02-01';
const DAYS = 285;

/** The first minute of a new user: some months of transcripts from an empty folder to the printed report, one command after the other. */
export async function first(root: string): Promise<void> {
  const folder = generateTranscripts(join(root, 'bench', 'out', 'data'), BYTES, FILES, {
    from: FROM,
    days: DAYS,
  });
  const totals: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const data = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
    const ours = (...args: string[]) =>
      runProcess('node', [join(root, 'dist', 'cli.js'), '--data', data, ...args]);
    try {
      const org = ['--org', 'acme'];
      const source = ['--source', 'claude-code', '--user', 'ada', join(folder, 'projects')];
      const ingested = await ours('ingest', ...org, ...source);
      const built = await ours('build');
      const reported = await ours('report', 'users', ...org, '--from', FROM, '--to', '2026-11-12');
      if (reported.output.length < 1000) throw new Error('the report is empty');
      const files = readdirSync(join(data, 'lake'), { recursive: true, withFileTypes: true });
      const total = ingested.seconds + built.seconds + reported.seconds;
      totals.push(total);
      console.log(
        `${ingested.output.trim().replaceAll('\n', ' ')} ${built.output.trim()} Ingest ${ingested.seconds.toFixed(2)}, build and lake ${built.seconds.toFixed(2)}, report ${reported.seconds.toFixed(2)} s: ${total.toFixed(2)} s. Files in the lake: ${files.filter((entry) => entry.isFile()).length} (bar: at most 60).`,
      );
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  }
  console.log(`from an empty folder to the report: ${median(totals).toFixed(2)} s (bar: at most 3)`);
}
