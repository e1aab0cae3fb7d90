import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { partsOf } from '../src/readiness/application.js';
import { type Evaluated, evaluate } from '../src/readiness/criterion.js';
import { Tree } from '../src/readiness/file-tree.js';
import type { GitFacts } from '../src/readiness/git-facts.js';
import { nextSteps } from '../src/readiness/maturity-level.js';
import { type Criterion, readCriteria } from '../src/readiness/readiness-rules.js';
import { expectPage } from './page.js';
import { NOW, temporaryFolder } from './world.js';

/** Files by path, with what is in them. */
type Repository = Readonly<Record<string, string>>;

const FOLDER = temporaryFolder(afterAll);
let made = 0;

/** Writes a repository without git, and answers its files. */
function treeOf(files: Repository): Tree {
  const folder = join(FOLDER, String(made++));
  mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return new Tree(folder);
}

function evaluated(criterion: Criterion, files: Repository, git?: GitFacts): Evaluated | undefined {
  return evaluate(criterion, { parts: partsOf(treeOf(files)), git, now: NOW, known: new Map() });
}

const GIT: GitFacts = {
  paths: [],
  remoteUrl: undefined,
  commitHash: 'a'.repeat(40),
  branch: 'main',
  committedAt: NOW,
  newestTag: undefined,
  hasLocalChanges: false,
  hasNonRemoteCommits: false,
};
const DAY = 86_400_000;
const SERVICE = { 'package.json': '{"dependencies": {"fastify": "5.0.0"}}' };
const CI = '.github/workflows/ci.yml';

