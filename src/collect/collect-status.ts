import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { writePrivate } from '../hooks/spool.js';
import { readJson, type Target } from './collect-folder.js';

/** How many rounds with sent events are remembered. */
const ROUNDS_SHOWN = 20;

/** The status of a target: what was sent, and when. Instants are Unix milliseconds. */
export interface CollectStatus {
  readonly server: string;
  readonly org_id: string;
  readonly user_id: string;
  /** Names the collector to the server: chosen at random. */
  readonly collector_id: string;
  /** When the server last had a sign of life. */
  readonly heartbeat_at: number | null;
  readonly last_run_at: number | null;
  readonly last_sent_at: number | null;
  /** Events that the server has accepted, including copies of earlier ones. */
  readonly events_sent: number;
  /** Events that the server has rejected. */
  readonly events_rejected: number;
  readonly waiting_events: number;
  readonly waiting_bytes: number;
  readonly failed_files: number;
  /** How many files and folders the last run left out, and a sentence for each of the first ones. */
  readonly left_out_files: number;
  readonly left_out: readonly string[];
  /** Why events wait or weren't read; null if all is well. */
  readonly problem: string | null;
  /** When the server can be asked again; null for now. */
  readonly not_before: number | null;
  /** The newest rounds with sent events. */
  readonly rounds: readonly { readonly sent_at: number; readonly events: number }[];
}

/** Reads the status of a target. */
export function statusOf({ server, orgId, userId, folder }: Target): CollectStatus {
  const known = (readJson(join(folder, 'status.json')) ?? {}) as Partial<CollectStatus>;
  return {
    collector_id: randomBytes(8).toString('hex'),
    heartbeat_at: null,
    last_run_at: null,
    last_sent_at: null,
    events_sent: 0,
    events_rejected: 0,
    waiting_events: 0,
    waiting_bytes: 0,
    failed_files: 0,
    left_out_files: 0,
    left_out: [],
    problem: null,
    not_before: null,
    rounds: [],
    ...known,
    server,
    org_id: orgId,
    user_id: userId,
  };
}

export function saveStatus(folder: string, status: CollectStatus): Promise<void> {
  const rounds = status.rounds.slice(-ROUNDS_SHOWN);
  return writePrivate(folder, 'status.json', `${JSON.stringify({ ...status, rounds })}\n`);
}
