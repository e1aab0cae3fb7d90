import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../ask.js';
import { Clock } from '../faults/clock.js';
import { preloading } from '../faults/preloaded.js';
import { CLI, type Ended, ended, start } from '../program.js';
import { until } from '../service.js';
import { type AtEnd, temporaryFolder } from '../world.js';
import { TcpProxy } from './tcp-proxy.js';

/** The settings of a node, given what makes ways to servers that can be cut. */
export type SettingsOf = (wayTo: (port: number) => Promise<number>) => Promise<Record<string, string>>;

/** How often a process is started that ends before it serves. */
const STARTS = 20;

/** One of the machines that are Daybook: it has a folder, a clock, and ways to the stores of its own. */
export class DaybookNode {
  /** Ways to the stores. */
  readonly ways: TcpProxy[] = [];
  /** The version that it starts from now on. */
  cli = CLI;
  /** Whether it sleeps. */
  isFrozen = false;
  private readonly commands = new Set<ChildProcess>();
  private child: ChildProcess | undefined;
  private said = '';

  private constructor(
    readonly data: string,
    readonly port: number,
    readonly env: Readonly<Record<string, string>>,
    private readonly clock: Clock | undefined,
    private readonly atEnd: AtEnd,
  ) {}

  static async create(settingsOf: SettingsOf, atEnd: AtEnd): Promise<DaybookNode> {
    const folder = temporaryFolder(atEnd);
    const ways: TcpProxy[] = [];
    const env = await settingsOf(async (port) => {
      const way = await TcpProxy.to(port, atEnd);
      ways.push(way);
      return way.port;
    });
    const clock = Clock.of(join(folder, 'clock'));
    const node = new DaybookNode(join(folder, 'data'), await freePort(), env, clock, atEnd);
    node.ways.push(...ways);
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts its process, and waits until that serves. As a supervisor does, again when it ends because a store is away. */
  async start(): Promise<void> {
    for (let starts = 1; !(await this.isStarted()); starts += 1) {
      if (starts === STARTS || !/can't (be reached|do this now)/.test(this.said))
        throw new Error(`A node ended with ${this.child?.exitCode}: ${this.said.slice(-2000)}`);
      await wait(500);
    }
  }

  private async isStarted(): Promise<boolean> {
    const preloaded = this.clock === undefined ? {} : preloading(this.clock);
    this.said = '';
    const child = start(['--data', this.data, 'serve', '--port', String(this.port)], {
      cli: this.cli,
      env: { ...this.env, ...preloaded },
      atEnd: this.atEnd,
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.said += text;
      });
    await until(() => this.said.includes('Daybook serves on') || child.exitCode !== null);
    return child.exitCode === null;
  }

  /** Kills it, and its commands with it. */
  async kill(): Promise<void> {
    for (const command of this.commands) command.kill('SIGKILL');
    await this.signal('SIGKILL');
  }

  /** Ends it, which has to end well. */
  async end(): Promise<void> {
    await this.signal('SIGTERM');
    if (this.child?.exitCode !== 0) throw new Error(`A node ended badly: ${this.said.slice(-2000)}`);
  }

  private async signal(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const end = once(child, 'close');
    child.kill(signal);
    await end;
  }

  /** Ends it, with all that it does or before that, and starts it as another version from now on. */
  async update(cli: string): Promise<void> {
    await this.signal('SIGTERM');
    this.cli = cli;
    await this.start();
  }

  /** Lets it sleep, as a machine that is suspended, with its commands. */
  async freeze(ms: number): Promise<void> {
    const asleep = [this.child, ...this.commands];
    this.isFrozen = true;
    for (const one of asleep) one?.kill('SIGSTOP');
    await wait(ms);
    for (const one of asleep) one?.kill('SIGCONT');
    this.isFrozen = false;
  }

  /** Sets its clock some time from that of the machine. Answers false where that can't be done. */
  setClock(ms: number): boolean {
    this.clock?.move(ms);
    return this.clock !== undefined;
  }

  /** Runs a command beside it. */
  run(...args: string[]): Promise<Ended> {
    const { cli, env, atEnd } = this;
    const command = start(['--data', this.data, ...args], { cli, env: { ...env }, atEnd });
    this.commands.add(command);
    return ended(command).finally(() => this.commands.delete(command));
  }
}
