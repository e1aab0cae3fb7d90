import { gunzipSync } from 'node:zlib';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import { compile } from 'json-schema-to-typescript';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { buildApp } from '../src/service/app.js';
import { expectFile, expectPage } from './page.js';
import { Reference } from './reference.js';
import { ending, World } from './world.js';

const atEnd = ending();

let app: FastifyInstance;
let reference: Reference;
/** Every route, as the framework knows it. */
const routes: { method: string; url: string; isRefusal: boolean }[] = [];

beforeAll(async () => {
  app = buildApp(await World.create({}, atEnd));
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const one of [method].flat())
      routes.push({ method: one, url, isRefusal: config?.isRefusal === true });
  });
  reference = await Reference.of(app);
});

describe('the document of the API', () => {
  test('has every route but those of pages, of Prometheus, of agents and who watches them, of MCP and SCIM, and those that refuse a method', () => {
    const described = reference.operations.map(({ method, path }) => `${method} ${path}`);
    const there = routes
      .filter(
        ({ method, url, isRefusal }) =>
          method !== 'HEAD' &&
          !isRefusal &&
          !/^\/($|collector\.tgz|docs|metrics|sign-in|sign-out|assets|people|teams|repositories|models|tools|trust|operations|sql|numbers)(\/|$)/.test(
            url,
          ) &&
          // WebSockets, and what agents fetch by signed addresses: docs/computers.md describes their protocol.
          !/\/relay\//.test(url) &&
          // MCP tells by itself which tools there are, and SCIM which schemas.
          url !== '/mcp' &&
          !url.startsWith('/scim/') &&
          !(method === 'GET' && url === '/api/v0/transfers/:transferId'),
      )
      .map(({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(described.sort()).toEqual(there.sort());
    expect(described.length).toBeGreaterThanOrEqual(20);
  });

  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate({ ...reference.document });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(reference.document).toMatchObject({ openapi: '3.1.0' });
  });

  test('uses every schema that it has, and has none twice', () => {
    const { components } = reference.document as { components?: { schemas?: Record<string, object> } };
    const text = JSON.stringify(reference.document);
    const schemas = Object.entries(components?.schemas ?? {});
    expect(schemas.length).toBeGreaterThan(5);
    for (const [name] of schemas) expect(text, name).toContain(`"#/components/schemas/${name}"`);
    const bodies = schemas.map(([, schema]) => JSON.stringify(schema));
    expect(new Set(bodies).size).toBe(bodies.length);
  });

  test('says of every parameter, body and answer what it is, with an example that is one', () => {
    const names = new Set<string>();
    for (const operation of reference.operations) {
      const where = `${operation.method} ${operation.path}`;
      expect(operation.summary, where).toMatch(/^[A-Z]/);
      names.add(operation.operationId);
      for (const { name, schema, example, description } of operation.parameters) {
        expect(description, `${where} ${name}`).toBeTruthy();
        expect(example, `${where} ${name}`).toBeDefined();
        expect(reference.faultsOf(schema, example), `${where} ${name}`).toEqual([]);
      }
      const media = [
        ...Object.entries(operation.bodies),
        ...Object.entries(operation.responses).flatMap(([status, { description, content }]) => {
          expect(description, `${where} ${status}`).toMatch(/^[A-Z].*\.$/);
          return Object.entries(content ?? {}).map(([type, one]) => [`${status} ${type}`, one] as const);
        }),
      ];
      expect(media.length, where).toBeGreaterThan(1);
      for (const [type, { schema, example, examples }] of media) {
        const all = examples === undefined ? [example] : Object.values(examples).map(({ value }) => value);
        for (const one of all) {
          expect(one, `${where} ${type}`).toBeDefined();
          expect(reference.faultsOf(schema, one), `${where} ${type}`).toEqual([]);
        }
      }
    }
    expect(names.size).toBe(reference.operations.length);
  });

  test('is kept in docs/openapi.json', async () => {
    await expectPage('openapi.json', `${JSON.stringify(reference.document, null, 2)}\n`);
  });
});

test('the page at /docs needs nothing from elsewhere', async () => {
  const page = await app.inject({ url: '/docs' });
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('<title>Daybook</title>');
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toMatch(/^default-src 'self'/);
  expect(policy).not.toMatch(/https?:|\*/);
  const links = [...page.body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => String(link));
  expect(links.length).toBeGreaterThanOrEqual(5);
  for (const link of links) {
    // Below a path that a proxy takes off too.
    const { pathname } = new URL(link, 'https://acme.example/daybook/docs');
    expect(pathname).toMatch(/^\/daybook\/docs\/static\//);
    const asset = await app.inject({ url: pathname.slice('/daybook'.length) });
    expect(asset.statusCode, link).toBe(200);
    if (link.endsWith('.css')) expect(asset.body).not.toMatch(/@import|url\((?!"?data:)/);
  }
  const start = await app.inject({ url: '/docs/static/start.js' });
  expect(start.body).toContain('validatorUrl: null');
  for (const url of ['/docs/json', '/docs/yaml']) {
    const shown = await app.inject({ url });
    // What is tried out on the page goes to the service that it came from.
    expect(parse(shown.body)).toEqual({ ...reference.document, servers: [{ url: '../' }] });
  }
});

describe.each(['/openapi.json', '/docs/json', '/docs/yaml', '/docs/static/swagger-ui-bundle.js'])(
  '%s',
  (url) => {
    const ask = (headers: Record<string, string> = {}) =>
      app.inject({ url, headers: { 'accept-encoding': 'gzip', ...headers } });

    test('is made once, and sent as bytes that are compressed already', async () => {
      await ask();
      const make = vi.spyOn(app, 'swagger');
      onTestFinished(() => make.mockRestore());
      const { headers, rawPayload } = await ask();
      expect(make).not.toHaveBeenCalled();
      expect(headers['content-encoding']).toBe('gzip');
      // A body that is compressed while it is sent has no length.
      expect(headers['content-length']).toBe(String(rawPayload.length));
      expect(headers.vary).toBe('accept-encoding');
      const plain = await ask({ 'accept-encoding': 'identity' });
      expect(gunzipSync(rawPayload).equals(plain.rawPayload)).toBe(true);
    });

    test('is not sent again to a client that has it', async () => {
      const { headers } = await ask();
      expect((await ask({ 'if-none-match': String(headers.etag) })).statusCode).toBe(304);
    });
  },
);

interface Given {
  /** Of an answer that several routes have. */
  readonly $ref?: string;
  readonly content?: Record<string, { schema: object }>;
}

interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, Given>;
}

test('docs/openapi.json gives the page the types of its answers', async () => {
  const { components, paths } = reference.document as unknown as {
    components: { responses: Record<string, Given> };
    paths: Record<string, Record<string, Operation>>;
  };
  const answers: Record<string, object> = {};
  for (const { operationId, responses } of Object.values(paths).flatMap((path) => Object.values(path))) {
    const given = responses[200] ?? responses[201];
    const shared = components.responses[given?.$ref?.split('/').at(-1) ?? ''];
    const schema = (shared ?? given)?.content?.['application/json']?.schema;
    if (schema !== undefined) answers[operationId] = schema;
  }
  const root = { type: 'object', properties: answers, required: Object.keys(answers), components };
  const text = await compile(JSON.parse(JSON.stringify(root)), 'Answers', {
    bannerComment: '// Generated from docs/openapi.json by "npm run docs".',
    additionalProperties: false,
    // Lists are lists, not tuples of each length.
    maxItems: -1,
    style: { singleQuote: true, printWidth: 110 },
  });
  await expectFile('web/src/answers.ts', text);
});
