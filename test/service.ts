import { onTestFinished } from 'vitest';
import { buildApp } from '../src/api/app.js';
import { createKey } from '../src/api/keys.js';
import type { Action, Role } from '../src/api/roles.js';
import { ask, type Given } from './ask.js';
import { type Operation, Reference, type Wanted } from './reference.js';
import { type AtEnd, World } from './world.js';

/** A service that listens, with what it says of itself and an owner's key. */
export class Service {
  private constructor(
    readonly world: World,
    readonly url: string,
    readonly reference: Reference,
    readonly key: string,
    /** What routes do, by method and path. */
    readonly actions: ReadonlyMap<string, Action | undefined>,
  ) {}

  static async start(environment: Record<string, string> = {}, atEnd: AtEnd = onTestFinished) {
    const world = await World.create({ DAYBOOK_RATE_LIMIT: '0', ...environment }, atEnd);
    const app = buildApp(world);
    const actions = new Map<string, Action | undefined>();
    app.addHook('onRoute', ({ method, url, config }) => void actions.set(`${method} ${url}`, config?.action));
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    atEnd(() => app.close());
    const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner', userId: 'ada' }, world.now);
    return new Service(world, url, await Reference.of(app), key, actions);
  }

  get operations(): readonly Operation[] {
    return this.reference.operations;
  }

  async keyOf(role: Role, expiresAt?: number): Promise<string> {
    const made = { orgId: 'acme', role, userId: 'ada', expiresAt };
    return (await createKey(this.world.store, made, this.world.now)).key;
  }

  /** Sends the request of an operation's examples, changed as wanted, and an owner's key unless there is another. */
  send(operation: Operation, { headers, body, ...wanted }: Wanted = {}): Promise<Given> {
    const [type] = Object.keys(operation.bodies);
    const example = type === undefined ? undefined : operation.bodies[type]?.example;
    const content = body ?? (typeof example === 'object' ? JSON.stringify(example) : example?.toString());
    return ask(this.url, this.reference.url(operation, wanted), {
      method: operation.method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(type === undefined ? {} : { 'content-type': type }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    });
  }
}
