import { beforeAll, describe, expect, test } from 'vitest';
import { Role } from '../src/api/roles.js';
import { ComputerBody } from '../src/computers/computer-routes.js';
import { buildApp } from '../src/service/app.js';
import { readConfig } from '../src/settings/config.js';
import { Service } from './service.js';
import { ending } from './world.js';

const atEnd = ending();

let shared: Service;
beforeAll(async () => {
  shared = await Service.start({}, atEnd);
});
let organizations = 0;

/** The service, and what asks it with a credential of an organization that only this test has. */
function service() {
  organizations += 1;
  const own = `org-${organizations}`;
  return {
    world: shared.world,
    as: (role: Role, userId?: string, orgId = 'acme') => shared.as(role, userId, `${own}-${orgId}`),
  };
}

const MADE = { name: 'box', remoteUser: 'ada' };
const HOST = '6f1c9a52-3b1e-4c59-9f6a-0d2f6a1b7c11';

describe('creating a computer', () => {
  test('registers a machine that exists: active at once, with a token for its agent that no other answer has', async () => {
    const { world, as } = service();
    const { status, body } = await as('member', 'ada')('POST', '/computers', { ...MADE, hostId: HOST });
    expect(status).toBe(201);
    const { agentToken, ...computer } = body;
    expect(agentToken).toMatch(/^dba_[A-Za-z0-9_-]{43}$/);
    expect(ComputerBody.parse(computer)).toEqual({
      id: expect.stringMatching(/^cmp_[0-9A-HJKMNP-TV-Z]{26}$/),
      name: 'box',
      providerType: 'byom',
      status: 'active',
      createdAt: world.now,
      hostId: HOST,
      remoteUser: 'ada',
      ownerPrincipalKind: 'human',
      ownerId: 'ada',
      relayClientUrl: expect.stringMatching(
        /^ws:\/\/127\.0\.0\.1:\d+\/api\/v0\/computers\/cmp_\w+\/relay\/client$/,
      ),
      relayAgentUrl: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/api\/v0\/relay\/agent$/),
      connectedAt: null,
      provisioningSteps: [
        {
          id: expect.any(String),
          name: 'create-computer',
          status: 'completed',
          startedAt: world.now,
          completedAt: world.now,
        },
        {
          id: expect.any(String),
          name: 'configure-user',
          status: 'completed',
          startedAt: world.now,
          completedAt: world.now,
        },
      ],
    });
    for (const path of [`/computers/${computer.id}`, '/computers', '/computers/name/box'])
      expect(JSON.stringify((await as('member', 'ada')('GET', path)).body)).not.toContain('dba_');
    const stored = await world.store.select('SELECT * FROM computers');
    expect(JSON.stringify(stored)).not.toContain(agentToken.slice(4));
  });

  test('asks for what has to be done: repositories to clone, dependencies to install', async () => {
    const { as } = service();
    const { body } = await as('owner', 'ada')('POST', '/computers', {
      ...MADE,
      repos: ['https://git.acme.test/a.git', 'ssh://git@git.acme.test/b', 'git@git.acme.test:c/d.git'],
      autoInstallDeps: true,
    });
    expect(
      body.provisioningSteps.map(({ name, status }: { name: string; status: string }) => [name, status]),
    ).toEqual([
      ['create-computer', 'completed'],
      ['configure-user', 'completed'],
      ['clone-repos', 'pending'],
      ['install-dependencies', 'pending'],
    ]);
  });

  const URL_OF = (length: number) => `https://git.acme.test/${'a'.repeat(length - 22)}`;
  const taken: [string, object][] = [
    ['a name of one character', { name: 'a' }],
    ['a name of 63 characters', { name: 'a'.repeat(63) }],
    ['a name of digits, with hyphens inside', { name: '0--9' }],
    ['the provider byom', { provider: 'byom' }],
    ['a remoteUser of one character', { remoteUser: 'a' }],
    ['a remoteUser of 63 characters', { remoteUser: 'ä'.repeat(63) }],
    ['no repositories', { repos: [] }],
    ['20 repositories', { repos: Array.from({ length: 20 }, (_, index) => `http://git.acme.test/${index}`) }],
    ['a repository of 2048 characters', { repos: [URL_OF(2048)] }],
    ['autoInstallDeps', { autoInstallDeps: false }],
    ['a hostId in capitals', { hostId: HOST.toUpperCase() }],
    [
      'a hostId that firmware made, of no version that is known',
      { hostId: '03000200-0400-0500-0006-000700080009' },
    ],
    ['a serviceAccountId of one character', { serviceAccountId: 's' }],
    ['no remoteUser with a source', { remoteUser: undefined, source: { kind: 'scratch' } }],
    ['a template', { source: { kind: 'template', templateId: 't' } }],
  ];
  for (const [what, members] of taken)
    test(`takes ${what}`, async () => {
      const { as } = service();
      expect((await as('owner', 'ada')('POST', '/computers', { ...MADE, ...members })).status).toBe(201);
    });

  const refused: [string, unknown, RegExp][] = [
    ['no name', { remoteUser: 'ada' }, /name is required/],
    ['an empty name', { ...MADE, name: '' }, /name must be 1 to 63/],
    ['a name of 64 characters', { ...MADE, name: 'a'.repeat(64) }, /name must be 1 to 63/],
    ['a name in capitals', { ...MADE, name: 'Box' }, /name must be 1 to 63/],
    ['a name that begins with a hyphen', { ...MADE, name: '-a' }, /name must be/],
    ['a name that ends with a hyphen', { ...MADE, name: 'a-' }, /name must be/],
    ['a name with a line break at its end', { ...MADE, name: 'a\n' }, /name must be/],
    ['another provider', { ...MADE, provider: 'cloud' }, /provider must be byom or e2b/],
    ['the provider e2b, without a key for it', { ...MADE, provider: 'e2b' }, /no provider e2b.*E2B_API_KEY/],
    ['a hostId that is no uuid', { ...MADE, hostId: 'host' }, /hostId must be a UUID/],
    ['no remoteUser and no source', { name: 'box' }, /remoteUser/],
    [
      'a remoteUser of white space',
      { ...MADE, remoteUser: ' \u00a0' },
      /remoteUser must have a character other than white space/,
    ],
    [
      'a serviceAccountId of white space',
      { ...MADE, serviceAccountId: ' ' },
      /serviceAccountId must have a character/,
    ],
    [
      'a template of white space',
      { ...MADE, source: { kind: 'template', templateId: ' ' } },
      /source.templateId must have a character/,
    ],
    ['an empty remoteUser', { ...MADE, remoteUser: '' }, /remoteUser must have at least 1 character/],
    [
      'a remoteUser of 64 characters',
      { ...MADE, remoteUser: 'a'.repeat(64) },
      /remoteUser must have at most 63/,
    ],
    [
      '21 repositories',
      { ...MADE, repos: Array(21).fill('https://git.acme.test/a') },
      /repos must have at most 20/,
    ],
    ['a repository of 2049 characters', { ...MADE, repos: [URL_OF(2049)] }, /repos.0 must have at most 2048/],
    ['a repository on disk', { ...MADE, repos: ['file:///etc'] }, /repos.0 must be an address/],
    ['a repository that runs a program', { ...MADE, repos: ['ext::sh -c id'] }, /repos.0 must be an address/],
    // What makes one computer can be read by everyone who may read its steps.
    ...[
      'https://ci:s3cr3t@git.acme.test/a.git',
      'https://s3cr3t@git.acme.test/a.git',
      'https://ci%3As3cr3t@git.acme.test/a.git',
      'ssh://git:s3cr3t@git.acme.test/a.git',
      'https://git.acme.test/a.git?private_token=s3cr3t',
      'https://git.acme.test/a.git?access%5Ftoken=s3cr3t',
    ].map((repo): [string, object, RegExp] => [
      `a repository ${repo}`,
      { ...MADE, repos: [repo] },
      /^(?!.*s3cr3t).*repos.0 must not have a password or token: .*credential helper or an SSH key/,
    ]),
    [
      'a password that ends the host',
      { ...MADE, repos: ['https://ci:s3/cr3t@git.acme.test/a.git'] },
      /^(?!.*cr3t).*repos.0 must be an address/,
    ],
    [
      'a repository that is an option',
      { ...MADE, repos: ['--upload-pack=id'] },
      /repos.0 must be an address/,
    ],
    [
      'a host that is an option',
      { ...MADE, repos: ['ssh://-oProxyCommand=id/a'] },
      /repos.0 must be an address/,
    ],
    [
      'autoInstallDeps as a text',
      { ...MADE, autoInstallDeps: 'yes' },
      /autoInstallDeps must be true or false/,
    ],
    ['an empty serviceAccountId', { ...MADE, serviceAccountId: '' }, /serviceAccountId must have at least 1/],
    ['another kind of source', { ...MADE, source: { kind: 'image' } }, /source.kind/],
    ['a template without its id', { ...MADE, source: { kind: 'template' } }, /source.templateId/],
    [
      'a computer that is not there',
      { ...MADE, source: { kind: 'computer', computerId: 'cmp_1' } },
      /computerId/,
    ],
    ['a member that there is not', { ...MADE, size: 'xl' }, /There is no member size: use name, provider,/],
    [
      'a member of source that there is not',
      { ...MADE, source: { kind: 'scratch', x: 1 } },
      /no member source.x/,
    ],
    ['no object', '[]', /body must be an object/],
    ['no JSON', '{', /JSON/],
  ];
  for (const [what, members, why] of refused)
    test(`refuses ${what}`, async () => {
      const { as } = service();
      const { status, body } = await as('owner', 'ada')('POST', '/computers', members);
      expect(body).toEqual({ title: 'Bad Request', detail: expect.stringMatching(why), status: 400 });
      expect(status).toBe(400);
      expect((await as('owner')('GET', '/computers')).body).toEqual({ computers: [] });
    });

  test('refuses a name and a hostId that the organization has, and not those of another', async () => {
    const { as } = service();
    const ada = as('owner', 'ada');
    expect((await ada('POST', '/computers', { ...MADE, hostId: HOST })).status).toBe(201);
    const name = await ada('POST', '/computers', MADE);
    expect(name.body).toMatchObject({
      status: 409,
      title: 'Conflict',
      detail: expect.stringContaining('name box'),
    });
    const host = await ada('POST', '/computers', { ...MADE, name: 'other', hostId: HOST.toUpperCase() });
    expect(host.body).toMatchObject({ status: 409, detail: expect.stringContaining('hostId') });
    expect((await as('owner', 'eve', 'rival')('POST', '/computers', { ...MADE, hostId: HOST })).status).toBe(
      201,
    );
  });

  test('twenty times the same name at once makes one computer', async () => {
    const { as } = service();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => as('owner')('POST', '/computers', MADE)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
    expect((await as('owner')('GET', '/computers')).body.computers).toHaveLength(1);
  });

  test('is for owners, managers and members; service accounts are named by owners and managers', async () => {
    const { as } = service();
    const expected: [Role, number, number][] = [
      ['owner', 201, 201],
      ['manager', 201, 201],
      ['member', 201, 403],
      ['guest', 403, 403],
      ['ingest', 403, 403],
    ];
    for (const [role, own, service] of expected) {
      const create = (name: string, more = {}) =>
        as(role, 'ada')('POST', '/computers', { name: `${role}-${name}`, remoteUser: 'ada', ...more });
      expect((await create('own')).status).toBe(own);
      const { status, body } = await create('service', { serviceAccountId: 'ci' });
      expect(status).toBe(service);
      if (status === 201) expect(body).toMatchObject({ ownerPrincipalKind: 'service', ownerId: 'ci' });
      else expect(body).toMatchObject({ title: 'Forbidden', detail: expect.stringContaining(role) });
    }
  });

  test('with a key that stands for no user makes a computer of that key', async () => {
    const { as } = service();
    const { body } = await as('owner')('POST', '/computers', MADE);
    expect(body).toMatchObject({
      ownerPrincipalKind: 'service',
      ownerId: expect.stringMatching(/^key:[0-9a-f]{12}$/),
    });
  });
});

