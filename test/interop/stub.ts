/** A stub of a model's API on the loopback interface: it answers as the scenario says, and keeps what it served. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Answered, ToolStep } from './scenario.js';

/** The tokens of one answer. Cached ones are inside the input. */
export interface Usage {
  readonly input: number;
  readonly cached: number;
  /** Without the reasoning. */
  readonly output: number;
  readonly reasoning: number;
}

/** A call of one of the agent's tools, as the agent names it. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  readonly input: object | string;
}

/** One answer of the model. */
export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly calls: readonly Call[];
  readonly usage: Usage;
}

/** How an API takes a request and gives an answer. */
export interface Api {
  /** The model that a request asks; null: it asks none. */
  readonly modelOf: (path: string, body: Request) => string | null;
  /** Whether the agent works on a prompt: without tools it asks on its own account, as for a title. */
  readonly hasTools: (body: Request) => boolean;
  /** The answer in one piece, or as a stream of server-sent events. */
  readonly write: (answer: Answer, path: string, body: Request, response: ServerResponse) => void;
}

/** The body of a request. */
export type Request = Readonly<Record<string, unknown>>;

/** What was served: the answers to prompts, and those to what the agent asks on its own account. */
export interface Served {
  readonly main: Answer[];
  readonly auxiliary: Answer[];
}

export interface Stub {
  readonly url: string;
  readonly served: Served;
  /** The next prompt's answers. */
  readonly play: (answers: readonly Answered[]) => void;
  /** Requests that nobody expected, and answers that nobody asked for. */
  readonly faults: () => string[];
  readonly stop: () => void;
}

/** Numbers that no two answers share, so that a missing or doubled one can be told from the sum. */
function usageOf(n: number): Usage {
  return { input: 10_007 + 1_013 * n, cached: 4_001 + 211 * n, output: 402 + 14 * n, reasoning: 101 + 3 * n };
}

const AUXILIARY: Usage = { input: 911, cached: 0, output: 17, reasoning: 0 };

const newId = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`;

/** Starts a stub. The agent says how it calls the tool of a step. */
export async function startStub(api: Api, callOf: (step: ToolStep) => Omit<Call, 'id'>): Promise<Stub> {
  const served: Served = { main: [], auxiliary: [] };
  const faults: string[] = [];
  let waiting: Answered[] = [];

  /** The answer to a request; undefined: it is refused. */
  function answerTo(model: string, isAuxiliary: boolean): Answer | undefined {
    const id = newId('resp');
    if (isAuxiliary) {
      const answer = { id, model, text: 'A greeting', calls: [], usage: AUXILIARY };
      served.auxiliary.push(answer);
      return answer;
    }
    const steps = waiting.shift();
    if (steps === 'busy') return undefined;
    if (steps === undefined) faults.push('the agent asked again after the last answer of a turn');
    const said = steps?.find((step) => step.kind === 'say');
    const tools = steps?.filter((step) => step.kind !== 'say') ?? [];
    const calls = tools.map((step) => ({ id: newId('call'), ...callOf(step) }));
    const answer = { id, model, text: said?.text ?? '', calls, usage: usageOf(served.main.length) };
    served.main.push(answer);
    return answer;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const body = request.method === 'POST' ? ((await json(request)) as Request) : {};
    const model = api.modelOf(path, body);
    // Lists of models, counts of tokens, analytics: nothing that is billed.
    if (model === null) return void response.writeHead(404).end('{}');
    const answer = answerTo(model, !api.hasTools(body));
    if (answer !== undefined) return api.write(answer, path, body, response);
    const error = { code: 503, status: 'UNAVAILABLE', message: 'The model is busy.' };
    response.writeHead(503, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      faults.push(String(error));
      response.writeHead(500).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    served,
    play: (answers) => {
      waiting = [...answers];
    },
    faults: () => [
      ...faults,
      ...waiting.map((steps) => `the agent never asked for the answer ${JSON.stringify(steps)}`),
    ],
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Writes server-sent events. */
export function writeEvents(
  response: ServerResponse,
  events: readonly { readonly event?: string; readonly data: unknown }[],
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const { event, data } of events) {
    if (event !== undefined) response.write(`event: ${event}\n`);
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}
