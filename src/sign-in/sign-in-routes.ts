import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOfHash, hashOf } from '../api/api-keys.js';
import { requireAction } from '../api/auth.js';
import { Caller } from '../api/caller.js';
import { ApiError } from '../api/errors.js';
import { baseOf } from '../api/public-url.js';
import type { ApiDeps } from '../api/route-family.js';
import type { BrowserSessions } from './browser-sessions.js';
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
const LOGIN_COOKIE = 'daybook_login';
/** Where the provider sends the browser back to, below the address of the service. */
const CALLBACK = 'sign-in/callback';

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
            'The API key is unknown, expired or revoked: create one with "daybook keys create".',
          );
        requireAction(caller, 'use the page');
        sessions.start({ keyHash }, request, reply);
      } else {
        const link = await tickets.open('link', body.token, z.strictObject({ caller: Caller }));
        if (link === undefined || !(await tickets.end(link)))
          throw new ApiError(
            401,
            'This link was used before or is older than ten minutes: "daybook open" prints a new one.',
          );
        sessions.start(link.content, request, reply);
      }
      return reply.status(204).send();
    },
  );

  app.post('/sign-out', { schema: { hide: true } }, async (request, reply) => {
    sessions.requireOwnOrigin(request);
    await sessions.end(request, reply);
    return reply.status(204).send();
  });

  if (config.oidc === undefined) return;
  const provider = new OpenIdProvider(config.oidc);

  app.get('/sign-in/provider', { schema: { hide: true } }, async (request, reply) => {
    const base = baseOf(config, request);
    try {
      const { address, login } = await provider.begin(new URL(CALLBACK, base).href);
      const { text, endsAt } = tickets.issue('login', login);
      // The provider's redirect comes from another site, and a strict cookie would stay behind.
      reply.setCookie(LOGIN_COOKIE, text, {
        path: new URL(CALLBACK, base).pathname,
        httpOnly: true,
        sameSite: 'lax',
        secure: base.protocol === 'https:',
        maxAge: Math.floor((endsAt - clock()) / 1000),
      });
      return reply.redirect(address);
    } catch (error) {
      request.log.error({ err: error }, 'The OpenID provider does not answer.');
      return reply.redirect(new URL('#sign-in=unavailable', base).href);
    }
  });

  app.get(
    `/${CALLBACK}`,
    { schema: { hide: true, querystring: z.looseObject({}) } },
    async (request, reply) => {
      const base = baseOf(config, request);
      const login = await tickets.open('login', request.cookies[LOGIN_COOKIE] ?? '', Login);
      reply.clearCookie(LOGIN_COOKIE, { path: new URL(CALLBACK, base).pathname });
      if (login === undefined || !(await tickets.end(login)))
        return reply.redirect(new URL('#sign-in=late', base).href);
      try {
        const address = new URL(CALLBACK + request.url.slice(request.url.indexOf('?')), base);
        const caller = await provider.finish(address, login.content);
        sessions.start({ caller }, request, reply);
        return reply.redirect(base.href);
      } catch (error) {
        request.log.warn({ err: error }, 'The OpenID provider did not sign a person in.');
        const isUnnamed = error instanceof z.ZodError;
        return reply.redirect(new URL(isUnnamed ? '#sign-in=claims' : '#sign-in=refused', base).href);
      }
    },
  );
};
