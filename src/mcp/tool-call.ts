import { z } from 'zod';
import { DEFAULT_LIMIT } from '../api/page-limit.js';
import { UsageError } from '../exit.js';
import type { Asked, AskRoute, Told } from './ask-route.js';
import { ANSWER_ROWS, FITTED_BYTES, fitted } from './fitted-answer.js';
import type { Tool, ToolRoute } from './tool-list.js';

/** A tool's answer: JSON, or one sentence that says what is wrong and what to do. */
export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

export type ToolArguments = Readonly<Record<string, unknown>>;

/** Calls a tool by its name. */
export type CallTool = (name: string, args: ToolArguments, signal: AbortSignal) => Promise<ToolAnswer>;

/** How many bytes of a JSON answer are read: as many as the service accepts in a body. */
const READ_BYTES = 1 << 20;

const Problem = z.object({ detail: z.string(), requestId: z.string().optional() });
const Row = z.record(z.string(), z.unknown());
const Answer = z.object({
  data: z.union([z.array(Row), Row.transform((row) => [row])]),
  meta: z.looseObject({ has_more: z.boolean().optional(), next_cursor: z.string().nullish() }).optional(),
});

const OR = new Intl.ListFormat('en', { type: 'disjunction' });

/** Calls tools by asking their routes. */
export function callWith(tools: readonly Tool[], ask: AskRoute): CallTool {
  return async (name, args, signal) => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined)
      throw new UsageError(
        `There is no tool ${name}: the running service may be another version, so restart it.`,
      );
    const { answer, ...others } = args;
    const route = tool.routes.find((one) => one.answer === undefined || one.answer.name === answer);
    if (route === undefined)
      return refusal(
        `The argument answer must be ${OR.format(tool.routes.map((one) => one.answer?.name ?? ''))}.`,
      );
    const call = new Call(route, ask, signal);
    const told = await call.answer(route.answer === undefined ? args : others);
    return told.isError ? { ...told, text: withTools(told.text, tools) } : told;
  };
}

export function refusal(text: string): ToolAnswer {
  return { text, isError: true };
}

/** Replaces the routes in a sentence by the names of tools. */
function withTools(sentence: string, tools: readonly Tool[]): string {
  return tools.reduce(
    (text, { name, routes }) =>
      routes.reduce((one, { method, path }) => one.replace(`${method} ${path}`, `the tool ${name}`), text),
    sentence,
  );
}

/** One call of one route. */
class Call {
  constructor(
    private readonly route: ToolRoute,
    private readonly ask: AskRoute,
    private readonly signal: AbortSignal,
  ) {}

  answer(args: ToolArguments): Promise<ToolAnswer> {
    return this.route.form === 'application/json' ? this.rows(args) : this.lines(args);
  }

  /** Rows in JSON. A page that is too large is asked for again with fewer rows. */
  private async rows(args: ToolArguments): Promise<ToolAnswer> {
    const { route } = this;
    const { cursor, limit: pageSize } = route.schema.properties;
    let limit = Number(args.limit ?? pageSize?.default ?? DEFAULT_LIMIT);
    let isSmaller = false;
    for (;;) {
      const told = await this.told(isSmaller ? { ...args, limit } : args, READ_BYTES);
      if ('isError' in told) return told;
      const bytes = Buffer.byteLength(told.text);
      if (cursor !== undefined && bytes > FITTED_BYTES && limit > 1) {
        limit = Math.max(1, Math.floor((limit * FITTED_BYTES) / bytes));
        isSmaller = true;
        continue;
      }
      if (!told.isWhole) return refusal(`The answer has more than ${READ_BYTES >> 20} MiB: ${route.rest}.`);
      const { data, meta } = Answer.parse(JSON.parse(told.text));
      const cut =
        isSmaller && meta?.has_more === true
          ? [
              `This page has limit ${limit}, because more would be too large: continue with cursor ${meta.next_cursor}.`,
            ]
          : [];
      const rows = route.shown?.(data, args) ?? data;
      return { text: fitted(rows, meta, cut, route.rest), isError: false };
    }
  }

  /** Rows as lines of JSON. They aren't parsed, because numbers can have more digits than JavaScript can keep. */
  private async lines(args: ToolArguments): Promise<ToolAnswer> {
    const { rest } = this.route;
    const told = await this.told(args, FITTED_BYTES);
    if ('isError' in told) return told;
    // The text after the last line break is an incomplete row, or nothing.
    const lines = told.text.split('\n').slice(0, -1);
    const rows = lines.slice(0, ANSWER_ROWS);
    if (rows.length === 0 && !told.isWhole)
      return refusal(`The first row alone has more than ${FITTED_BYTES >> 10} KiB: select fewer columns.`);
    const cut = `Only the first ${rows.length} rows are here: ${rest} ${rows.length}.`;
    const isAll = told.isWhole && rows.length === lines.length;
    const before = isAll ? '' : `"cut":${JSON.stringify([cut])},`;
    const after = told.seen === undefined ? '' : `,"meta":${JSON.stringify({ snapshot: told.seen })}`;
    return { text: `{${before}"data":[${rows.join(',\n')}]${after}}`, isError: false };
  }

  /** The route's answer, or the reason why there is none. */
  private async told(args: ToolArguments, bytes: number): Promise<Told | ToolAnswer> {
    const asked = askedOf(this.route, args, bytes);
    if (typeof asked === 'string') return refusal(asked);
    const told = await this.ask(asked, this.signal);
    return told.status === 200 ? told : problemOf(told);
  }
}

/** The request for a route, or a sentence about an argument that a query can't have. */
function askedOf(
  { method, path, form: accept }: ToolRoute,
  args: ToolArguments,
  bytes: number,
): Asked | string {
  if (method === 'POST') return { method, path, body: args, accept, bytes };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) {
    // Some agents send null for arguments that they leave out.
    for (const one of [value ?? []].flat()) {
      if (typeof one === 'object')
        return `The argument ${name.slice(0, 100)} must be a text, a number or a list of these.`;
      query.append(name, String(one));
    }
  }
  return { method, path: query.size === 0 ? path : `${path}?${query}`, accept, bytes };
}

/** The sentence of an API error. */
function problemOf({ text, status }: Told): ToolAnswer {
  const problem = Problem.safeParse(parsed(text)).data;
  if (problem === undefined) return refusal(`The service answered ${status}.`);
  const { detail, requestId } = problem;
  return refusal(status !== 500 || requestId === undefined ? detail : `${detail} (${requestId})`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
