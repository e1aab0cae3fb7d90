import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { buildApp } from '../src/service/app.js';
import { type Likeness, type People, passProvider, startProvider } from './openid.js';
import { World } from './world.js';

const CALLBACK = 'http://localhost/sign-in/callback';
const BOTH_METHODS = ['client_secret_basic', 'client_secret_post'];

/** The settings of a recipe in docs/openid-connect.md, without those that name the provider and the client. */
function recipeOf(provider: string): Record<string, string> {
  const page = readFileSync(join(PACKAGE_ROOT, 'docs', 'openid-connect.md'), 'utf8');
  const [, section = ''] = page.split(`\n## ${provider}\n`);
  const [recipe = ''] = section.split('\n## ');
  const settings = parseEnv((recipe.match(/^ {4,}DAYBOOK_.*$/gm) ?? []).join('\n').replaceAll(/^ +/gm, ''));
  return Object.fromEntries(
    Object.entries(settings).filter(([name]) => !/OIDC_(ISSUER|CLIENT)/.test(name)),
  ) as Record<string, string>;
}

/** Signs somebody in. Answers where the browser ends, whom the service takes the person for, and its log. */
async function signIn(
  people: People,
  login: string,
  likeness: Likeness,
  settings: Record<string, string>,
): Promise<{ location: string; caller: unknown; log: string }> {
  const provider = await startProvider(people, CALLBACK, onTestFinished, likeness);
  const app = buildApp(await World.create({ ...settings, ...provider }), { logs: true });
  onTestFinished(() => app.close());
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const leaving = await app.inject({ url: '/sign-in/provider' });
  const back = new URL(await passProvider(String(leaving.headers.location), login, CALLBACK));
  const cookies = Object.fromEntries(leaving.cookies.map(({ name, value }) => [name, value]));
  const answer = await app.inject({ url: back.pathname + back.search, cookies });
  const session = answer.cookies.find(({ name }) => name === 'daybook_session')?.value;
  const asking = session && app.inject({ url: '/api/v1/caller', cookies: { daybook_session: session } });
  const caller = asking ? (await asking).json().data : undefined;
  const log = written.mock.calls.map(([line]) => String(line)).join('');
  written.mockRestore();
  return { location: String(answer.headers.location), caller, log };
}

interface Case {
  readonly provider: string;
  readonly likeness: Likeness;
  readonly people: People;
  readonly signedIn: Readonly<Record<string, object>>;
  /** Who is refused, and the claim and the setting that the log names. */
  readonly refused: Readonly<Record<string, RegExp>>;
}

