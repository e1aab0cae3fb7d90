import { STATUS_CODES } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { familyOf } from '../src/api/errors.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import type { Given } from './ask.js';

/** A schema of the document, as far as tests look at it. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema: Schema;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** None for an answer without a body. */
  readonly content?: Readonly<Record<string, Media>>;
}

/** What the document says of one method of one path. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly summary?: string;
  readonly operationId: string;
  readonly isOpen: boolean;
  readonly parameters: readonly Parameter[];
  readonly bodies: Readonly<Record<string, Media>>;
  readonly responses: Readonly<Record<string, Response>>;
}

/** The parameters of an operation that are not in its path. */
export function queryOf({ parameters }: Operation): readonly Parameter[] {
  return parameters.filter((one) => one.in === 'query');
}

/** The status of an operation's answers when all is well. */
export function okOf({ responses }: Operation): number {
  return Number(Object.keys(responses).find((status) => status.startsWith('2')));
}

/** A request as the examples of an operation give it; members of `query` replace those or, undefined, take them away. */
export interface Wanted {
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

interface Document {
  readonly paths: Record<string, Record<string, Record<string, unknown>>>;
  readonly components: { readonly responses: Record<string, unknown> };
}

/** The document that a service serves about itself: what it promises, and whether an answer keeps that. */
export class Reference {
  /** By their texts: services of the same settings have the same, and its schemas are compiled once. */
  private static readonly known = new Map<string, Reference>();
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly validators = new Map<Schema, ValidateFunction>();
  readonly operations: readonly Operation[];

  private constructor(readonly document: Document) {
    addFormats.default(this.ajv);
    this.ajv.addSchema(document, 'document');
    const resolved = (one: Record<string, unknown>) => {
      const name = typeof one.$ref === 'string' ? one.$ref.split('/').at(-1) : undefined;
      return name === undefined ? one : document.components.responses[name];
    };
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const { requestBody, responses, security, summary, operationId } = operation;
        const parameters = (operation.parameters ?? []) as Parameter[];
        return {
          method: method.toUpperCase(),
          path,
          summary,
          operationId,
          isOpen: security === undefined,
          parameters,
          bodies: (requestBody as { content?: object } | undefined)?.content ?? {},
          responses: Object.fromEntries(
            Object.entries(responses as Record<string, Record<string, unknown>>).map(([status, one]) => [
              status,
              resolved(one),
            ]),
          ),
        } as Operation;
      }),
    );
  }

  static async of(app: FastifyInstance): Promise<Reference> {
    const { body } = await app.inject({ url: '/openapi.json' });
    const reference = Reference.known.get(body) ?? new Reference(JSON.parse(body));
    Reference.known.set(body, reference);
    return reference;
  }

  /** What is wrong with a value by a schema of the document; nothing when it is valid. */
  faultsOf(schema: Schema, value: unknown): string[] {
    let validate = this.validators.get(schema);
    if (validate === undefined) {
      const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components');
      validate = this.ajv.compile(JSON.parse(text));
      this.validators.set(schema, validate);
    }
    return validate(value) ? [] : (validate.errors ?? []).map((error) => JSON.stringify(error));
  }

  /** The path of an operation's example. */
  path({ path, parameters }: Operation): string {
    const inPath = parameters.filter((one) => one.in === 'path');
    return inPath.reduce(
      (before, { name, example }) => before.replace(`{${name}}`, encodeURIComponent(String(example))),
      path,
    );
  }

  /** The path and query of an operation's example. */
  url(operation: Operation, { query = {} }: Wanted = {}): string {
    const path = this.path(operation);
    const values = new URLSearchParams();
    // The cursor of the example would leave out the first users.
    const given = Object.fromEntries(
      queryOf(operation)
        .filter((one) => one.required === true)
        .map(({ name, example }) => [name, String(example)]),
    );
    for (const [name, value] of Object.entries({ ...given, ...query }))
      for (const one of [value ?? []].flat()) values.append(name, one);
    return values.size === 0 ? path : `${path}?${values}`;
  }

  /** Fails unless an answer is as the reference and docs/api.md, "Errors", say. */
  expectKept(operation: Operation, { status, headers, text }: Given): void {
    const context = `${operation.method} ${operation.path}: ${status} ${text.slice(0, 300)}`;
    const response = operation.responses[status];
    expect(response, `documented: ${context}`).toBeDefined();
    if (response === undefined) return;
    const id = headers['x-request-id'];
    expect(id, context).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/);
    for (const name of Object.keys(response.headers))
      expect(headers[name], `${name}: ${context}`).toBeDefined();
    if (response.content === undefined) {
      expect(text).toBe('');
      return;
    }
    const type = String(headers['content-type']);
    const media = response.content[type.split(';')[0] ?? ''];
    expect(media, `${type}: ${context}`).toBeDefined();
    if (status === 200 && (type === 'text/csv; charset=utf-8' || type.endsWith('arrow.stream'))) return;
    expect(type).toBe('application/json; charset=utf-8');
    const body = JSON.parse(text);
    expect(this.faultsOf(media?.schema ?? {}, body), context).toEqual([]);
    if (status >= 400 && 'title' in body) {
      const ofRequest = familyOf(operation.path) === 'v0' ? {} : { requestId: id };
      expect(Object.keys(body)).toEqual(['title', 'detail', 'status', ...Object.keys(ofRequest)]);
      expect(body).toMatchObject({ title: STATUS_CODES[status], status, ...ofRequest });
      expect(body.detail).toMatch(/^[A-Z].*\.$/s);
    }
    // The document has an example of a query.
    let shown = operation.path === '/openapi.json' ? text.replaceAll(/SELECT |DuckDB/g, '') : text;
    // Here alone a key is shown, to whoever creates it.
    if (operation.operationId === 'createApiKey' && status === 201) shown = shown.replace(body.key, '');
    expectNoLeak(shown, JSON.stringify(headers));
  }
}

/** What no answer may show: places in the code or on the disk, queries, and keys. */
const INTERNALS = [
  PACKAGE_ROOT,
  'node_modules',
  'node:internal',
  'daybook-test-',
  'FST_ERR',
  'ENOENT',
  'SELECT ',
  'FROM keys',
  'duckdb',
  'DuckDB',
  'Connection',
  'ZodError',
  '.js:',
  '.ts:',
  '    at ',
];

export function expectNoLeak(...texts: readonly string[]): void {
  for (const text of texts) {
    const shown = INTERNALS.filter((internal) => text.includes(internal));
    expect(shown, text).toEqual([]);
    expect(text).not.toMatch(/dbk_[A-Za-z0-9_-]{43}/);
  }
}
