import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { UsageError } from '../src/exit.js';
import { Glob } from '../src/readiness/glob.js';
import { levelOf } from '../src/readiness/maturity-level.js';
import { type Criterion, readCriteria } from '../src/readiness/readiness-rules.js';
import { check } from '../src/readiness/repository-check.js';
import { NOW, temporaryFolder } from './world.js';

const CRITERIA = readCriteria();

/** Runs git as its user does, with a name, an instant, and nothing of this machine's own settings. */
function git(folder: string, ...args: string[]): string {
  const at = new Date(NOW).toISOString();
  return execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@acme.example',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@acme.example',
      GIT_AUTHOR_DATE: at,
      GIT_COMMITTER_DATE: at,
    },
  }).trim();
}

/** A repository with a commit. */
function repository(files: Readonly<Record<string, string>> = { 'README.md': 'x'.repeat(300) }): string {
  const folder = temporaryFolder();
  git(folder, 'init', '--quiet', '--initial-branch', 'main');
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', 'Begin');
  return folder;
}

async function rationalesOf(folder: string): Promise<Record<string, string>> {
  const { submission } = await check(folder, CRITERIA, NOW);
  return Object.fromEntries(Object.entries(submission.report).map(([id, { rationale }]) => [id, rationale]));
}

describe('the facts of git', () => {
  test('are those of the commit, the branch, what is not committed and what is not pushed', async () => {
    const folder = repository();
    const of = async (path = folder) => (await check(path, CRITERIA, NOW)).submission;
    const commitHash = git(folder, 'rev-parse', 'HEAD');
    git(folder, 'remote', 'add', 'origin', 'https://ada:s3cr3t@github.com/acme/api.git');
    expect(await of()).toMatchObject({
      repoUrl: 'https://github.com/acme/api.git',
      commitHash,
      branch: 'main',
      hasLocalChanges: false,
      hasNonRemoteCommits: true,
      report: { recent_commit: { numerator: 1, rationale: 'the last commit is from 2026-07-10.' } },
    });
    git(folder, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    git(folder, 'tag', 'v1');
    writeFileSync(join(folder, 'new.txt'), '');
    mkdirSync(join(folder, 'deep'));
    const now = await of(join(folder, 'deep'));
    expect(now).toMatchObject({ hasLocalChanges: true, hasNonRemoteCommits: false });
    expect(now.report.releases_are_tagged?.rationale).toBe('the newest tag is v1.');
    git(folder, 'checkout', '--quiet', '--detach');
    expect(await of()).not.toHaveProperty('branch');
    git(folder, 'worktree', 'add', '--quiet', '-b', 'side', join(folder, 'side'));
    expect(await of(join(folder, 'side'))).toMatchObject({ branch: 'side', commitHash });
  });

  test('are few in a repository without a commit, and none where there is no repository', async () => {
    const folder = temporaryFolder();
    git(folder, 'init', '--quiet');
    const empty = await check(folder, CRITERIA, NOW);
    expect(empty.submission).toMatchObject({ hasLocalChanges: false });
    expect(empty.submission).not.toHaveProperty('commitHash');
    rmSync(join(folder, '.git'), { recursive: true });
    const { submission, notes } = await check(folder, CRITERIA, NOW);
    expect(submission).not.toHaveProperty('hasLocalChanges');
    expect(submission.report.recent_commit?.numerator).toBe(0);
    expect(notes).toEqual([]);
    mkdirSync(join(folder, '.git'));
    expect((await check(folder, CRITERIA, NOW)).notes).toEqual([
      expect.stringMatching(/^Git could not read the repository: .+\.$/),
    ]);
  });

  test('what git ignores is no part of the repository, and what is new is', async () => {
    const folder = repository({ '.gitignore': 'AGENTS.md\n', 'README.md': '' });
    writeFileSync(join(folder, 'AGENTS.md'), '');
    writeFileSync(join(folder, 'LICENSE'), '');
    const found = await rationalesOf(folder);
    expect(found.agent_instructions).toMatch(/^no instructions/);
    expect(found.license).toBe('LICENSE.');
  });
});

test('Daybook itself meets what it asks for on the first two levels', async () => {
  const { evaluated } = await check(PACKAGE_ROOT, CRITERIA, NOW);
  const counted = evaluated.map((one) => ({ ...one, level: one.criterion.level }));
  expect(levelOf(counted)).toBeGreaterThanOrEqual(3);
});

test('a repository cannot have the check run a program, whatever its git is told to', async () => {
  const folder = repository({
    'a.txt': 'a\n',
    '.gitattributes': '*.txt filter=evil diff=evil\n',
  });
  const marker = join(folder, 'evil');
  mkdirSync(marker);
  const program = join(marker, 'run.sh');
  const ran = () => readdirSync(marker).filter((name) => name !== 'run.sh');
  writeFileSync(program, `#!/bin/sh\ntouch "${marker}/$1-$$"\ncat\n`, { mode: 0o755 });
  const by = (name: string) => `${program} ${name}`;
  const settings: [string, string][] = [
    ['core.fsmonitor', by('fsmonitor')],
    ['core.hooksPath', marker],
    ['core.pager', by('pager')],
    ['pager.log', by('pager-log')],
    ['pager.status', by('pager-status')],
    ['core.sshCommand', by('ssh')],
    ['core.editor', by('editor')],
    ['core.askPass', by('askpass')],
    ['core.alternateRefsCommand', by('alternates')],
    ['core.gitProxy', by('proxy')],
    ['credential.helper', `!${by('credential')}`],
    ['diff.external', by('diff')],
    ['diff.evil.command', by('diff-command')],
    ['diff.evil.textconv', by('textconv')],
    ['filter.evil.clean', by('clean')],
    ['filter.evil.smudge', by('smudge')],
    ['filter.evil.process', by('process')],
    ['filter.evil.required', 'true'],
    ['gpg.program', program],
    ['gpg.ssh.program', by('gpg-ssh')],
    ['log.showSignature', 'true'],
    ['alias.log', `!${by('alias-log')}`],
    ['alias.status', `!${by('alias-status')}`],
    ['alias.ls-files', `!${by('alias-ls')}`],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.url', `ext::${program} ext %S`],
    ['remote.origin.uploadpack', by('uploadpack')],
    ['protocol.ext.allow', 'always'],
    ['core.repositoryFormatVersion', '1'],
  ];
  // A submodule has settings of its own.
  const sub = join(folder, 'inner');
  mkdirSync(sub);
  git(sub, 'init', '--quiet');
  writeFileSync(join(sub, 'x.txt'), '');
  git(sub, 'add', '--all');
  git(sub, 'commit', '--quiet', '--message', 'Inner');
  git(folder, 'update-index', '--add', '--cacheinfo', `160000,${git(sub, 'rev-parse', 'HEAD')},inner`);
  writeFileSync(join(folder, '.gitmodules'), '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n');
  git(folder, 'add', '.gitmodules');
  // Whoever looks at a signature asks the program that checks it.
  const commit = git(folder, 'cat-file', 'commit', 'HEAD');
  const signature = '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----\n\n';
  const signed = join(folder, 'signed');
  writeFileSync(signed, `${commit.replace('\n\n', signature)}\n`);
  const head = git(folder, 'hash-object', '-t', 'commit', '-w', signed);
  git(folder, 'update-ref', 'HEAD', head);
  git(sub, 'config', 'core.fsmonitor', by('inner-fsmonitor'));
  for (const [name, value] of settings) git(folder, 'config', name, value);
  for (const hook of ['post-index-change', 'fsmonitor-watchman', 'pre-auto-gc', 'reference-transaction'])
    writeFileSync(join(marker, hook), `#!/bin/sh\ntouch "${marker}/hook-${hook}"\n`, { mode: 0o755 });
  // More of it where the first file only points to.
  writeFileSync(join(folder, 'more.cfg'), `[filter "other"]\n\tclean = ${by('included')}\n`);
  git(folder, 'config', 'include.path', join(folder, 'more.cfg'));
  const hooks = ran();
  // What a filter would be asked about: a file that may have changed.
  writeFileSync(join(folder, 'a.txt'), 'b\n');

  const environment = {
    GIT_EXTERNAL_DIFF: by('variable'),
    GIT_SSH_COMMAND: by('variable'),
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor=${by('variable')}'`,
  };
  Object.assign(process.env, environment);
  try {
    const { submission } = await check(folder, CRITERIA, NOW);
    expect(submission).toMatchObject({ commitHash: expect.any(String), hasLocalChanges: true });
    // An object that isn't there would be asked for elsewhere.
    rmSync(join(folder, '.git', 'objects', head.slice(0, 2), head.slice(2)));
    const partial = await check(folder, CRITERIA, NOW);
    expect(partial.submission).not.toHaveProperty('commitHash');
  } finally {
    for (const name of Object.keys(environment)) delete process.env[name];
  }
  expect(ran()).toEqual(hooks);
  // The same repository does run programs of those who ask git without such care.
  spawnSync('git', ['status'], { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } });
  expect(ran().length).toBeGreaterThan(hooks.length);
});

