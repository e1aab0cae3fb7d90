import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { FastifyPluginAsync } from 'fastify';
import { KeptDocument } from './kept-document.js';

/** The files of Swagger UI that the page loads. The package's own plugin would read and compress them for each request. */
const FILES = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'index.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

/** The page loads nothing from elsewhere. */
const POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

/** The page, with addresses that are relative to it, so that a proxy can serve it below any path. */
function pageAt(folder: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Daybook</title>
    <link rel="icon" type="image/png" href="${folder}static/favicon-32x32.png">
    <link rel="stylesheet" href="${folder}static/swagger-ui.css">
    <link rel="stylesheet" href="${folder}static/index.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="${folder}static/swagger-ui-bundle.js"></script>
    <script src="${folder}static/start.js"></script>
  </body>
</html>
`;
}

/** Shows the document without a bar for other documents. */
const START = `SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: new URL('../json', document.currentScript.src).href,
  deepLinking: true,
  validatorUrl: null,
});
`;

/** The API reference as a page, and the document that it shows. */
export const referenceRoutes: FastifyPluginAsync = async (app) => {
  const folder = join(
    createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json'),
    '..',
    'static',
  );
  // Requests that are tried out on the page go to the service that it came from.
  const json = () => JSON.stringify({ ...app.swagger(), servers: [{ url: '../' }] });
  const documents = {
    '/docs': new KeptDocument('text/html; charset=utf-8', () => pageAt('docs/')),
    '/docs/': new KeptDocument('text/html; charset=utf-8', () => pageAt('')),
    '/docs/json': new KeptDocument('application/json; charset=utf-8', json),
    // JSON is YAML too.
    '/docs/yaml': new KeptDocument('application/yaml; charset=utf-8', json),
    '/docs/static/start.js': new KeptDocument('text/javascript; charset=utf-8', () => START),
    ...Object.fromEntries(
      Object.entries(FILES).map(([name, type]) => [
        `/docs/static/${name}`,
        new KeptDocument(type, () => readFileSync(join(folder, name))),
      ]),
    ),
  };
  for (const [url, document] of Object.entries(documents))
    app.get(url, { schema: { hide: true } }, (request, reply) =>
      document.send(request, reply.header('content-security-policy', POLICY)),
    );
};
