import { mkdirSync, realpathSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { runAgent } from '../src/agent/agent.js';
import { buildApp } from '../src/api/app.js';
import { createKey } from '../src/api/keys.js';
import type { Role } from '../src/api/roles.js';
import { type AtEnd, World } from './world.js';

/** An answer of the service. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
  readonly body: any;
}

export type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** An agent that runs in this process. */
export interface Agent {
  readonly workspace: string;
  readonly said: string[];
  /** Ends with what it ended with. */
  readonly ended: Promise<unknown>;
  readonly stop: () => Promise<void>;
}

/** Waits until something holds; the test's own limit ends one that never does. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A service that listens, with what asks it and with agents. */
export class Service {
  private agents = 0;
  private readonly keys = new Map<string, Promise<{ key: string }>>();

  private constructor(
    readonly world: World,
    readonly app: FastifyInstance,
    readonly url: string,
    private readonly atEnd: AtEnd,
  ) {}

  static async start(atEnd: AtEnd, environment: Record<string, string> = {}): Promise<Service> {
    const world = await World.create({ DAYBOOK_RATE_LIMIT: '0', ...environment }, atEnd);
    const app = buildApp(world);
    await app.listen({ port: 0, host: '127.0.0.1' });
    atEnd(() => app.close());
    return new Service(world, app, `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, atEnd);
  }

  /** Asks with a credential of a role, and perhaps of a user. */
  as(role: Role, userId?: string, orgId = 'acme'): Ask {
    const name = `${orgId} ${role} ${userId}`;
    const made = this.keys.get(name) ?? createKey(this.world.store, { orgId, role, userId }, this.world.now);
    this.keys.set(name, made);
    return async (method, path, body) => {
      const { key } = await made;
      return new Promise((resolve, reject) => {
        // fetch would make another path of one with dots.
        const asked = request(
          `${this.url}`,
          {
            method,
            path: `/api/v0${path}`,
            headers: {
              authorization: `Bearer ${key}`,
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            },
          },
          (answer) =>
            text(answer).then(
              (content) =>
                resolve({
                  status: answer.statusCode ?? 0,
                  headers: answer.headers,
                  body: content === '' ? undefined : JSON.parse(content),
                }),
              reject,
            ),
        );
        asked.on('error', reject);
        asked.end(body === undefined ? undefined : JSON.stringify(body));
      });
    };
  }

  /** Makes a computer of ada's, and answers its id and token. */
  async computer(name: string, more: object = {}): Promise<{ id: string; agentToken: string }> {
    const { status, body } = await this.as('member', 'ada')('POST', '/computers', {
      name,
      remoteUser: 'ada',
      ...more,
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body;
  }

  /** Starts an agent, and answers when it is connected. */
  async agent(computer: { id: string; agentToken: string }): Promise<Agent> {
    this.agents += 1;
    const folder = join(this.world.folder, `workspace-${this.agents}`, 'inside');
    mkdirSync(folder, { recursive: true });
    const workspace = realpathSync(folder);
    const stopping = new AbortController();
    const said: string[] = [];
    const ended = runAgent({
      server: this.url,
      token: computer.agentToken,
      workspace,
      version: 'test',
      clock: this.world.clock,
      say: (sentence) => said.push(sentence),
      signal: stopping.signal,
    }).catch((error: unknown) => error);
    const stop = async () => {
      stopping.abort();
      await ended;
    };
    this.atEnd(stop);
    await until(() => said.some((sentence) => sentence.startsWith('Connected')));
    return { workspace, said, ended, stop };
  }

  /** Sends a file's bytes, and answers what completes it. */
  async sent(
    computerId: string,
    fileName: string,
    bytes: string | Uint8Array,
    ask: Ask = this.as('member', 'ada'),
  ): Promise<{ transferId: string; complete: (more?: object) => Promise<Answer> }> {
    const path = `/computers/${computerId}/files/${encodeURIComponent(fileName)}`;
    const sizeBytes = Buffer.byteLength(bytes);
    const { status, body } = await ask('POST', `${path}/create-upload`, { sizeBytes });
    if (status !== 200) throw new Error(JSON.stringify(body));
    const put = await fetch(body.uploadUrl, { method: 'PUT', body: Buffer.from(bytes) });
    if (put.status !== 204) throw new Error(await put.text());
    const { transferId } = body;
    return {
      transferId,
      complete: (more = {}) =>
        ask('POST', `${path}/complete-upload`, { transferId, sessionId: 'session', ...more }),
    };
  }
}
