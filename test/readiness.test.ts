import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { Role } from '../src/api/roles.js';
import { levelOf } from '../src/readiness/maturity-level.js';
import { readCriteria } from '../src/readiness/readiness-rules.js';
import { isRepositoryUrl, repoIdOf } from '../src/readiness/repository-url.js';
import { buildApp } from '../src/service/app.js';
import { ending, World } from './world.js';

const atEnd = ending();

const REPORTS = '/api/organization/maturity-level-reports';
const REPOSITORIES = '/api/organization/repositories';

let world: World;
let app: FastifyInstance;
const keys = new Map<string, string>();

beforeAll(async () => {
  world = await World.create({}, atEnd);
  app = buildApp(world);
  for (const orgId of ['acme', 'globex', 'initech', 'umbrella', 'hooli', 'stark'])
    for (const role of Role.options)
      keys.set(`${orgId} ${role}`, (await createKey(world.store, { orgId, role }, world.now)).key);
});

const evaluation = (numerator: number, denominator = 1, more: object = {}) => ({
  numerator,
  denominator,
  rationale: 'README.md.',
  ...more,
});

function reportOf(name: string, more: object = {}) {
  return {
    repoUrl: `https://github.com/acme/${name}`,
    apps: { '.': { description: 'Node.js package' } },
    report: { readme: evaluation(1) },
    ...more,
  };
}

