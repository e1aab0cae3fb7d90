import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOfHash, hashOf } from '../api/api-keys.js';
import { requireAction } from '../api/auth.js';
import { ClaimFault } from '../api/caller-of-claims.js';
import { ApiError } from '../api/errors.js';
import { baseOf } from '../api/public-url.js';
import { nameInLog } from '../api/request-log.js';
import type { ApiDeps } from '../api/route-family.js';
import { messageOf } from '../exit.js';
import { type BrowserSessions, cookieName } from './browser-sessions.js';
import { deviceRoutes } from './device-routes.js';
import { OpenIdProvider } from './openid-provider.js';

export interface SignInDeps extends ApiDeps {
  readonly sessions: BrowserSessions;
}

const Credential = z.union([
  z.strictObject({ key: z.string().max(200) }),
  /** Of a link that "daybook open" prints. */
  z.strictObject({ token: z.string().max(2000) }),
]);

const Login = z.strictObject({ state: z.string(), nonce: z.string(), codeVerifier: z.string() });
/** The form of states, as the library makes them. */
const State = z.string().regex(/^[\w-]{1,100}$/);
const LOGIN_COOKIE = 'daybook_login';
/** Where the provider sends the browser back to, below the address of the service. */
const CALLBACK = 'sign-in/callback';

/** The cookie of a browser's tab that is on its way to the provider and back with a state: only the way back gets it. */
function loginCookie(base: URL, state: string): { name: string; path: string; secure: boolean } {
  const { pathname: path } = new URL(CALLBACK, base);
  return {
    name: cookieName(`${LOGIN_COOKIE}_${state}`, { protocol: base.protocol, pathname: path }),
    path,
    secure: base.protocol === 'https:',
  };
}

/** Signs browsers in and out, for the page alone: programs send their credential with each request. */
export const signInRoutes: FastifyPluginAsyncZod<SignInDeps> = async (
  app,
  { store, config, clock, sessions },
) => {
  const { tickets } = sessions;

  app.post(
    '/sign-in',
    { bodyLimit: 4096, schema: { hide: true, body: Credential } },
    async (request, reply) => {
      sessions.requireOwnOrigin(request);
      const { body } = request;
      if ('key' in body) {
        const keyHash = hashOf(body.key.trim());
        const caller = keyHash && (await callerOfHash(store, keyHash, clock()));
        if (!keyHash || !caller)
          throw new ApiError(
            401,
            `The API key is unknown, expired or revoked: create one on the service's machine with "daybook keys create".`,
          );
        nameInLog(request, caller);
        requireAction(caller, 'use the page');
        sessions.start({ keyHash }, request, reply);
      } else {
        if (!(await sessions.startWithLink(body.token, request, reply)))
          throw new ApiError(
            401,
            'This link was used before or is older than ten minutes: "daybook open" prints a new one.',
          );
      }
      return reply.status(204).send();
    },
  );

  app.post('/sign-out', { schema: { hide: true } }, async (request, reply) => {
    sessions.requireOwnOrigin(request);
    await sessions.end(request, reply);
    return reply.status(204).send();
  });

  const provider = config.oidc && new OpenIdProvider(config.oidc);
  const other = config.oidc?.device && new OpenIdProvider({ ...config.oidc, ...config.oidc.device });
  await app.register(deviceRoutes, { store, clock, tickets, provider: other ?? provider });
  if (config.oidc === undefined || provider === undefined) return;
  const of = `The OpenID provider of DAYBOOK_OIDC_ISSUER, ${config.oidc.issuer},`;

  app.get('/sign-in/provider', { schema: { hide: true } }, async (request, reply) => {
    const base = baseOf(config, request);
    try {
      const { address, login } = await provider.begin(new URL(CALLBACK, base).href);
      const { text, endsAt } = tickets.issue('login', login);
      // The provider's redirect comes from another site, and a strict cookie would stay behind.
      const { name, ...options } = loginCookie(base, login.state);
      reply.setCookie(name, text, {
        ...options,
        httpOnly: true,
        sameSite: 'lax',
        maxAge: Math.floor((endsAt - clock()) / 1000),
      });
      return reply.redirect(address);
    } catch (error) {
      request.log.error(`${of} can't be asked: ${messageOf(error)}.`);
      return reply.redirect(new URL('#sign-in=unavailable', base).href);
    }
  });

  app.get(
    `/${CALLBACK}`,
    { schema: { hide: true, querystring: z.looseObject({ state: z.unknown().optional() }) } },
    async (request, reply) => {
      const base = baseOf(config, request);
      // A state that no cookie can be named after is none of ours.
      const { data: state = '' } = State.safeParse(request.query.state);
      const { name, ...options } = loginCookie(base, state);
      const login = await tickets.open('login', request.cookies[name] ?? '', Login);
      reply.clearCookie(name, options);
      const late = () => reply.redirect(new URL('#sign-in=late', base).href);
      if (login === undefined) {
        request.log.warn(
          `Somebody came back from the OpenID provider without the cookie of a sign-in that began in the last ten minutes: people must open the page at ${base.href}, as DAYBOOK_PUBLIC_URL says.`,
        );
        return late();
      }
      try {
        const address = new URL(CALLBACK + request.url.slice(request.url.indexOf('?')), base);
        const caller = await provider.finish(address, login.content);
        nameInLog(request, caller);
        // Stored only now: anybody can come back with a code that the provider refuses, as often as they like.
        if (!(await tickets.end(login))) return late();
        sessions.start({ caller }, request, reply);
        return reply.redirect(base.href);
      } catch (error) {
        const isUnnamed = error instanceof ClaimFault;
        request.log.warn(
          `${of} did not sign a person in${isUnnamed ? ', since ' : ': '}${messageOf(error)}.`,
        );
        return reply.redirect(new URL(isUnnamed ? '#sign-in=claims' : '#sign-in=refused', base).href);
      }
    },
  );
};
