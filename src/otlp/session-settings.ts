import { LRUCache } from 'lru-cache';
import { type Attributes, placeOf } from './allow-list.js';
import type { Telemetry } from './telemetry.js';

/** How many sessions are remembered at a time, and how many changes of each. */
const SESSIONS_AT_MOST = 20_000;
const CHANGES_AT_MOST = 50;

/** Settings that an agent says once, and that hold for the session from then on. */
const NAMES = ['to_mode', 'approval_policy', 'sandbox_policy', 'mcp_servers', 'approval_mode'];
const SETTINGS = NAMES.map((name) => ({ name, place: placeOf(name) }));
const FROM_MODE = placeOf('from_mode');

/** The attributes that name a session, the best one first. */
const SESSION = ['gen_ai.conversation.id', 'conversation.id', 'session.id'].map(placeOf);
const TIMESTAMP = placeOf('event.timestamp');

type Settings = Readonly<Record<string, string>>;

/** What an agent said of a session at an instant: its settings from then on, and the mode before. Unix milliseconds. */
interface Change {
  readonly at: number;
  readonly settings: Settings;
  readonly before: Settings | undefined;
}

/** A session at an instant (Unix milliseconds). */
export interface Moment {
  readonly key: string;
  readonly at: number;
}

/** How sessions were set, as agents have said. It is forgotten when the service stops. */
export class Sessions {
  private readonly changes = new LRUCache<string, Change[]>({ max: SESSIONS_AT_MOST });

  /**
   * Notes what a record says of its session, and answers the moment to ask for once the whole request is known: what is told then
   * is the same when the request comes again.
   */
  note(agent: string, { attributes, time }: Telemetry): Moment | undefined {
    const session = SESSION.find((place) => attributes[place]);
    if (session === undefined) return undefined;
    const key = `${agent} ${attributes[session]}`;
    const at = Date.parse(attributes[TIMESTAMP] ?? '') || Number(time) / 1e6;
    const settings = settingsIn(attributes);
    if (settings !== undefined) this.add(key, { at, settings, before: beforeIn(attributes) });
    return { key, at };
  }

  private add(key: string, change: Change): void {
    const changes = (this.changes.get(key) ?? []).filter(({ at }) => at !== change.at);
    changes.push(change);
    changes.sort((one, other) => one.at - other.at);
    this.changes.set(key, changes.slice(-CHANGES_AT_MOST));
  }

  /** How a session was set at a moment. */
  at({ key, at }: Moment): Settings | undefined {
    const changes = this.changes.get(key);
    if (changes === undefined) return undefined;
    const held = changes.filter((change) => change.at <= at);
    if (held.length === 0) return changes[0]?.before;
    return Object.assign({}, ...held.map(({ settings }) => settings));
  }
}

function settingsIn(attributes: Attributes): Settings | undefined {
  const said = SETTINGS.filter(({ place }) => attributes[place] !== undefined);
  return said.length === 0
    ? undefined
    : Object.fromEntries(said.map(({ name, place }) => [name, attributes[place] ?? '']));
}

function beforeIn(attributes: Attributes): Settings | undefined {
  const mode = attributes[FROM_MODE];
  return mode === undefined ? undefined : { to_mode: mode };
}
