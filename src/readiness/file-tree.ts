import { closeSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { createContext, Script } from 'node:vm';
import type { RE2JS } from 're2js';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { LeftOut, openForeign } from '../disk/foreign-file.js';

/** The limits of a check. */
const FILES_AT_MOST = 200_000;
const FILE_BYTES = 1 << 19;
const TOTAL_BYTES = 1 << 26;
const SECONDS = 30;
/** How many milliseconds parsing one file may take, and all files: a parser's time can grow with the square of the size, or worse. */
const PARSE_MS = 1000;
const PARSES_MS = 5000;
/** How many files that were left out are named. */
const LEFT_OUT_NAMED = 20;

/** Folders with dependencies or build output. Without git there is no list of ignored files. */
const NOT_SOURCE = new Set([
  ...['.git', '.hg', '.svn', 'node_modules', 'bower_components', 'vendor', 'target', 'dist', 'build', 'out'],
  ...['.venv', 'venv', '__pycache__', '.tox', '.nox', '.gradle', '.next', 'obj', 'coverage', 'Pods'],
]);

/** The files of a repository, read-only: nothing is run, and no link leads outside. */
export class Tree {
  /** One sentence for each thing that was left out. */
  readonly notes: string[] = [];
  private readonly root: string;
  private readonly contents = new Map<string, string | undefined>();
  private readonly parsed = new Map<string, unknown>();
  private readonly searched = new Map<string, number>();
  private readonly until = performance.now() + 1000 * SECONDS;
  private readonly leftOut = new Set<string>();
  private bytes = 0;
  /** The rest of PARSES_MS. */
  private parseMs = PARSES_MS;
  readonly paths: readonly string[];

  /** The listed files of a folder, by relative path; without a list, all that are found. */
  constructor(folder: string, listed?: readonly string[]) {
    this.root = realpathSync.native(folder);
    const paths = listed ?? walk(this.root);
    if (paths.length > FILES_AT_MOST)
      this.notes.push(`Only the first ${FILES_AT_MOST} of ${paths.length} files were checked.`);
    this.paths = paths.slice(0, FILES_AT_MOST);
  }

  /** Whether the file exists inside the repository after following links. */
  has(path: string): boolean {
    return this.open(path, () => true) === true;
  }

  /** The size of a file in bytes; 0 if it doesn't exist. */
  sizeOf(path: string): number {
    return this.open(path, (_, size) => size) ?? 0;
  }

  /** The beginning of a file; undefined if it doesn't exist or the limit of bytes is reached. */
  text(path: string): string | undefined {
    if (!this.contents.has(path)) this.contents.set(path, this.read(path));
    return this.contents.get(path);
  }

  /** The parsed content of a JSON, TOML or YAML file; undefined if it can't be parsed. */
  data(path: string): unknown {
    if (!this.parsed.has(path)) this.parsed.set(path, this.parse(path));
    return this.parsed.get(path);
  }

  private parse(path: string): unknown {
    const text = this.text(path);
    if (text === undefined) return undefined;
    const limit = Math.floor(Math.min(PARSE_MS, this.parseMs));
    const begun = performance.now();
    try {
      if (limit > 0) return withinTime(limit, () => parse(path, text));
    } catch {
      // A quick failure means that the file isn't valid, which the criteria report.
      if (performance.now() - begun < limit) return undefined;
    } finally {
      this.parseMs -= performance.now() - begun;
    }
    this.notes.push(`${path} was not parsed, because that takes too long.`);
    return undefined;
  }

  /** The number, from 1, of the first line of a file that an RE2 expression matches; undefined if none does. */
  line(path: string, expression: RE2JS): number | undefined {
    const key = `${expression.pattern()}\n${path}`;
    let number = this.searched.get(key);
    if (number === undefined) {
      if (performance.now() > this.until)
        throw new Error(`the check takes longer than ${SECONDS} seconds: check a smaller folder`);
      const text = this.text(path) ?? '';
      // Testing for a match is much faster than finding its position.
      const matcher = expression.test(text) ? expression.matcher(text) : undefined;
      number = matcher?.find() === true ? text.slice(0, matcher.start()).split('\n').length : 0;
      this.searched.set(key, number);
    }
    return number === 0 ? undefined : number;
  }

  private read(path: string): string | undefined {
    if (this.bytes > TOTAL_BYTES) return undefined;
    return this.open(path, (descriptor, size) => {
      const content = Buffer.alloc(Math.min(size, FILE_BYTES));
      const length = readSync(descriptor, content, 0, content.length, 0);
      this.bytes += length;
      if (this.bytes > TOTAL_BYTES)
        this.notes.push(`Files after the first ${TOTAL_BYTES / 2 ** 20} MiB were not read.`);
      return content.toString('utf8', 0, length).replace(/^\uFEFF/, '');
    });
  }

  /** Notes once that a file was left out. A folder in git's list is a submodule. */
  private name(path: string, { path: real, reason }: LeftOut): void {
    if (this.leftOut.has(path) || statSync(real, { throwIfNoEntry: false })?.isDirectory() === true) return;
    this.leftOut.add(path);
    if (this.leftOut.size <= LEFT_OUT_NAMED) this.notes.push(`${path} was left out, because ${reason}.`);
    if (this.leftOut.size === LEFT_OUT_NAMED + 1) this.notes.push('More files were left out.');
  }

  private open<T>(path: string, use: (descriptor: number, size: number) => T): T | undefined {
    let opened: ReturnType<typeof openForeign>;
    try {
      const real = realpathSync.native(join(this.root, path));
      if (!real.startsWith(this.root === sep ? sep : this.root + sep)) return undefined;
      opened = openForeign(real);
      return opened === undefined ? undefined : use(opened.descriptor, Number(opened.found.size));
    } catch (error) {
      // A file that can't be read counts as missing.
      if (error instanceof LeftOut) this.name(path, error);
      return undefined;
    } finally {
      if (opened !== undefined) closeSync(opened.descriptor);
    }
  }
}

/** The files below a folder, up to the limit and one more; links to folders aren't followed. */
function walk(root: string): string[] {
  const found: string[] = [];
  const waiting = [''];
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    let entries: ReturnType<typeof entriesOf> = [];
    try {
      entries = entriesOf(join(root, folder));
    } catch {}
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!entry.isDirectory()) found.push(path);
      else if (!NOT_SOURCE.has(entry.name)) waiting.push(path);
      if (found.length > FILES_AT_MOST) return found;
    }
  }
  return found.sort();
}

function entriesOf(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}

/** The content of a JSON, TOML or YAML file. Throws what the parser throws. */
function parse(path: string, text: string): unknown {
  if (/\.ya?ml$/i.test(path)) return parseYaml(text, { logLevel: 'silent' });
  return /\.(toml|lock)$/i.test(path) ? parseToml(text) : JSON.parse(text);
}

const box: { work: () => void } = { work: () => undefined };
const context = createContext(box);
const script = new Script('work()');

/** Runs synchronous work for a limited number of milliseconds: then it is interrupted anywhere, and this throws. */
function withinTime<T>(timeout: number, work: () => T): T {
  let outcome: { readonly result: T } | undefined;
  box.work = () => {
    outcome = { result: work() };
  };
  script.runInContext(context, { timeout });
  if (outcome === undefined) throw new Error('the work has no result');
  return outcome.result;
}
