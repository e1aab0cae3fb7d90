import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { onTestFinished } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import type { Action, Role } from '../src/api/roles.js';
import { Signer } from '../src/computers/address-signer.js';
import { runAgent } from '../src/computers/run-agent.js';
import { LIFE_MS } from '../src/computers/transfer.js';
import { dayOf, MS_PER_DAY } from '../src/day.js';
import { codeOf } from '../src/exit.js';
import { folderOf, LAKE } from '../src/lake/lake-paths.js';
import { noSnapshot, SNAPSHOT, snapshotText } from '../src/lake/snapshot.js';
import { buildApp } from '../src/service/app.js';
import { ask, type Given } from './ask.js';
import { type Operation, Reference, type Wanted } from './reference.js';
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

/** The bodies that wait in the inbox of a data folder, or are set aside there. */
export function waitingIn(data: string): string[] {
  return ['ready', 'settling'].flatMap((part) =>
    allBelow(join(data, 'inbox', part)).filter((name) => /\.(ndjson|checked|body)$/.test(name)),
  );
}

/** The paths of all that is below a folder, also while a service removes some of it. */
function allBelow(folder: string): string[] {
  for (;;)
    try {
      return readdirSync(folder, { recursive: true, encoding: 'utf8' });
    } catch (error) {
      // A folder in it went after it was listed, and before it was read.
      if (codeOf(error) !== 'ENOENT' || !existsSync(folder)) throw error;
    }
}

/** Waits until something holds; the test's own limit ends one that never does. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A service that listens, with what it says of itself, what asks it, and agents. */
export class Service {
  /** Whether its store answers. A test can take it away. */
  isWhole = true;
  /** The operation of whose examples everything is there. */
  private made: Operation | undefined;
  private agents = 0;
  private computers = 0;
  private readonly keys = new Map<string, Promise<{ key: string }>>();

  private constructor(
    readonly world: World,
    readonly app: FastifyInstance,
    readonly url: string,
    readonly reference: Reference,
    /** An owner's. */
    readonly key: string,
    /** What routes do, by method and path. */
    readonly actions: ReadonlyMap<string, Action | undefined>,
    private readonly atEnd: AtEnd,
  ) {}