const CASES: readonly Case[] = [
  {
    provider: 'Keycloak',
    // The mapper "Group Membership" puts the groups into the ID token, whatever the scope.
    likeness: {
      path: '/realms/acme',
      claims: {
        openid: ['sub', 'groups'],
        profile: ['preferred_username'],
        email: ['email', 'email_verified'],
      },
      authMethods: BOTH_METHODS,
    },
    people: {
      ada: {
        preferred_username: 'ada',
        groups: ['staff', 'daybook-owners'],
        email: 'ada@acme.example',
        email_verified: false,
      },
      grace: { preferred_username: 'grace', groups: ['engineering'] },
      eve: { preferred_username: 'eve', groups: ['sales'] },
      mallory: { preferred_username: 'mallory', groups: ['owner'] },
      nobody: { preferred_username: 'nobody' },
    },
    signedIn: {
      ada: { org_id: 'acme', user_id: 'ada', role: 'owner', email: 'ada@acme.example' },
      grace: { org_id: 'acme', user_id: 'grace', role: 'member', email: null },
    },
    refused: {
      eve: /the claim groups is \[\\"sales\\"\], to which DAYBOOK_GROUP_ROLES gives no role/,
      mallory: /the claim groups is \[\\"owner\\"\], to which DAYBOOK_GROUP_ROLES gives no role/,
      nobody: /the claim groups is missing: .* DAYBOOK_CLAIM_ROLE/,
    },
  },
  {
    provider: 'Microsoft Entra ID',
    // Its userinfo knows neither roles nor the name to sign in with, and `sub` is another for each application.
    likeness: {
      path: '/8a1c/v2.0',
      claims: { openid: ['sub', 'oid', 'tid', 'roles'], profile: ['preferred_username'], email: ['email'] },
      authMethods: ['client_secret_post', 'client_secret_basic'],
    },
    people: {
      'AAAA-ada': {
        oid: '0b7e',
        tid: '8a1c',
        preferred_username: 'ada@acme.example',
        roles: ['member', 'manager'],
      },
      'AAAA-eve': { oid: '5d21', tid: '8a1c', preferred_username: 'eve@acme.example' },
    },
    signedIn: { 'AAAA-ada': { org_id: 'acme', user_id: 'ada@acme.example', role: 'manager', email: null } },
    refused: { 'AAAA-eve': /the claim roles is missing: / },
  },
  {
    provider: 'Okta',
    // Its ID tokens are thin: the userinfo has the groups.
    likeness: {
      claims: {
        openid: ['sub'],
        profile: ['preferred_username'],
        email: ['email', 'email_verified'],
        groups: ['groups'],
      },
      isThin: true,
      authMethods: ['client_secret_basic'],
    },
    people: {
      '00u1': {
        preferred_username: 'ada@acme.example',
        email: 'ada@acme.example',
        email_verified: true,
        groups: ['daybook-managers'],
      },
      '00u2': { preferred_username: 'eve@acme.example', email: 'eve@acme.example', groups: ['Everyone'] },
    },
    signedIn: {
      '00u1': { org_id: 'acme', user_id: 'ada@acme.example', role: 'manager', email: 'ada@acme.example' },
    },
    refused: { '00u2': /the claim groups is \[\\"Everyone\\"\], to which DAYBOOK_GROUP_ROLES gives no role/ },
  },
  {
    provider: 'Google Workspace',
    // It has neither roles nor groups. Only accounts of a Workspace have `hd`.
    likeness: {
      claims: { openid: ['sub', 'hd'], email: ['email', 'email_verified'] },
      authMethods: ['client_secret_post', 'client_secret_basic'],
    },
    people: {
      '1071': { hd: 'acme.example', email: 'ada@acme.example', email_verified: true },
      '1072': { hd: 'acme.example', email: 'grace@acme.example', email_verified: true },
      '1073': { email: 'mallory@gmail.example', email_verified: true },
      '1074': { hd: 'evil.example', email: 'ada@evil.example', email_verified: true },
      '1075': { email: 'ada@acme.example', email_verified: false },
    },
    signedIn: {
      '1071': { org_id: 'acme', user_id: 'ada@acme.example', role: 'owner' },
      '1072': { org_id: 'acme', user_id: 'grace@acme.example', role: 'member' },
    },
    refused: {
      '1073':
        /the claim hd or email is \[\\"mallory@gmail.example\\"\], to which DAYBOOK_GROUP_ROLES gives no role/,
      '1074': /the claim hd or email is .*evil.example/,
      '1075': /the claim email_verified is false/,
    },
  },
];

for (const { provider, likeness, people, signedIn, refused } of CASES)
  describe(`the recipe for ${provider}`, () => {
    for (const [login, caller] of Object.entries(signedIn))
      test(`signs ${login} in`, async () => {
        const end = await signIn(people, login, likeness, recipeOf(provider));
        expect(end).toMatchObject({ location: 'http://localhost/', caller });
      });

    for (const [login, sentence] of Object.entries(refused))
      test(`refuses ${login}, and the log names the claim`, async () => {
        const end = await signIn(people, login, likeness, recipeOf(provider));
        expect(end).toMatchObject({ location: 'http://localhost/#sign-in=claims', caller: undefined });
        expect(end.log).toMatch(sentence);
      });
  });

describe('a client secret', () => {
  for (const method of BOTH_METHODS)
    test(`is sent by ${method} where the provider takes no other`, async () => {
      const people = { ada: { org_id: 'acme', role: 'member' } };
      const { location } = await signIn(people, 'ada', { authMethods: [method] }, {});
      expect(location).toBe('http://localhost/');
    });
});

describe('the userinfo', () => {
  const people = { ada: { org_id: 'acme', role: 'member' } };

  test('is not asked where the ID token has every claim', async () => {
    const { location } = await signIn(people, 'ada', { hasUserinfo: false }, {});
    expect(location).toBe('http://localhost/');
  });

  test('is asked before the default role and organization count', async () => {
    const likeness = { isThin: true, claims: { openid: ['sub'], profile: ['org_id', 'role'] } };
    const defaults = { DAYBOOK_DEFAULT_ORG: 'globex', DAYBOOK_DEFAULT_ROLE: 'guest' };
    const { caller } = await signIn(people, 'ada', likeness, defaults);
    expect(caller).toMatchObject({ org_id: 'acme', role: 'member' });
    const failed = await signIn(people, 'ada', { ...likeness, hasUserinfo: false }, defaults);
    expect(failed).toMatchObject({ location: 'http://localhost/#sign-in=refused', caller: undefined });
    expect(failed.log).toMatch(/the ID token lacks org_id, role, and the userinfo failed: /);
  });
});