async function send(orgId: string, payload: unknown, role: Role = 'member') {
  const answer = await app.inject({
    method: 'POST',
    url: REPORTS,
    headers: { authorization: `Bearer ${keys.get(`${orgId} ${role}`)}`, 'content-type': 'application/json' },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
  return { status: answer.statusCode, body: answer.json() };
}

async function get(orgId: string, url: string, role: Role = 'guest') {
  const answer = await app.inject({
    url,
    headers: { authorization: `Bearer ${keys.get(`${orgId} ${role}`)}` },
  });
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  return { status: answer.statusCode, body: answer.json() };
}

async function idsOf(orgId: string, query = ''): Promise<string[]> {
  const { body } = await get(orgId, `${REPORTS}${query}`);
  return body.reports.map(({ reportId }: { reportId: string }) => reportId);
}

describe('readiness reports', () => {
  test('come back as they were sent, with an id, the time, the repository and its level', async () => {
    const sent = reportOf('whole', {
      report: {
        readme: evaluation(1),
        own_rule: evaluation(0, 3, {
          level: 1,
          rationale: `it's "$org_id" \\ {a:String} 'quoted'\n\u0000 \u2028 😀`,
        }),
      },
      commitHash: 'a'.repeat(40),
      branch: 'main',
      hasLocalChanges: true,
      hasNonRemoteCommits: false,
      modelUsed: { id: 'some-model', reasoningEffort: 'high' },
      agentVersion: '0.1.0',
    });
    const { status, body } = await send('globex', sent);
    expect(status).toBe(201);
    expect(body).toEqual({
      reportId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
      createdAt: world.now,
      repoId: repoIdOf('github.com/acme/whole'),
      level: 1,
      ...sent,
    });
    expect((await get('globex', REPORTS)).body).toEqual({ reports: [body] });
    expect((await get('hooli', REPORTS)).body).toEqual({ reports: [] });
    expect((await get('hooli', REPOSITORIES)).body).toEqual({ repositories: [] });
  });

  test('are listed the newest first, twenty unless asked for more, of one repository where asked for', async () => {
    const sent: string[] = [];
    for (let count = 0; count < 25; count += 1) {
      // Some in the same millisecond.
      world.now += count % 3;
      sent.push((await send('initech', reportOf(count % 2 === 0 ? 'even' : 'odd'))).body.reportId);
    }
    const { reports } = (await get('initech', `${REPORTS}?limit=25`)).body;
    expect(reports).toHaveLength(25);
    const order = reports.map(
      (one: { createdAt: number; reportId: string }) => `${one.createdAt} ${one.reportId}`,
    );
    expect(order).toEqual([...order].sort().reverse());
    expect(await idsOf('initech')).toEqual(
      reports.slice(0, 20).map((one: { reportId: string }) => one.reportId),
    );
    const even = await idsOf('initech', `?repoId=${repoIdOf('github.com/acme/even')}`);
    expect(even.sort()).toEqual(sent.filter((_, index) => index % 2 === 0).sort());
    const both = ['even', 'odd'].map((name) => `repoId=${repoIdOf(`github.com/acme/${name}`)}`);
    expect((await idsOf('initech', `?limit=25&${both.join('&')}`)).sort()).toEqual([...sent].sort());
    expect(await idsOf('initech', `?repoId=repo_${'0'.repeat(16)}`)).toEqual([]);
  });

  test('are each on one page, in order, while others arrive', async () => {
    for (let count = 0; count < 47; count += 1) {
      world.now += count % 2;
      await send('umbrella', reportOf('api'));
    }
    const before = await idsOf('umbrella', `?limit=${'9'.repeat(400)}`);
    expect(before).toHaveLength(47);
    const seen: string[] = [];
    for (let page = await idsOf('umbrella', '?limit=7'); page.length > 0; ) {
      seen.push(...page);
      await send('umbrella', reportOf('api'));
      // The case of a UUID means nothing.
      page = await idsOf('umbrella', `?limit=7&startAfter=${page.at(-1)?.toUpperCase()}`);
    }
    // What comes in the very millisecond of a page's last report can be on the next one.
    expect(seen.filter((id) => before.includes(id))).toEqual(before);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("page after one that is the organization's own, and no other", async () => {
    const { body } = await send('stark', reportOf('secret'));
    for (const id of [body.reportId, '3f1c9a52-7d0e-4b86-9c41-5e2a8d7f6b03']) {
      const { status, body } = await get('hooli', `${REPORTS}?startAfter=${id}`);
      expect(status).toBe(400);
      expect(body.detail).toBe(`The parameter startAfter must be the id of a report, and ${id} is none.`);
    }
    const { status } = await get('hooli', `${REPOSITORIES}?startAfter=${body.repoId}`);
    expect(status).toBe(400);
  });

  test.each([
    ['limit=0', 'limit must be a positive integer'],
    ['limit=-1', 'limit must be a positive integer'],
    ['limit=1.5', 'limit must be a positive integer'],
    ['limit=x', 'limit must be a positive integer'],
    ['limit=', 'limit must be a positive integer'],
    ['startAfter=x', 'startAfter must be a UUID'],
    ['repoId=x', 'repoId must be a repository id'],
    ['cursor=x', 'There is no parameter cursor: use repoId, limit, startAfter'],
  ])('are a 400 for ?%s', async (query, sentence) => {
    const { status, body } = await get('acme', `${REPORTS}?${query}`);
    expect(status).toBe(400);
    expect(body.detail).toContain(sentence);
    expect(Object.keys(body)).toEqual(['title', 'detail', 'status', 'requestId']);
  });

  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, value]));
  test.each<[string, unknown, string]>([
    [
      'more that pass than there are',
      { report: { readme: evaluation(2, 1) } },
      'report.readme.numerator must be at most the denominator',
    ],
    ['less than none', { report: { readme: evaluation(-1) } }, 'report.readme.numerator must be at least 0'],
    [
      'nothing that was evaluated',
      { report: { readme: evaluation(0, 0) } },
      'report.readme.denominator must be at least 1',
    ],
    ['an application of white space', { apps: { ' ': { description: 'x' } } }, 'must have a character'],
    ['a branch of white space', { branch: ' ' }, 'branch must have a character other than white space'],
    [
      'no rationale',
      { report: { readme: { numerator: 0, denominator: 1 } } },
      'report.readme.rationale must be a string',
    ],
    [
      'a level that there is not',
      { report: { readme: evaluation(1, 1, { level: 6 }) } },
      'report.readme.level must be at most 5',
    ],
    ['an id that is none', { report: { 'a b': evaluation(1) } }, 'report.a b must be a criterion id'],
    [
      'an unknown member',
      { report: { readme: evaluation(1, 1, { colour: 'red' }) } },
      'There is no member report.readme.colour',
    ],
    ['its own id', { reportId: '3f1c9a52-7d0e-4b86-9c41-5e2a8d7f6b03' }, 'There is no member reportId'],
    ['too many criteria', { report: many(501, evaluation(1)) }, 'report must have at most 500 criteria'],
    [
      'too many applications',
      { apps: many(1001, { description: '' }) },
      'apps must have at most 1000 applications',
    ],
    [
      'a long rationale',
      { report: { readme: evaluation(1, 1, { rationale: 'x'.repeat(2001) }) } },
      'rationale must have at most 2000 characters',
    ],
    ['no repository', { repoUrl: 'a repository' }, 'repoUrl must be the address of a repository'],
    ['no commit', { commitHash: 'main' }, 'commitHash must be a commit hash'],
    [
      'no effort that there is',
      { modelUsed: { id: 'm', reasoningEffort: 'max' } },
      'modelUsed.reasoningEffort must be low or medium or high or off',
    ],
  ])('are refused with %s', async (_, more, sentence) => {
    const { status, body } = await send('acme', reportOf('api', more as object));
    expect(body.detail).toContain(sentence);
    expect(status).toBe(400);
    expect((await get('acme', REPORTS)).body.reports).toEqual([]);
  });

  test('can be large, and are a 413 when they are too large', async () => {
    const rationale = `'"\\${'é'.repeat(1997)}`;
    const report = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`c${at}`, evaluation(1, 1, { rationale })]),
    );
    const { status, body } = await send('hooli', reportOf('large', { report }));
    expect(status).toBe(201);
    expect((await get('hooli', REPORTS)).body.reports).toEqual([body]);
    const { status: tooLarge } = await send(
      'hooli',
      `${JSON.stringify(reportOf('large'))}${' '.repeat(1 << 18)}`,
    );
    expect(tooLarge).toBe(413);
  });
});

