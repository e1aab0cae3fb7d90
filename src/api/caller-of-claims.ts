import { hash } from 'node:crypto';
import type { z } from 'zod';
import { isObject } from '../input/json-object.js';
import { nameText, OrgId } from '../input/name-text.js';
import { own } from '../input/own.js';
import type { ClaimsConfig } from '../settings/config.js';
import type { Caller } from './caller.js';
import { Role } from './roles.js';

export type Claims = Readonly<Record<string, unknown>>;

/** How many characters of a claim's value an error shows. */
const SHOWN_CHARACTERS = 200;

/** A claim that is missing or wrong. The message names the claim, and says what to do. */
export class ClaimFault extends Error {
  override name = 'ClaimFault';
}

/**
 * Whom an issuer's claims stand for, by the rules of the settings. A claim is taken from the first of the sources that has it, such as an ID
 * token before the provider's userinfo. Throws a ClaimFault.
 */
export function callerOfClaims(issuer: string, rules: ClaimsConfig, ...sources: readonly Claims[]): Caller {
  const userId = textOf(sources, rules.user, UserId, 'set DAYBOOK_CLAIM_USER');
  const orgId = orgOf(sources, rules);
  requireVerified(sources, rules);
  const role = roleOf(sources, rules);
  const { data: email = null } = Email.safeParse(claimIn(sources, 'email'));
  const credential = hash('sha256', `${issuer} ${userId} ${orgId}`).slice(0, 12);
  return { orgId, role, userId, email, credential };
}

/** The names of the claims that say who somebody is and aren't among these. */
export function lackingClaims(claims: Claims, { user, org, role }: ClaimsConfig): string[] {
  return [user, org, ...role].filter((name) => claimIn([claims], name) === undefined);
}

const UserId = nameText(128);
const Email = nameText(320);

/** A claim; undefined for null. `a.b` is the member `b` of `a`, unless a claim has that name: Auth0's are addresses. */
function claimIn(sources: readonly Claims[], name: string): unknown {
  const path = name.split('.');
  for (const claims of sources) {
    const nested = path.reduce<unknown>(
      (outer, part) => (isObject(outer) ? own(outer, part) : undefined),
      claims,
    );
    const found = own(claims, name) ?? nested ?? undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A claim that has one text, or a list of one, as Keycloak's `organization` is. */
function textOf(sources: readonly Claims[], name: string, form: z.ZodType<string>, remedy: string): string {
  const found = claimIn(sources, name);
  if (found === undefined) throw missing(name, remedy);
  const { data, error } = form.safeParse(Array.isArray(found) && found.length === 1 ? found[0] : found);
  if (error === undefined) return data;
  throw new ClaimFault(
    `the claim ${name} is ${shown(found)}, but ${error.issues[0]?.message}: correct it, or ${remedy}`,
  );
}

function orgOf(sources: readonly Claims[], { org, defaultOrg }: ClaimsConfig): string {
  if (defaultOrg !== undefined && claimIn(sources, org) === undefined) return defaultOrg;
  return textOf(sources, org, OrgId, 'set DAYBOOK_CLAIM_ORG or DAYBOOK_DEFAULT_ORG');
}

/** Anybody can claim an address that the provider hasn't verified. */
function requireVerified(sources: readonly Claims[], { user, role }: ClaimsConfig): void {
  const isNeeded = user === 'email' || role.includes('email');
  const isDenied = String(claimIn(sources, 'email_verified')) === 'false';
  if (isNeeded && isDenied)
    throw new ClaimFault(
      'the claim email_verified is false: verify the address at the provider, or name a claim other than email in DAYBOOK_CLAIM_USER and DAYBOOK_CLAIM_ROLE',
    );
}

/** The strongest role of those that the claims give. */
function roleOf(sources: readonly Claims[], { role: names, groupRoles, defaultRole }: ClaimsConfig): Role {
  const found = names.map((name) => claimIn(sources, name)).filter((value) => value !== undefined);
  const values = found.flat();
  const given =
    groupRoles.length === 0
      ? values
      : groupRoles.filter(({ group }) => values.includes(group)).map(({ role }) => role);
  const strongest = Role.options.find((role) => given.includes(role)) ?? defaultRole;
  if (strongest !== undefined) return strongest;
  const claim = names.join(' or ');
  if (found.length === 0) throw missing(claim, 'set DAYBOOK_CLAIM_ROLE or DAYBOOK_DEFAULT_ROLE');
  throw new ClaimFault(
    groupRoles.length === 0
      ? `the claim ${claim} is ${shown(values)}, which has no role: give its values roles in DAYBOOK_GROUP_ROLES, or set DAYBOOK_DEFAULT_ROLE`
      : `the claim ${claim} is ${shown(values)}, to which DAYBOOK_GROUP_ROLES gives no role: add one of its values there, or set DAYBOOK_DEFAULT_ROLE`,
  );
}

function missing(name: string, remedy: string): ClaimFault {
  return new ClaimFault(
    `the claim ${name} is missing: have the issuer add it (DAYBOOK_OIDC_SCOPE asks an OpenID provider for more), or ${remedy}`,
  );
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, SHOWN_CHARACTERS);
}
