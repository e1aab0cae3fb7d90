import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { type AtEnd, temporaryFolder } from './world.js';

/** A sandbox: a home folder, in which commands really run. */
interface Sandbox {
  readonly id: string;
  readonly template: string;
  readonly metadata: Record<string, string>;
  readonly home: string;
  state: 'running' | 'paused';
}

const KEY = `e2b_${'0'.repeat(40)}`;

/** A server that answers the calls of the package `e2b` that are made here: sandboxes of its API, and commands in them. */
export class E2bServer {
  readonly sandboxes = new Map<string, Sandbox>();
  readonly folder: string;
  /** The calls that came, and the users of commands. */
  readonly asked: string[] = [];
  /** What the next calls are answered, instead of what they ask for. */
  failure: { status: number; message: string } | undefined;
  /** Is called before a sandbox is made known. */
  beforeCreated: () => void | Promise<void> = () => {};
  private readonly running = new Set<ChildProcess>();
  private made = 0;
  private port = 0;

  private constructor(atEnd: AtEnd) {
    this.folder = temporaryFolder(atEnd);
  }

  static async start(atEnd: AtEnd): Promise<E2bServer> {
    const own = new E2bServer(atEnd);
    const server = createServer((request, answer) => {
      own.answer(request, answer).catch((error) => answer.destroy(error as Error));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    own.port = (server.address() as AddressInfo).port;
    atEnd(async () => {
      server.closeAllConnections();
      server.close();
      // A command that is cut off here may have started an agent already.
      for (const child of own.running) {
        child.kill('SIGKILL');
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      }
      for (const id of own.sandboxes.keys()) own.kill(id);
    });
    return own;
  }

  /** The settings of a service that is to ask it. */
  get environment(): Record<string, string> {
    return { E2B_API_KEY: KEY, DAYBOOK_E2B_URL: `http://127.0.0.1:${this.port}` };
  }

  /** Puts a sandbox to sleep; its connections break. */
  pause(id: string): void {
    const sandbox = this.sandboxes.get(id);
    if (sandbox !== undefined) sandbox.state = 'paused';
    this.killAgent(id);
  }

  /** Removes a sandbox with all that runs in it. */
  kill(id: string): void {
    this.killAgent(id);
    this.sandboxes.delete(id);
  }

  private killAgent(id: string): void {
    try {
      const home = this.sandboxes.get(id)?.home ?? '';
      process.kill(Number(readFileSync(join(home, '.daybook-agent.pid'), 'utf8')), 'SIGKILL');
    } catch {
      // None was started, or it has ended.
    }
  }

  private async answer(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://x');
    const [, id = '', action] = /^(?:\/v2)?\/sandboxes(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
    const body = await buffer(request);
    const reply = (status: number, value?: unknown) =>
      answer
        .writeHead(status, { 'content-type': 'application/json' })
        .end(value === undefined ? '' : JSON.stringify(value));
    const refuse = (code: number, message: string) => reply(code, { code, message });
    this.asked.push(`${request.method} ${url.pathname}`);
    if (this.failure !== undefined) return void refuse(this.failure.status, this.failure.message);
    if (url.pathname === '/process.Process/Start') return this.run(request, body, answer);
    if (request.headers['x-api-key'] !== KEY) return void refuse(401, 'Invalid API key');
    if (request.method === 'GET' && id === '') {
      const wanted = new URLSearchParams(url.searchParams.get('metadata') ?? '');
      const found = [...this.sandboxes.values()].filter(({ metadata }) =>
        [...wanted].every(
          ([name, value]) => metadata[decodeURIComponent(name)] === decodeURIComponent(value),
        ),
      );
      return void reply(200, found.map(shown));
    }
    if (request.method === 'POST' && id === '') {
      const { templateID: template, metadata } = JSON.parse(body.toString());
      if (template === 'missing') return void refuse(404, "template 'missing' not found");
      this.made += 1;
      const made = `i${this.made}`;
      this.sandboxes.set(made, { id: made, template, metadata, home: this.home(made), state: 'running' });
      await this.beforeCreated();
      return void reply(201, entry(made));
    }
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) return void refuse(404, `sandbox "${id}" doesn't exist`);
    if (action === 'connect') {
      sandbox.state = 'running';
      return void reply(200, entry(id));
    }
    if (request.method === 'DELETE') {
      this.kill(id);
      return void reply(204);
    }
    reply(200, shown(sandbox));
  }

  /** A home folder with the program in it, as a template has it. */
  private home(id: string): string {
    const home = join(this.folder, id);
    mkdirSync(join(home, 'bin'), { recursive: true });
    const cli = join(PACKAGE_ROOT, 'dist', 'cli.js');
    writeFileSync(join(home, 'bin', 'daybook'), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`, {
      mode: 0o755,
    });
    writeFileSync(join(home, '.profile'), 'PATH="$HOME/bin:$PATH"\n');
    return home;
  }

  /** Runs a command: messages of Connect with JSON, each behind a byte of flags and its length. */
  private async run(request: IncomingMessage, body: Buffer, answer: ServerResponse): Promise<void> {
    const sandbox = this.sandboxes.get(String(request.headers['e2b-sandbox-id']));
    const { process: wanted } = JSON.parse(body.subarray(5).toString());
    const [, user = ''] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
    this.asked.push(`command of ${Buffer.from(user, 'base64').toString() || 'the default user'}`);
    answer.writeHead(200, { 'content-type': 'application/connect+json' });
    const send = (message: object, flags = 0) => {
      const text = Buffer.from(JSON.stringify(message));
      const head = Buffer.alloc(5);
      head.writeUInt8(flags);
      head.writeUInt32BE(text.length, 1);
      answer.write(Buffer.concat([head, text]));
    };
    if (sandbox?.state !== 'running') {
      send({ error: { code: 'unavailable', message: 'the sandbox is not running' } }, 2);
      return void answer.end();
    }
    const child = spawn(wanted.cmd, wanted.args, {
      cwd: sandbox.home,
      env: { PATH: process.env.PATH, HOME: sandbox.home, ...wanted.envs },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.running.add(child);
    send({ event: { start: { pid: child.pid } } });
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (data: Buffer) =>
        send({ event: { data: { [name]: data.toString('base64') } } }),
      );
    await new Promise((resolve) => child.on('close', resolve));
    this.running.delete(child);
    const exitCode = child.exitCode ?? 1;
    send({ event: { end: { exitCode, exited: true, status: `exit status ${exitCode}` } } });
    send({}, 2);
    answer.end();
  }
}

/** A sandbox as it is listed. */
function shown({ id, template, metadata, state }: Sandbox) {
  const times = { startedAt: '2026-06-10T10:00:00Z', endAt: '2026-06-10T11:00:00Z' };
  return { ...entry(id), templateID: template, metadata, state, ...times, cpuCount: 2, memoryMB: 512 };
}

/** What is needed to talk to a sandbox. */
function entry(id: string) {
  return { sandboxID: id, templateID: 'base', clientID: 'c', envdVersion: '0.4.0', envdAccessToken: 't' };
}
