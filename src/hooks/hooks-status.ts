import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { faultOf } from './connect.js';
import { AGENT_NAMES, type AgentName, hookedAgent } from './hooked-agents.js';
import { uninstalled } from './install.js';
import { connectionOf, waitingIn } from './spool.js';

/** What hooks on this machine do. Instants are Unix milliseconds. */
export interface HooksStatus {
  /** The files of agents that have hooks of Daybook. */
  readonly agents: readonly { readonly agent: AgentName; readonly path: string }[];
  readonly server: string | null;
  /** Why the server takes no payloads, as a sentence. */
  readonly problem: string | null;
  readonly waiting: number;
  readonly oldest_at: number | null;
  /** The files of payloads that the server refused, or that are damaged. */
  readonly left_out: readonly string[];
}

/** Asks the server, too. */
export async function hooksStatus(folder: string): Promise<HooksStatus> {
  const connection = await connectionOf(folder);
  const fault = connection === undefined ? undefined : await faultOf(connection);
  const spool = join(folder, 'spool');
  const waiting = await waitingIn(spool);
  const files = await readdir(spool).catch(() => []);
  const oldest = Number(waiting[0]?.split('-')[0]);
  return {
    agents: AGENT_NAMES.filter((agent) => uninstalled(agent, homedir()).lines.length > 0).map((agent) => ({
      agent,
      path: hookedAgent(agent).fileIn(homedir()),
    })),
    server: connection?.server ?? null,
    problem: fault === undefined ? null : `${fault.sentence}.`,
    waiting: waiting.length,
    oldest_at: Number.isNaN(oldest) ? null : oldest,
    left_out: files.filter((name) => /\.(refused|damaged)$/.test(name)).map((name) => join(spool, name)),
  };
}