/** Of every criterion a repository that meets it, by what is more in it than in one that doesn't. */
const CASES: Record<string, { met: Repository; unmet?: Repository; git?: [met: GitFacts, unmet: GitFacts] }> =
  {
    linter: { met: { 'biome.json': '{}' }, unmet: { 'package.json': '{}' } },
    formatter: { met: { 'pyproject.toml': '[tool.black]\nline-length = 100' } },
    type_checker: { met: { 'setup.cfg': '[metadata]\nname = x\n[mypy]\n' }, unmet: { 'setup.py': '' } },
    line_format: { met: { '.editorconfig': '' } },
    strict_types: {
      met: { 'tsconfig.json': '{ // not quite JSON\n "strict": true }' },
      unmet: { 'tsconfig.json': '{}' },
    },
    pre_commit: { met: { 'package.json': '{"lint-staged": {"*": "biome"}}' } },
    lint_in_ci: { met: { [CI]: 'run: npx eslint .' }, unmet: { [CI]: 'run: make' } },
    commit_messages: { met: { 'CONTRIBUTING.md': 'We use Conventional Commits.' } },
    spelling: { met: { '_typos.toml': '' } },
    unused_code: { met: { 'tsconfig.json': '{"noUnusedLocals": true}' }, unmet: { 'tsconfig.json': '{}' } },
    complexity: { met: { '.golangci.yml': 'enable: [gocyclo]' }, unmet: { '.golangci.yml': 'enable: []' } },
    build_command: {
      met: { 'package.json': '{"scripts": {"build": "tsc"}}' },
      unmet: { 'package.json': '{"scripts": {"build": ""}}' },
    },
    lock_file: { met: { 'go.mod': '', 'go.sum': '' }, unmet: { 'go.mod': '' } },
    ci: { met: { '.gitlab-ci.yml': '' } },
    task_commands: { met: { justfile: '' }, unmet: { 'package.json': '{"scripts": {}}' } },
    build_in_ci: { met: { [CI]: 'run: cargo build' }, unmet: { [CI]: 'run: echo' } },
    ci_cache: { met: { [CI]: 'uses: actions/cache@v4' }, unmet: { [CI]: 'run: make' } },
    dependency_updates: { met: { 'renovate.json': '{}' } },
    changelog: { met: { 'CHANGELOG.md': '' } },
    releases_are_tagged: { met: {}, git: [{ ...GIT, newestTag: 'v1.0.0' }, GIT] },
    release_automation: { met: { '.goreleaser.yaml': '' } },
    ci_cancels_outdated_runs: { met: { [CI]: 'cancel-in-progress: true' }, unmet: { [CI]: 'on: push' } },
    build_cache: { met: { 'turbo.json': '{}' } },
    unit_tests: { met: { 'src/a.test.ts': '' }, unmet: { 'src/a.ts': '' } },
    test_command: {
      met: { 'pyproject.toml': '[tool.pytest.ini_options]\nminversion = "8"' },
      unmet: { 'package.json': '{"scripts": {"build": "x"}}' },
    },
    tests_in_ci: { met: { [CI]: 'run: go test ./...' }, unmet: { [CI]: 'run: go build' } },
    integration_tests: { met: { 'tests/e2e/login.ts': '' }, unmet: { 'tests/login.test.ts': '' } },
    coverage: { met: { '.coveragerc': '' } },
    coverage_threshold: {
      met: { 'pyproject.toml': '[tool.coverage.report]\nfail_under = 90' },
      unmet: { 'pyproject.toml': '[tool.coverage.report]' },
    },
    test_isolation: {
      met: { 'package.json': '{"devDependencies": {"vitest": "4.0.0"}}' },
      unmet: { 'package.json': '{}' },
    },
    property_tests: {
      met: { 'go.mod': '', 'a_test.go': 'package a\nfunc FuzzParse(f *testing.F) {}' },
      unmet: { 'go.mod': '', 'a_test.go': 'package a' },
    },
    mutation_tests: { met: { 'stryker.config.json': '{}' } },
    benchmarks: { met: { 'benches/read.rs': '' } },
    readme: { met: { 'readme.rst': 'x'.repeat(300) }, unmet: { 'README.md': '# Title' } },
    license: { met: { LICENCE: '' } },
    setup_instructions: { met: { 'README.md': 'Run `npm ci`.' }, unmet: { 'README.md': 'Ask us.' } },
    contributing: { met: { 'README.md': '# x\n## Contributing\n' }, unmet: { 'README.md': '# x' } },
    agent_instructions: { met: { 'AGENTS.md': '' } },
    app_readme: { met: { 'README.md': '' } },
    agent_commands: { met: { 'CLAUDE.md': 'Test with `npm test`.' }, unmet: { 'CLAUDE.md': 'Be kind.' } },
    architecture: { met: { 'docs/architecture.md': '' } },
    api_reference: { met: { 'docs/openapi.json': '{}' } },
    decisions: { met: { 'docs/adr/0001-use-sql.md': '' } },
    agent_skills: { met: { '.claude/skills/release/SKILL.md': '' } },
    docs_in_ci: { met: { [CI]: 'run: npx markdownlint .' }, unmet: { [CI]: 'run: make' } },
    gitignore: { met: { '.gitignore': '' } },
    toolchain_version: {
      met: { 'package.json': '{"engines": {"node": ">=20"}}' },
      unmet: { 'package.json': '{}' },
    },
    settings_documented: {
      met: { 'src/a.ts': 'process.env.PORT', '.env.example': 'PORT=1' },
      unmet: { 'src/a.ts': 'process.env.PORT' },
    },
    dev_environment: { met: { '.devcontainer/devcontainer.json': '{}' } },
    local_services: {
      met: { 'package.json': '{"dependencies": {"pg": "8.0.0"}}', 'compose.yaml': '' },
      unmet: { 'package.json': '{"dependencies": {"pg": "8.0.0"}}' },
    },
    one_command_setup: { met: { 'scripts/setup.sh': '' } },
    structured_logs: {
      met: { 'package.json': '{"dependencies": {"fastify": "5.0.0", "pino": "9.0.0"}}' },
      unmet: { 'package.json': '{"dependencies": {"express": "5.0.0"}}' },
    },
    health_check: { met: { ...SERVICE, 'src/app.ts': "app.get('/healthz')" }, unmet: SERVICE },
    metrics: {
      met: {
        'go.mod': 'require (\n\tgithub.com/gin-gonic/gin v1\n\tgithub.com/prometheus/client_golang v1\n)',
      },
      unmet: { 'go.mod': 'require github.com/gin-gonic/gin v1' },
    },
    error_tracking: {
      met: { 'requirements.txt': 'flask\nsentry-sdk\n' },
      unmet: { 'requirements.txt': 'flask\n' },
    },
    tracing: {
      met: { 'Cargo.toml': '[dependencies]\naxum = "1"\nopentelemetry = "1"' },
      unmet: { 'Cargo.toml': '[dependencies]\naxum = "1"' },
    },
    runbook: { met: { ...SERVICE, 'docs/operations.md': '' }, unmet: SERVICE },
    alerts: { met: { ...SERVICE, 'deploy/alerts.yaml': '' }, unmet: SERVICE },
    secrets_are_ignored: {
      met: { 'package.json': '{}', '.gitignore': '/dist\n.env\n' },
      unmet: { 'package.json': '{}', '.gitignore': '/dist\n' },
    },
    no_secret_files: { met: { 'test/fixtures/server.pem': '' }, unmet: { 'config/server.pem': '' } },
    security_policy: { met: { '.github/SECURITY.md': '' } },
    code_owners: { met: { '.github/CODEOWNERS': '' } },
    secret_scan: { met: { '.gitleaks.toml': '' } },
    code_scan: { met: { [CI]: 'uses: github/codeql-action/init@v3' }, unmet: { [CI]: 'run: make' } },
    dependency_audit: { met: { [CI]: 'run: npm audit' }, unmet: { [CI]: 'run: npm ci' } },
    ci_permissions: { met: { [CI]: 'permissions:\n  contents: read' }, unmet: { [CI]: 'on: push' } },
    pinned_actions: {
      met: { [CI]: `- uses: actions/checkout@${'0'.repeat(40)}` },
      unmet: { [CI]: '- uses: actions/checkout@v4' },
    },
    signed_releases: {
      met: { [CI]: 'uses: sigstore/cosign-installer@v3' },
      unmet: { [CI]: 'run: npm publish' },
    },
    recent_commit: {
      met: {},
      git: [
        { ...GIT, committedAt: NOW - 90 * DAY },
        { ...GIT, committedAt: NOW - 90 * DAY - 1 },
      ],
    },
    issue_templates: { met: { '.github/ISSUE_TEMPLATE/bug.md': '' } },
    pull_request_template: { met: { '.github/pull_request_template.md': '' } },
    roadmap: { met: { 'ROADMAP.md': '' } },
    labels: { met: { '.github/labels.yml': '' } },
    triage: {
      met: { '.github/workflows/stale.yml': 'uses: actions/stale@v9' },
      unmet: { [CI]: 'run: make' },
    },
    merge_automation: { met: { '.mergify.yml': '' } },
    agents_in_ci: { met: { '.coderabbit.yaml': '' } },
  };

