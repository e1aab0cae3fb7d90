import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import type { Role } from '../src/api/roles.js';
import { SecretKey } from '../src/controls/secret-key.js';
import { dayOf } from '../src/day.js';
import { byGroups, ended } from '../src/people/group-teams.js';
import { replacePeople } from '../src/people/people-change.js';
import { buildApp } from '../src/service/app.js';
import { Tickets } from '../src/sign-in/tickets.js';
import { listOrganizations } from '../src/store/organization.js';
import { FIRST_DAY, LAST_DAY, type Membership, type Person, peopleOf } from '../src/store/state/person.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { ending, World } from './world.js';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

const atEnd = ending();
let world: World;
let app: FastifyInstance;
let made = 0;
beforeAll(async () => {
  world = await World.create({ DAYBOOK_RATE_LIMIT: '0' }, atEnd);
  app = buildApp(world);
});

/** An organization of one test, with the key of an identity provider. */
async function newOrganization() {
  made += 1;
  const orgId = `org-${made}`;
  const keyOf = async (role: Role, userId?: string) =>
    (await createKey(world.store, { orgId, role, userId }, world.now)).key;
  const scim = await keyOf('scim');
  const ask = async (method: string, path: string, payload?: unknown, key = scim) => {
    const { statusCode, headers, body } = await app.inject({
      method: method as 'GET',
      url: `/scim/v2${path}`,
      headers: {
        authorization: `Bearer ${key}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/scim+json; charset=utf-8' }),
      },
      ...(payload === undefined
        ? {}
        : { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
    });
    if (statusCode !== 204) expect(headers['content-type']).toMatch(/^application\/scim\+json/);
    return { status: statusCode, headers, body: body === '' ? undefined : JSON.parse(body) };
  };
  const patch = (path: string, ...Operations: object[]) =>
    ask('PATCH', path, { schemas: [PATCH], Operations });
  const find = async (filter: string, kind = 'Users') => {
    const { status, body } = await ask('GET', `/${kind}?filter=${encodeURIComponent(filter)}`);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.itemsPerPage).toBe(body.Resources.length);
    return body.Resources.map(
      (one: { userName?: string; displayName: string }) => one.userName ?? one.displayName,
    );
  };
  const create = async (userName: string, more: object = {}): Promise<string> => {
    const { status, body } = await ask('POST', '/Users', { schemas: [USER], userName, ...more });
    expect(status, JSON.stringify(body)).toBe(201);
    return body.id;
  };
  const people = async () => (await peopleOf(world.store, orgId)).people;
  const person = async (userId: string) => (await people()).find((one) => one.userId === userId);
  const importPeople = (...all: Partial<Person>[]) =>
    replacePeople(
      world.store,
      orgId,
      () =>
        all.map((one) => ({
          ...{ userId: '', name: '', emails: [], aliases: [], memberships: [] },
          ...one,
        })),
      { author: 'root' },
      world.now,
    );
  const setTable = async (groups: object[]) => {
    const { statusCode, body } = await app.inject({
      method: 'PUT',
      url: '/api/v0/organization/enterprise-controls',
      headers: { authorization: `Bearer ${await keyOf('owner', 'root')}` },
      payload: { settings: { people: { groups } } },
    });
    return { status: statusCode, body: JSON.parse(body) };
  };
  const caller = (key: string) =>
    app.inject({ url: '/api/v1/caller', headers: { authorization: `Bearer ${key}` } });
  return { orgId, keyOf, ask, patch, find, create, people, person, importPeople, setTable, caller };
}

/** Fails unless an answer is an error of SCIM, in one sentence. */
function expectError(
  given: { status: number; body: Record<string, unknown> },
  status: number,
  scimType?: string,
): string {
  expect(given.body).toEqual({
    schemas: [ERROR],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: expect.stringMatching(/^[A-Z].*\.$/s),
  });
  expect(given.status).toBe(status);
  return String(given.body.detail);
}

const membership = (kind: 'team' | 'cost_center', name: string, firstDay = FIRST_DAY, lastDay = LAST_DAY) =>
  ({ kind, name, firstDay, lastDay, isLead: false }) as Membership;

describe("Okta's", () => {
  test('connection test and specification test pass', async () => {
    const { ask, find } = await newOrganization();
    // The credentials are tested with an organization that has no users yet.
    const empty = await ask('GET', '/Users?startIndex=1&count=2');
    expect(empty.status).toBe(200);
    expect(empty.body).toEqual({
      schemas: [LIST],
      totalResults: 0,
      startIndex: 1,
      itemsPerPage: 0,
      Resources: [],
    });
    const name = { givenName: 'Test', familyName: 'User' };
    const user = {
      schemas: [USER],
      ...{ userName: 'test.user@okta.local', name, displayName: 'Test User', locale: 'en-US' },
      emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
      ...{ externalId: '00ujl29u0le5T6Aj10h7', groups: [], password: '1mz050nq', active: true },
    };
    expect(await find('userName eq "test.user@okta.local"')).toEqual([]);
    const created = await ask('POST', '/Users', user);
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.body).toEqual({
      schemas: [USER],
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      ...{ externalId: user.externalId, userName: user.userName, name, displayName: 'Test User' },
      ...{ emails: user.emails, active: true },
      meta: {
        resourceType: 'User',
        ...{ created: '2026-07-10T12:00:00.000Z', lastModified: '2026-07-10T12:00:00.000Z' },
        location: `http://localhost/scim/v2/Users/${id}`,
      },
    });
    expect(created.headers.location).toBe(created.body.meta.location);
    expect(JSON.stringify(created.body)).not.toContain('1mz050nq');

    const listed = await ask('GET', '/Users?count=1&startIndex=1');
    expect(listed.body).toEqual({
      schemas: [LIST],
      ...{ totalResults: 1, startIndex: 1, itemsPerPage: 1, Resources: [created.body] },
    });
    expect((await ask('GET', `/Users/${id}`)).body).toEqual(created.body);
    expect(await find('userName eq "nobody@okta.local"')).toEqual([]);
    expectError(await ask('GET', '/Users/010101001010101011001010101011'), 404);
    expect(expectError(await ask('POST', '/Users', user), 409, 'uniqueness')).toBe(
      'There is a user test.user@okta.local: change that one.',
    );
    expect(await find('userName eq "TEST.USER@OKTA.LOCAL"')).toEqual(['test.user@okta.local']);
    expect((await ask('GET', '/Groups')).body.Resources).toEqual([]);
    expect((await ask('GET', '/Groups?startIndex=1&count=100')).status).toBe(200);
  });

  test('life of a user: looked for, created, updated, deactivated, activated', async () => {
    const { ask, patch, create, person } = await newOrganization();
    const id = await create('ada@acme.example', { name: { givenName: 'Ada', familyName: 'Byron' } });
    expect((await person('ada@acme.example'))?.name).toBe('Ada Byron');
    const replaced = await ask('PUT', `/Users/${id}`, {
      schemas: [USER],
      id,
      userName: 'ada@acme.example',
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      emails: [{ primary: true, value: 'ada@acme.example', type: 'work', display: 'ada' }],
      active: true,
      groups: [],
      meta: { resourceType: 'User' },
    });
    expect(replaced.body).toMatchObject({ id, name: { familyName: 'Lovelace' } });
    expect(await person('ada@acme.example')).toMatchObject({
      name: 'Ada Lovelace',
      emails: ['ada@acme.example'],
    });
    const off = await patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
    expect([off.status, off.body.active]).toEqual([200, false]);
    expect((await ask('GET', `/Users/${id}`)).body.active).toBe(false);
    const on = await patch(`/Users/${id}`, { op: 'replace', value: { active: true } });
    expect([on.status, on.body.active]).toEqual([200, true]);
  });

  test('pushed group: created, renamed, members replaced, added and removed, deleted', async () => {
    const { ask, patch, create, find } = await newOrganization();
    const [ada, grace] = [await create('ada'), await create('grace')];
    const { status, body } = await ask('POST', '/Groups', {
      schemas: [GROUP],
      displayName: 'Test SCIMv2',
      members: [],
    });
    expect([status, body.members]).toEqual([201, []]);
    const path = `/Groups/${body.id}`;
    expect(
      (await patch(path, { op: 'replace', value: { id: body.id, displayName: 'Compilers' } })).status,
    ).toBe(204);
    const members = async () => {
      const group = await ask('GET', path);
      return group.body.members.map(({ display }: { display: string }) => display);
    };
    await patch(path, { op: 'add', path: 'members', value: [{ value: ada, display: 'ada' }] });
    // What is there already isn't added again.
    await patch(path, { op: 'add', path: 'members', value: [{ value: ada }, { value: grace }] });
    expect(await members()).toEqual(['ada', 'grace']);
    await patch(
      path,
      { op: 'remove', path: `members[value eq "${ada}"]` },
      { op: 'add', path: 'members', value: [] },
    );
    expect(await members()).toEqual(['grace']);
    await patch(path, { op: 'replace', path: 'members', value: [{ value: ada }] });
    expect(await members()).toEqual(['ada']);
    await ask('PUT', path, { schemas: [GROUP], displayName: 'Compilers', members: [{ value: grace }] });
    expect(await members()).toEqual(['grace']);
    expect(await find('displayName eq "compilers"', 'Groups')).toEqual(['Compilers']);
    await ask('PUT', path, { schemas: [GROUP], displayName: 'Compilers', members: null });
    expect(await members()).toEqual([]);
    expect((await ask('DELETE', path)).status).toBe(204);
    expectError(await ask('GET', path), 404);
  });
});

