import { type Address, usedIn } from './address.js';
import type { Unit } from './format.js';
import type { Numbers } from './summary.js';

/** A number that pages show above their charts. */
export interface Figure {
  readonly member: keyof Numbers;
  /** Its name in the glossary, if its name is another one. */
  readonly term?: string;
  readonly name: string;
  /** Its name on its card, if that is another one. */
  readonly label?: string;
  readonly unit: Unit;
}

export const COST: Figure = {
  ...{ member: 'cost_usd', name: 'Cost', label: 'Cost, list price', unit: 'dollars' },
};

export const FIGURES: readonly Figure[] = [
  { member: 'active_users', name: 'Active users', unit: 'count' },
  { member: 'sessions', name: 'Sessions', unit: 'count' },
  COST,
  { member: 'billable_tokens', name: 'Credits', unit: 'count' },
  { member: 'tool_calls', name: 'Tool calls', unit: 'count' },
  { member: 'failed_call_ratio', name: 'Failed calls', unit: 'rate' },
  { member: 'autonomy_ratio', name: 'Autonomy ratio', unit: 'ratio' },
  { member: 'commits', name: 'Commits', unit: 'count' },
];

const ACTIVE_DAYS: Figure = { member: 'active_days', name: 'Active days', unit: 'count' };

/** What the numbers are called where they are about sessions that used something, and what their cards say. */
const OF_SESSIONS: Partial<Record<keyof Numbers, (used: string) => string>> = {
  active_users: (used) => `People who used ${used}`,
  active_days: (used) => `Days with ${used}`,
  sessions: (used) => `Sessions with ${used}`,
  cost_usd: (used) => `Cost of sessions with ${used}`,
  billable_tokens: (used) => `Credits of sessions with ${used}`,
  tool_calls: (used) => `Calls of ${used}`,
  failed_call_ratio: (used) => `Failed calls of ${used}`,
  commits: (used) => `Commits in sessions with ${used}`,
};
const CARDS: Partial<Record<keyof Numbers, string>> = {
  active_users: 'People who used it',
  cost_usd: 'Cost of them',
  billable_tokens: 'Credits of them',
  commits: 'Commits in them',
};

/** The most characters of a name that has room on a card. */
const SHORT = 10;

/**
 * The numbers of an address. A filter by tool or MCP server chooses whole sessions but only its calls, so that calls per turn mean
 * nothing.
 */
export function figuresOf(address: Address, isOfOne: boolean): readonly Figure[] {
  const all = isOfOne ? FIGURES.map((one) => (one.member === 'active_users' ? ACTIVE_DAYS : one)) : FIGURES;
  const used = usedIn(address);
  if (used === undefined) return all;
  return all.flatMap((one) => {
    const name = OF_SESSIONS[one.member];
    if (name === undefined) return [];
    const label = CARDS[one.member] ?? name(used.length > SHORT ? 'it' : used);
    return [{ ...one, term: one.name, name: name(used), label }];
  });
}
