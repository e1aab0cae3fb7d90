import { randomUUID } from 'node:crypto';
import { isObject } from '../input/json-object.js';
import { isMapped, type Payload, withoutWords } from './payload.js';
import { deliver, keep } from './spool.js';

/** How long after its start the process goes on with the server. The agent waits for it. */
const ENDS_AFTER_MS = 130;

/** What a hook command works with. */
export interface HookContext {
  /** Where connection and spool are. */
  readonly folder: string;
  readonly agent: string | undefined;
  /** How the agent was started, as it tells its hooks. */
  readonly entrypoint: string | undefined;
  /** Unix milliseconds. */
  readonly now: number;
  /** What starts this program again. */
  readonly program: readonly string[];
}

/** The document on standard input. Throws when it is no JSON object, with a sentence. */
export function payloadOf(text: string): Payload {
  try {
    const payload: unknown = JSON.parse(text);
    if (isObject(payload)) return payload;
  } catch {
    // What it says could be anything.
  }
  throw new Error('Standard input must be the JSON object that an agent gives to its hooks.');
}

/** Forwards a payload that becomes events, without its words. Answers a sentence when it has to wait. */
export async function send(payload: Payload, context: HookContext): Promise<string | undefined> {
  return isMapped(payload) ? forward(withoutWords(payload), context) : undefined;
}

/** Keeps a document on disk, and sends it and what waits as far as there is time; another process goes on with the rest. */
export async function forward(document: Payload, context: HookContext): Promise<string | undefined> {
  const { folder, agent, entrypoint, now, program } = context;
  await keep(
    folder,
    {
      ...document,
      timestamp: now,
      payload_id: randomUUID(),
      ...(agent === undefined ? {} : { agent }),
      ...(entrypoint === undefined ? {} : { entrypoint }),
    },
    now,
  );
  const ends = new AbortController();
  const timer = setTimeout(() => ends.abort(), Math.max(10, ENDS_AFTER_MS - performance.now()));
  const delivery = await deliver(folder, ends.signal);
  clearTimeout(timer);
  if (delivery === 'sent') return undefined;
  if (delivery !== 'late') return `Events wait in ${folder}: ${delivery.refused}.`;
  const { spawn } = await import('node:child_process');
  const [command = '', ...args] = program;
  spawn(command, [...args, 'hooks', 'deliver', '--folder', folder], {
    detached: true,
    stdio: 'ignore',
  }).unref();
  return undefined;
}
