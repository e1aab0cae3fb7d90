import { randomUUID } from 'node:crypto';
import { isObject, withControlsEscaped } from '../input/json-object.js';
import { inOneForm, isMapped, withoutWords } from './payload.js';
import type { Payload } from './payload-members.js';
import { deliver, keep } from './spool.js';

/** How long after its start the process keeps sending. The agent waits for it. */
const ENDS_AFTER_MS = 130;

/** The context of a hook command. */
export interface HookContext {
  /** The folder of the connection and the spool. */
  readonly folder: string;
  /** The agent that wrote the payload; undefined if it is none that is known. */
  readonly agent: string | undefined;
  /** How the agent was started, as it tells its hooks. */
  readonly entrypoint: string | undefined;
  /** Unix milliseconds. */
  readonly now: number;
  /** The command that starts this program again. */
  readonly program: readonly string[];
}

/** Parses the document on standard input. Throws an error with a sentence if it isn't a JSON object. */
export function payloadOf(text: string): Payload {
  try {
    // On Windows, some agents begin with a byte order mark.
    const payload: unknown = JSON.parse(withControlsEscaped(text.replace(/^\uFEFF/, '')));
    if (isObject(payload)) return payload;
  } catch {
    // The parser's message could quote anything.
  }
  throw new Error('Standard input must be the JSON object that an agent gives to its hooks.');
}

/** Forwards a payload without its words, if it becomes events. Answers a sentence if it has to wait. */
export async function send(payload: Payload, context: HookContext): Promise<string | undefined> {
  const own = inOneForm(payload, context.agent);
  return isMapped(own) ? forward(withoutWords(own), context) : undefined;
}

/** Spools a document, and sends as much of the spool as there is time for. Another process sends the rest. */
export async function forward(document: Payload, context: HookContext): Promise<string | undefined> {
  const { folder, agent, entrypoint, now, program } = context;
  await keep(
    folder,
    {
      ...document,
      timestamp: now,
      payload_id: document.payload_id ?? randomUUID(),
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
    // Windows would open a window for it.
    windowsHide: true,
  }).unref();
  return undefined;
}
