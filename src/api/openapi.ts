import { STATUS_CODES } from 'node:http';
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { VERSION } from '../config.js';
import { forbiddenTo } from './auth.js';
import { ERRORS, type ErrorStatus, type Family, headersOf, PROBLEMS, problemOf } from './errors.js';
import { type Action, may, Role } from './roles.js';

/** A schema as JSON Schema has it, as far as it is looked at here. */
interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
}

/** What any route can fail with, and what one that needs a credential can fail with beyond that. */
const BY_ALL: readonly ErrorStatus[] = [400, 405, 408, 429, 431, 500];
const BY_CREDENTIAL: readonly ErrorStatus[] = [401, 403, 503];

const REQUEST_ID = 'req_01JWN2ZK4Q8V7T5R3P1M9X6C0B';

const zodToJsonConfig: z.core.ToJSONSchemaParams = {
  override: ({ jsonSchema }) => {
    // What an integer can be at all says nothing about this one.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  },
};
const toJson = createJsonSchemaTransform({ zodToJsonConfig });
const withComponents = createJsonSchemaTransformObject({ zodToJsonConfig });

/** Describes a route: the answers and bodies that its schemas have, and every error. */
const describeRoute: FastifyDynamicSwaggerOptions['transform'] = (document) => {
  const { schema, url, route } = document;
  if (schema?.hide === true) return { schema, url };
  const { family, action, errors = {}, bodies } = route.config ?? {};
  const shape: Family = family ?? 'v1';
  const own = Object.keys(errors).map(Number) as ErrorStatus[];
  const statuses = new Set([...BY_ALL, ...(family === undefined ? [] : BY_CREDENTIAL), ...own]);
  const problems = Object.fromEntries([...statuses].map((status) => [status, PROBLEMS[shape]]));
  const allow = route.method === 'GET' ? 'GET, HEAD' : String(route.method);
  const answers = schema.response as Record<number, z.ZodType>;
  const described = toJson({ ...document, schema: { ...schema, response: { ...problems, ...answers } } });
  const responses = Object.entries(described.schema.response as Record<string, JsonSchema>).map(
    ([code, json]) => {
      const status = Number(code) as ErrorStatus;
      const isProblem = !Object.hasOwn(answers, code);
      const sentences = { 405: `There is no DELETE here: use ${allow}.`, 403: forbidden(action), ...errors };
      const detail = sentences[status] ?? ERRORS[status]?.detail;
      const headers = {
        'x-request-id': REQUEST_ID,
        ...(isProblem ? headersOf(status) : {}),
        ...(status === 405 ? { allow } : {}),
      };
      return [
        code,
        {
          description: ERRORS[status]?.when ?? 'What was asked for.',
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name, { type: 'string', examples: [value] }]),
          ),
          content: {
            'application/json': {
              schema: json,
              ...(isProblem ? { example: problemOf(shape, status, detail, REQUEST_ID) } : {}),
            },
          },
        },
      ];
    },
  );
  const content = Object.entries(bodies ?? {}).map(([type, body]) => [
    type,
    { schema: toJson({ ...document, schema: { body } }).schema.body },
  ]);
  return {
    url,
    schema: {
      operationId: operationIdOf(String(route.method), url),
      ...described.schema,
      response: Object.fromEntries(responses),
      ...(family === undefined ? {} : { security: [{ bearer: [] }] }),
      ...(bodies === undefined ? {} : { body: { content: Object.fromEntries(content) } }),
    },
  };
};

/** What the first role that may not do something is told. */
function forbidden(action: Action | undefined): string | undefined {
  const role = Role.options.find((role) => action !== undefined && !may(role, action));
  return action === undefined || role === undefined ? undefined : forbiddenTo(role, action);
}

