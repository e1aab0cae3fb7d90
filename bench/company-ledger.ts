import { credits, type RateCard } from '../test/oracle/credits.js';
import { type SentEvent, storedEvents } from '../test/oracle/event.js';
import { exactCosts, type PriceList, usd } from '../test/oracle/prices.js';
import { tokensOf } from '../test/oracle/ways.js';
import type { Colleague, CompanyEvent } from './generate-company.js';

/** What the summary groups by. */
export type Kind = 'user' | 'team' | 'cost_center';

/** The numbers of a row of the summary, under the names that it has there. */
export type Numbers = Readonly<Record<string, number | null>>;

/** Counts of a day, of one person or of several. Costs are in millionths of a millionth of a dollar. */
interface Counts {
  cost: bigint;
  unpriced: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  billable_tokens: number;
  sessions: number;
  user_turns: number;
  tool_calls: number;
  files: number;
  commits: number;
  pull_requests: number;
  active_users: number;
}

const NOTHING: Readonly<Counts> = {
  cost: 0n,
  ...{ unpriced: 0, input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
  ...{ billable_tokens: 0, sessions: 0, user_turns: 0, tool_calls: 0, files: 0, commits: 0 },
  ...{ pull_requests: 0, active_users: 0 },
};

function add(to: Counts, counts: Readonly<Counts>): void {
  to.cost += counts.cost;
  for (const name of Object.keys(NOTHING) as (keyof Counts)[]) if (name !== 'cost') to[name] += counts[name];
}

function numbersOf(counts: Readonly<Counts>): Numbers {
  const { cost, unpriced, active_users, ...others } = counts;
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = counts;
  const tokens = input_tokens + output_tokens + cache_read_tokens + cache_write_tokens;
  return {
    cost_usd: unpriced > 0 && unpriced === tokens ? null : usd(cost),
    unpriced_tokens: unpriced,
    ...others,
    autonomy_ratio: counts.user_turns === 0 ? 0 : counts.tool_calls / counts.user_turns,
    active_users,
    active_days: 1,
  };
}

/**
 * A second computation of the summary for each day, from the events alone: each event goes to the person whose name it has, and then each
 * person's day to what the person belongs to on it.
 */
export class Ledger {
  /** By day and name as it is sent. */
  private readonly events = new Map<string, Map<string, CompanyEvent[]>>();

  constructor(
    events: Iterable<CompanyEvent>,
    private readonly prices: PriceList,
    private readonly card: RateCard,
  ) {
    for (const event of events) {
      const day = event.timestamp.slice(0, 10);
      const names = this.events.get(day) ?? new Map<string, CompanyEvent[]>();
      this.events.set(day, names);
      const own = names.get(event.user_id);
      if (own === undefined) names.set(event.user_id, [event]);
      else own.push(event);
    }
  }

  /** The rows of each day: by day and group. Without a kind, one row a day with the group ''. `people` say whose names count for whom. */
  rows(people: readonly Colleague[], kind: Kind | undefined): Map<string, Map<string, Numbers>> {
    const byName = new Map(
      people.flatMap((person) =>
        [person.userId, person.email, ...person.aliases].map((name) => [name, person] as const),
      ),
    );
    const started = new Set<string>();
    const found = new Map<string, Map<string, Numbers>>();
    for (const day of [...this.events.keys()].sort()) {
      const persons = new Map<string, CompanyEvent[]>();
      for (const [name, events] of this.events.get(day) ?? []) {
        const id = byName.get(name)?.userId ?? name;
        persons.set(id, [...(persons.get(id) ?? []), ...events]);
      }
      const groups = new Map<string, Counts>();
      for (const [id, events] of persons) {
        const group = groupOf(byName.get(id), id, kind, day);
        const counts = groups.get(group) ?? { ...NOTHING };
        groups.set(group, counts);
        add(counts, this.countsOf(day, events, started));
      }
      found.set(day, new Map([...groups].map(([group, counts]) => [group, numbersOf(counts)])));
    }
    return found;
  }

  /** Of one person on one day. `started` has the sessions of the days before. */
  private countsOf(day: string, events: readonly CompanyEvent[], started: Set<string>): Counts {
    const usage = storedEvents(events.filter(({ type }) => type === 'model_usage') as unknown as SentEvent[]);
    const { cost, unpriced } = exactCosts(usage, this.prices);
    const models = new Set(usage.map(({ text }) => text('model') ?? ''));
    const count = (type: string) => events.filter((event) => event.type === type).length;
    const files = new Set(
      events.filter(({ type }) => type === 'file_change').map((event) => `${event.session_id} ${event.path}`),
    );
    const sessions = new Set(events.map(({ session_id }) => session_id).filter((id) => !started.has(id)));
    for (const id of sessions) started.add(id);
    return {
      ...{ cost, unpriced },
      ...tokensOf(usage),
      billable_tokens: [...models]
        .map((model) => {
          const own = usage.filter(({ text }) => text('model') === model);
          return credits(tokensOf(own), model, day, this.card);
        })
        .reduce((sum, one) => sum + one, 0),
      sessions: sessions.size,
      user_turns: count('user_message'),
      tool_calls: count('tool_call'),
      files: files.size,
      commits: count('git_commit'),
      pull_requests: count('pull_request'),
      active_users: 1,
    };
  }
}

function groupOf(person: Colleague | undefined, id: string, kind: Kind | undefined, day: string): string {
  if (kind === undefined) return '';
  if (kind === 'user') return id;
  const today = person?.belongings.find(({ from, to }) => (from ?? day) <= day && day <= (to ?? day));
  if (today === undefined) return '';
  return kind === 'team' ? today.team : today.costCenter;
}