describe('repositories', () => {
  test('have their newest report, its level, and what has changed since the one before', async () => {
    const first = reportOf('web', {
      report: { readme: evaluation(1), license: evaluation(0), unit_tests: evaluation(1, 2) },
    });
    const second = reportOf('web', {
      repoUrl: 'ssh://git@GitHub.com:22/acme/web.git/',
      report: { readme: evaluation(1), unit_tests: evaluation(2, 2), ci: evaluation(1) },
    });
    for (const one of [first, first, reportOf('api')]) await send('stark', one);
    world.now += 1000;
    const before = (await send('stark', first)).body;
    world.now += 1000;
    const latest = (await send('stark', second)).body;
    expect([before.level, latest.level]).toEqual([1, 2]);
    const { repositories } = (await get('stark', REPOSITORIES)).body;
    expect(repositories.map(({ repoId }: { repoId: string }) => repoId)).toEqual(
      ['github.com/acme/api', 'github.com/acme/secret', 'github.com/acme/web'].map(repoIdOf),
    );
    expect(repositories[0]).toMatchObject({ level: 2, change: null });
    expect(repositories[2]).toEqual({
      repoId: latest.repoId,
      repoUrl: 'ssh://git@GitHub.com:22/acme/web.git/',
      level: 2,
      latestReport: latest,
      metByLevel: [{ level: 1, criteria: 3, ratio: 1 }],
      nextSteps: [],
      change: {
        since: before.reportId,
        level: 1,
        criteria: [
          { id: 'ci', before: null, after: { numerator: 1, denominator: 1 } },
          { id: 'license', before: { numerator: 0, denominator: 1 }, after: null },
          {
            id: 'unit_tests',
            before: { numerator: 1, denominator: 2 },
            after: { numerator: 2, denominator: 2 },
          },
        ],
      },
    });
    const pages: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await get('stark', `${REPOSITORIES}?limit=1${cursor}`);
      if (body.repositories.length === 0) break;
      pages.push(body.repositories[0].repoId);
      cursor = `&startAfter=${pages.at(-1)}`;
    }
    expect(pages).toEqual(repositories.map(({ repoId }: { repoId: string }) => repoId));
  });

  test('name the criteria that are not met, those that raise the level first', async () => {
    const report = {
      linter: evaluation(1),
      readme: evaluation(1),
      spelling: evaluation(0),
      lint_in_ci: evaluation(1, 2),
      security_policy: evaluation(0),
      own_rule: evaluation(0, 1, { level: 1 }),
      license: evaluation(1),
      ci: evaluation(1),
      unknown: evaluation(0),
    };
    await send('umbrella', reportOf('steps', { report }));
    const { repositories } = (await get('umbrella', REPOSITORIES)).body;
    const { level, metByLevel, nextSteps } = repositories.find(
      ({ repoUrl }: { repoUrl: string }) => repoUrl === 'https://github.com/acme/steps',
    );
    expect(level).toBe(2);
    expect(metByLevel).toEqual([
      { level: 1, criteria: 5, ratio: 0.8 },
      { level: 2, criteria: 2, ratio: 0.25 },
      { level: 4, criteria: 1, ratio: 0 },
    ]);
    expect(nextSteps).toEqual([
      { id: 'security_policy', level: 2, description: 'It has a security policy' },
      { id: 'lint_in_ci', level: 2, description: 'CI runs the linter' },
      { id: 'own_rule', level: 1, description: null },
      { id: 'spelling', level: 4, description: 'Spelling is checked' },
    ]);
  });

  test('are the same however their address is written', async () => {
    for (const repoUrl of [
      'https://github.com/Acme/same',
      'http://ada:token@GitHub.com:8080/acme/same/',
      'git@github.com:Acme/Same.git',
    ])
      expect((await send('globex', reportOf('x', { repoUrl }))).body.repoId, repoUrl).toBe(
        'repo_91cb4edbfa767268',
      );
    const { body } = await send('globex', reportOf('x', { repoUrl: 'https://git.acme.example/Same' }));
    expect(body.repoId).toBe(repoIdOf('git.acme.example/Same'));
  });

  test('keep the reports that came under an earlier id', async () => {
    const { body: newer } = await send('initech', reportOf('renamed'));
    const before = 'repo_4ac8796c42a7743e';
    const older = {
      ...newer,
      reportId: '3f1c9a52-7d0e-4b86-9c41-5e2a8d7f6b03',
      createdAt: world.now - 1000,
      repoId: before,
      repoUrl: 'https://github.com/Acme/Renamed',
    };
    const createdAt = new Date(older.createdAt).toISOString().replace('T', ' ').replace('Z', '');
    await world.store.run([
      {
        sql: `INSERT INTO readiness_reports VALUES
          ('initech', '${older.reportId}', '${createdAt}', '${before}', 'github.com/Acme/Renamed', '${JSON.stringify(older)}')`,
      },
    ]);
    const present = { ...older, repoId: newer.repoId };
    for (const repoId of [before, newer.repoId]) {
      const { reports } = (await get('initech', `${REPORTS}?repoId=${repoId}`)).body;
      expect(reports, repoId).toEqual([newer, present]);
    }
    const { repositories } = (await get('initech', REPOSITORIES)).body;
    const found = repositories.filter(({ repoId }: { repoId: string }) => repoId === newer.repoId);
    expect(found).toMatchObject([{ latestReport: newer, change: { since: older.reportId } }]);
    const pageAfter = (id: string) => get('initech', `${REPOSITORIES}?startAfter=${id}`);
    expect((await pageAfter(before)).body).toEqual((await pageAfter(newer.repoId)).body);
  });

  test.each([
    'https://github.com/acme/api',
    'ssh://git@git.acme.example:2222/api.git',
    'git@github.com:acme/api.git',
    'work:acme/api',
    'https://[::1]:8443/api',
    'file:///srv/git/api.git',
  ])('have the address %s', (url) => {
    expect(isRepositoryUrl(url)).toBe(true);
  });

  test.each([
    'api',
    'acme/api',
    '/srv/git/api',
    'https://github.com',
    'https://github.com//',
    'https:///api',
  ])('do not have the address %s', (url) => {
    expect(isRepositoryUrl(url)).toBe(false);
  });

  test('are kept without the credentials of their address', async () => {
    const { body } = await send(
      'hooli',
      reportOf('x', { repoUrl: 'https://ada:s3cr3t@github.com/acme/hidden' }),
    );
    expect(body.repoUrl).toBe('https://github.com/acme/hidden');
    expect(JSON.stringify((await get('hooli', REPORTS)).body)).not.toContain('s3cr3t');
    const sent = await send(
      'hooli',
      reportOf('x', { repoUrl: 'https://git.acme.example/x.git?private_token=s3cr3t' }),
    );
    expect(sent.body.repoUrl).toBe('https://git.acme.example/x.git?private_token=***');
    expect(sent.body.repoId).toBe(repoIdOf('git.acme.example/x.git?private_token=***'));
    // Nothing is left of a repository that is named by its token only.
    const nameless = await send('hooli', reportOf('x', { repoUrl: 'https://git.acme.example?token=a/b' }));
    expect(nameless).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('repoUrl must be') },
    });
  });

  test('are stored without the credentials of addresses in their texts', async () => {
    const rationale = 'git said: https://ada:s3cr3t@github.com/acme/x.git?token=s3cr3t is "gone"\n';
    const sent = await send('stark', reportOf('x', { report: { readme: evaluation(1, 1, { rationale }) } }));
    expect(sent.body.report.readme.rationale).toBe(
      'git said: https://github.com/acme/x.git?token=*** is "gone"\n',
    );
    const [stored] = await world.store.select(
      "SELECT document FROM readiness_reports WHERE org_id = 'stark' AND document LIKE '%git said%'",
    );
    expect(JSON.parse(String(stored?.document))).toEqual(sent.body);
  });
});

