import { z } from 'zod';
import { analyticsTools } from '../api/analytics-tools.js';
import { withoutIntegerLimits } from '../api/integer-limits.js';
import { may, type Role } from '../api/roles.js';
import type { RouteTool, ToolText } from '../api/route-tool.js';
import type { Config } from '../settings/config.js';
import { sqlTools } from '../sql/sql-tools.js';

/** The parts of an argument's JSON Schema that are used. */
const Argument = z
  .object({ description: z.string().exactOptional(), enum: z.array(z.string()).exactOptional() })
  .catchall(z.json());
type Argument = z.infer<typeof Argument>;

/** The JSON Schema of a tool's arguments. */
const Arguments = z
  .object({
    type: z.literal('object'),
    properties: z.record(z.string(), Argument),
    required: z.array(z.string()).exactOptional(),
  })
  .catchall(z.json());
export type Arguments = z.infer<typeof Arguments>;

/** A route of a tool, with its own arguments. */
export interface ToolRoute extends RouteTool {
  readonly schema: Arguments;
}

/** A tool for AI agents: one route, or several that the argument `answer` chooses between. */
export interface Tool extends ToolText {
  readonly routes: readonly ToolRoute[];
  readonly schema: Arguments;
}

/** The tools that a role may use, or all. */
export function toolsOf(config: Pick<Config, 'sql'>, role?: Role): readonly Tool[] {
  const routes = [...analyticsTools, ...sqlTools(config)]
    .filter(({ action }) => role === undefined || may(role, action))
    .map((route) => ({ ...route, schema: argumentsOf(route) }));
  const texts = new Set(routes.map(({ tool }) => tool));
  return [...texts].map((text) => {
    const own = routes.filter(({ tool }) => tool === text);
    return { ...text, routes: own, schema: schemaOf(own) };
  });
}

/** The arguments of a route. */
function argumentsOf({ input }: RouteTool): Arguments {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input', override: withoutIntegerLimits });
  return Arguments.parse(schema);
}

/** The arguments of a tool. */
function schemaOf(routes: readonly ToolRoute[]): Arguments {
  const [only] = routes;
  if (only !== undefined && only.answer === undefined) return only.schema;
  const all = routes.map(({ answer, schema }) => ({ name: '', about: '', ...answer, schema }));
  const names = [...new Set(all.flatMap(({ schema }) => Object.keys(schema.properties)))];
  return {
    type: 'object',
    properties: {
      answer: {
        type: 'string',
        enum: all.map(({ name }) => name),
        description: all.map(({ name, about }) => `${name}: ${about}`).join('; '),
      },
      ...Object.fromEntries(names.map((name) => [name, argumentOfSeveral(name, all)])),
    },
    required: [
      'answer',
      ...names.filter((name) => all.every(({ schema }) => schema.required?.includes(name) === true)),
    ],
    additionalProperties: false,
  };
}

/** An argument of a tool with several answers. Its description names the answers that take it, unless all do. */
function argumentOfSeveral(
  argument: string,
  all: readonly { readonly name: string; readonly schema: Arguments }[],
): Argument {
  const takers = all.flatMap(({ name, schema }) => {
    const found = schema.properties[argument];
    return found === undefined ? [] : [{ name, found }];
  });
  const [first] = takers;
  if (first === undefined) throw new TypeError(`no answer takes ${argument}`);
  const { found } = first;
  const isOfAll = takers.length === all.length;
  if (found.enum === undefined)
    return isOfAll
      ? found
      : { ...found, description: `${found.description}; for ${takers.map(({ name }) => name).join(', ')}` };
  const values = takers.map(({ name, found: { enum: choices = [] } }) => `${name}: ${choices.join(' or ')}`);
  return {
    ...found,
    enum: [...new Set(takers.flatMap(({ found: { enum: choices = [] } }) => choices))],
    description: `${found.description} (${values.join('; ')})`,
  };
}
