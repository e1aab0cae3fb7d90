import { STATUS_CODES } from 'node:http';

/** A JSON Schema, as far as it is used here. */
export interface JsonSchema {
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

interface Body {
  readonly content?: Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>;
}
interface Response extends Body {
  readonly $ref?: string;
}
interface Operation {
  readonly parameters?: { readonly in: string; readonly schema?: JsonSchema }[];
  readonly requestBody?: Body;
  readonly responses: Record<string, Response>;
}
/** An OpenAPI document, as far as it is used here. */
export interface Described {
  readonly components?: { schemas?: Record<string, JsonSchema>; responses?: Record<string, Response> };
  readonly paths?: Record<string, Record<string, Operation>>;
}

/**
 * Finishes a document: removes unused schemas, sorts the others, says how lists of values stand in a query, and adds an example of each body
 * and answer.
 */
export function finish(whole: Described): Described {
  const schemas = whole.components?.schemas ?? {};
  for (;;) {
    const text = JSON.stringify(whole);
    const unused = Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`));
    if (unused.length === 0) break;
    for (const name of unused) delete schemas[name];
  }
  // A schema needs no name that says whether only requests use it.
  let text = JSON.stringify(whole);
  for (const name of Object.keys(schemas)) {
    if (!name.endsWith('Input')) continue;
    const short = name.slice(0, -'Input'.length);
    const isSame = () => JSON.stringify(schemas[short]) === JSON.stringify(schemas[name]);
    if (!Object.hasOwn(schemas, short) || isSame())
      text = text.replaceAll(`/${name}"`, `/${short}"`).replaceAll(`"${name}":`, `"${short}":`);
  }
  const named: Described = JSON.parse(text);
  // They are in the order in which modules happened to be loaded.
  const entries = Object.entries(named.components?.schemas ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (named.components !== undefined) named.components.schemas = Object.fromEntries(entries);
  for (const path of Object.values(named.paths ?? {}))
    for (const { parameters = [], requestBody = {}, responses } of Object.values(path)) {
      for (const parameter of parameters)
        if (parameter.in === 'query' && parameter.schema?.type === 'array')
          Object.assign(parameter, { style: 'form', explode: true });
      for (const { content } of [requestBody, ...Object.values(responses)])
        for (const media of Object.values(content ?? {}))
          if (media.example === undefined) Object.assign(media, examplesOf(media.schema, named));
    }
  shareResponses(named);
  return named;
}

/** Moves answers that several routes share into components, named after their status. */
function shareResponses({ components = {}, paths = {} }: Described): void {
  const shared: Record<string, Response> = {};
  const users = new Map<string, { status: string; responses: Record<string, Response> }[]>();
  for (const { responses } of Object.values(paths).flatMap((path) => Object.values(path)))
    for (const [status, response] of Object.entries(responses)) {
      const key = status + JSON.stringify(response);
      users.set(key, [...(users.get(key) ?? []), { status, responses }]);
    }
  for (const [first, ...others] of users.values()) {
    const response = first?.responses[first.status];
    if (first === undefined || response === undefined || others.length === 0) continue;
    const title = (STATUS_CODES[first.status] ?? first.status).replaceAll(' ', '');
    if (Object.hasOwn(shared, title)) continue;
    shared[title] = response;
    for (const { status, responses } of [first, ...others])
      responses[status] = { $ref: `#/components/responses/${title}` };
  }
  components.responses = shared;
}

/** An example of a schema, or one for each of its alternatives by name, made from the examples of its members. */
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