describe('a level', () => {
  const of = (level: number, numerator: number, denominator: number) => ({ level, numerator, denominator });

  test('opens when 80 % of the one below are met', () => {
    expect(levelOf([of(1, 4, 5)])).toBe(2);
    expect(levelOf([of(1, 79, 100)])).toBe(1);
    expect(levelOf([1, 2, 3, 4].map((level) => of(level, 1, 1)))).toBe(5);
    expect(levelOf([1, 2, 3, 4, 5].map((level) => of(level, 1, 1)))).toBe(5);
    expect(levelOf([of(1, 1, 1), of(2, 0, 1), of(3, 1, 1)])).toBe(2);
  });

  test('has criteria that count by the share of applications that meet them', () => {
    expect(levelOf([of(1, 1, 3), of(1, 1, 1), of(1, 1, 1), of(1, 2, 3), of(1, 1, 1)])).toBe(2);
    expect(levelOf([of(1, 1, 3), of(1, 1, 1), of(1, 1, 1), of(1, 1, 3), of(1, 1, 1)])).toBe(1);
  });

  test('is not there where no criterion has one, and does not open above one without criteria', () => {
    expect(levelOf([])).toBeUndefined();
    expect(levelOf([{ numerator: 1, denominator: 1 }])).toBeUndefined();
    expect(levelOf([of(2, 1, 1)])).toBe(1);
  });

  test('of a stored report comes from the criteria that Daybook ships, or from the report itself', async () => {
    const shipped = readCriteria().filter(({ level }) => level <= 2);
    const met = Object.fromEntries(shipped.map(({ id }) => [id, evaluation(1)]));
    expect((await send('hooli', reportOf('a', { report: met }))).body.level).toBe(3);
    expect(
      (await send('hooli', reportOf('a', { report: { unknown: evaluation(1) } }))).body.level,
    ).toBeNull();
    const own = { unknown: evaluation(1, 1, { level: 1 }) };
    expect((await send('hooli', reportOf('a', { report: own }))).body.level).toBe(2);
  });
});