describe("Entra's", () => {
  test('connection test finds nobody, which is no error', async () => {
    const { ask } = await newOrganization();
    for (const filter of [`userName eq "${randomUUID()}"`, `externalId eq "${randomUUID()}"`]) {
      const { status, body } = await ask(
        'GET',
        `/Users?filter=${encodeURIComponent(filter).replaceAll('%20', '+')}`,
      );
      expect(status).toBe(200);
      expect(body).toEqual({
        schemas: [LIST],
        totalResults: 0,
        startIndex: 1,
        itemsPerPage: 0,
        Resources: [],
      });
    }
    const group = encodeURIComponent(`displayName eq "${randomUUID()}"`);
    const { status, body } = await ask('GET', `/Groups?excludedAttributes=members&filter=${group}`);
    expect([status, body.totalResults]).toEqual([200, 0]);
    for (const path of [
      '/ServiceProviderConfig',
      '/ResourceTypes',
      '/Schemas',
      `/Schemas/${USER}`,
      '/ResourceTypes/Group',
    ])
      expect((await ask('GET', path)).status).toBe(200);
  });

  test('user: created, patched as it writes operations, disabled by a text, enabled, deleted', async () => {
    const { ask, patch, find, person } = await newOrganization();
    const created = await ask('POST', '/Users', {
      schemas: [USER, ENTERPRISE],
      ...{ externalId: '0a21f0f2-8d2a-4f8e', userName: 'ada@acme.example', active: 'True' },
      emails: [{ primary: 'True', type: 'work', value: 'ada@acme.example' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'Ada Byron', familyName: 'Byron', givenName: 'Ada' },
      ...{ roles: [], title: null, [ENTERPRISE]: { department: 'Compilers' } },
    });
    expect([created.status, created.body.active, created.body.emails[0].primary]).toEqual([201, true, true]);
    const path = `/Users/${created.body.id}`;
    const patched = await patch(
      path,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'ada.l@acme.example' },
      { op: 'Replace', path: 'name.familyName', value: 'Lovelace' },
      { op: 'Add', path: 'displayName', value: 'Ada Lovelace' },
      { op: 'Add', path: 'title', value: 'Countess' },
      { op: 'Add', path: `${ENTERPRISE}:employeeNumber`, value: '7' },
      { op: 'Add', path: 'addresses[type eq "work"].country', value: 'UK' },
    );
    expect(patched.status, JSON.stringify(patched.body)).toBe(200);
    expect(patched.body).toMatchObject({
      emails: [{ primary: true, type: 'work', value: 'ada.l@acme.example' }],
      ...{ displayName: 'Ada Lovelace', name: { familyName: 'Lovelace', givenName: 'Ada' } },
    });
    expect(patched.body.title).toBeUndefined();
    expect(await person('ada@acme.example')).toMatchObject({
      name: 'Ada Lovelace',
      emails: ['ada.l@acme.example'],
      aliases: ['0a21f0f2-8d2a-4f8e'],
    });
    // With the flag aadOptscim062020 in its address.
    await patch(path, {
      op: 'replace',
      value: { displayName: 'Ada', 'name.givenName': 'Augusta', [`${ENTERPRISE}:employeeNumber`]: 'Aklq' },
    });
    expect((await ask('GET', path)).body).toMatchObject({
      displayName: 'Ada',
      name: { givenName: 'Augusta' },
    });

    const disabled = await patch(path, { op: 'Replace', path: 'active', value: 'False' });
    expect([disabled.status, disabled.body.active]).toEqual([200, false]);
    expect(await find('userName eq "ada@acme.example" and active eq false')).toEqual(['ada@acme.example']);
    expect(await find('active eq True')).toEqual([]);
    const enabled = await patch(path, { op: 'Add', path: 'active', value: 'True' });
    expect(enabled.body.active).toBe(true);
    const renamed = await patch(path, { op: 'Replace', path: 'userName', value: 'augusta@acme.example' });
    expect(renamed.body.userName).toBe('augusta@acme.example');
    expect((await person('ada@acme.example'))?.aliases).toContain('augusta@acme.example');
    expect((await ask('DELETE', path)).status).toBe(204);
    expectError(await ask('GET', path), 404);
    expectError(await ask('DELETE', path), 404);
    expect(await person('ada@acme.example')).toBeDefined();
  });

  test('address that is not there is added by its path', async () => {
    const { patch, create, person } = await newOrganization();
    for (const op of ['Add', 'Replace']) {
      const id = await create(`user-${op}`);
      const { status, body } = await patch(
        `/Users/${id}`,
        { op, path: 'emails[type eq "work"].value', value: `${op}@acme.example` },
        { op, path: 'emails[type eq "work"].primary', value: 'True' },
        { op, path: 'emails[type eq "home"].value', value: `${op}@home.example` },
      );
      expect([status, body.emails]).toEqual([
        200,
        [
          { value: `${op}@acme.example`, type: 'work', primary: true },
          { value: `${op}@home.example`, type: 'home' },
        ],
      ]);
      expect((await person(`user-${op}`))?.emails).toEqual([`${op}@acme.example`, `${op}@home.example`]);
      const removed = await patch(`/Users/${id}`, { op: 'Remove', path: 'emails[type eq "home"]' });
      expect(removed.body.emails).toHaveLength(1);
      // Events of an address that was replaced still count for the person.
      await patch(`/Users/${id}`, {
        op,
        path: 'emails[type eq "work"].value',
        value: `new-${op}@acme.example`,
      });
      expect((await person(`user-${op}`))?.emails).toEqual([
        ...[`new-${op}@acme.example`, `${op}@acme.example`, `${op}@home.example`],
      ]);
    }
  });

  test('group: members as it adds and removes them, without members in answers', async () => {
    const { ask, patch, create } = await newOrganization();
    const ids = [await create('ada'), await create('grace')];
    const created = await ask('POST', '/Groups', {
      schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      ...{ externalId: '8aa1a0c0-c4c3', displayName: 'Compilers', meta: { resourceType: 'Group' } },
    });
    expect([created.status, created.body.externalId]).toEqual([201, '8aa1a0c0-c4c3']);
    const path = `/Groups/${created.body.id}`;
    expect((await ask('GET', `${path}?excludedAttributes=members`)).body.members).toBeUndefined();
    const value = ids.map((id) => ({ $ref: null, value: id }));
    const added = await patch(path, { op: 'Add', path: 'members', value });
    expect([added.status, added.body]).toEqual([204, undefined]);
    expect((await ask('GET', path)).body.members).toHaveLength(2);
    const member = encodeURIComponent(`id eq "${created.body.id}" and members eq "${ids[0]}"`);
    expect((await ask('GET', `/Groups?filter=${member}`)).body.totalResults).toBe(1);
    await patch(path, { op: 'Remove', path: 'members', value: [{ $ref: null, value: ids[0] }] });
    expect((await ask('GET', path)).body.members.map((one: { value: string }) => one.value)).toEqual([
      ids[1],
    ]);
    await patch(path, { op: 'Remove', path: 'members', value: [] });
    expect((await ask('GET', path)).body.members).toHaveLength(1);
    const rename = { op: 'Replace', path: 'displayName', value: 'Linkers' };
    expect((await patch(path, rename)).status).toBe(204);
    expect((await ask('GET', path)).body).toMatchObject({
      displayName: 'Linkers',
      externalId: '8aa1a0c0-c4c3',
    });
    await ask('DELETE', `/Users/${ids[1]}`);
    expect((await ask('GET', path)).body.members).toEqual([]);
  });
});

