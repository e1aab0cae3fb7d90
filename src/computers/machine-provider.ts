import type { Computer } from './computer.js';

/** What a provider can't do: the message is for whoever wants the computer. */
export class ProviderFailed extends Error {
  override name = 'ProviderFailed';
}

/** Makes the machines of computers. All of it can be done again after it was cut off. Throws ProviderFailed. */
export interface Provider {
  /** Makes the machine of a computer, unless it is made, and answers what the provider calls it. */
  create(computer: Computer, signal: AbortSignal): Promise<string>;
  /** Wakes a machine that sleeps, gives it its user, and starts the agent anew; answers once that is connected. */
  configure(ref: string, computer: Computer, agentToken: string, signal: AbortSignal): Promise<void>;
  /** What has become of a machine. */
  status(ref: string): Promise<'running' | 'asleep' | 'gone'>;
  /** Removes a machine, if it is there. */
  delete(ref: string): Promise<void>;
}