describe('a repository cannot have the check read', () => {
  test('what a link leads to outside of it', async () => {
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'README.md'), 'x'.repeat(1000));
    mkdirSync(join(outside, '.github'));
    writeFileSync(join(outside, '.github', 'CODEOWNERS'), '');
    const folder = repository({ 'docs/HOWTO.md': 'npm ci' });
    symlinkSync(join(outside, 'README.md'), join(folder, 'README.md'));
    symlinkSync(join(outside, '.github'), join(folder, '.github'));
    symlinkSync('/', join(folder, 'root'));
    symlinkSync('loop', join(folder, 'loop'));
    symlinkSync('docs/HOWTO.md', join(folder, 'AGENTS.md'));
    for (const isGit of [true, false]) {
      if (!isGit) rmSync(join(folder, '.git'), { recursive: true });
      const found = await rationalesOf(folder);
      expect(found.readme).toMatch(/^no README/);
      expect(found.code_owners).toMatch(/^no CODEOWNERS/);
      expect(found.agent_instructions).toBe('AGENTS.md.');
      expect(found.agent_commands).toBe('AGENTS.md, line 1.');
    }
  });

  test('a pipe that nobody writes to, or the whole of a file that never ends', async () => {
    const folder = repository({ 'big.md': '' });
    execFileSync('mkfifo', [join(folder, 'README.md')]);
    writeFileSync(join(folder, 'AGENTS.md'), '');
    truncateSync(join(folder, 'AGENTS.md'), 2 ** 40);
    const found = await rationalesOf(folder);
    expect(found.readme).toMatch(/^no README/);
    expect(found.agent_instructions).toBe('AGENTS.md.');
    // Git doesn't list it.
    rmSync(join(folder, '.git'), { recursive: true });
    expect((await check(folder, CRITERIA, NOW)).notes).toEqual([
      'README.md was left out, because it is a pipe and not a file.',
    ]);
  });

  test('data that is made to be slow to read', async () => {
    const nested = '['.repeat(200_000);
    const aliases = [
      'a: &a [x]',
      ...Array.from(
        { length: 200 },
        (_, at) => `b${at}: &b${at} [*${at === 0 ? 'a' : `b${at - 1}`}, *${at === 0 ? 'a' : `b${at - 1}`}]`,
      ),
    ];
    const folder = repository({
      'package.json': `{"workspaces": ${nested}`,
      'pnpm-workspace.yaml': aliases.join('\n'),
      'lerna.json': nested,
      'Cargo.toml': `x = ${nested}`,
      'pyproject.toml': `${'a.'.repeat(100_000)}b = 1`,
      'go.work': ' '.repeat(500_000),
      'settings.gradle': `include${' ,'.repeat(200_000)}`,
      'pom.xml': '<module>'.repeat(60_000),
      'requirements.txt': `${' '.repeat(400_000)}x`,
      'itself.yml': 'a: &a [*a]',
      'endless.yml': '? - '.repeat(2000),
    });
    const itself = {
      ...readCriteria()[0],
      id: 'itself',
      any: [{ key: 'a', in: [new Glob('*.yml')], matches: RE2JS.compile('x') }],
    } as Criterion;
    const { submission, notes } = await check(folder, [...CRITERIA, itself], NOW);
    expect(submission.report.itself?.numerator).toBe(0);
    expect(notes).toContain('endless.yml was not parsed, because that takes too long.');
    expect(Object.keys(submission.apps)).toEqual(['.']);
  });
});

