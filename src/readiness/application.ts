import { posix } from 'node:path';
import { RE2JS } from 're2js';
import { z } from 'zod';
import type { Tree } from './file-tree.js';
import { Glob } from './glob.js';
import { Files } from './matching-files.js';

/** A part of a repository that is built and run by itself, with its own files. */
export interface Application {
  /** Its folder, `.` for the repository itself. */
  readonly path: string;
  readonly description: string;
  readonly files: Files;
}

/** The parts of a repository. */
export interface Parts {
  readonly applications: readonly Application[];
  /** All files. */
  readonly whole: Files;
  /** The files outside all applications, except that of the repository itself. */
  readonly rest: Files;
}

const APPLICATIONS_AT_MOST = 500;
const MEMBERS_AT_MOST = 1000;
/** If the repository itself is a package, deeper folders that are listed nowhere belong to it. */
const DEPTH_AT_MOST = 2;

/** How packages of a kind are recognized, and where a repository lists them. Paths are folders, '' for the repository. */
interface Kind {
  readonly name: string;
  readonly manifests: string;
  /** Whether a manifest makes its folder a package; by default any does. */
  readonly isPackage?: (tree: Tree, manifest: string) => boolean;
  /** The folders that a workspace lists, as globs, where `!` excludes some; empty if nothing is listed. */
  readonly members?: (tree: Tree) => string[];
  /** Whether a listed folder needs no manifest. */
  readonly isListingEnough?: boolean;
  /** If nothing is listed: whether every manifest is a package, even below another one. */
  readonly isNested?: boolean;
  /** The manifest's description of the package. */
  readonly about?: (
    tree: Tree,
    manifest: string,
  ) => { name?: string | undefined; description?: string | undefined };
}

const Named = z.object({
  name: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
});
const list = z.array(z.string()).catch([]);

/** A member of parsed data, by its path. */
function at(data: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    data,
  );
}

function named(data: unknown): z.infer<typeof Named> {
  return Named.safeParse(data).data ?? {};
}

/** All matches of an expression's first group. */
function all(text: string | undefined, expression: RE2JS): string[] {
  const found: string[] = [];
  if (text === undefined) return found;
  for (const matcher = expression.matcher(text); matcher.find(); ) found.push(matcher.group(1) ?? '');
  return found;
}

const folderOf = (path: string) => path.slice(0, Math.max(path.lastIndexOf('/'), 0));
/** A path relative to a folder, made relative to the repository. It can't lead outside. */
const joined = (folder: string, path: string) =>
  posix.join('/', folder, path.replaceAll('\\', '/'), '.').slice(1);

const GO_USE = RE2JS.compile(String.raw`^\s*(?:use\s+)?(\.[^\s()]*)\s*$`, RE2JS.MULTILINE);
const MAVEN_MODULE = RE2JS.compile(String.raw`<module>\s*([^<\s]+)\s*</module>`);
const GRADLE_INCLUDE = RE2JS.compile(String.raw`\binclude\b\s*\(?((?:[\s,]*['"][^'"\n]+['"])+)`);
const QUOTED = RE2JS.compile(`['"]([^'"]+)['"]`);
const SOLUTION_PROJECT = RE2JS.compile(String.raw`"([^"\n]+\.(?:cs|fs|vb)proj)"`);
const GO_MODULE = RE2JS.compile(String.raw`^module\s+(\S+)`, RE2JS.MULTILINE);

/** The modules of a Maven project, and their modules. */
function mavenModules(tree: Tree): string[] {
  const found = new Set<string>();
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const module of all(tree.text(joined(folder, 'pom.xml')), MAVEN_MODULE)) {
      const path = joined(folder, module);
      if (found.has(path) || found.size >= APPLICATIONS_AT_MOST) continue;
      found.add(path);
      waiting.push(path);
    }
  }
  // A project that only contains projects isn't checked by itself.
  return [...found].filter((path) => all(tree.text(joined(path, 'pom.xml')), MAVEN_MODULE).length === 0);
}

