import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runProcess } from './run-process.js';
import { reportOfOurs, reportOfTheirs, requireCcusage, tokensOfOurs, tokensOfTheirs } from './tokens.js';

/** The lines on which the two differ, by day and model: usage that isn't written compactly, times that aren't in milliseconds. */
function explanations(folder: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name.endsWith('.jsonl'),
  );
  for (const entry of files) {
    const path = join(entry.parentPath, entry.name);
    for (const [index, text] of readFileSync(path, 'utf8').split('\n').entries()) {
      let line: {
        type?: string;
        timestamp?: string;
        message?: { model?: string; usage?: object };
      };
      try {
        line = JSON.parse(text);
      } catch {
        continue;
      }
      if (line?.type !== 'assistant' || line.message?.usage === undefined) continue;
      const isSpaced = !text.includes('"usage":{');
      const isFine = !/T[\d:]{8}\.\d{3}Z$/.test(line.timestamp ?? '');
      if (!isSpaced && !isFine) continue;
      const key = `${line.timestamp?.slice(0, 10)} ${line.message.model}`;
      const why = `${isSpaced ? 'usage written with spaces' : 'a time that is not in milliseconds'}: ${path.slice(folder.length + 1)}:${index + 1}`;
      found.set(key, [...(found.get(key) ?? []), why]);
    }
  }
  return found;
}

/** Compares tokens per UTC day and model with ccusage on a folder of transcripts. Fails when a difference has no explanation. */
export async function ccusage(root: string, args: readonly string[]): Promise<void> {
  const folder = resolve(args[0] ?? join(root, '..', 'shared', 'data', 'transcripts', 'claude-code'));
  if (!existsSync(folder))
    return console.log(`skipped: there is no folder ${folder}; name one: npm run bench -- ccusage FOLDER`);
  requireCcusage(root);
  const work = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    symlinkSync(folder, join(work, 'projects'));
    const others = tokensOfTheirs((await reportOfTheirs(root, work)).output);
    const environment = { DAYBOOK_DATA: join(work, 'data'), DAYBOOK_HISTORY_START: '2020-01-01' };
    const ours = (...command: string[]) =>
      runProcess('node', [join(root, 'dist', 'cli.js'), ...command], environment);
    await ours('ingest', '--org', 'bench', '--source', 'claude-code', '--user', 'dev', folder);
    await ours('build');
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const mine = tokensOfOurs((await ours(...reportOfOurs('bench', '2020-01-01', yesterday))).output);
    const why = explanations(folder);
    let equal = 0;
    let unexplained = 0;
    for (const key of [...new Set([...mine.keys(), ...others.keys()])].sort()) {
      const [one, other] = [mine.get(key), others.get(key)];
      if (JSON.stringify(one) === JSON.stringify(other)) {
        equal += 1;
        continue;
      }
      console.log(`${key}: daybook ${one?.join(' / ') ?? 'none'}, ccusage ${other?.join(' / ') ?? 'none'}`);
      const lines = why.get(key) ?? [];
      for (const line of lines.slice(0, 3)) console.log(`    ${line}`);
      if (lines.length > 3) console.log(`    and ${lines.length - 3} more`);
      if (lines.length === 0) {
        console.log('    UNEXPLAINED');
        unexplained += 1;
      }
    }
    console.log(`${equal} pairs of day and model are equal, ${unexplained} differ without an explanation`);
    if (unexplained > 0) process.exitCode = 1;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
