/** How an agent is started and configured, and what it can't tell. */
import type { ToolStep } from './scenario.js';
import type { Api, Call } from './stub.js';

/** Where an agent works: folders of its own, and the addresses that it calls. */
export interface Place {
  readonly home: string;
  readonly repo: string;
  /** Of the stub. */
  readonly modelUrl: string;
  /** What OTLP's paths (`/v1/logs`) are appended to. */
  readonly otlpUrl: string;
}

/** One run of an agent: it answers a prompt and ends. */
export interface Run {
  /** The program and its arguments; a path ending in `.js` or `.cjs` is run by this Node.js. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Numbers that differ from what the stub served, since the agent doesn't tell them. */
export interface Untold {
  readonly by: readonly Way[];
  /** What Daybook has instead: a value, or the least and the most. */
  readonly is: Readonly<Record<string, string | readonly [number, number]>>;
  readonly because: string;
}

/** How an agent's data comes in: `run` is "daybook run" of each prompt; `logs, OTLP` and `OTLP, logs` are both, in this order. */
export const WAYS = ['logs', 'run', 'OTLP', 'logs, OTLP', 'OTLP, logs'] as const;
export type Way = (typeof WAYS)[number];

export interface Agent {
  /** As `--source` has it. */
  readonly name: string;
  readonly packages: readonly string[];
  /** The oldest Node.js that runs it. */
  readonly node: number;
  readonly api: Api;
  /** The tool that it has for a step in a repository. */
  readonly callOf: (step: ToolStep, repo: string) => Omit<Call, 'id'>;
  /** Files of its home folder, by path. */
  readonly settings: (place: Place) => Readonly<Record<string, string>>;
  /** Its start on a prompt, `installed` being the folder of its packages. */
  readonly run: (prompt: string, isResumed: boolean, installed: string, place: Place) => Run;
  /** The folder of its home that `daybook ingest` reads. */
  readonly logs: string;
  /** Where it tells something else than what happened. */
  readonly untold: readonly Untold[];
}
