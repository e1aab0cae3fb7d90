import { describe, expect, test } from 'vitest';
import { type Claims, callerOfClaims } from '../src/api/caller-of-claims.js';
import { UsageError } from '../src/exit.js';
import { readConfig } from '../src/settings/config.js';

function callerWith(settings: Record<string, string>, ...sources: readonly Claims[]) {
  return callerOfClaims('https://login.acme.test', readConfig(settings).claims, ...sources);
}

const ADA = { sub: 'ada', org_id: 'acme', role: 'member' };

describe('a claim', () => {
  test('has the name that the settings say, also inside another or with dots', () => {
    const settings = {
      DAYBOOK_CLAIM_USER: 'preferred_username',
      DAYBOOK_CLAIM_ORG: 'https://acme.example/org',
      DAYBOOK_CLAIM_ROLE: 'realm_access.roles',
    };
    const claims = {
      ...{ sub: '0b7e', preferred_username: 'ada', 'https://acme.example/org': 'acme' },
      realm_access: { roles: ['offline_access', 'manager'] },
    };
    expect(callerWith(settings, claims)).toMatchObject({ userId: 'ada', orgId: 'acme', role: 'manager' });
  });

  test('is of the first source that has it', () => {
    expect(callerWith({}, { ...ADA, role: null }, { sub: 'eve', role: 'manager' })).toMatchObject({
      userId: 'ada',
      role: 'manager',
    });
  });

  test('can be a list of one', () => {
    expect(callerWith({}, { ...ADA, org_id: ['acme'] }).orgId).toBe('acme');
    expect(() => callerWith({}, { ...ADA, org_id: ['acme', 'globex'] })).toThrow(
      /the claim org_id is \["acme","globex"\]/,
    );
  });

  test('that an object only inherits is missing', () => {
    expect(() => callerWith({ DAYBOOK_CLAIM_ROLE: 'constructor.name' }, ADA)).toThrow(
      /constructor.name is missing/,
    );
  });

  test('email is optional, and none if it is wrong', () => {
    for (const email of [undefined, null, '', 'a\0b', 7, ['ada@acme.example']])
      expect(callerWith({}, { ...ADA, email }).email).toBeNull();
    expect(callerWith({}, { ...ADA, email: 'ada@acme.example' }).email).toBe('ada@acme.example');
  });

  test('email says who somebody is only while the provider does not deny it', () => {
    const settings = { DAYBOOK_CLAIM_USER: 'email' };
    const claims = { ...ADA, email: 'ada@acme.example' };
    expect(callerWith(settings, claims).userId).toBe('ada@acme.example');
    for (const email_verified of [false, 'false'])
      expect(() => callerWith(settings, { ...claims, email_verified })).toThrow(
        /the claim email_verified is false/,
      );
    expect(callerWith({}, { ...claims, email_verified: false }).userId).toBe('ada');
  });
});

describe('the organization', () => {
  test('is the default only if no claim names one', () => {
    const settings = { DAYBOOK_DEFAULT_ORG: 'globex' };
    expect(callerWith(settings, { ...ADA, org_id: undefined }).orgId).toBe('globex');
    expect(callerWith(settings, ADA).orgId).toBe('acme');
    expect(() => callerWith(settings, { ...ADA, org_id: '../acme' })).toThrow(
      /the claim org_id is "..\/acme"/,
    );
  });
});

describe('the role', () => {
  test('is the strongest of a list', () => {
    const roleOf = (role: unknown) => callerWith({}, { ...ADA, role }).role;
    expect(roleOf('guest')).toBe('guest');
    expect(roleOf(['x', 'guest', 'manager', 'member'])).toBe('manager');
    expect(() => roleOf(['x', 7, null])).toThrow(
      /the claim role is \["x",7,null\], which has no role: .*DAYBOOK_GROUP_ROLES/,
    );
    expect(() => roleOf([])).toThrow(/the claim role is \[\]/);
    expect(() => roleOf(undefined)).toThrow(
      /the claim role is missing: .*DAYBOOK_CLAIM_ROLE or DAYBOOK_DEFAULT_ROLE/,
    );
  });

  test('is that of the groups alone where groups have roles', () => {
    const settings = {
      DAYBOOK_CLAIM_ROLE: 'groups',
      DAYBOOK_GROUP_ROLES: String.raw`/daybook/owners=owner, CN=Staff\,DC=acme = member, a=b=guest`,
    };
    const roleOf = (groups: unknown) => callerWith(settings, { ...ADA, groups }).role;
    expect(roleOf(['CN=Staff,DC=acme', '/daybook/owners'])).toBe('owner');
    expect(roleOf('CN=Staff,DC=acme')).toBe('member');
    expect(roleOf(['a=b'])).toBe('guest');
    for (const groups of ['owner', ['owner', 'Staff'], [['/daybook/owners']], [{ a: 1 }]])
      expect(() => roleOf(groups)).toThrow(
        /^the claim groups is .* to which DAYBOOK_GROUP_ROLES gives no role/,
      );
  });

  test('is the default where the claims give none', () => {
    const settings = { DAYBOOK_GROUP_ROLES: 'staff=manager', DAYBOOK_DEFAULT_ROLE: 'guest' };
    expect(callerWith(settings, { ...ADA, role: ['sales'] }).role).toBe('guest');
    expect(callerWith(settings, { ...ADA, role: undefined }).role).toBe('guest');
    expect(callerWith(settings, { ...ADA, role: ['staff'] }).role).toBe('manager');
  });

  test('of a group must be a role', () => {
    for (const pairs of ['staff', 'staff=', '=owner', ' =owner', 'staff=root', 'a=owner,staff=root'])
      expect(() => readConfig({ DAYBOOK_GROUP_ROLES: pairs })).toThrow(UsageError);
    expect(() => readConfig({ DAYBOOK_GROUP_ROLES: 'staff=root' })).toThrow(
      'DAYBOOK_GROUP_ROLES can\'t be "staff=root": must be groups and their roles (owner, manager, member, guest, ingest, scim), such as daybook-owners=owner,engineering=member.',
    );
  });
});