const CRITERIA = readCriteria();

describe('every criterion', () => {
  test('has a case here', () => {
    expect(Object.keys(CASES).sort()).toEqual(CRITERIA.map(({ id }) => id).sort());
    expect(CRITERIA.length).toBeGreaterThanOrEqual(40);
    expect(new Set(CRITERIA.map(({ category }) => category)).size).toBe(8);
  });

  test.each(CRITERIA)('$id is met by what it looks for, and names that', (criterion) => {
    const { met, git } = CASES[criterion.id] ?? { met: {} };
    const found = evaluated(criterion, met, git?.[0]);
    expect(found).toMatchObject({ numerator: 1, denominator: 1, lacking: [] });
    const names = [...Object.keys(met), 'v1.0.0', '2026-04-11', 'no such file'];
    expect(
      names.some((name) => found?.rationale.includes(name)),
      found?.rationale,
    ).toBe(true);
  });

  test.each(CRITERIA)('$id is not met without, and says what is missing', (criterion) => {
    const { unmet = { 'a.txt': '' }, git } = CASES[criterion.id] ?? {};
    const found = evaluated(criterion, unmet, git?.[1]);
    expect(found).toMatchObject({ numerator: 0, denominator: 1 });
    expect(found?.rationale).toContain(criterion.missing);
    if (criterion.id === 'no_secret_files') expect(found?.rationale).toContain('config/server.pem');
  });
});

const byId = (id: string) => CRITERIA.find((criterion) => criterion.id === id) as Criterion;

