import type { ChildProcess } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as sendOn,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createGunzip, gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { MS_PER_DAY } from '../src/day.js';
import { SOURCES } from '../src/ingest/source.js';
import { builtTables } from './built-tables.js';
import { type Network, openNetwork } from './network.js';
import { CLI, daybook, type Ended, ended, start } from './program.js';
import { temporaryFolder } from './world.js';

/** What nobody but the owner of a laptop may read. */
export const SECRET = 'the launch code is swordfish';

/** Yesterday at ten, in Unix milliseconds: days that a program builds with the clock of the machine are over. */
const START = Math.floor(Date.now() / MS_PER_DAY) * MS_PER_DAY - 2 * MS_PER_DAY + 36_000_000;

/** The lines of a session of Claude Code with so many prompts, each with answers and tools. */
export function sessionLines(sessionId: string, prompts: number, cwd = '/home/ada/engine'): string[] {
  const lines: string[] = [];
  let at = START;
  const add = (type: string, more: object) => {
    at += 7000;
    lines.push(
      JSON.stringify({
        type,
        uuid: `${sessionId}-${lines.length}`,
        timestamp: new Date(at).toISOString(),
        sessionId,
        isSidechain: false,
        cwd,
        gitBranch: 'main',
        version: '2.1.29',
        ...more,
      }),
    );
  };
  for (let prompt = 0; prompt < prompts; prompt += 1) {
    add('user', {
      message: { role: 'user', content: `${SECRET} ${prompt}` },
      permissionMode: ['default', 'acceptEdits', 'plan'][prompt % 3],
    });
    const id = `${sessionId}-${prompt}`;
    const answer = (content: object, output: number) =>
      add('assistant', {
        requestId: `req-${id}`,
        message: {
          id: `msg-${id}`,
          model: 'claude-opus-4-5-20251101',
          role: 'assistant',
          content: [content],
          usage: { input_tokens: 3, output_tokens: output, cache_read_input_tokens: 100 + prompt },
        },
      });
    answer({ type: 'text', text: SECRET }, 1);
    answer(
      {
        type: 'tool_use',
        id: `tool-${id}`,
        name: 'Write',
        input: { file_path: `${cwd}/a${prompt}.ts`, content: SECRET },
      },
      90,
    );
    add('user', {
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `tool-${id}`, content: SECRET }],
      },
      toolUseResult: {
        type: 'create',
        filePath: `${cwd}/a${prompt}.ts`,
        content: `${SECRET}\n${SECRET}`,
        structuredPatch: [],
      },
    });
  }
  return lines;
}

/** A chat of Gemini CLI. */
function chatLines(sessionId: string, answers: number): string[] {
  const at = (index: number) => new Date(START + index * 5000).toISOString();
  return [
    { sessionId, projectHash: 'abc', startTime: at(0), lastUpdated: at(0), kind: 'main' },
    { id: `${sessionId}-u`, timestamp: at(0), type: 'user', content: [{ text: SECRET }] },
    ...Array.from({ length: answers }, (_, index) => ({
      id: `${sessionId}-${index}`,
      timestamp: at(index),
      type: 'gemini',
      content: SECRET,
      model: 'gemini-2.5-pro',
      tokens: { input: 1000 + index, cached: 400, output: 50, thoughts: 7, tool: 0, total: 1057 },
    })),
  ].map((line) => JSON.stringify(line));
}

/** The home of a user, with what agents have written there. */
export class Laptop {
  readonly home = temporaryFolder();
  readonly folder = join(this.home, '.daybook', 'collect');
  private readonly environment: Record<string, string>;

  constructor(
    readonly user: string,
    more: Record<string, string> = {},
    /** The program, if not the one that is installed. */
    readonly cli: string = CLI,
  ) {
    // Variables of the machine that name folders of agents would lead out of the home.
    const cleared = SOURCES.flatMap(({ folders }) =>
      folders.flatMap((folder) => [...folder.matchAll(/\$\{(\w+):-/g)].map(([, name = '']) => [name, ''])),
    );
    this.environment = { ...Object.fromEntries(cleared), HOME: this.home, XDG_CONFIG_HOME: '', ...more };
  }

  /** The file of a session. */
  session(name: string): string {
    return join(this.home, '.claude', 'projects', '-home-ada-engine', `${name}.jsonl`);
  }

  /** Writes a few sessions of two agents. */
  work(sessions = 3, prompts = 8): this {
    for (let session = 0; session < sessions; session += 1) {
      const name = `${this.user}-${session}`;
      this.append(this.session(name), `${sessionLines(name, prompts).join('\n')}\n`);
    }
    const chat = join(this.home, '.gemini', 'tmp', 'abc', 'chats', 'session-1.jsonl');
    this.append(chat, `${chatLines(`${this.user}-chat`, prompts).join('\n')}\n`);
    return this;
  }

  append(path: string, lines: string): void {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, lines);
  }

  start(args: readonly string[], more: Record<string, string> = {}): ChildProcess {
    return this.program(['collect', ...args], more);
  }

  /** Starts the program with any command. */
  program(args: readonly string[], more: Record<string, string> = {}, cwd = this.home): ChildProcess {
    return start(args, { cli: this.cli, cwd, env: { ...this.environment, ...more } });
  }