describe('reading computers', () => {
  test('lists all of the organization, newest first, with steps where they are asked for', async () => {
    const { world, as } = service();
    const ada = as('owner', 'ada');
    for (const name of ['first', 'second', 'third']) {
      await ada('POST', '/computers', { ...MADE, name, ...(name === 'second' ? { hostId: HOST } : {}) });
      world.now += 1;
    }
    const names = async (query: string) =>
      (await ada('GET', `/computers${query}`)).body.computers.map(({ name }: { name: string }) => name);
    expect(await names('')).toEqual(['third', 'second', 'first']);
    expect(await names(`?hostId=${HOST}`)).toEqual(['second']);
    expect(await names(`?hostId=00000000-0000-4000-8000-000000000000&hostId=${HOST}`)).toEqual(['second']);
    expect(await names('?hostId=00000000-0000-4000-8000-000000000000')).toEqual([]);
    for (const [query, has] of [
      ['', false],
      ['?includeProvisioningSteps=false', false],
      ['?includeProvisioningSteps=true', true],
    ] as const) {
      const { status, body } = await ada('GET', `/computers${query}`);
      expect(status).toBe(200);
      for (const computer of body.computers) {
        ComputerBody.parse(computer);
        expect(Object.hasOwn(computer, 'provisioningSteps')).toBe(has);
      }
    }
  });

  test('gets one by its id and by its name, with its steps unless they are not wanted', async () => {
    const { as } = service();
    const { body: made } = await as('member', 'ada')('POST', '/computers', MADE);
    const { agentToken: _, ...computer } = made;
    for (const path of [`/computers/${computer.id}`, '/computers/name/box']) {
      const { status, body } = await as('guest')('GET', path);
      expect(status).toBe(200);
      expect(body).toEqual(computer);
      const short = await as('guest')('GET', `${path}?includeProvisioningSteps=false`);
      expect(short.body).not.toHaveProperty('provisioningSteps');
    }
  });

  for (const query of [
    '?includeProvisioningSteps=1',
    '?includeProvisioningSteps=',
    '?steps=true',
    '?hostId=x',
  ])
    test(`refuses ${query}`, async () => {
      const { as } = service();
      const { status, body } = await as('owner')('GET', `/computers${query}`);
      expect(body).toEqual({ title: 'Bad Request', detail: expect.stringMatching(/parameter/), status: 400 });
      expect(status).toBe(400);
    });

  test('is for every role that people have', async () => {
    const { as } = service();
    const { body } = await as('owner')('POST', '/computers', MADE);
    for (const role of Role.options)
      for (const path of ['/computers', `/computers/${body.id}`, '/computers/name/box'])
        expect((await as(role, 'eve')('GET', path)).status).toBe(
          role === 'ingest' || role === 'scim' ? 403 : 200,
        );
  });

  test('without a credential is a 401, whatever the path', async () => {
    for (const path of ['/api/v0/computers', '/api/v0/computers/x', '/api/v0/nothing']) {
      const answer = await fetch(`${shared.url}${path}`);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toEqual({ title: 'Unauthorized', detail: expect.any(String), status: 401 });
    }
  });
});

