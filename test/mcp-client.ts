import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { CLI } from './program.js';

/** The protocol of 2025, which begins with `initialize`, and that of 2026, in which every request stands for itself. */
export const ERAS = ['legacy', 'auto'] as const;
export type Era = (typeof ERAS)[number];

/** What a tool said. */
export interface Said {
  readonly text: string;
  readonly isError: boolean;
  /** The text as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
  readonly json: any;
}

/** An agent's side of MCP. */
export class Agent {
  private constructor(readonly client: Client) {}

  static async connect(transport: Parameters<Client['connect']>[0], era: Era = 'legacy'): Promise<Agent> {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } });
    await client.connect(transport);
    onTestFinished(() => client.close());
    return new Agent(client);
  }

  /** Connected with a service. */
  static at(url: string, key: string, era?: Era): Promise<Agent> {
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    return Agent.connect(new StreamableHTTPClientTransport(new URL('mcp', url), { requestInit }), era);
  }

  /** Connected with the program, which it starts. */
  static async started(args: readonly string[], env: Record<string, string> = {}, era?: Era): Promise<Agent> {
    const inherited = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };
    return Agent.connect(
      new StdioClientTransport({
        command: 'node',
        args: [CLI, ...args],
        env: { ...inherited, ...env },
        stderr: 'ignore',
      }),
      era,
    );
  }

  async call(name: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Said> {
    const { content, isError } = await this.client.callTool(
      { name, arguments: args },
      signal === undefined ? {} : { signal },
    );
    const [only] = content;
    if (only?.type !== 'text' || content.length !== 1) throw new Error('a tool says one text');
    const { text } = only;
    return { text, isError: isError === true, json: isError === true ? undefined : JSON.parse(text) };
  }

  async tools() {
    return (await this.client.listTools()).tools;
  }
}
