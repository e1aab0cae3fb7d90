import type { Command } from 'commander';
import { readForeign } from '../disk/foreign-file.js';
import { messageOf, UsageError } from '../exit.js';
import type { AskRoute } from '../mcp/ask-route.js';
import type { CallTool } from '../mcp/tool-call.js';
import type { Tool } from '../mcp/tool-list.js';
import { optionOf } from '../settings/config.js';
import { call } from '../socket/call.js';
import { isServed } from '../socket/control-socket.js';
import { Queue } from '../store/queue.js';
import { type Invocation, note } from './program.js';

interface McpOptions {
  readonly org?: string;
  readonly server?: string;
  readonly keyFile?: string;
}

/** Adds `mcp` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const [server] = optionOf('DAYBOOK_URL');
  program
    .command('mcp')
    .description('answer the questions of an AI agent: an MCP server on standard input and output')
    .option('--org <org>', 'organization in the data folder (default: the only one)')
    .option(server, 'ask this service instead of the data folder, with the API key in DAYBOOK_KEY')
    .option('--key-file <file>', 'file that has the API key of that service (default: DAYBOOK_KEY)')
    .action((options: McpOptions) => run(options, invocation));
}

async function run(options: McpOptions, invocation: Invocation): Promise<void> {
  if (process.stdin.isTTY === true)
    note('An AI agent starts this command and asks it: see docs/mcp.md. Stop it with Ctrl-C.');
  const [{ serveStdio }, { mcpServer }, { toolsOf }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('../mcp/mcp-server.js'),
    import('../mcp/tool-list.js'),
  ]);
  const tools = toolsOf(invocation.settings());
  const callTool =
    options.server === undefined
      ? ofFolder(options, invocation)
      : await ofService(options, tools, invocation);
  serveStdio(() => mcpServer(tools, callTool, (cause) => note(messageOf(cause))), { maxSubscriptions: 0 });
}

/** Calls tools on the data folder: through the running service, else in this process. */
function ofFolder({ org: orgId, keyFile }: McpOptions, { settings, clock }: Invocation): CallTool {
  if (keyFile !== undefined) throw new UsageError('--key-file needs --server: the data folder needs no key.');
  const config = settings();
  // Without a service, this process opens the database, which it can do only once at a time.
  const queue = new Queue();
  return async (name, args, signal) => {
    const ask = () => {
      signal.throwIfAborted();
      return call(config, clock, 'callTool', { orgId, name, args: { ...args } }, undefined, signal);
    };
    return (await isServed(config.data)) ? ask() : queue.run(ask);
  };
}

/** Calls tools by asking the API of a service. */
async function ofService(
  { org, server, keyFile }: McpOptions,
  tools: readonly Tool[],
  { clock }: Invocation,
): Promise<CallTool> {
  if (org !== undefined)
    throw new UsageError("--org can't be combined with --server: the key says which organization.");
  const [{ RemoteService }, { readBeginning }, { callWith }, { seenIn }] = await Promise.all([
    import('./remote-service.js'),
    import('../network/outgoing.js'),
    import('../mcp/tool-call.js'),
    import('../sql/seen-headers.js'),
  ]);
  const service = RemoteService.of(
    { server, key: keyFile === undefined ? undefined : keyIn(keyFile) },
    clock,
  );
  const ask: AskRoute = async ({ method, path, body, accept, bytes }, signal) => {
    // Relative to the path of the service's address.
    const answer = await service.begin(method, path.slice(1), { body, accept }, signal);
    const seen = seenIn(answer.headers);
    return { status: answer.statusCode ?? 0, seen, ...(await readBeginning(answer, bytes)) };
  };
  return callWith(tools, ask);
}

/** How many bytes a key file can have. */
const KEY_BYTES = 1 << 16;

/** The API key in a file. Throws a UsageError if it can't be read. */
function keyIn(path: string): string {
  try {
    const key = readForeign(path, { limitBytes: KEY_BYTES })?.toString().trim();
    if (key !== undefined) return key;
  } catch {}
  throw new UsageError(`The file ${path} can't be read: write the API key into it.`);
}