describe('changing a computer', () => {
  test('renames it, and gives it a remoteUser and, once, a hostId', async () => {
    const { as } = service();
    const ada = as('member', 'ada');
    const { body: made } = await ada('POST', '/computers', MADE);
    const path = `/computers/${made.id}`;
    const { status, body } = await ada('PATCH', path, { name: 'desk', remoteUser: 'grace', hostId: HOST });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'desk', remoteUser: 'grace', hostId: HOST });
    expect((await ada('GET', path)).body).toEqual(body);
    expect((await ada('PATCH', path, {})).body).toEqual(body);
    expect((await ada('PATCH', path, { hostId: HOST })).status).toBe(200);
    const again = await ada('PATCH', path, { hostId: '00000000-0000-4000-8000-000000000000' });
    expect(again.body).toMatchObject({
      status: 409,
      detail: expect.stringContaining('hostId is already set'),
    });
    expect((await ada('PATCH', path, { hostId: null })).status).toBe(400);
    expect((await ada('PATCH', path, { status: 'active' })).status).toBe(400);
    expect((await ada('PATCH', path, { name: 'Desk' })).status).toBe(400);
    await ada('POST', '/computers', MADE);
    expect((await ada('PATCH', path, { name: 'box' })).status).toBe(409);
    expect((await ada('GET', path)).body).toEqual(body);
  });

  test('deletes it: it is gone, and its name is free', async () => {
    const { as } = service();
    const ada = as('member', 'ada');
    const { body } = await ada('POST', '/computers', MADE);
    const deleted = await ada('DELETE', `/computers/${body.id}`);
    expect(deleted.status).toBe(204);
    expect(deleted.body).toBeUndefined();
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/retry'],
    ] as const)
      expect((await ada(method, `/computers/${body.id}${path}`)).status).toBe(404);
    expect((await ada('PATCH', `/computers/${body.id}`, {})).status).toBe(404);
    expect((await ada('POST', '/computers', MADE)).status).toBe(201);
  });

  test('retries a failed provisioning, and no other', async () => {
    const { world, as } = service();
    const ada = as('member', 'ada');
    const { body } = await ada('POST', '/computers', { ...MADE, repos: ['https://git.acme.test/a'] });
    const path = `/computers/${body.id}/retry`;
    expect((await ada('POST', path)).body).toMatchObject({
      status: 409,
      detail: expect.stringContaining('active'),
    });
    const failed = body.provisioningSteps.map((step: { name: string }) =>
      step.name === 'clone-repos'
        ? {
            ...step,
            status: 'failed',
            error: 'no \'such\' "host"\\\n$name',
            startedAt: world.now,
            completedAt: world.now,
          }
        : step,
    );
    await world.store.run([
      {
        sql: "UPDATE computers SET status = 'error', steps = $steps WHERE computer_id = $id",
        parameters: { steps: JSON.stringify(failed), id: body.id },
      },
    ]);
    expect((await ada('GET', `/computers/${body.id}`)).body).toMatchObject({
      status: 'error',
      provisioningSteps: failed,
    });
    const { status, body: retried } = await ada('POST', path);
    expect(status).toBe(200);
    expect(retried).toMatchObject({ status: 'provisioning', provisioningSteps: body.provisioningSteps });
  });

  test('has addresses below the public one, where that is set, whatever a request says', async () => {
    const { world, key } = shared;
    const { publicUrl } = readConfig({ DAYBOOK_PUBLIC_URL: 'https://acme.example/daybook/' });
    const config = { ...world.config, publicUrl };
    const app = buildApp({ ...world, clock: world.clock, config });
    const ask = async (url: string, payload: object) => {
      const headers = { authorization: `Bearer ${key}`, host: 'elsewhere.example' };
      return (await app.inject({ method: 'POST', url: `/api/v0${url}`, headers, payload })).json();
    };
    const computer = await ask('/computers', { ...MADE, name: 'public' });
    expect(computer).toMatchObject({
      relayAgentUrl: 'wss://acme.example/daybook/api/v0/relay/agent',
      relayClientUrl: `wss://acme.example/daybook/api/v0/computers/${computer.id}/relay/client`,
    });
    const upload = await ask(`/computers/${computer.id}/files/a.txt/create-upload`, { sizeBytes: 1 });
    expect(upload.uploadUrl).toMatch(/^https:\/\/acme\.example\/daybook\/api\/v0\/transfers\//);
    await app.close();
  });

  test('is for its owner, and for managers and owners of the organization', async () => {
    const { as } = service();
    const { body } = await as('member', 'ada')('POST', '/computers', MADE);
    const path = `/computers/${body.id}`;
    for (const [role, userId, status] of [
      ['member', 'ada', 200],
      ['member', 'eve', 403],
      ['member', undefined, 403],
      ['guest', 'ada', 403],
      ['ingest', 'ada', 403],
      ['manager', 'eve', 200],
      ['owner', undefined, 200],
    ] as const)
      expect((await as(role, userId)('PATCH', path, { remoteUser: 'x' })).status).toBe(status);
    const who = 'use a credential of role owner, manager, or member.';
    for (const [method, where, detail] of [
      ['PATCH', path, `A credential of role guest may not change computers: ${who}`],
      ['DELETE', path, `A credential of role guest may not delete computers: ${who}`],
      [
        'POST',
        `${path}/retry`,
        `A credential of role guest may not retry the provisioning of computers: ${who}`,
      ],
      [
        'POST',
        `${path}/files/a/create-upload`,
        `A credential of role guest may not upload files to computers: ${who}`,
      ],
    ] as const)
      expect(
        (await as('guest', 'ada')(method, where, method === 'DELETE' ? undefined : {})).body.detail,
      ).toBe(detail);
    expect((await as('member', 'eve')('DELETE', path)).status).toBe(403);
    expect((await as('manager', 'eve')('DELETE', path)).status).toBe(204);
  });
});