  collect(args: readonly string[], more: Record<string, string> = {}): Promise<Ended> {
    return ended(this.start(args, more));
  }

  /** The same with a key. It waits for a service for as long as tests may take. */
  send(url: string, key: string, ...args: string[]): Promise<Ended> {
    return this.collect(['--server', url, '--wait', '300', ...args], { DAYBOOK_KEY: key });
  }

  /** What `collect status` knows of the one server. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever is there.
  async status(): Promise<any> {
    const { stdout } = await this.collect(['status', '--json']);
    return JSON.parse(stdout);
  }

  /** The files that collecting keeps here, whose paths match. */
  paths(pattern = /(?:)/): string[] {
    // It may have been killed before it kept anything.
    if (!existsSync(this.folder)) return [];
    return readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => pattern.test(path));
  }

  /** Everything in them, by path; bodies as they are unpacked. */
  kept(): Record<string, string> {
    return Object.fromEntries(
      this.paths().map((path) => {
        const bytes = readFileSync(path);
        return [path, path.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString('latin1')];
      }),
    );
  }

  /** Takes all files in as an ingest on the server would. */
  async ingestInto(data: string): Promise<void> {
    const { code, stderr } = await daybook(
      ['--data', data, 'ingest', '--org', 'acme', '--source', 'all', '--user', this.user],
      { env: this.environment },
    );
    if (code !== 0) throw new Error(stderr);
  }
}

/** The day tables of a data folder once all days are built, as `day table` and a digest of its rows. */
export async function tablesOf(data: string): Promise<string[]> {
  const { code, stderr } = await daybook(['--data', data, 'build']);
  if (code !== 0) throw new Error(stderr);
  return builtTables(data);
}

/** The day tables of a local ingest of laptops' files. */
export async function tablesOfIngest(laptops: readonly Laptop[]): Promise<string[]> {
  const data = join(temporaryFolder(), 'data');
  for (const laptop of laptops) await laptop.ingestInto(data);
  return tablesOf(data);
}

/** A request that a false server got, with its body unpacked. */
export interface Got {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that says what a test wants. Undefined is what a service that takes everything says. */
export async function falseServer(
  answer: (got: Got) => { status: number; headers?: Record<string, string>; body?: unknown } | undefined,
  certificate?: { cert: Buffer; key: Buffer },
): Promise<{ url: string; got: Got[] }> {
  const got: Got[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const isPacked = request.headers['content-encoding'] === 'gzip';
    const body = await text(isPacked ? request.pipe(createGunzip()) : request).catch(() => undefined);
    if (body === undefined) {
      response
        .writeHead(400)
        .end(JSON.stringify({ detail: 'The body is not compressed.', requestId: 'req_1' }));
      return;
    }
    const one = { path: request.url ?? '', headers: request.headers, body };
    got.push(one);
    const events = body.split('\n').length - 1;
    const said =
      answer(one) ??
      (one.path.endsWith('/sender')
        ? { status: 200, body: { org_id: 'acme', user_id: 'ada', is_only_user: true } }
        : { status: 200, body: { accepted: events, rejected: 0, errors: [] } });
    response.writeHead(said.status, said.headers);
    response.end(said.body === undefined ? '' : JSON.stringify(said.body));
  };
  const server = certificate === undefined ? createServer(handle) : createSecureServer(certificate, handle);
  // A slow client is no other one: it keeps its connection however long it takes between two requests.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
}

/** A proxy that wants a name and a password, and leads to one server, whatever host it is asked for. `asked` is what for. */
export async function proxyTo(url: string, credentials: string): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const onward = { host: '127.0.0.1', port: Number(new URL(url).port) };
  const isKnown = ({ headers }: IncomingMessage) =>
    headers['proxy-authorization'] === `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (!isKnown(request)) {
      response.writeHead(407).end();
      return;
    }
    const { pathname } = new URL(request.url ?? '');
    const { method, headers } = request;
    request.pipe(
      sendOn({ ...onward, method, headers, path: pathname }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  server.on('connect', (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (!isKnown(request)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const tunnel = connect(onward, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(tunnel).pipe(socket);
    });
    for (const one of [socket, tunnel]) one.on('error', () => {}).on('close', () => tunnel.destroy());
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A network between laptops and a server that ends with its test. */
export async function network(): Promise<Network> {
  const opened = await openNetwork();
  onTestFinished(opened.close);
  return opened;
}

/** A folder of programs that only note what they are given, to stand first in PATH. `failing` ones end with 1. */
export function notingPrograms(
  names: readonly string[],
  failing: readonly string[] = [],
): { path: string; calls: () => string[] } {
  const folder = temporaryFolder();
  const log = join(folder, 'calls');
  writeFileSync(log, '');
  for (const name of names)
    writeFileSync(
      join(folder, name),
      `#!/bin/sh\necho "${name} $*" >> '${log}'\n${failing.includes(name) ? 'echo "no bus" >&2; exit 1' : ''}\n`,
      { mode: 0o755 },
    );
  return {
    path: `${folder}:${process.env.PATH}`,
    calls: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
  };
}
