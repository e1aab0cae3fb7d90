import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createKey } from '../src/api/api-keys.js';
import { readConfig } from '../src/settings/config.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { FIRST_DAY } from './generate-organization.js';

/** A server in a process of its own. */
export interface Server {
  readonly child: ChildProcess;
  /** As `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Starts a program of Node, and waits until it has said where it listens. Its log is shown, or thrown away. */
export async function startServer(
  args: readonly string[],
  environment: Record<string, string | undefined> = {},
  log: 'inherit' | 'ignore' = 'inherit',
): Promise<Server> {
  const child = spawn('node', args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', log],
  });
  // A bench that fails leaves nobody behind.
  process.once('exit', () => child.kill('SIGKILL'));
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  for await (const line of createInterface(child.stdout)) {
    const [url] = /http:\/\/[\d.:]+/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, url, stop };
  }
  throw new Error(`node ${args.join(' ')} ended before it served`);
}

/** Starts a service on a data folder that is filled, with the key of a manager for each of some organizations. It builds nothing. */
export async function serveFilled(
  root: string,
  data: string,
  orgIds: readonly string[],
  environment: Record<string, string> = {},
): Promise<Server & { readonly keys: readonly string[] }> {
  const store = await DuckDbStore.open(data, { ...readConfig({ DAYBOOK_DATA: data }), now: Date.now() });
  const keys: string[] = [];
  for (const orgId of orgIds) keys.push((await createKey(store, { orgId, role: 'manager' }, Date.now())).key);
  await store.close();
  const server = await startServer(
    [join(root, 'dist', 'cli.js'), '--data', data, 'serve', '--port', '0'],
    {
      DAYBOOK_BUILD_AT: 'off',
      DAYBOOK_HISTORY_START: FIRST_DAY,
      // The limit is counted, and not reached.
      DAYBOOK_RATE_LIMIT: '1000000000',
      ...environment,
    },
    // Each request is logged, as it would be.
    'ignore',
  );
  return { ...server, keys };
}

/** A service in a process of its own, on a data folder. */
export class Service {
  private constructor(
    private readonly server: Server,
    /** A key of role owner. */
    readonly key: string,
  ) {}

  /** Starts it, and waits until it serves. */
  static async start(root: string, data: string, environment: Record<string, string> = {}): Promise<Service> {
    const cli = join(root, 'dist', 'cli.js');
    const env = { ...process.env, DAYBOOK_DATA: data, ...environment };
    const { key } = JSON.parse(
      execFileSync('node', [cli, 'keys', 'create', '--org', 'acme', '--role', 'owner', '--json'], {
        env,
        encoding: 'utf8',
      }),
    ) as { key: string };
    const server = await startServer([cli, 'serve', '--port', '0'], {
      DAYBOOK_RATE_LIMIT: '0',
      DAYBOOK_LOG_LEVEL: 'warn',
      DAYBOOK_BUILD_AT: 'off',
      ...env,
    });
    return new Service(server, key);
  }

  get url(): string {
    return this.server.url;
  }

  /** Its resident memory in MiB, as the system tells it (Linux). */
  memory(): number {
    const [, resident] =
      /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.server.child.pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(resident) / 1024);
  }

  /** The processor time that it has used so far, in seconds (Linux). */
  processorTime(): number {
    const fields =
      readFileSync(`/proc/${this.server.child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  signal(name: NodeJS.Signals): void {
    this.server.child.kill(name);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}
