import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../../src/disk/package-root.js';
import { freePort } from '../../ask.js';
import { start } from '../../program.js';
import { type AtEnd, temporaryFolder } from '../../world.js';
import type { Way } from './port.js';

const Opened = z.object({ control: z.number() });
const State = z.object({
  applied: z.number().optional(),
  logged: z.number().optional(),
  failure: z.string().optional(),
});

export interface FrontOptions {
  /** How many servers the one engine is. */
  readonly servers?: number;
  /** Whether another process can follow it. */
  readonly isFollowed?: boolean;
  /** Whom it follows. */
  readonly of?: FrontProcess;
}

/** ClickHouse's engine in a process of its own, behind the HTTP interface of one or more servers. */
export class FrontProcess {
  private child: ChildProcess | undefined;
  private control = 0;
  readonly ports: number[] = [];

  private constructor(
    readonly folder: string,
    private readonly options: FrontOptions,
    private readonly atEnd: AtEnd,
  ) {}

  static async start(options: FrontOptions = {}, atEnd: AtEnd = onTestFinished): Promise<FrontProcess> {
    const front = new FrontProcess(temporaryFolder(atEnd), options, atEnd);
    for (let servers = options.servers ?? 1; servers > 0; servers -= 1) front.ports.push(await freePort());
    await front.start();
    return front;
  }

  /** The address of the HTTP interface of a server. */
  url(server = 0): string {
    return `http://127.0.0.1:${this.ports[server]}`;
  }

  /** All servers, as an address of a store names them. */
  get hosts(): string {
    return this.ports.map((port) => `127.0.0.1:${port}`).join();
  }

  /** Starts the process, again on the same ports and with its data. */
  async start(): Promise<void> {
    const { of, isFollowed } = this.options;
    const args = ['--folder', this.folder, ...this.ports.flatMap((port) => ['--port', String(port)])];
    if (isFollowed === true) args.push('--log');
    if (of !== undefined) args.push('--of', of.folder, '--primary', of.url());
    const program = ['node', join(PACKAGE_ROOT, 'test/clickhouse/front/start.js')];
    const child = start(args, { program, env: { UV_THREADPOOL_SIZE: '16' }, atEnd: this.atEnd });
    this.child = child;
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
      this.control = Opened.parse(JSON.parse(line)).control;
      return;
    }
    throw new Error(`The front ended: ${said}`);
  }

  /** Kills the process. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Lets statements that match go another way; by themselves all that come to any of its servers. */
  async take(way: Way, given: { server?: number; match?: string; times?: number } = {}): Promise<void> {
    const { server, ...more } = given;
    await this.tell('way', { way, ...(server !== undefined && { port: this.ports[server] }), ...more });
  }

  /** How much later it has what it follows, in milliseconds. */
  async lag(ms: number | 'stopped'): Promise<void> {
    await this.tell('lag', { ms });
  }

  /** How many statements it has of the other, or the other can have. */
  state(): Promise<z.infer<typeof State>> {
    return this.tell('', {});
  }

  private async tell(what: string, given: object): Promise<z.infer<typeof State>> {
    const asked = new URLSearchParams(Object.entries(given).map(([name, value]) => [name, String(value)]));
    const answer = await fetch(`http://127.0.0.1:${this.control}/${what}?${asked}`, { method: 'POST' });
    if (!answer.ok) throw new Error(await answer.text());
    return State.parse(await answer.json());
  }
}
