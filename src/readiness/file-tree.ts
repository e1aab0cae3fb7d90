import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { RE2JS } from 're2js';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import type { Glob, Pattern } from './glob.js';

/** The limits of a check. */
const FILES_AT_MOST = 200_000;
const FILE_BYTES = 1 << 19;
const TOTAL_BYTES = 1 << 26;
const SECONDS = 30;

/** Folders with dependencies or build output. Without git there is no list of ignored files. */
const NOT_SOURCE = new Set([
  ...['.git', '.hg', '.svn', 'node_modules', 'bower_components', 'vendor', 'target', 'dist', 'build', 'out'],
  ...['.venv', 'venv', '__pycache__', '.tox', '.nox', '.gradle', '.next', 'obj', 'coverage', 'Pods'],
]);

/** The files of a repository, read-only: nothing is run, and no link leads outside. */
export class Tree {
  /** What was left out, one sentence each. */
  readonly notes: string[] = [];
  private readonly root: string;
  private readonly contents = new Map<string, string | undefined>();
  private readonly parsed = new Map<string, unknown>();
  private readonly searched = new Map<string, number>();
  private readonly until = performance.now() + 1000 * SECONDS;
  private bytes = 0;
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
    if (!this.parsed.has(path)) this.parsed.set(path, parse(path, this.text(path)));
    return this.parsed.get(path);
  }

  /** The number, from 1, of the first line of a file that an RE2 expression matches; undefined if none does. */
  line(path: string, expression: RE2JS): number | undefined {
    const key = `${expression.pattern()}\n${path}`;
    let number = this.searched.get(key);
    if (number === undefined) {
      if (performance.now() > this.until)
        throw new Error(`the check takes longer than ${SECONDS} seconds: check a smaller folder`);
      const text = this.text(path) ?? '';
      // Whether it matches is much faster to find out than where.
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

  private open<T>(path: string, use: (descriptor: number, size: number) => T): T | undefined {
    let descriptor: number | undefined;
    try {
      const real = realpathSync.native(join(this.root, path));
      if (!real.startsWith(this.root === sep ? sep : this.root + sep)) return undefined;
      // Opening a pipe would wait for a writer.
      descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK);
      const found = fstatSync(descriptor);
      return found.isFile() ? use(descriptor, found.size) : undefined;
    } catch {
      // A file that can't be read counts as missing.
      return undefined;
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
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

function parse(path: string, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    if (/\.ya?ml$/i.test(path)) return parseYaml(text, { logLevel: 'silent' });
    return /\.(toml|lock)$/i.test(path) ? parseToml(text) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A file: its path in the repository, and the parts of its path below a folder in lower case. */
interface Entry {
  readonly path: string;
  readonly names: readonly string[];
}

/** Some files of a tree, by their paths below a folder. */
export class Files {
  private readonly entries: Entry[] = [];
  private readonly byName = new Map<string, Entry[]>();
  private readonly byExtension = new Map<string, Entry[]>();
  private readonly byFolder = new Map<string, Entry[]>();

  constructor(
    readonly tree: Tree,
    /** The folder, such as `packages/web`; '' for the repository itself. */
    folder: string,
    paths: readonly string[],
  ) {
    for (const path of paths) {
      const names = (folder === '' ? path : path.slice(folder.length + 1)).toLowerCase().split('/');
      const entry = { path, names };
      const name = names.at(-1) ?? '';
      this.entries.push(entry);
      put(this.byName, name, entry);
      put(this.byFolder, names[0] ?? '', entry);
      put(this.byExtension, name.slice(Math.max(name.lastIndexOf('.'), 0)), entry);
    }
  }

  /** The files that match any of some globs and none of others, in the order of the globs. */
  *find(globs: readonly Glob[], except: readonly Glob[] = []): Generator<string> {
    const seen = new Set<string>();
    for (const pattern of globs.flatMap(({ patterns }) => patterns)) {
      for (const { path, names } of this.candidates(pattern)) {
        if (!pattern.matches(names) || seen.has(path) || except.some((glob) => glob.matches(names))) continue;
        seen.add(path);
        if (this.tree.has(path)) yield path;
      }
    }
  }

  /** A selection of files that includes all matches of a pattern. */
  private candidates({ name, folder, extension }: Pattern): readonly Entry[] {
    if (name !== undefined) return this.byName.get(name) ?? [];
    if (folder !== undefined) return this.byFolder.get(folder) ?? [];
    return extension === undefined ? this.entries : (this.byExtension.get(extension) ?? []);
  }
}

function put(index: Map<string, Entry[]>, key: string, entry: Entry): void {
  const same = index.get(key);
  if (same === undefined) index.set(key, [entry]);
  else same.push(entry);
}
