import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Attributes, placeOf } from './allow-list.js';
import type { Telemetry } from './telemetry.js';

/** How many characters are remembered of sessions: of one user, of all keys without a user, and of an organization. */
const SHARE = { user: 2 << 20, keys: 20 << 20, organization: 40 << 20 };
/** The minimum that a session counts for. */
const SESSION_CHARACTERS = 1000;
/** How many changes of a session are remembered, and how many of its files. */
const CHANGES_AT_MOST = 50;
const FILES_AT_MOST = 1000;
/** How many digits of a file's hash tell it apart in a session, and the characters that it counts for. */
const FILE_DIGITS = 16;
const FILE_CHARACTERS = 32;

/** Settings that an agent reports once, and that hold for the rest of the session. */
const NAMES = ['to_mode', 'approval_policy', 'sandbox_policy', 'mcp_servers', 'approval_mode'];
const SETTINGS = NAMES.map((name) => ({ name, place: placeOf(name) }));
const FROM_MODE = placeOf('from_mode');

/** The attributes that identify a session, the most reliable first. */
const SESSION = ['gen_ai.conversation.id', 'conversation.id', 'session.id'].map(placeOf);
const TIMESTAMP = placeOf('event.timestamp');
const FILES = ['tool_input/file_path', 'tool_input/notebook_path'].map(placeOf);
const SUCCESS = placeOf('success');

type Settings = Readonly<Record<string, string>>;

/** A session's settings for a record, and whether an earlier call of it has read or written the record's file. */
export type State = Readonly<Record<string, string | true>>;

/** An agent's report on a session: its settings from an instant on, and the mode before. Unix milliseconds. */
interface Change {
  readonly at: number;
  readonly settings: Settings;
  readonly before: Settings | undefined;
}

/** The sender of records. */
export interface SessionSender {
  readonly orgId: string;
  /** The user of the records; null if each record names its own. */
  readonly userId: string | null;
}

/** A session at an instant (Unix milliseconds). */
export interface Moment {
  readonly sender: SessionSender;
  readonly key: string;
  readonly at: number;
  /** The hash of the file that the record names. */
  readonly file: string | undefined;
}

/** The report of an agent on a session. */
interface Session {
  readonly changes: readonly Change[];
  /** By the hashes of files: when a call first read or wrote them. Unix milliseconds. */
  readonly files: Map<string, number>;
}

/** The sessions of one sender. */
type Share = LRUCache<string, Session>;
/** The shares of an organization, by user; '' stands for keys without one. */
type Shares = LRUCache<string, Share>;

/**
 * The settings of sessions, as agents have reported them. They are lost when the service stops. Each sender has a share, so that nobody
 * can change the settings of another's sessions, or push them out by sending many.
 */
export class Sessions {
  private readonly organizations = new Map<string, Shares>();

  /**
   * Notes a record's report on its session. Answers the moment to look up once the whole request is noted, so that the same request gets
   * the same settings when it is sent again.
   */
  note(sender: SessionSender, agent: string, { attributes, time }: Telemetry): Moment | undefined {
    const session = SESSION.find((place) => attributes[place]);
    if (session === undefined) return undefined;
    const key = `${agent} ${attributes[session]}`;
    const at = Date.parse(attributes[TIMESTAMP] ?? '') || Number(time) / 1e6;
    const settings = settingsIn(attributes);
    const file = fileIn(attributes);
    const touched = attributes[SUCCESS] === 'true' ? file : undefined;
    if (settings !== undefined || touched !== undefined) {
      const { orgId, userId } = sender;
      const shares = this.organizations.get(orgId) ?? newShares();
      this.organizations.set(orgId, shares);
      const share = shares.get(userId ?? '') ?? newShare(sender);
      const known = share.get(key) ?? { changes: [], files: new Map() };
      if (touched !== undefined) addFile(known.files, touched, at);
      const change = settings && { at, settings, before: beforeIn(attributes) };
      share.set(key, { changes: withChange(known.changes, change), files: known.files });
      // TRICKY: setting an existing key would keep its old size.
      shares.delete(userId ?? '');
      shares.set(userId ?? '', share);
    }
    return { sender, key, at, file };
  }

  /** The state of a session at a moment. */
  at({ sender: { orgId, userId }, key, at, file }: Moment): State | undefined {
    const session = this.organizations
      .get(orgId)
      ?.get(userId ?? '')
      ?.get(key);
    if (session === undefined) return undefined;
    const settings = settingsAt(session.changes, at);
    const since = file === undefined ? undefined : session.files.get(file);
    return since !== undefined && since < at ? { ...settings, knows_file: true } : settings;
  }
}

function settingsAt(changes: readonly Change[], at: number): Settings | undefined {
  const held = changes.filter((change) => change.at <= at);
  if (held.length === 0) return changes[0]?.before;
  return Object.assign({}, ...held.map(({ settings }) => settings));
}

function newShares(): Shares {
  return new LRUCache({
    maxSize: SHARE.organization,
    sizeCalculation: ({ calculatedSize }) => Math.max(1, calculatedSize),
  });
}

function newShare({ userId }: SessionSender): Share {
  return new LRUCache({
    maxSize: userId === null ? SHARE.keys : SHARE.user,
    sizeCalculation: ({ changes, files }, key) =>
      SESSION_CHARACTERS + key.length + charactersOf(changes) + files.size * FILE_CHARACTERS,
  });
}

function charactersOf(changes: readonly Change[]): number {
  let characters = 0;
  for (const { settings, before = {} } of changes)
    for (const said of [settings, before])
      for (const value of Object.values(said)) characters += value.length;
  return characters;
}

/** Changes and one more, if there is one. */
function withChange(changes: readonly Change[], change: Change | undefined): readonly Change[] {
  if (change === undefined) return changes;
  return [...changes.filter(({ at }) => at !== change.at), change]
    .sort((one, other) => one.at - other.at)
    .slice(-CHANGES_AT_MOST);
}

/** Adds a file that a call read or wrote at an instant. The first ones of a session are remembered. */
function addFile(files: Map<string, number>, file: string, at: number): void {
  const since = files.get(file);
  if (since === undefined && files.size >= FILES_AT_MOST) return;
  files.set(file, Math.min(since ?? at, at));
}

/** The hash of the file that a record names. */
function fileIn(attributes: Attributes): string | undefined {
  for (const place of FILES) {
    const path = attributes[place];
    if (path) return hash('md5', path).slice(0, FILE_DIGITS);
  }
  return undefined;
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