describe('lists', () => {
  test('are found by filters, and only by those that can be read', async () => {
    const { ask, find, create } = await newOrganization();
    const of = (name: string) => ({
      ...{ displayName: name.toUpperCase(), externalId: `x-${name}`, active: name !== 'grace' },
      emails: [{ value: `${name}@acme.example`, type: 'work' }],
    });
    for (const name of ['ada', 'grace', 'DOM\\edsger', 'say "hi"'])
      await create(name, of(name.replaceAll(/\W/g, '')));
    for (const [filter, found] of [
      ['userName eq "ada"', ['ada']],
      ['UserName EQ "ADA"', ['ada']],
      [`${USER}:userName eq "ada"`, ['ada']],
      ['externalId eq "x-grace"', ['grace']],
      ['externalId eq "X-grace"', []],
      ['displayName eq "Grace"', ['grace']],
      ['userName eq "DOM\\\\edsger"', ['DOM\\edsger']],
      ['userName eq "say \\"hi\\""', ['say "hi"']],
      ['userName eq "and or ( [ \\u0061"', []],
      ['userName sw "a" and active eq true', ['ada']],
      ['userName eq "ada" or userName eq "grace"', ['ada', 'grace']],
      ['active eq true and (userName eq "ada" or userName eq "grace")', ['ada']],
      ['active eq false', ['grace']],
      ['emails.value co "ADA@"', ['ada']],
      ['emails co "ada@"', ['ada']],
      ['emails[type eq "work" and value eq "grace@acme.example"]', ['grace']],
      ['emails[type eq "work"].value eq "grace@acme.example"', ['grace']],
      ['meta.lastModified gt "2027-01-01T00:00:00Z"', []],
      ['name.givenName pr', []],
      ['userName eq "__proto__"', []],
    ] as const)
      expect((await find(filter)).sort(), filter).toEqual(found);
    for (const filter of [
      '',
      ' ',
      'userName',
      'userName eq',
      'userName is "ada"',
      'nickName eq "ada"',
      'userName eq ada',
      'userName eq "ada',
      `userName eq "${'\\a'.repeat(200)}`,
      `emails[value eq "${'\\a'.repeat(200)}] and userName eq "x"`,
      'userName eq "\\x"',
      '__proto__.polluted eq "1"',
      'userName.__proto__ eq "1"',
      'constructor.prototype.polluted eq "1"',
      'not (userName eq "ada")',
      '((userName eq "ada"))',
      'emails[type eq "work" and (value eq "x")]',
      `userName eq "${'x'.repeat(3000)}"`,
      Array(11).fill('userName eq "x"').join(' or '),
      'and',
      'eq eq eq',
      '()',
      '[type eq "x"]',
      'or userName eq "ada"',
      'emails[].value eq "x"',
      ']',
    ]) {
      const given = await ask('GET', `/Users?filter=${encodeURIComponent(filter)}`);
      expectError(given, 400, 'invalidFilter');
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('come in pages that have each user once', async () => {
    const { ask, create } = await newOrganization();
    for (let user = 1; user <= 5; user += 1) await create(`user-${user}`);
    const page = async (query: string) => {
      const { body } = await ask('GET', `/Users?${query}`);
      return [
        body.totalResults,
        body.startIndex,
        body.Resources.map((one: { userName: string }) => one.userName),
      ];
    };
    const all = (await page(''))[2];
    expect(all.toSorted()).toEqual([1, 2, 3, 4, 5].map((user) => `user-${user}`));
    expect(await page('count=2')).toEqual([5, 1, all.slice(0, 2)]);
    expect(await page('startIndex=3&count=2')).toEqual([5, 3, all.slice(2, 4)]);
    expect(await page('startIndex=6')).toEqual([5, 6, []]);
    expect(await page('startIndex=-7&count=-1')).toEqual([5, 1, []]);
    expect(await page('count=0')).toEqual([5, 1, []]);
    expect(await page(`startIndex=2&count=2&filter=${encodeURIComponent('userName co "user"')}`)).toEqual([
      5,
      2,
      all.slice(1, 3),
    ]);
    for (const query of ['startIndex=x', 'count=1.5', 'count=2&count=2']) {
      const given = await ask('GET', `/Users?${query}`);
      expectError(given, 400, 'invalidSyntax');
    }
    const { body } = await ask('GET', '/Users?attributes=userName,name.givenName&count=1&sortBy=userName');
    expect(Object.keys(body.Resources[0])).toEqual(['schemas', 'id', 'userName']);
  });
});

describe('a user is a person', () => {
  test('who was there under one of the names, and never a second one', async () => {
    const { create, ask, people, importPeople } = await newOrganization();
    await importPeople(
      { userId: 'ada', emails: ['ada@acme.example'], memberships: [membership('team', 'Web')] },
      { userId: 'grace', name: 'Grace', aliases: ['00u1'] },
    );
    const ada = await create('a.byron@acme.example', { emails: [{ value: 'ada@acme.example' }] });
    await create('ghopper', { externalId: '00u1' });
    expect(await people()).toEqual([
      {
        ...{ userId: 'ada', name: '', emails: ['ada@acme.example'], aliases: ['a.byron@acme.example'] },
        memberships: [membership('team', 'Web')],
      },
      { userId: 'grace', name: 'Grace', emails: [], aliases: ['00u1', 'ghopper'], memberships: [] },
    ]);
    // Nobody is two users, and no name is two people's.
    for (const body of [
      { userName: 'ada' },
      { userName: 'other', externalId: '00u1' },
      { userName: 'A.BYRON@acme.example' },
      { userName: 'third', emails: [{ value: 'ada@acme.example' }] },
    ])
      expectError(await ask('POST', '/Users', { schemas: [USER], ...body }), 409, 'uniqueness');
    expectError(
      await ask('PUT', `/Users/${ada}`, {
        schemas: [USER],
        userName: 'a.byron@acme.example',
        externalId: 'grace',
      }),
      409,
      'uniqueness',
    );
    expect(await people()).toHaveLength(2);
  });

  test('who stays when the provider deactivates or deletes the user, and is shut out', async () => {
    const { orgId, keyOf, create, ask, patch, person, importPeople, caller } = await newOrganization();
    await importPeople({
      userId: 'ada',
      aliases: ['ada-laptop'],
      memberships: [membership('team', 'Web'), membership('cost_center', '4711', '2026-08-01' as never)],
    });
    const id = await create('ada');
    const keys = [
      await keyOf('member', 'ada'),
      await keyOf('member', 'ada-laptop'),
      await keyOf('member', 'grace'),
    ];
    const cookieFor = async (payload: object) => {
      const headers = { origin: 'http://localhost' };
      const signedIn = await app.inject({ method: 'POST', url: '/sign-in', headers, payload });
      return String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    };
    const cookies = await Promise.all(keys.map((key) => cookieFor({ key })));
    // Somebody whom an OpenID provider has signed in holds no key.
    const laptop = { orgId, role: 'member', userId: 'ada-laptop', email: null, credential: 'x' };
    const tickets = new Tickets(world.store, new SecretKey(world.config), world.clock);
    cookies.push(await cookieFor({ token: tickets.issue('link', { caller: laptop }).text }));
    const statuses = async () => [
      ...(await Promise.all(keys.map(async (key) => (await caller(key)).statusCode))),
      ...(await Promise.all(
        cookies.map(
          async (cookie) => (await app.inject({ url: '/api/v1/caller', headers: { cookie } })).statusCode,
        ),
      )),
    ];
    expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200, 200]);
    await patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
    expect(await statuses()).toEqual([401, 401, 200, 401, 401, 200, 401]);
    const today = dayOf(world.now);
    expect((await person('ada'))?.memberships).toEqual([membership('team', 'Web', FIRST_DAY, today)]);
    // Also by a key that somebody makes meanwhile.
    const late = await keyOf('member', 'ada-laptop');
    const refused = await caller(late);
    expect(refused.statusCode).toBe(401);
    expect(refused.json().detail).toBe('The identity provider has deactivated ada: activate the user there.');
    await patch(`/Users/${id}`, { op: 'replace', value: { active: true } });
    expect((await caller(late)).statusCode).toBe(200);
    expect(await statuses()).toEqual([401, 401, 200, 401, 401, 200, 401]);
    await ask('DELETE', `/Users/${id}`);
    expect((await caller(late)).statusCode).toBe(401);
    expect(await person('ada')).toBeDefined();
    // A key or a sign-in of later doesn't bring the person back, nor does a list of people without the person.
    world.now += 60_000;
    const link = await cookieFor({ token: tickets.issue('link', { caller: laptop }).text });
    const arrived = async () => [
      await caller(await keyOf('member', 'ada')),
      await caller(await keyOf('owner', 'ada-laptop')),
      await app.inject({ url: '/api/v1/caller', headers: { cookie: link } }),
    ];
    const all = (status: number) => [status, status, status];
    const answers = await arrived();
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(all(401));
    expect(answers[0]?.json().detail).toBe(
      'The identity provider has deleted ada: assign the user again there.',
    );
    const ada = await person('ada');
    await importPeople();
    expect((await arrived()).map(({ statusCode }) => statusCode)).toEqual(all(401));
    await importPeople(ada ?? {});
    const again = await create('ada');
    expect(again).not.toBe(id);
    expect((await arrived()).map(({ statusCode }) => statusCode)).toEqual(all(200));
    const rows = await world.store.select('SELECT user_id FROM scim_users WHERE org_id = $org_id', {
      org_id: orgId,
    });
    expect(rows).toEqual([{ user_id: 'ada' }]);
  });

  test('whom the audit names when the provider or an owner reads', async () => {
    const { orgId, keyOf, create, ask, patch } = await newOrganization();
    const owner = await keyOf('owner', 'root');
    const id = await create('ada');
    await patch(`/Users/${id}`, { op: 'replace', value: { displayName: 'Ada' } });
    await ask('GET', `/Users/${id}`);
    await ask('GET', '/Users', undefined, owner);
    await ask('GET', '/Groups?filter=displayName%20eq%20%22x%22');
    await ask('GET', '/Schemas');
    const audit = await app.inject({
      url: '/api/v0/organization/audit',
      headers: { authorization: `Bearer ${owner}` },
    });
    const reads = audit
      .json()
      .reads.map((read: Record<string, unknown>) => [read.path, read.about, read.scope]);
    expect(reads).toEqual([
      ['/scim/v2/Groups', null, 'everyone'],
      ['/scim/v2/Users', null, 'everyone'],
      ['/scim/v2/Users/:id', 'ada', 'user'],
    ]);
    // Where people are protected, the provider goes on.
    const change = { mode: 'protected', smallestGroup: 5, auditors: [] } as const;
    await changePrivacy(world.store, orgId, () => change, 'root', world.now);
    expect((await ask('GET', `/Users/${id}`)).status).toBe(200);
    expect((await ask('GET', '/Users')).status).toBe(200);
    await create('grace');
  });

  test('whose organization alone can reach it', async () => {
    const [acme, globex] = [await newOrganization(), await newOrganization()];
    const user = await acme.create('ada', { externalId: 'x1' });
    const group = (await acme.ask('POST', '/Groups', { schemas: [GROUP], displayName: 'Compilers' })).body.id;
    for (const [method, path, body] of [
      ['GET', `/Users/${user}`],
      ['PUT', `/Users/${user}`, { schemas: [USER], userName: 'eve' }],
      ['PATCH', `/Users/${user}`, { schemas: [PATCH], Operations: [{ op: 'remove', path: 'displayName' }] }],
      ['DELETE', `/Users/${user}`],
      ['GET', `/Groups/${group}`],
      ['PUT', `/Groups/${group}`, { schemas: [GROUP], displayName: 'Eve' }],
      ['PATCH', `/Groups/${group}`, { schemas: [PATCH], Operations: [{ op: 'remove', path: 'members' }] }],
      ['DELETE', `/Groups/${group}`],
    ] as const)
      expectError(await globex.ask(method, path, body), 404);
    for (const filter of ['userName eq "ada"', 'externalId eq "x1"', `id eq "${user}"`, 'userName pr'])
      expect(await globex.find(filter)).toEqual([]);
    expect(await globex.find('displayName pr', 'Groups')).toEqual([]);
    const given = await globex.ask('POST', '/Groups', {
      schemas: [GROUP],
      displayName: 'G',
      members: [{ value: user }],
    });
    expectError(given, 400, 'invalidValue');
    await globex.create('ada', { externalId: 'x1' });
    const left = (await listOrganizations(world.store, world.now)).find(
      ({ org_id }) => org_id === acme.orgId,
    );
    expect(left?.is_empty).toBe(false);
    expect(await acme.find('userName eq "ada"')).toEqual(['ada']);
  });
});

describe('groups', () => {
  test('are teams and cost centres only by the table of an owner, which also counts for groups that are there', async () => {
    const { ask, patch, create, person, setTable, importPeople } = await newOrganization();
    await importPeople({ userId: 'ada', memberships: [membership('team', 'Web')] }, { userId: 'grace' });
    const [ada, grace] = [await create('ada'), await create('grace')];
    const group = async (displayName: string, ...members: string[]) =>
      (
        await ask('POST', '/Groups', {
          schemas: [GROUP],
          displayName,
          members: members.map((value) => ({ value })),
        })
      ).body.id;
    const compilers = await group('daybook-compilers', ada, grace);
    const linkers = await group('daybook-linkers', ada);
    expect((await person('ada'))?.memberships).toEqual([membership('team', 'Web')]);
    const table = [
      { group: 'daybook-linkers', team: 'Linkers', costCenter: '4711' },
      { group: 'daybook-compilers', team: 'Compilers' },
    ];
    expect((await setTable(table)).status).toBe(200);
    // Of two groups the first row counts.
    expect((await person('ada'))?.memberships).toEqual([
      membership('team', 'Web', FIRST_DAY, '2026-07-09' as never),
      membership('team', 'Linkers', '2026-07-10' as never),
      membership('cost_center', '4711'),
    ]);
    expect((await person('grace'))?.memberships).toEqual([membership('team', 'Compilers')]);
    const before = world.now;
    try {
      world.now += 86_400_000;
      await patch(`/Groups/${linkers}`, { op: 'remove', path: `members[value eq "${ada}"]` });
      expect((await person('ada'))?.memberships).toEqual([
        membership('team', 'Web', FIRST_DAY, '2026-07-09' as never),
        membership('team', 'Linkers', '2026-07-10' as never, '2026-07-10' as never),
        membership('team', 'Compilers', '2026-07-11' as never),
        membership('cost_center', '4711', FIRST_DAY, '2026-07-10' as never),
      ]);
      world.now += 86_400_000;
      // Who is deactivated leaves at the end of the day, and comes back with the groups.
      await patch(`/Users/${ada}`, { op: 'replace', value: { active: false } });
      const teamOf = async () =>
        (await person('ada'))?.memberships.filter(({ kind }) => kind === 'team').at(-1);
      expect(await teamOf()).toEqual(
        membership('team', 'Compilers', '2026-07-11' as never, '2026-07-12' as never),
      );
      await patch(`/Users/${ada}`, { op: 'replace', value: { active: true } });
      expect(await teamOf()).toEqual(membership('team', 'Compilers', '2026-07-11' as never));
      await ask('DELETE', `/Groups/${compilers}`);
      expect(await teamOf()).toEqual(
        membership('team', 'Compilers', '2026-07-11' as never, '2026-07-11' as never),
      );
    } finally {
      world.now = before;
    }
  });

  test('have names of their own, and members who are users', async () => {
    const { ask, patch } = await newOrganization();
    const { body } = await ask('POST', '/Groups', { schemas: [GROUP], displayName: 'Compilers' });
    expectError(
      await ask('POST', '/Groups', { schemas: [GROUP], displayName: 'compilers' }),
      409,
      'uniqueness',
    );
    const value = [{ value: randomUUID() }];
    const path = `/Groups/${body.id}`;
    expectError(await patch(path, { op: 'add', path: 'members', value }), 400, 'invalidValue');
    expectError(await patch(path, { op: 'add', path: 'members[value eq "x"]', value }), 400, 'invalidPath');
    expectError(await patch(path, { op: 'add', path: 'members', value: ['x'] }), 400, 'invalidValue');
  });

  test('give nothing by a table that is wrong', async () => {
    const { setTable } = await newOrganization();
    for (const groups of [
      [{ group: 'a' }],
      [{ group: '', team: 'A' }],
      [{ group: 'a', team: '(none)' }],
      [
        { group: 'a', team: 'A' },
        { group: 'a', team: 'B' },
      ],
      [{ group: 'a', teams: 'A' }],
    ])
      expect((await setTable(groups)).status).toBe(400);
  });

  test('leave alone what the table does not name', () => {
    const table = [{ group: 'g', team: 'Compilers' }];
    const today = '2026-07-10' as never;
    const lead = { ...membership('team', 'Compilers'), isLead: true };
    const web = [membership('team', 'Web'), membership('cost_center', '1')];
    expect(byGroups(web, new Set(), table, today)).toEqual(web);
    expect(byGroups([lead], new Set(['g']), table, today)).toEqual([lead]);
    expect(byGroups([lead], new Set(['h']), table, today)).toEqual([{ ...lead, lastDay: '2026-07-09' }]);
    const leaving = ended(web, today);
    expect(leaving.map(({ lastDay }) => lastDay)).toEqual([today, today]);
    expect(ended(leaving, '2026-07-11' as never)).toEqual(leaving);
  });
});

describe('errors', () => {
  test('are those of SCIM, for a wrong role, no key, unknown paths and other methods too', async () => {
    const { ask, keyOf } = await newOrganization();
    for (const role of ['manager', 'member', 'guest', 'ingest'] as const) {
      const key = await keyOf(role, 'ada');
      expect(expectError(await ask('GET', '/Users', undefined, key), 403)).toBe(
        `A credential of role ${role} may not provision people: use a credential of role owner or scim.`,
      );
      expectError(await ask('POST', '/Users', { userName: 'x' }, key), 403);
    }
    expectError(await ask('GET', '/Users', undefined, 'dbk_none'), 401);
    expectError(await ask('GET', '/Nothing'), 404);
    expectError(await ask('GET', '/Schemas/nothing'), 404);
    expectError(await ask('GET', '/ResourceTypes/nothing'), 404);
    expectError(await ask('POST', '/Bulk', {}), 404);
    const given = await ask('DELETE', '/Users');
    expectError(given, 405);
    expect(given.headers.allow).toBe('GET, HEAD, POST');
    const outside = await app.inject({ url: '/scim', headers: { accept: 'text/html' } });
    expect([outside.statusCode, outside.json().schemas]).toEqual([404, [ERROR]]);
  });

  test('say of a body that is none what is wrong with it', async () => {
    const { ask, create, people } = await newOrganization();
    const id = await create('ada');
    for (const body of [
      ...['{', '', '[]', '"x"', 'null', `{"userName":${'['.repeat(200)}${']'.repeat(200)}}`],
      { userName: 'x', schemas: [GROUP] },
      {},
      { userName: '' },
      { userName: 7 },
      { userName: null },
      { userName: 'unknown' },
      { userName: 'x'.repeat(200) },
      { userName: 'x\u0000' },
      { userName: 'x', active: 'maybe' },
      { userName: 'x', active: {} },
      { userName: 'x', emails: 'x' },
      { userName: 'x', emails: ['x'] },
      { userName: 'x', emails: [{ value: 'not an address' }] },
      {
        userName: 'x',
        emails: Array(101)
          .fill(0)
          .map((_, at) => ({ value: `x${at}@acme.example` })),
      },
      { userName: 'x', name: 'x' },
      { userName: 'x', name: { familyName: 'x'.repeat(300) } },
      { userName: 'x', externalId: 'x'.repeat(200) },
    ])
      for (const [method, path] of [
        ['POST', '/Users'],
        ['PUT', `/Users/${id}`],
      ] as const) {
        const given = await ask(method, path, body);
        expect(given.status, JSON.stringify([body, given.body])).toBe(400);
        expectError(given, 400, given.body.scimType);
      }
    for (const Operations of [
      undefined,
      [],
      {},
      [7],
      [{ op: 'move', path: 'active', value: true }],
      [{ op: 'replace', path: 'active', value: 'maybe' }],
      [{ op: 'replace', value: true }],
      [{ op: 'remove' }],
      [{ op: 'remove', path: 'userName' }],
      [{ op: 'add', path: 'name..nothing', value: 'x' }],
      [{ op: 'add', path: 'emails[', value: 'x' }],
      [{ op: 'add', path: 'emails[__proto__.polluted eq "1"].value', value: 'x' }],
      [{ op: 'replace', path: 'emails[type eq "a\\"].value', value: 'x' }],
      [{ op: 'replace', path: `emails[type eq "${'\\a'.repeat(200)}].value`, value: 'x' }],
      [{ op: 'replace', path: 'x'.repeat(2000), value: 'x' }],
      Array(1001).fill({ op: 'replace', path: 'active', value: true }),
    ]) {
      const given = await ask('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations });
      expect(given.status, JSON.stringify([Operations, given.body]).slice(0, 500)).toBe(400);
      expectError(given, 400, given.body.scimType);
    }
    for (const value of [[{ '__proto__.polluted': 'x' }], [{ value: 'x" or value pr' }]])
      await ask('PATCH', `/Users/${id}`, {
        schemas: [PATCH],
        Operations: [{ op: 'remove', path: 'emails', value }],
      });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const large = await ask('POST', '/Users', { userName: 'x', title: 'x'.repeat(2 ** 20) });
    expectError(large, 413);
    expect(await people()).toHaveLength(1);
  });
});
