/** Daybook as it is installed: a service on a data folder of its own, and commands that ask it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Server, startServer } from '../../bench/service.js';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';

export const CLI = join(PACKAGE_ROOT, 'dist', 'cli.js');
const NUMBERS = join(PACKAGE_ROOT, 'test', 'interop', 'numbers.sql');

/** Makes a process believe that it is a day later: only days that have ended are built. */
const A_DAY_LATER = 'data:text/javascript,const { now } = Date; Date.now = () => now() + 86_400_000;';

/** What a session comes to, by name. */
export type Numbers = Readonly<Record<string, string>>;

export class Daybook {
  private constructor(
    private readonly data: string,
    private readonly server: Server,
  ) {}

  static async start(data: string): Promise<Daybook> {
    const server = await startServer([CLI, '--data', data, 'serve', '--port', '0'], {
      DAYBOOK_BUILD_AT: 'off',
      DAYBOOK_LOG_LEVEL: 'warn',
    });
    return new Daybook(data, server);
  }

  get url(): string {
    return this.server.url;
  }

  /** A key that sends for an organization. */
  async key(org: string): Promise<string> {
    const answer = await this.run(['keys', 'create', '--org', org, '--new', '--role', 'ingest', '--json']);
    return (JSON.parse(answer) as { key: string }).key;
  }

  /** Reads an agent's files, and answers what was rejected. */
  async ingest(org: string, source: string, path: string): Promise<string[]> {
    const options = ['--org', org, '--source', source, '--user', 'ada', '--json'];
    const { rejected } = JSON.parse(await this.run(['ingest', ...options, path])) as { rejected: number };
    return rejected === 0 ? [] : [`${rejected} lines of its files were rejected`];
  }

  /** Builds the days of all organizations. The service has to be stopped, since its clock is right. */
  async build(): Promise<void> {
    await this.run(['build'], ['--import', A_DAY_LATER]);
  }

  /** The numbers of the organizations that have any. */
  async numbers(): Promise<Map<string, Numbers>> {
    const answer = await this.run(['sql', '--format', 'json', '--file', NUMBERS]);
    const rows = JSON.parse(answer) as { org_id: string; what: string; value: string }[];
    const numbers = new Map<string, Record<string, string>>();
    for (const { org_id, what, value } of rows)
      numbers.set(org_id, { ...numbers.get(org_id), [what]: value });
    return numbers;
  }

  /** All events, as text. */
  events(): Promise<string> {
    return this.run(['sql', '--format', 'json', 'SELECT * FROM events']);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  private async run(args: readonly string[], node: readonly string[] = []): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...node, CLI, '--data', this.data, ...args],
      {
        env: { ...process.env, DAYBOOK_LOG_LEVEL: 'warn' },
        maxBuffer: 2 ** 26,
      },
    );
    return stdout;
  }
}
