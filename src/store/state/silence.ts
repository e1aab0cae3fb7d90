import type { Day } from '../../day.js';
import { quote, quoteInstant, readSql, withSources } from '../sql-text.js';
import type { Parameters, Row, Store } from '../store.js';

/** What goes silent. */
export const SILENT_KINDS = ['collector', 'agent'] as const;
export type SilentKind = (typeof SILENT_KINDS)[number];

/** The states of collectors and agents: see sql/report/silence.sql. */
export const SILENCE_STATES = ['silent', 'acknowledged', 'idle', 'away', 'live'] as const;
export type SilenceState = (typeof SILENCE_STATES)[number];

/** How many collectors and agents of an organization have which state. */
export interface SilenceCounts {
  readonly live_collectors: number;
  readonly silent_collectors: number;
  readonly silent_agents: number;
  readonly idle_agents: number;
  readonly acknowledged: number;
}

const NONE: SilenceCounts = {
  live_collectors: 0,
  silent_collectors: 0,
  silent_agents: 0,
  idle_agents: 0,
  acknowledged: 0,
};

/** The SELECT of collectors and agents in some states, and its parameters. `last` is the last closed day. */
export function silenceSql(
  orgIds: readonly string[],
  last: Day,
  states: readonly SilenceState[],
): { text: string; parameters: Parameters } {
  const text = withSources('SELECT * FROM silence WHERE state IN $states', {
    silence: readSql('report/silence.sql'),
  });
  // No state has the empty name.
  const asked = states.length === 0 ? [''] : states;
  return { text, parameters: { org_ids: orgIds, last: { day: last }, states: asked } };
}

/** The counts of organizations. */
export async function silenceCounts(
  select: Store['select'],
  orgIds: readonly string[],
  last: Day,
): Promise<(orgId: string) => SilenceCounts> {
  if (orgIds.length === 0) return () => NONE;
  const text = withSources(readSql('report/silence_counts.sql'), { silence: readSql('report/silence.sql') });
  const rows = await select(text, { org_ids: orgIds, last: { day: last } });
  const counts = new Map(rows.map((row) => [String(row.org_id), countsOf(row)]));
  return (orgId) => counts.get(orgId) ?? NONE;
}

function countsOf(row: Row): SilenceCounts {
  return {
    live_collectors: Number(row.live_collectors),
    silent_collectors: Number(row.silent_collectors),
    silent_agents: Number(row.silent_agents),
    idle_agents: Number(row.idle_agents),
    acknowledged: Number(row.acknowledged),
  };
}

/** A collector or agent that is silent, and why. */
export interface Acknowledgement {
  readonly orgId: string;
  readonly userId: string;
  readonly kind: SilentKind;
  /** The id of the collector, or the agent. */
  readonly name: string;
  readonly author: string;
  readonly reason: string | null;
}

/**
 * Notes that somebody knows why a collector or agent is silent. Answers whether it is. The note waits for no build, and ends by itself once
 * that reports again.
 */
export async function acknowledgeSilence(
  store: Store,
  { orgId, userId, kind, name, author, reason }: Acknowledgement,
  last: Day,
  now: number,
): Promise<boolean> {
  const { text, parameters } = silenceSql([orgId], last, ['silent', 'acknowledged']);
  const [found] = await store.select(
    `SELECT last_day FROM (${text}) AS found WHERE user_id = $user_id AND kind = $kind AND name = $name`,
    { ...parameters, user_id: userId, kind, name },
  );
  if (found === undefined) return false;
  const values = [
    ...[orgId, userId, kind, name, String(found.last_day)].map(quote),
    ...[quoteInstant(now), quote(author), reason === null ? 'NULL' : quote(reason)],
  ];
  await store.append(`INSERT INTO silence_acknowledgements VALUES (${values.join(', ')})`);
  return true;
}