const KINDS: readonly Kind[] = [
  {
    name: 'Node.js package',
    manifests: 'package.json',
    members: (tree) => {
      const workspaces = at(tree.data('package.json'), 'workspaces');
      return [
        ...list.parse(Array.isArray(workspaces) ? workspaces : at(workspaces, 'packages')),
        ...list.parse(at(tree.data('pnpm-workspace.yaml'), 'packages')),
        ...list.parse(at(tree.data('lerna.json'), 'packages')),
      ];
    },
    about: (tree, manifest) => named(tree.data(manifest)),
  },
  {
    name: 'Rust crate',
    manifests: 'cargo.toml',
    isPackage: (tree, manifest) => at(tree.data(manifest), 'package') !== undefined,
    members: (tree) => {
      const workspace = at(tree.data('Cargo.toml'), 'workspace');
      return [
        ...list.parse(at(workspace, 'members')),
        ...list.parse(at(workspace, 'exclude')).map((path) => `!${path}`),
      ];
    },
    about: (tree, manifest) => named(at(tree.data(manifest), 'package')),
  },
  {
    name: 'Go module',
    manifests: 'go.mod',
    members: (tree) => all(tree.text('go.work'), GO_USE),
    isNested: true,
    about: (tree, manifest) => ({ name: all(tree.text(manifest), GO_MODULE)[0] }),
  },
  {
    name: 'Python package',
    manifests: '{pyproject.toml,setup.py,setup.cfg}',
    isPackage: (tree, manifest) =>
      !manifest.endsWith('pyproject.toml') ||
      ['project', 'build-system'].some((table) => at(tree.data(manifest), table) !== undefined) ||
      at(tree.data(manifest), 'tool', 'poetry') !== undefined,
    members: (tree) => list.parse(at(tree.data('pyproject.toml'), 'tool', 'uv', 'workspace', 'members')),
    about: (tree, manifest) => {
      const data = manifest.endsWith('.toml') ? tree.data(manifest) : undefined;
      return named(at(data, 'project') ?? at(data, 'tool', 'poetry'));
    },
  },
  { name: 'Maven project', manifests: 'pom.xml', members: mavenModules },
  {
    name: 'Gradle project',
    manifests: 'build.{gradle,gradle.kts}',
    members: (tree) =>
      ['settings.gradle', 'settings.gradle.kts']
        .flatMap((settings) => all(tree.text(settings), GRADLE_INCLUDE))
        .flatMap((names) => all(names, QUOTED))
        .map((name) => name.replace(/^:/, '').replaceAll(':', '/')),
    isListingEnough: true,
  },
  {
    name: '.NET project',
    manifests: '*.{csproj,fsproj,vbproj}',
    members: (tree) =>
      tree.paths
        .filter((path) => /^([^/]+\/)?[^/]+\.slnx?$/i.test(path))
        .flatMap((solution) =>
          all(tree.text(solution), SOLUTION_PROJECT).map((project) =>
            folderOf(joined(folderOf(solution), project)),
          ),
        ),
    isNested: true,
  },
  { name: 'Ruby gem', manifests: '*.gemspec' },
  { name: 'PHP package', manifests: 'composer.json', about: (tree, manifest) => named(tree.data(manifest)) },
  { name: 'Elixir project', manifests: 'mix.exs' },
  { name: 'Swift package', manifests: 'package.swift' },
  { name: 'Dart package', manifests: 'pubspec.yaml', about: (tree, manifest) => named(tree.data(manifest)) },
];

/** Names of folders with packages for tests, examples and the like. */
const NOT_AN_APPLICATION =
  /^(__tests__|test_?data|testing|fixtures?|demos?|docs?|documentation|playgrounds?|bench(es)?|benchmarks?|templates?|third_party|vendor|node_modules)$|(^|[-_.]|unit|functional|integration|acceptance)(tests?|spec|e2e|examples?|samples?|fixtures?|benchmarks?)$/i;

function isApplication(folder: string): boolean {
  return folder === '' || !folder.split('/').some((name) => NOT_AN_APPLICATION.test(name));
}

