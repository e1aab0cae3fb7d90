import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import files from '@fastify/static';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { mediaTypeOf } from '../api/send-answer.js';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import type { Config } from '../settings/config.js';

const FOLDER = join(PACKAGE_ROOT, 'dist', 'web');

/** Everything comes from the page's own origin, and nothing is inline. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** The first path segments that the page itself handles: web/src/address.ts. */
const PLACES = [
  'people',
  'teams',
  'repositories',
  'models',
  'tools',
  'trust',
  'operations',
  'sql',
  'numbers',
];

/** Paths for programs, where an unknown address is a JSON error even in a browser. */
const OF_PROGRAMS = /^\/(api|v1|mcp|otlp|scim|docs)(\/|\?|$)/;

/** Whether an unknown address was opened in a browser, so that it gets the page. */
export function isOpenedInBrowser(request: FastifyRequest): boolean {
  return (
    (request.method === 'GET' || request.method === 'HEAD') &&
    !OF_PROGRAMS.test(request.url) &&
    mediaTypeOf(request, ['application/json', 'text/html']) === 'text/html'
  );
}

export type SendPage = (reply: FastifyReply) => FastifyReply;

/** Sends the page's document. A checkout without a built page has none, and serves the API alone. */
export function pageSender({ publicUrl, oidc }: Pick<Config, 'publicUrl' | 'oidc'>): SendPage | undefined {
  if (!existsSync(join(FOLDER, 'index.html'))) return undefined;
  const base = publicUrl === undefined ? '/' : new URL(publicUrl).pathname;
  const page = readFileSync(join(FOLDER, 'index.html'), 'utf8').replace(
    '<base href="/">',
    `<base href="${base.replace(/\/?$/, '/')}" data-sign-in="${oidc === undefined ? 'key' : 'provider'}">`,
  );
  return (reply) =>
    reply
      .headers({ 'content-security-policy': POLICY, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(page);
}

/** Serves the page: its document at every address that it handles, and its files, whose names change with their content. */
export const pageRoutes: FastifyPluginAsync<{ sendPage: SendPage | undefined }> = async (
  app,
  { sendPage },
) => {
  if (sendPage === undefined) return;
  for (const url of ['/', ...PLACES.flatMap((place) => [`/${place}`, `/${place}/*`])])
    app.get(url, { schema: { hide: true, querystring: z.looseObject({}) } }, async (_, reply) =>
      sendPage(reply),
    );
  await app.register(files, {
    root: join(FOLDER, 'assets'),
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
    index: false,
    decorateReply: false,
  });
};