  static async start(environment: Record<string, string> = {}, atEnd: AtEnd = onTestFinished, port = 0) {
    const world = await World.create({ DAYBOOK_RATE_LIMIT: '0', ...environment }, atEnd);
    // Its lake has a publication without days.
    const folder = join(world.config.data, LAKE, folderOf('acme'));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, SNAPSHOT), snapshotText({ ...noSnapshot('acme'), published_at: world.now }));
    const app = buildApp(world);
    const actions = new Map<string, Action | undefined>();
    app.addHook(
      'onRoute',
      ({ method, url, config }) =>
        void actions.set(`${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`, config?.action),
    );
    const url = await app.listen({ host: '127.0.0.1', port });
    atEnd(() => app.close());
    const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner', userId: 'ada' }, world.now);
    return new Service(world, app, url, await Reference.of(app), key, actions, atEnd);
  }

  get operations(): readonly Operation[] {
    return this.reference.operations;
  }

  async keyOf(role: Role, expiresAt?: number): Promise<string> {
    const made = { orgId: 'acme', role, userId: 'ada', expiresAt };
    return (await createKey(this.world.store, made, this.world.now)).key;
  }

  /** The body of an operation's example, and its type; nothing where it takes none. */
  bodyOf({ bodies }: Operation): { type?: string; content?: string } {
    const [[type, media] = []] = Object.entries(bodies);
    const example = media?.example;
    return type === undefined
      ? {}
      : { type, content: typeof example === 'string' ? example : JSON.stringify(example) };
  }

  /** Sends the request of an operation's examples, changed as wanted, and an owner's key unless there is another. */
  async send(operation: Operation, { headers, body, query, ...wanted }: Wanted = {}): Promise<Given> {
    const { type, content } = this.bodyOf(operation);
    if (this.isWhole && this.made !== operation) await this.make(operation);
    const signed = this.signed(operation);
    const given = await ask(
      this.url,
      this.reference.url(operation, { ...wanted, query: { ...signed, ...query } }),
      {
        method: operation.method,
        headers: {
          authorization: `Bearer ${this.key}`,
          ...(type === undefined ? {} : { 'content-type': type }),
          ...headers,
        },
        ...(content === undefined ? {} : { body: body ?? content }),
      },
    );
    // What was refused has changed nothing.
    this.made = given.status < 400 ? undefined : operation;
    return given;
  }

  /** Makes what the examples of an operation name, as if it was never asked before. */
  private async make({ method, path, parameters }: Operation): Promise<void> {
    const { store, now } = this.world;
    const of = (name: string) => String(parameters.find((one) => one.name === name)?.example ?? '');
    if (path === '/api/v1/api-keys/{key_id}') {
      await store.run([
        { sql: 'DELETE FROM keys WHERE key_id = $id', parameters: { id: of('key_id') } },
        {
          sql: `INSERT INTO keys (key_id, org_id, role, key_hash, fingerprint, created_at)
            SELECT $id, 'acme', 'guest', 'none', 'none', instant($now)`,
          parameters: { id: of('key_id'), now },
        },
      ]);
    }
    if (path.endsWith('/silence/acknowledgements')) {
      // A collector that stopped a month ago, whose person was active then.
      const at = now - 30 * MS_PER_DAY;
      await store.run([
        { sql: 'DELETE FROM heartbeats' },
        {
          sql: `INSERT INTO heartbeats
            SELECT 'acme', 'ada', '7f3a1c5d9b2e4f60', '', instant($at), NULL, 'ada-laptop', '0.2.0', 'none'`,
          parameters: { at },
        },
        {
          sql: `INSERT INTO coverage
            SELECT 'acme', CAST($day AS DATE), 'ada', 'codex', 'log', 1, 0, 0, 1, 0, 0, 0
            WHERE NOT EXISTS (SELECT 1 FROM coverage)`,
          parameters: { day: dayOf(at) },
        },
      ]);
    }
    if (path.endsWith('/alerts/test')) {
      const way = { name: 'on-call', kind: 'webhook', url: 'x', secret: 'x', to: [], takes: ['alerts'] };
      await store.run([
        { sql: 'DELETE FROM alert_revisions' },
        {
          sql: `INSERT INTO alert_revisions SELECT 'acme', CAST(1 AS BIGINT), $settings, 'ada', instant($now)`,
          parameters: { settings: JSON.stringify({ ways: [way], mutes: [], leads: false }), now },
        },
      ]);
    }
    if (path.includes('/alerts/deliveries/')) {
      await store.run([
        { sql: 'DELETE FROM deliveries' },
        {
          sql: `INSERT INTO deliveries
            SELECT 'acme', $id, 'alerts', 'on-call', instant($now), NULL, '', instant($now), 'undelivered', CAST(7 AS BIGINT), instant($now), ''`,
          parameters: { id: of('id'), now },
        },
      ]);
    }
    if (path.endsWith('/enterprise-controls/differences')) {
      await store.run([
        {
          sql: `INSERT INTO control_revisions
            SELECT 'acme', CAST(1 AS BIGINT), '{}', 'ada', '', 'ada', instant($now)
            WHERE NOT EXISTS (SELECT 1 FROM control_revisions WHERE org_id = 'acme')`,
          parameters: { now },
        },
      ]);
    }
    if (!/^\/api\/v0\/(computers|transfers)/.test(path)) return;
    const id = '0b0e5c5a-6d0f-4a57-9a0c-3c1f0c2f5c10';
    const isDone = path.endsWith('/complete-upload');
    const computer = {
      computer_id: of('computerId') || 'cmp_1',
      name: of('name') || 'box',
      status: path.endsWith('/retry') ? 'error' : 'active',
    };
    const isThere = method !== 'POST' || path !== '/api/v0/computers';
    await store.run([
      { sql: 'DELETE FROM computers' },
      { sql: 'DELETE FROM transfers' },
      ...(isThere
        ? [
            {
              sql: `INSERT INTO computers (computer_id, org_id, name, provider_type, status, owner_kind, owner_id, repos, auto_install_deps, steps, token_hash, created_at)
                SELECT $computer_id, 'acme', $name, 'byom', $status, 'human', 'ada', '[]', 1 = 0, '[]', 'none', instant($now)`,
              parameters: { ...computer, now },
            },
          ]
        : []),
      {
        sql: `INSERT INTO transfers (transfer_id, org_id, computer_id, file_name, size_bytes, created_at, expires_at, dest_path, completed_at)
          SELECT $id, 'acme', $computer_id, 'hello.txt', 5, instant($now), instant($end), CASE WHEN $is_done = 1 THEN 'docs' END,
            CASE WHEN $is_done = 1 THEN instant($now) END`,
        parameters: {
          ...{ id, computer_id: computer.computer_id, now },
          ...{ end: now + LIFE_MS, is_done: isDone ? 1 : 0 },
        },
      },
    ]);
  }

  /** What signs the address of an operation that has no credential. */
  private signed({ path, parameters }: Operation): Record<string, string> {
    if (!path.startsWith('/api/v0/transfers')) return {};
    const { config, now } = this.world;
    const id = String(parameters.find(({ name }) => name === 'transferId')?.example);
    const signed = Signer.open(config).query('PUT', id, now + LIFE_MS);
    return Object.fromEntries(new URLSearchParams(signed));
  }

  /** Asks v0 with a credential of a role, and perhaps of a user. */
  as(role: Role, userId?: string, orgId = 'acme'): Ask {
    const name = `${orgId} ${role} ${userId}`;
    const made = this.keys.get(name) ?? createKey(this.world.store, { orgId, role, userId }, this.world.now);
    this.keys.set(name, made);
    return async (method, path, body) => {
      const { key } = await made;
      return new Promise((resolve, reject) => {
        // fetch would make another path of one with dots.
        const asked = request(
          this.url,
          {
            method,
            path: `/api/v0${path}`,
            // A connection that is kept could be one that a service has just closed.
            agent: false,
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
        asked.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
      });
    };
  }

  /** Makes a computer of ada's, `box-1` and so on, and answers its id and token. */
  async computer(more: object = {}): Promise<{ id: string; agentToken: string }> {
    this.computers += 1;
    const { status, body } = await this.as('member', 'ada')('POST', '/computers', {
      name: `box-${this.computers}`,
      remoteUser: 'ada',
      ...more,
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body;
  }

  /** Starts an agent, and answers when it is connected. */
  async agent(computer: { id: string; agentToken: string }, server = this.url): Promise<Agent> {
    this.agents += 1;
    const folder = join(this.world.folder, `workspace-${this.agents}`, 'inside');
    mkdirSync(folder, { recursive: true });
    const workspace = realpathSync(folder);
    const stopping = new AbortController();
    const said: string[] = [];
    const ended = runAgent({
      server,
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
