import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What is preloaded into processes: a library, and the variables that it reads. */
export interface Preloaded {
  readonly library: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** Compiles a file of this folder as a library. Answers false without a compiler for C, or on another system than Linux. */
export function compile(name: string, library: string): boolean {
  const source = fileURLToPath(new URL(name, import.meta.url));
  const args = ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'];
  return process.platform === 'linux' && spawnSync('gcc', args).status === 0;
}

/** The environment of processes into which something is preloaded. */
export function preloading(...all: readonly Preloaded[]): Record<string, string> {
  const libraries = all.map(({ library }) => library).join(':');
  return Object.assign({ LD_PRELOAD: libraries }, ...all.map(({ variables }) => variables));
}

/** Writes a file that processes have in their memory. TRICKY: without making it shorter meanwhile, which would end them. */
export function writeInPlace(path: string, bytes: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, 0);
  closeSync(file);
}
