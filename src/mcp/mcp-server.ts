import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { VERSION } from '../disk/package-root.js';
import { UsageError } from '../exit.js';
import { type CallTool, refusal } from './tool-call.js';
import type { Tool } from './tool-list.js';

const INSTRUCTIONS = `Daybook has exact numbers of how an organization uses its coding agents (Claude Code, Codex, Gemini CLI and others): tokens, cost, sessions, tools, code, commits and pull requests, by user, model, agent and repository. It stores no prompts and no code.
Days are UTC days and count once they are over: the newest possible day is yesterday. If an answer has no rows, ask sql for "SELECT min(day), max(day) FROM users" to learn which days have data.
An answer that was too large begins with "cut", which says what is missing and how to get it: never add up lists or rows that were cut.`;

/** An MCP server with these tools, for one connection or one request. `note` gets the causes of failures that the caller can't fix. */
export function mcpServer(tools: readonly Tool[], call: CallTool, note: (cause: unknown) => void): Server {
  const server = new Server(
    { name: 'daybook', title: 'Daybook', version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ name, title, about, schema }) => ({
      name,
      title,
      description: about,
      inputSchema: schema,
      annotations: { readOnlyHint: true, openWorldHint: false },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    requireTool(tools, params.name);
    const { text, isError } = await call(params.name, params.arguments ?? {}, signal).catch(
      (error: unknown) => {
        if (error instanceof UsageError) return refusal(error.message);
        if (!signal.aborted) note(error);
        return refusal('The tool failed: call it again.');
      },
    );
    return { content: [{ type: 'text', text }], isError };
  });
  return server;
}

/** Throws a protocol error that lists the tools if this one doesn't exist. */
function requireTool(tools: readonly Tool[], name: string): void {
  if (tools.every((tool) => tool.name !== name))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no tool ${name.slice(0, 100)}: use ${tools.map((tool) => tool.name).join(', ')}.`,
    );
}
