import { COMMAND_MS } from '../agent/repository.js';
import { ulid } from '../ulid.js';
import type { Computer, Computers } from './computer.js';
import { JobFailed, NoAnswer, NotConnected, type Relay } from './relay.js';
import { type Step, type StepName, withStep } from './step.js';

/** How long the agent may take for one repository: longer than it gives itself. */
const JOB_MS = 2 * COMMAND_MS;

/** Does the steps of computers, each in order, and goes on where it was cut off (decisions.md, Computers). */
export class Provisioner {
  private readonly under = new Map<string, Promise<void>>();

  constructor(
    private readonly computers: Computers,
    private readonly relay: Relay,
    private readonly clock: () => number,
    private readonly report: (error: unknown) => void,
  ) {}

  /** Does what is left, unless it is being done. What needs the agent waits until it is connected, and this is called again. */
  start(computer: Pick<Computer, 'orgId' | 'id'>): void {
    const before = this.under.get(computer.id) ?? Promise.resolve();
    const work = before.then(() => this.go(computer)).catch(this.report);
    this.under.set(computer.id, work);
    void work.then(() => {
      if (this.under.get(computer.id) === work) this.under.delete(computer.id);
    });
  }

  /** Waits until nothing is being done. */
  async finish(): Promise<void> {
    await Promise.all(this.under.values());
  }

  private async go(of: Pick<Computer, 'orgId' | 'id'>): Promise<void> {
    for (;;) {
      const computer = await this.computers.find(of.orgId, of);
      if (computer === undefined || computer.status === 'error') return;
      const step = computer.steps.find(({ status }) => status !== 'completed');
      if (step === undefined) {
        await this.computers.change(of, () => ({ status: 'active' }));
        return;
      }
      if (this.relay.connectedAt(of.id) === null) return;
      if (!(await this.take(computer, step))) return;
    }
  }

  /** Does one step, and answers whether the next may come. */
  private async take(computer: Computer, { name }: Step): Promise<boolean> {
    const isInstall = name === 'install-dependencies';
    await this.note(computer, name, {
      status: 'in_progress',
      startedAt: this.clock(),
      ...(isInstall ? { installSessionId: `ins_${ulid(this.clock())}` } : {}),
    });
    try {
      for (const repo of computer.repos.length === 0 && isInstall ? [undefined] : computer.repos) {
        const job = isInstall
          ? { type: 'install' as const, ...(repo === undefined ? {} : { repo }) }
          : { type: 'clone' as const, repo: String(repo) };
        await this.relay.ask(computer.id, job, JOB_MS);
      }
    } catch (error) {
      // It is done again when the agent is back: what it has done it does not do twice.
      if (error instanceof NotConnected) return false;
      const detail =
        error instanceof JobFailed
          ? error.detail
          : error instanceof NoAnswer
            ? 'The computer did not answer.'
            : undefined;
      if (detail === undefined) throw error;
      await this.note(computer, name, { status: 'failed', completedAt: this.clock(), error: detail });
      return false;
    }
    await this.note(computer, name, { status: 'completed', completedAt: this.clock() });
    return true;
  }

  private async note(computer: Computer, name: StepName, change: Partial<Step>): Promise<void> {
    await this.computers.change(computer, ({ steps }) => ({
      steps: withStep(steps, name, change),
      ...(change.status === 'failed' ? { status: 'error' as const } : {}),
    }));
  }
}
