import { withoutCredentials } from '../network/url-credentials.js';
import { inTurn } from '../store/leading.js';
import { ulid } from '../ulid.js';
import { JobFailed } from './agent-message.js';
import { NoAnswer, NotConnected, type Relay } from './agent-relay.js';
import type { Computer, Computers } from './computer.js';
import { type E2b, ProviderFailed } from './e2b.js';
import { lost, type Step, type StepName, undone, withStep } from './provisioning-step.js';
import { COMMAND_MS } from './repository-clone.js';

/** How long the agent may take for one repository: longer than it gives itself. */
const JOB_MS = 2 * COMMAND_MS;

/** Another node has taken over a step, because this one was taken for dead. */
class TakenOver extends Error {}

/**
 * Runs the steps of computers in order, one node at a time, and resumes where it was interrupted. The provider does the first two, the agent the
 * others.
 */
export class Provisioner {
  private readonly under = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly computers: Computers,
    private readonly relay: Relay,
    /** Makes the machines that don't exist yet; undefined if no provider is configured. */
    readonly provider: E2b | undefined,
    private readonly clock: () => number,
    private readonly report: (error: unknown) => void,
    /** Does work on a computer, by its id, or answers undefined if another node does some. */
    private readonly trying: <T>(id: string, work: () => Promise<T>) => Promise<T | undefined> = (_, work) =>
      work(),
  ) {}

  /** Does the remaining steps, unless they are under way. Steps of the agent wait until it connects, which calls this again. */
  start(computer: Pick<Computer, 'orgId' | 'id'>): void {
    this.queue(computer, () => this.go(computer));
  }

  /** Resumes all that an earlier process has left unfinished, and that neither this one nor another node works on. */
  async resume(): Promise<void> {
    for (const computer of await this.computers.provisioning())
      if (!this.under.has(computer.id))
        this.inOrder(computer, () => this.trying(computer.id, () => this.go(computer)));
  }

  /** Wakes a provider's machine whose agent isn't connected: the provider has put it to sleep, or it is gone. */
  wake(computer: Pick<Computer, 'orgId' | 'id'>): void {
    this.queue(computer, async () => {
      const found = await this.computers.find(computer.orgId, computer);
      if (found?.providerRef == null || found.status === 'error') return;
      await this.relay.refresh();
      if (this.relay.connectedAt(computer.id) !== null) return;
      let isGone: boolean;
      try {
        isGone = (await this.required().status(found.providerRef)) === 'gone';
      } catch (error) {
        if (!(error instanceof ProviderFailed)) throw error;
        return this.fail(found, 'configure-user', error.message);
      }
      await this.computers.change(computer, ({ steps }) =>
        isGone
          ? { status: 'error', providerRef: null, steps: lost(steps, this.clock()) }
          : { status: 'provisioning', steps: undone(steps, 'configure-user') },
      );
      await this.go(computer);
    });
  }

  /** Removes a computer, and the machine that its provider made. Throws ProviderFailed, and then keeps both. */
  async delete(computer: Computer): Promise<void> {
    if (computer.providerRef !== null) await this.required().delete(computer.providerRef);
    await this.computers.delete(computer);
    this.relay.drop(computer.id);
  }

  /** Aborts requests to the provider, and waits until nothing is under way. */
  async finish(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.under.values());
  }

  /** Does work when no other node works on the computer. */
  private queue(computer: Pick<Computer, 'id'>, work: () => Promise<void>): void {
    this.inOrder(computer, () => inTurn((own) => this.trying(computer.id, own), work, this.stopping.signal));
  }

  /** Does work on a computer when this process has ended what it did before. */
  private inOrder({ id }: Pick<Computer, 'id'>, work: () => Promise<unknown>): void {
    const before = this.under.get(id) ?? Promise.resolve();
    const turn = before.then(work).then(
      () => undefined,
      (error) => this.report(error),
    );
    this.under.set(id, turn);
    void turn.then(() => {
      if (this.under.get(id) === turn) this.under.delete(id);
    });
  }

  private async go(of: Pick<Computer, 'orgId' | 'id'>): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const computer = await this.computers.find(of.orgId, of);
      if (computer === undefined || computer.status === 'error') return;
      const step = computer.steps.find(({ status }) => status !== 'completed');
      if (step === undefined) return;
      await this.relay.refresh();
      const isOfAgent = step.name === 'clone-repos' || step.name === 'install-dependencies';
      if (isOfAgent && this.relay.connectedAt(of.id) === null) return this.wake(of);
      if (!(await this.take(computer, step))) return;
    }
  }

  /** Does one step, and answers whether the next one can follow. */
  private async take(computer: Computer, { name }: Step): Promise<boolean> {
    const startedAt = this.clock();
    await this.note(computer, name, {
      status: 'in_progress',
      startedAt,
      ...(name === 'install-dependencies' ? { installSessionId: `ins_${ulid(startedAt)}` } : {}),
    });
    const isOwn = ({ steps }: Computer) =>
      steps.some(
        (step) => step.name === name && step.startedAt === startedAt && step.status === 'in_progress',
      );
    try {
      await this.perform(computer, name, isOwn);
    } catch (error) {
      // The step is repeated once the agent or the service is back. Repeating it does nothing twice.
      if (error instanceof NotConnected || error instanceof TakenOver || this.stopping.signal.aborted)
        return false;
      const isReason =
        error instanceof JobFailed || error instanceof ProviderFailed || error instanceof NoAnswer;
      if (!isReason) throw error;
      await this.fail(computer, name, error.message, isOwn);
      return false;
    }
    return this.note(computer, name, { status: 'completed', completedAt: this.clock() }, isOwn);
  }

  /** `isOwn` tells whether a computer's step is still this node's. */
  private async perform(
    computer: Computer,
    name: StepName,
    isOwn: (computer: Computer) => boolean,
  ): Promise<void> {
    const { repos, providerRef } = computer;
    const { signal } = this.stopping;
    switch (name) {
      case 'create-computer': {
        const ref = await this.required().create(computer, signal);
        const kept = await this.computers.change(computer, (now) => (isOwn(now) ? { providerRef: ref } : {}));
        // Whoever has taken over finds the sandbox by its label, unless it has another one.
        const isLeft = kept === undefined || (kept.providerRef !== null && kept.providerRef !== ref);
        if (isLeft) await this.required().delete(ref);
        return;
      }
      case 'configure-user': {
        const token = await this.computers.renewToken(computer, isOwn);
        if (token === undefined) throw new TakenOver();
        return this.required().configure(String(providerRef), computer, token, signal);
      }
      case 'clone-repos':
        for (const repo of repos) await this.relay.ask(computer.id, { type: 'clone', repo }, JOB_MS);
        return;
      case 'install-dependencies':
        if (repos.length === 0) return this.relay.ask(computer.id, { type: 'install' }, JOB_MS);
        for (const repo of repos) await this.relay.ask(computer.id, { type: 'install', repo }, JOB_MS);
    }
  }

  private required(): E2b {
    if (this.provider === undefined)
      throw new ProviderFailed('This service has no provider e2b: it needs E2B_API_KEY.');
    return this.provider;
  }

  private async fail(
    computer: Computer,
    name: StepName,
    error: string,
    isOwn?: (computer: Computer) => boolean,
  ): Promise<void> {
    // An older agent doesn't remove credentials from git's message.
    const failed = { completedAt: this.clock(), error: withoutCredentials(error) };
    await this.note(computer, name, { status: 'failed', ...failed }, isOwn);
  }

  /** Changes a step, unless it isn't this node's any more. Answers whether it was. */
  private async note(
    computer: Computer,
    name: StepName,
    change: Partial<Step>,
    isOwn: (computer: Computer) => boolean = () => true,
  ): Promise<boolean> {
    let isNoted = false;
    await this.computers.change(computer, (before) => {
      isNoted = isOwn(before);
      if (!isNoted) return {};
      const steps = withStep(before.steps, name, change);
      const isDone = steps.every(({ status }) => status === 'completed');
      const status = change.status === 'failed' ? 'error' : isDone ? 'active' : before.status;
      return { steps, status };
    });
    return isNoted;
  }
}
