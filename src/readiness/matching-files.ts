import type { Tree } from './file-tree.js';
import type { Glob, Pattern } from './glob.js';

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
