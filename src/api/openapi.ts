import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { VERSION } from '../disk/package-root.js';
import { forbiddenTo } from './auth.js';
import { ERRORS, type ErrorStatus, familyOf, headersOf, PROBLEMS, problemOf } from './errors.js';
import { withoutIntegerLimits } from './integer-limits.js';
import { type Described, finish, type JsonSchema } from './openapi-document.js';
import { type Action, may, Role } from './roles.js';

/** The errors of any route, and the additional ones of routes that need a credential. */
const BY_ALL: readonly ErrorStatus[] = [400, 405, 408, 429, 431, 500];
const BY_CREDENTIAL: readonly ErrorStatus[] = [401, 403, 503];
/** Those of routes with a body of JSON. */
const BY_BODY: readonly ErrorStatus[] = [413, 415];
const REQUEST_ID = 'req_01JWN2ZK4Q8V7T5R3P1M9X6C0B';

const TAGGED = { etag: 'W/"jpxGxhvQ2aXo3rC0Zq4J8g"', 'cache-control': 'private, no-cache' };

const zodToJsonConfig: z.core.ToJSONSchemaParams = { override: withoutIntegerLimits };
const toJson = createJsonSchemaTransform({ zodToJsonConfig });
const withComponents = createJsonSchemaTransformObject({ zodToJsonConfig });

/** Describes a route: the answers and bodies of its schemas, and every error. */
const describeRoute: FastifyDynamicSwaggerOptions['transform'] = (document) => {
  const { schema, url, route } = document;
  if (schema?.hide === true) return { schema, url };
  const {
    family,
    action,
    errors = {},
    bodies,
    headers,
    isTagged,
    isHealthCheck,
    csvExample,
    forms = csvExample === undefined ? {} : formsOf(csvExample),
    allow = 'GET, HEAD',
  } = route.config ?? {};
  const shape = familyOf(url);
  const own = Object.keys(errors).map(Number) as ErrorStatus[];
  const statuses = new Set([
    ...BY_ALL,
    ...(family === undefined ? [] : BY_CREDENTIAL),
    ...(schema?.body === undefined ? [] : BY_BODY),
    ...own,
  ]);
  if (isHealthCheck === true) statuses.delete(429);
  const answers = schema.response as Record<string, z.ZodType>;
  const problems = [...statuses].filter((status) => !Object.hasOwn(answers, status));
  const response = {
    ...Object.fromEntries(problems.map((status) => [status, PROBLEMS[shape]])),
    ...answers,
  };
  const described = toJson({ ...document, schema: { ...schema, response } }).schema;
  const jsonOf = described.response as Record<string, JsonSchema>;
  const other = allow.includes('DELETE') ? 'PUT' : 'DELETE';
  const sentences = {
    403: forbidden(action),
    405: `This path doesn't have ${other}: use ${allow}.`,
    ...(route.bodyLimit === undefined ? {} : { 413: `The body must have at most ${route.bodyLimit} bytes.` }),
    ...errors,
  };
  const responses = Object.fromEntries(
    Object.keys(answers).map((status) => [
      status,
      status === '204'
        ? { description: 'Done.', type: 'null', headers: headersAs({}) }
        : responseOf(
            jsonOf[status] ?? {},
            ERRORS[Number(status) as ErrorStatus]?.when,
            isTagged ? TAGGED : headers,
            undefined,
            forms,
          ),
    ]),
  );
  if (isTagged === true)
    responses[304] = responseOf(
      { type: 'null' },
      'The answer is still the one that If-None-Match names.',
      TAGGED,
    );
  for (const status of problems) {
    const { when, detail } = ERRORS[status];
    const example = problemOf(shape, status, sentences[status] ?? detail, REQUEST_ID);
    const headers = { ...headersOf(status), ...(status === 405 ? { allow } : {}) };
    responses[status] = responseOf({ ...jsonOf[status] }, when, headers, example);
  }
  const content = Object.entries(bodies ?? {}).map(([type, body]) => [
    type,
    { schema: toJson({ ...document, schema: { body } }).schema.body },
  ]);
  return {
    url,
    schema: {
      operationId: operationIdOf(String(route.method), url),
      ...described,
      response: responses,
      ...(family === undefined ? {} : { security: [{ bearer: [] }] }),
      ...(bodies === undefined ? {} : { body: { content: Object.fromEntries(content) } }),
    },
  };
};