describe("rules of one's own", () => {
  const rule = (more: object = {}) => ({
    id: 'our_rule',
    level: 1,
    scope: 'repository',
    description: 'We are ready',
    missing: 'no file ready.txt',
    any: [{ files: ['ready.txt'] }],
    ...more,
  });
  const write = (data: unknown): string => {
    const path = join(temporaryFolder(), 'rules.json');
    writeFileSync(path, typeof data === 'string' ? data : JSON.stringify(data));
    return path;
  };

  test('are added, take the place of those that have their id, or turn some off', async () => {
    const criteria = readCriteria(
      write({
        category: 'Ours',
        criteria: [rule(), rule({ id: 'license', level: 5 }), { id: 'readme', off: true }],
      }),
    );
    expect(criteria).toHaveLength(CRITERIA.length);
    expect(criteria.find(({ id }) => id === 'license')).toMatchObject({ level: 5, category: 'Ours' });
    const { submission } = await check(repository({ 'ready.txt': '' }), criteria, NOW);
    expect(submission.report).not.toHaveProperty('readme');
    expect(submission.report.our_rule).toEqual({
      numerator: 1,
      denominator: 1,
      rationale: 'ready.txt.',
      level: 1,
    });
    expect(submission.report.license).toMatchObject({ numerator: 1, level: 5 });
  });

  test('see all kinds of things, and all of them where they say so', async () => {
    const all = [
      { files: ['a/**/*.txt'], atLeastBytes: 3 },
      { noFiles: ['**/*.bak'], except: ['old/**'] },
      { text: '^two$', in: ['a/**'] },
      { key: 'jobs.*.on\\.push', in: ['w.yml'], matches: '^m' },
    ];
    const criteria = readCriteria(write({ criteria: [rule({ any: undefined, all })] }));
    const files = { 'a/b/c.txt': 'one\ntwo\n', 'old/x.bak': '', 'w.yml': 'jobs:\n  x:\n    on.push: main\n' };
    const of = async (more: object) =>
      (await check(repository({ ...files, ...more }), criteria, NOW)).submission.report.our_rule;
    expect(await of({})).toMatchObject({
      numerator: 1,
      rationale: 'a/b/c.txt and no such file and a/b/c.txt, line 2 and jobs.*.on\\.push in w.yml.',
    });
    expect(await of({ 'new/x.bak': '' })).toMatchObject({
      numerator: 0,
      rationale: 'no file ready.txt (new/x.bak).',
    });
    expect(await of({ 'w.yml': 'jobs: {}' })).toMatchObject({ numerator: 0 });
  });

  test('cannot hang: an expression that takes other engines years is done at once', async () => {
    const slow = rule({
      any: [{ text: '^(a+)+$|(.*)*x(x+x+)+y', in: ['*.txt'] }, { files: ['*a*a*a*a*a*a*a*a*b'] }],
    });
    const criteria = readCriteria(write({ criteria: [slow] }));
    const folder = repository({ 'a.txt': `${'a'.repeat(50_000)}!`, ['a'.repeat(250)]: '' });
    expect((await check(folder, criteria, NOW)).submission.report.our_rule?.numerator).toBe(0);
  });

  const WRONG: [unknown, string][] = [
    ['{', 'they are not JSON'],
    [{}, 'criteria must be a list'],
    [{ criteria: [] }, 'criteria must have at least 1 element'],
    [{ criteria: [rule()], more: 1 }, 'the file must not have more'],
    [{ criteria: [rule({ level: 6 })] }, 'our_rule.level must be at most 5'],
    [{ criteria: [rule({ scope: 'world' })] }, 'our_rule.scope must be repository or application'],
    [{ criteria: [rule({ colour: 'red' })] }, 'our_rule must not have colour'],
    [{ criteria: [rule({ any: undefined })] }, 'our_rule must have either any or all'],
    [{ criteria: [rule({ any: [{}] })] }, 'our_rule.any.0 must have one of files, noFiles, text, key, git'],
    [{ criteria: [rule({ any: [{ files: ['a'], key: 'b' }] })] }, 'our_rule.any.0 must have one of files'],
    [
      { criteria: [rule({ any: [{ text: '(', in: ['a'] }] })] },
      'our_rule.any.0.text must be a regular expression of RE2',
    ],
    [
      { criteria: [rule({ any: [{ text: 'a(?=b)', in: ['a'] }] })] },
      'our_rule.any.0.text must be a regular expression of RE2',
    ],
    [
      { criteria: [rule({ any: [{ text: '(a{1000}b{1000})'.repeat(60), in: ['a'] }] })] },
      'our_rule.any.0.text is too large: with repetitions such as {9} written out',
    ],
    [{ criteria: [rule({ any: [{ text: 'a' }] })] }, 'our_rule.any.0 must have in with text'],
    [
      { criteria: [rule({ any: [{ files: ['a'], matches: 'b' }] })] },
      'our_rule.any.0 must not have matches with files',
    ],
    [
      { criteria: [rule({ any: [{ files: ['{a,b}'.repeat(9)] }] })] },
      'our_rule.any.0.files.0 must stand for at most 100 patterns',
    ],
    [{ criteria: [rule(), rule()] }, 'have our_rule twice'],
    [{ criteria: [{ id: 'nothing', off: true }] }, 'turn off nothing, but there is no such criterion'],
    [{ criteria: [{ id: 'readme', off: false }] }, 'readme.off must be true'],
  ];
  test.each(WRONG.map(([data, sentence]) => [sentence, data] as const))(
    'are refused in a sentence: %s',
    (sentence, data) => {
      const path = write(data);
      const refused = () => readCriteria(path);
      expect(refused).toThrow(UsageError);
      expect(refused).toThrow(sentence);
      expect(refused).toThrow(/^The rules \S+ [^\n]+\.$/);
    },
  );

  test('that are not there are a mistake of use', () => {
    expect(() => readCriteria('/nowhere.json')).toThrow("the file can't be read");
    expect(() => readCriteria(PACKAGE_ROOT)).toThrow(UsageError);
    expect(existsSync('/nowhere.json')).toBe(false);
  });
});