test('docs/readiness.md has every criterion, and an example of rules that can be read', async () => {
  const path = join(PACKAGE_ROOT, 'docs', 'readiness.md');
  const [start = ''] = readFileSync(path, 'utf8').split(/(?<=^## Criteria\n)/m);
  const rows = CRITERIA.map(
    ({ category, level, id, scope, description }) =>
      `| ${category} | ${level} | \`${id}\` | ${scope} | ${description} |`,
  );
  const head = ['| Category | Level | Id | Scope | It is met when |', '| --- | --- | --- | --- | --- |'];
  const text = `${start}\nThe table is generated from the rules.\n\n${[...head, ...rows].join('\n')}\n`;
  await expectPage('readiness.md', text);
  const [, example = ''] = /```json\n(.*?)```/s.exec(text) ?? [];
  const rules = join(FOLDER, 'rules.json');
  writeFileSync(rules, example);
  expect(readCriteria(rules).find(({ id }) => id === 'service_owner')).toMatchObject({ level: 2 });
});

describe('a criterion of applications', () => {
  const repository = {
    'package.json': '{"workspaces": ["packages/*"]}',
    'packages/api/package.json': '{"scripts": {"test": "x"}}',
    'packages/api/README.md': '',
    'packages/web/package.json': '{}',
    'packages/web/.eslintrc.json': '{}',
  };

  test('counts those that meet it, and names the others', () => {
    expect(evaluated(byId('app_readme'), repository)).toMatchObject({
      numerator: 1,
      denominator: 2,
      rationale: 'packages/api: packages/api/README.md. packages/web: no README of its own.',
      lacking: ['packages/web'],
    });
  });

  test('is met for all by what stands outside of them, and by none of the others', () => {
    expect(evaluated(byId('linter'), repository)).toMatchObject({ numerator: 1, lacking: ['packages/api'] });
    const shared = { ...repository, 'biome.json': '{}' };
    expect(evaluated(byId('linter'), shared)).toMatchObject({ numerator: 2, denominator: 2 });
    const own = { ...repository, 'README.md': '' };
    expect(evaluated(byId('app_readme'), own)).toMatchObject({ numerator: 1, denominator: 2 });
  });

  test('is about the applications that it is meant for only, and absent where there are none', () => {
    const services = { ...repository, 'packages/web/package.json': '{"dependencies": {"express": "5.0.0"}}' };
    expect(evaluated(byId('metrics'), services)).toMatchObject({
      numerator: 0,
      denominator: 1,
      lacking: ['packages/web'],
    });
    expect(evaluated(byId('metrics'), repository)).toBeUndefined();
  });

  test('names ten of many', () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`packages/p${index}/package.json`, '{}']),
    );
    const found = evaluated(byId('linter'), { ...many, 'package.json': '{"workspaces": ["packages/*"]}' });
    expect(found).toMatchObject({ numerator: 0, denominator: 40 });
    expect(found?.rationale).toContain('packages/p17, 30 more: no linter');
  });
});

test('the next steps open the next level first, then make up for what lower levels lack', () => {
  const one = (id: string, level: number, numerator: number): Evaluated => ({
    criterion: { ...byId('readme'), id, level },
    numerator,
    denominator: 2,
    rationale: '',
    lacking: [],
  });
  const all = [
    ...['a', 'b', 'c', 'd'].map((id) => one(id, 1, 2)),
    one('low', 1, 0),
    one('half', 2, 1),
    one('open', 2, 0),
    one('high', 3, 0),
  ];
  expect(
    nextSteps(all.map((one) => ({ ...one, level: one.criterion.level }))).map(
      ({ criterion }) => criterion.id,
    ),
  ).toEqual(['open', 'half', 'low', 'high']);
});

