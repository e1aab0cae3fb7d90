import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A service in a process of its own, on a data folder. */
export class Service {
  private constructor(
    private readonly child: ChildProcess,
    /** As `http://127.0.0.1:8787`. */
    readonly url: string,
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
    const child = spawn('node', [cli, 'serve', '--port', '0'], {
      env: { DAYBOOK_RATE_LIMIT: '0', DAYBOOK_LOG_LEVEL: 'warn', DAYBOOK_BUILD_AT: 'off', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // A bench that fails leaves nobody behind.
    process.once('exit', () => child.kill('SIGKILL'));
    for await (const line of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      const [, url] = /serves on (\S+)/.exec(line) ?? [];
      if (url !== undefined) {
        child.stdout.resume();
        return new Service(child, url, key);
      }
    }
    throw new Error('the service did not start');
  }

  /** Its resident memory in MiB, as the system tells it (Linux). */
  memory(): number {
    const [, resident] =
      /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(resident) / 1024);
  }

  /** The processor time that it has used so far, in seconds (Linux). */
  processorTime(): number {
    const fields = readFileSync(`/proc/${this.child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }
}