/** The same rows in the other formats of Accept. */
function formsOf(csv: string): object {
  return {
    'text/csv': {
      schema: {
        type: 'string',
        description: 'the rows of data under a header line (RFC 4180); nested members are JSON text',
      },
      example: csv,
    },
    'application/vnd.apache.arrow.stream': {
      schema: {
        type: 'string',
        format: 'binary',
        description:
          'the rows of data as an Arrow IPC stream with nested types; meta is metadata of its schema',
      },
      example: 'an Arrow IPC stream',
    },
  };
}

/** An answer with its headers; without an example, it gets one made from those of its members. */
function responseOf(
  schema: JsonSchema,
  description = 'The answer.',
  headers: Readonly<Record<string, string>> = {},
  example?: object,
  otherForms: object = {},
): object {
  // No body.
  if (schema.type === 'null') return { description, type: 'null', headers: headersAs(headers) };
  return {
    description,
    headers: headersAs(headers),
    content: {
      'application/json': { schema, ...(example === undefined ? {} : { example }) },
      ...otherForms,
    },
  };
}

function headersAs(headers: Readonly<Record<string, string>>): object {
  const named = Object.entries({ 'x-request-id': REQUEST_ID, ...headers });
  return Object.fromEntries(named.map(([name, value]) => [name, { type: 'string', examples: [value] }]));
}

/** The sentence for the first role that may not do something. */
function forbidden(action: Action | undefined): string | undefined {
  const role = Role.options.find((role) => action !== undefined && !may(role, action));
  return action === undefined || role === undefined ? undefined : forbiddenTo(role, action);
}

/** `getAnalyticsTokens` of `GET /api/v1/analytics/tokens`. */
function operationIdOf(method: string, url: string): string {
  const words = url.replace(/^\/api\/(v\d\/)?/, '').match(/[a-z]+/gi) ?? [];
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join(
    '',
  );
}

/** The OpenAPI 3.1 document of the service, made from the schemas that check requests and answers. */
export const OPENAPI: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Daybook',
      version: VERSION,
      description: 'Self-hosted analytics for coding agents. Dates are UTC days.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [
      { name: 'analytics', description: 'The numbers of built days, for managers and owners.' },
      { name: 'sql', description: 'SQL on events and day tables, for managers and owners.' },
      { name: 'events', description: 'Events of agents.' },
      { name: 'keys', description: 'API keys and browser sessions, for owners.' },
      { name: 'people', description: 'Who the users are: their names, teams and cost centres.' },
      { name: 'budgets', description: 'What may be spent in each month.' },
      { name: 'alerts', description: 'What people are told without asking.' },
      { name: 'vendors', description: "Vendors' APIs that are pulled each night." },
      { name: 'privacy', description: 'Who may see people by name.' },
      { name: 'audit', description: 'Who asked for which answers about whom, for owners.' },
      { name: 'controls', description: "Settings that an organization's owner controls, and their changes." },
      { name: 'readiness', description: 'How ready repositories are for coding agents.' },
      { name: 'computers', description: 'Machines that agents work on, and files for them.' },
      { name: 'operations', description: 'For operators; no credential is needed.' },
    ],
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, or a JWT if the service accepts them.',
        },
      },
    },
  },
  transform: describeRoute,
  transformObject: (document) => {
    const whole = withComponents(document);
    return { ...whole, ...finish(whole as Described) } as typeof whole;
  },
};