test("another organization's computer is one that there is not", async () => {
  const { as } = service();
  const { body } = await as('owner', 'ada')('POST', '/computers', MADE);
  const eve = as('owner', 'ada', 'rival');
  for (const [method, path, payload] of [
    ['GET', `/computers/${body.id}`, undefined],
    ['GET', '/computers/name/box', undefined],
    ['PATCH', `/computers/${body.id}`, { name: 'mine' }],
    ['DELETE', `/computers/${body.id}`, undefined],
    ['POST', `/computers/${body.id}/retry`, undefined],
  ] as const)
    expect((await eve(method, path, payload)).body).toMatchObject({ status: 404, title: 'Not Found' });
  expect((await eve('GET', '/computers')).body).toEqual({ computers: [] });
  const source = { kind: 'computer', computerId: body.id };
  expect((await eve('POST', '/computers', { ...MADE, source })).status).toBe(400);
  expect((await as('owner', 'ada')('GET', `/computers/${body.id}`)).body.name).toBe('box');
});

test('other methods are a 405 that lists those that there are', async () => {
  const { as } = service();
  const { status, headers } = await as('owner')('PUT', '/computers/x', {});
  expect(status).toBe(405);
  expect(headers.allow).toMatch(/DELETE.*GET.*PATCH/);
});
