import type { FastifyRequest } from 'fastify';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { readText } from '../disk/text-file.js';
import { UsageError } from '../exit.js';
import { certificateFaultOf } from '../network/certificate.js';
import { limitedFetch } from '../network/outgoing.js';
import type { JwtConfig } from '../settings/config.js';
import { erasedIn } from '../store/state/erased-names.js';
import { userOf } from '../store/state/person.js';
import { shutOutOf } from '../store/state/scim-users.js';
import type { Store } from '../store/store.js';
import { callerOfHash, hashOf } from './api-keys.js';
import type { Caller } from './caller.js';
import { ClaimFault, callerOfClaims } from './caller-of-claims.js';
import { ApiError, familyOf } from './errors.js';
import { nameInLog } from './request-log.js';
import { ACTIONS, type Action, may, type Role } from './roles.js';

/** Authenticates requests by API keys, JWTs (docs/api.md, "JWTs") and sessions of browsers. */
export class Authenticator {
  private readonly jwtKey: JWTVerifyGetKey | undefined;

  /** Throws a UsageError for a JWKS file that can't be read. */
  constructor(
    private readonly store: Store,
    private readonly jwt: JwtConfig | undefined,
    private readonly clock: () => number,
    /** Who is signed in with a browser. */
    private readonly sessions: { find(request: FastifyRequest): Promise<Caller | undefined> },
  ) {
    if (jwt !== undefined) this.jwtKey = keyOf(jwt);
  }

  /**
   * The sender of a request, from its Authorization header or its browser's session. A credential of a person's alias is the person's. Throws
   * 401 without a valid credential, and for a person who was erased or whom the identity provider keeps out.
   */
  async identify(request: FastifyRequest): Promise<Caller> {
    const caller = await this.ofRequest(request);
    if (caller.userId === null) return caller;
    if ((await erasedIn(this.store, caller.orgId))?.(caller.userId) === true)
      throw new ApiError(401, 'The credential is of a person who was erased: use one of somebody else.');
    const userId = await userOf(this.store, caller.orgId, caller.userId);
    const reason = await shutOutOf(this.store, caller.orgId, userId);
    if (reason !== undefined)
      throw new ApiError(
        401,
        `The identity provider has ${reason} ${userId}: ${reason === 'deleted' ? 'assign the user again' : 'activate the user'} there.`,
      );
    return { ...caller, userId };
  }

  private async ofRequest(request: FastifyRequest): Promise<Caller> {
    const token = tokenOf(request);
    const signedIn = token === undefined ? await this.sessions.find(request) : undefined;
    if (signedIn !== undefined) return signedIn;
    if (token === undefined)
      throw new ApiError(401, 'The request must have the header "Authorization: Bearer <API key>".');
    return token.split('.').length === 3 ? this.ofJwt(token, request.log) : this.ofKey(token);
  }

  private async ofKey(token: string): Promise<Caller> {
    const keyHash = hashOf(token);
    const caller = keyHash && (await callerOfHash(this.store, keyHash, this.clock()));
    if (!caller)
      throw new ApiError(
        401,
        `The API key is unknown, expired or revoked: create one on the service's machine with "daybook keys create".`,
      );
    return caller;
  }

  private async ofJwt(token: string, log: FastifyRequest['log']): Promise<Caller> {
    const { jwt, jwtKey } = this;
    if (jwt === undefined || jwtKey === undefined)
      throw new ApiError(401, "This service doesn't accept JWTs: send an API key, or set DAYBOOK_JWT_JWKS.");
    try {
      const options = {
        issuer: jwt.issuer,
        audience: jwt.audience,
        algorithms: [...jwt.algorithms],
        requiredClaims: ['exp'],
        currentDate: new Date(this.clock()),
        clockTolerance: jwt.toleranceSeconds,
      };
      const { payload } = await jwtVerify(token, jwtKey, options);
      return callerOfClaims(jwt.issuer, jwt.claims, payload);
    } catch (error) {
      const refusal = refusalOf(error);
      // The sender can't do anything about it, and doesn't learn the reason.
      if (refusal[0] === 503)
        log.error({ err: error }, `The keys at ${jwt.jwks} can't be fetched${becauseOf(error)}.`);
      throw new ApiError(...refusal);
    }
  }
}

/** The sender of a request, which is authenticated once. The lines that it logs from then on name the sender. */
export function identifyOnce(
  request: FastifyRequest,
  authenticator: Pick<Authenticator, 'identify'>,
): Promise<Caller> {
  request.identified ??= authenticator.identify(request).then((caller) => {
    nameInLog(request, caller);
    return caller;
  });
  return request.identified;
}

/** The credential of a request. Exporters of OTLP can have settings that send it in other ways than the one of the API. */
function tokenOf({ headers, url }: FastifyRequest): string | undefined {
  const { authorization, 'x-api-key': key } = headers;
  if (familyOf(url) !== 'otlp') return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  const [, token] = /^(?:Bearer(?: +|%20))?(\S+)$/i.exec(authorization ?? '') ?? [];
  return token ?? (typeof key === 'string' && key !== '' ? key : undefined);
}

/** Throws 403 if the caller's role may not do this. */
export function requireAction(caller: Caller, action: Action): void {
  if (!may(caller.role, action)) {
    throw new ApiError(403, forbiddenTo(caller.role, action));
  }
}

const OR = new Intl.ListFormat('en', { type: 'disjunction' });

/** The sentence for a caller whose role may not do this. */
export function forbiddenTo(role: Role, action: Action): string {
  const roles = ACTIONS[action];
  const remedy = roles.length === 0 ? 'no role may' : `use a credential of role ${OR.format(roles)}`;
  return `A credential of role ${role} may not ${action}: ${remedy}.`;
}

function becauseOf(error: unknown): string {
  const fault = certificateFaultOf(error);
  return fault === undefined ? '' : `, since ${fault}`;
}

function keyOf(jwt: JwtConfig): JWTVerifyGetKey {
  if (jwt.secret !== undefined) {
    const secret = new TextEncoder().encode(jwt.secret);
    return () => secret;
  }
  const where = jwt.jwks ?? '';
  if (/^https?:/.test(where))
    return createRemoteJWKSet(new URL(where), { timeoutDuration: 5000, [customFetch]: limitedFetch });
  try {
    return createLocalJWKSet(JSON.parse(readText(where)));
  } catch {
    throw new UsageError(
      `DAYBOOK_JWT_JWKS must be the URL or file of a JSON Web Key Set, which ${where} is not.`,
    );
  }
}

/** The status and sentence for a JWT that wasn't accepted. */
function refusalOf(error: unknown): [status: 401 | 503, detail: string] {
  if (error instanceof ClaimFault) return [401, `The JWT is refused, since ${error.message}.`];
  if (error instanceof errors.JWTExpired) return [401, 'The JWT has expired: get a new one.'];
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf')
    return [
      401,
      "The JWT is not valid yet: compare the clock of its issuer with the service's, or raise DAYBOOK_CLOCK_TOLERANCE_S.",
    ];
  if (error instanceof errors.JWTClaimValidationFailed)
    return [401, `The JWT is not for this service: its claim ${error.claim} is missing or wrong.`];
  if (error instanceof errors.JOSEAlgNotAllowed)
    return [
      401,
      'The JWT is signed with an algorithm that is not allowed: DAYBOOK_JWT_ALGORITHMS lists the allowed ones.',
    ];
  if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError))
    return [503, "The keys for checking JWTs can't be fetched at the moment: try again."];
  return [401, 'The JWT is not valid: its signature, key or format is wrong.'];
}