/** `getAnalyticsTokens` of `GET /api/v1/analytics/tokens`. */
function operationIdOf(method: string, url: string): string {
  const words = url.replace(/^\/api\/v\d\//, '').match(/[a-z]+/gi) ?? [];
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join(
    '',
  );
}

interface Response {
  readonly $ref?: string;
  readonly content?: Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>;
}
interface Described {
  readonly components?: { schemas?: Record<string, JsonSchema>; responses?: Record<string, Response> };
  readonly paths?: Record<string, Record<string, { readonly responses: Record<string, Response> }>>;
}

/** Finishes the document: leaves out schemas that nothing uses, and shows an example of each answer. */
const finish: FastifyDynamicSwaggerOptions['transformObject'] = (document) => {
  const whole = withComponents(document) as Described;
  const schemas = whole.components?.schemas ?? {};
  for (;;) {
    const text = JSON.stringify(whole);
    const unused = Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`));
    if (unused.length === 0) break;
    for (const name of unused) delete schemas[name];
  }
  // A schema that only requests have needs no name that says so.
  let text = JSON.stringify(whole);
  for (const name of Object.keys(schemas)) {
    const short = name.replace(/Input$/, '');
    if (short !== name && !Object.hasOwn(schemas, short))
      text = text.replaceAll(`/${name}"`, `/${short}"`).replaceAll(`"${name}":`, `"${short}":`);
  }
  const named: Described = JSON.parse(text);
  for (const path of Object.values(named.paths ?? {}))
    for (const { responses } of Object.values(path))
      for (const { content } of Object.values(responses))
        for (const media of Object.values(content ?? {}))
          if (media.example === undefined) Object.assign(media, examplesOf(media.schema, named));
  shareResponses(named);
  return named as ReturnType<typeof withComponents>;
};

/** Has what several routes answer alike once, under the title of its status. */
function shareResponses({ components = {}, paths = {} }: Described): void {
  const shared: Record<string, Response> = {};
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  for (const { responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      const title = (STATUS_CODES[status] ?? status).replaceAll(' ', '');
      const isSame = (one: Response | undefined) => JSON.stringify(one) === JSON.stringify(response);
      const users = operations.filter((operation) => isSame(operation.responses[status]));
      if (users.length < 2 || Object.hasOwn(shared, title)) continue;
      shared[title] = response;
      for (const user of users) user.responses[status] = { $ref: `#/components/responses/${title}` };
    }
  }
  components.responses = shared;
}

/** An example of a schema, or one of each of its alternatives under its name, made of the examples of its members. */
function examplesOf(schema: JsonSchema, { components }: Described): object {
  const names: string[] = [];
  const exampleOf = (schema: JsonSchema, choice: number): unknown => {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.slice('#/components/schemas/'.length);
      return exampleOf(components?.schemas?.[name] ?? {}, choice);
    }
    if (schema.examples !== undefined) return schema.examples[0];
    if (schema.anyOf !== undefined) {
      for (const [index, one] of schema.anyOf.entries())
        names[index] ??= (one.items ?? one).$ref?.split('/').at(-1) ?? String(index);
      return exampleOf(schema.anyOf[choice] ?? {}, choice);
    }
    if (schema.items !== undefined) return [exampleOf(schema.items, choice)];
    if (schema.properties !== undefined)
      return Object.fromEntries(
        Object.entries(schema.properties).map(([name, member]) => [name, exampleOf(member, choice)]),
      );
    return schema.const ?? schema.enum?.[0];
  };
  const example = exampleOf(schema, 0);
  return names.length === 0
    ? { example }
    : {
        examples: Object.fromEntries(
          names.map((name, choice) => [name, { value: exampleOf(schema, choice) }]),
        ),
      };
}

/** The document of OpenAPI 3.1 that describes the service, made from what checks requests and answers. */
export const OPENAPI: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Daybook',
      version: VERSION,
      description: 'Analytics for the coding agents of an organization. Dates are UTC days.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [
      { name: 'analytics', description: 'The numbers of built days, for managers and owners.' },
      { name: 'events', description: 'What agents did, on its way in.' },
      { name: 'operations', description: 'For those who run the service; no credential is needed.' },
    ],
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, or a JWT where the service takes them.',
        },
      },
    },
  },
  transform: describeRoute,
  transformObject: finish,
};

/** The page that shows it. It has all it needs here, and looks nothing up elsewhere. */
export const PAGE: FastifySwaggerUiOptions = {
  theme: { title: 'Daybook' },
  // Without the bar for the addresses of other documents.
  uiConfig: { layout: 'BaseLayout', validatorUrl: null },
  staticCSP:
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
};