describe('the applications of a repository', () => {
  const cases: [string, Repository, string[]][] = [
    ['without any package', { 'README.md': '' }, ['.']],
    ['of one package', { 'package.json': '{}', 'tools/x/y/package.json': '{}' }, ['.']],
    [
      'of npm or Yarn workspaces',
      {
        'package.json': '{"workspaces": {"packages": ["apps/*", "!apps/old"]}}',
        'apps/web/package.json': '{}',
        'apps/old/package.json': '{}',
        'other/package.json': '{}',
      },
      ['apps/web'],
    ],
    [
      'of pnpm workspaces, without those for examples and tests',
      {
        'package.json': '{}',
        'pnpm-workspace.yaml': 'packages:\n  - "packages/**"\n  - examples/*\n',
        'packages/a/package.json': '{}',
        'packages/a/test/fixtures/x/package.json': '{}',
        'examples/b/package.json': '{}',
      },
      ['packages/a'],
    ],
    [
      'of a Cargo workspace, with a crate of its own',
      {
        'Cargo.toml': '[package]\nname = "x"\n[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/b"]',
        'crates/a/Cargo.toml': '[package]\nname = "a"',
        'crates/b/Cargo.toml': '[package]\nname = "b"',
      },
      ['.', 'crates/a'],
    ],
    [
      'of a Cargo workspace alone',
      { 'Cargo.toml': '[workspace]\nmembers = ["a"]', 'a/Cargo.toml': '[package]\nname = "a"' },
      ['a'],
    ],
    [
      'of go.work',
      {
        'go.work': 'go 1.24\n\nuse (\n\t./api\n\t./tools/gen\n)\nuse ./cli\n',
        'api/go.mod': 'module x/api',
        'tools/gen/go.mod': 'module x/gen',
        'cli/go.mod': 'module x/cli',
        'old/go.mod': 'module x/old',
      },
      ['api', 'cli', 'tools/gen'],
    ],
    ['of Go modules', { 'go.mod': 'module x', 'deep/down/in/go.mod': 'module y' }, ['.', 'deep/down/in']],
    [
      'of Python packages',
      {
        'services/a/pyproject.toml': '[project]\nname = "a"',
        'services/b/setup.py': '',
        'pyproject.toml': '[tool.ruff]',
      },
      ['services/a', 'services/b'],
    ],
    [
      'of a workspace of uv',
      {
        'pyproject.toml': '[project]\nname = "x"\n[tool.uv.workspace]\nmembers = ["libs/*"]',
        'libs/a/pyproject.toml': '[project]\nname = "a"',
      },
      ['libs/a'],
    ],
    [
      'of Maven modules and theirs',
      {
        'pom.xml': '<modules><module>core</module><module> plugins </module></modules>',
        'core/pom.xml': '',
        'plugins/pom.xml': '<modules><module>a</module></modules>',
        'plugins/a/pom.xml': '',
      },
      ['core', 'plugins/a'],
    ],
    [
      'of Gradle projects, that need no file of their own',
      {
        'settings.gradle.kts': "include(\":app\")\ninclude 'libs:core',\n    'libs:core-test'\n",
        'build.gradle.kts': '',
        'app/Main.kt': '',
        'libs/core/A.java': '',
        'libs/core-test/A.java': '',
      },
      ['app', 'libs/core'],
    ],
    [
      'of a .NET solution, without its tests',
      {
        'All.sln':
          'Project("{F}") = "Api", "src\\Api\\Api.csproj", "{1}"\nProject("{F}") = "T", "tests\\Api.UnitTests\\Api.UnitTests.csproj", "{2}"',
        'src/Api/Api.csproj': '',
        'src/Old/Old.csproj': '',
        'tests/Api.UnitTests/Api.UnitTests.csproj': '',
      },
      ['src/Api'],
    ],
    [
      'of several kinds',
      { 'backend/pyproject.toml': '[project]\nname = "x"', 'web/package.json': '{}' },
      ['backend', 'web'],
    ],
    ['that cannot be read', { 'package.json': '{"workspaces": 7', 'Cargo.toml': '[[[' }, ['.']],
    ['whose workspaces lead out of it', { 'package.json': '{"workspaces": ["../../*", "/etc"]}' }, ['.']],
  ];
  test.each(cases)('%s', (_, files, expected) => {
    const { applications } = partsOf(treeOf(files));
    expect(applications.map(({ path }) => path)).toEqual(expected);
  });

  test('say what they are', () => {
    const { applications } = partsOf(
      treeOf({
        'a/package.json': '{"name": "@acme/a", "description": "The web app"}',
        'b/go.mod': 'module acme.example/b\n',
        'c/C.csproj': '',
      }),
    );
    expect(applications.map(({ description }) => description)).toEqual([
      'Node.js package @acme/a: The web app',
      'Go module acme.example/b',
      '.NET project c',
    ]);
  });
});