/** The folders of a kind's applications, each with its manifest, and whether the repository lists them. */
function packagesOf(
  kind: Kind,
  tree: Tree,
  whole: Files,
): { packages: Map<string, string>; isListed: boolean } {
  const manifests = new Map<string, string>();
  for (const path of whole.find([new Glob(`**/${kind.manifests}`)])) {
    const folder = folderOf(path);
    if (!manifests.has(folder) && isApplication(folder) && kind.isPackage?.(tree, path) !== false)
      manifests.set(folder, path);
  }
  const listed = (kind.members?.(tree) ?? []).slice(0, MEMBERS_AT_MOST);
  const only = (isOne: (folder: string) => boolean) =>
    new Map([...manifests].filter(([folder]) => isOne(folder)));
  if (listed.length > 0) {
    const globs = (isOut: boolean) =>
      listed
        .filter((glob) => glob.startsWith('!') === isOut)
        .flatMap((glob) => toGlob(joined('', glob.replace(/^!/, ''))) ?? []);
    const [members, others] = [globs(false), globs(true)];
    const isMember = (folder: string) => {
      const names = folder.toLowerCase().split('/');
      return members.some((glob) => glob.matches(names)) && !others.some((glob) => glob.matches(names));
    };
    if (kind.isListingEnough === true)
      for (const folder of foldersOf(tree))
        if (!manifests.has(folder) && isApplication(folder)) manifests.set(folder, '');
    const found = only(isMember);
    // A crate can be a workspace too; a package with npm workspaces exists only for them.
    const root = manifests.get('');
    if (root !== undefined && (kind.name === 'Rust crate' || found.size === 0)) found.set('', root);
    return { packages: found, isListed: true };
  }
  if (kind.isNested === true) return { packages: manifests, isListed: true };
  const isBelow = (folder: string) => [...ancestorsOf(folder)].some((above) => manifests.has(above));
  return { packages: only((folder) => !isBelow(folder)), isListed: false };
}

/** Folders with files. */
function foldersOf(tree: Tree): Set<string> {
  return new Set(tree.paths.flatMap((path) => [...ancestorsOf(path)]));
}

function toGlob(text: string): Glob | undefined {
  try {
    return new Glob(text);
  } catch {
    return undefined;
  }
}

/** The parents of a folder, nearest first. */
function* ancestorsOf(folder: string): Generator<string> {
  for (let above = folder; above !== ''; ) {
    above = folderOf(above);
    yield above;
  }
}

/** Finds the applications of a repository: those that its workspaces list, else folders with a manifest, else the repository itself. */
export function partsOf(tree: Tree): Parts {
  const whole = new Files(tree, '', tree.paths);
  const descriptions = new Map<string, string[]>();
  const listed = new Set<string>();
  for (const kind of KINDS) {
    const { packages, isListed } = packagesOf(kind, tree, whole);
    for (const [folder, manifest] of packages) {
      if (isListed) listed.add(folder);
      const { name = folder, description } = kind.about?.(tree, manifest) ?? {};
      const words = [kind.name, name].filter(Boolean).join(' ');
      const about = description === undefined ? words : `${words}: ${description}`;
      descriptions.set(folder, [...(descriptions.get(folder) ?? []), about]);
    }
  }
  if (descriptions.size === 0) descriptions.set('', ['Repository without a package']);
  const isNear = (folder: string) => folder.split('/').length <= DEPTH_AT_MOST;
  const found = [...descriptions]
    .filter(([folder]) => !descriptions.has('') || listed.has(folder) || isNear(folder))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  if (found.length > APPLICATIONS_AT_MOST)
    tree.notes.push(`Only the first ${APPLICATIONS_AT_MOST} of ${found.length} applications were checked.`);
  const chosen = found.slice(0, APPLICATIONS_AT_MOST);
  const folders = new Set(chosen.map(([folder]) => folder));
  // A file belongs to the nearest application above it.
  const owned = new Map<string, string[]>([['', []]]);
  for (const path of tree.paths) {
    const owner = [...ancestorsOf(path)].find((folder) => folders.has(folder)) ?? '';
    const own = owned.get(owner);
    if (own === undefined) owned.set(owner, [path]);
    else own.push(path);
  }
  const rest = new Files(tree, '', owned.get('') ?? []);
  const applications = chosen.map(([folder, about]) => ({
    path: folder === '' ? '.' : folder,
    description: about.join('; '),
    files: folder === '' ? rest : new Files(tree, folder, owned.get(folder) ?? []),
  }));
  return { applications, whole, rest };
}
