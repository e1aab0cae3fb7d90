import { type ChildProcess, fork } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from './mutant-court.js';
import { type Mutant, mutantsOf, mutatedFiles } from './mutants.js';

/** A mutant that takes longer than this has lost a join condition: a test would run into its time limit. */
const LIMIT_MS = 600_000;

/** A copy of the package in which one process tries mutants. */
class Worker {
  private child: ChildProcess | undefined;

  private constructor(private readonly folder: string) {}

  static open(root: string): Worker {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-mutate-'));
    for (const part of [
      'package.json',
      'sql',
      'data/rate-card.json',
      'data/prices.json',
      'data/base-prices.json',
      'data/languages.json',
      'test/golden',
      'test/oracle',
    ])
      cpSync(join(root, part), join(folder, part), { recursive: true });
    cpSync(join(root, 'bench', 'out'), join(folder), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    return new Worker(folder);
  }

  async try(mutant: Mutant): Promise<Verdict> {
    if (this.child === undefined) {
      this.child = fork(join(this.folder, 'bench', 'mutate-worker.js'));
      await this.answer(undefined, 10 * LIMIT_MS);
    }
    return (await this.answer(mutant, LIMIT_MS)) ?? { outcome: 'killed', by: 'time limit' };
  }

  /** What the process answers; nothing when it takes too long, and then it is started anew. */
  private answer(mutant: Mutant | undefined, limit: number): Promise<Verdict | undefined> {
    const { child } = this;
    if (child === undefined) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const gone = (code: number | null) =>
        reject(new Error(`the process that tries mutants ended: ${code}`));
      const timer = setTimeout(() => {
        child.off('exit', gone);
        child.kill('SIGKILL');
        this.child = undefined;
        cpSync(join(process.cwd(), 'sql'), join(this.folder, 'sql'), { recursive: true });
        resolve(undefined);
      }, limit);
      child.once('exit', gone);
      child.once('message', (verdict) => {
        clearTimeout(timer);
        child.off('exit', gone);
        resolve(verdict as Verdict);
      });
      if (mutant !== undefined) child.send(mutant);
    });
  }

  close(): void {
    this.child?.disconnect();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Breaks the SQL in every place, one at a time, and says which breaks the golden cases and the laws don't notice:
 * `npm run mutate`, or `npm run mutate -- daily/users.sql report` for the files whose paths begin so; `--verbose` lists all
 * mutants, `--workers=1` leaves the other processors to others.
 */
const root = process.cwd();
const sql = join(root, 'sql');
const workers = Number(/^--workers=(\d+)$/m.exec(process.argv.join('\n'))?.[1] ?? availableParallelism());
const isVerbose = process.argv.includes('--verbose');
const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const files = mutatedFiles(sql).filter(
  (file) => chosen.length === 0 || chosen.some((start) => file.startsWith(start)),
);
const waiting = files.flatMap((file) => mutantsOf(sql, file));
const total = waiting.length;
const verdicts: { mutant: Mutant; verdict: Verdict }[] = [];

await Promise.all(
  Array.from({ length: Math.min(workers, total) }, async () => {
    const worker = Worker.open(root);
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const start = performance.now();
        const verdict = await worker.try(mutant);
        const ms = Math.round(performance.now() - start);
        verdicts.push({ mutant, verdict });
        if (verdict.outcome === 'survived' || isVerbose)
          console.log(
            `${verdict.outcome}  ${mutant.file}:${mutant.line}  ${mutant.before}  =>  ${mutant.after}  ${verdict.by.slice(0, 120)}  ${ms}`,
          );
        if (verdicts.length % 100 === 0) console.error(`${verdicts.length} of ${total}`);
      }
    } finally {
      worker.close();
    }
  }),
);

console.log('\nfile                                  mutants  killed  survived');
const count = (outcome: Verdict['outcome'], file?: string) =>
  verdicts.filter(
    ({ mutant, verdict }) => verdict.outcome === outcome && (file === undefined || mutant.file === file),
  ).length;
for (const file of [...files, undefined]) {
  const killed = count('killed', file);
  const survived = count('survived', file);
  console.log(
    `${(file ?? 'all').padEnd(36)}${String(killed + survived).padStart(9)}${String(killed).padStart(8)}${String(survived).padStart(10)}`,
  );
}
const valid = count('killed') + count('survived');
console.log(
  `\n${((100 * count('killed')) / valid).toFixed(1)} % of ${valid} mutants killed; ${count('invalid')} more are no valid SQL.`,
);
