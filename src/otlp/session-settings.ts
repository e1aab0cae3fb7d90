import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Attributes, placeOf } from './allow-list.js';
import type { Telemetry } from './telemetry.js';

/** How many characters are remembered of sessions: of one user, of all keys without a user, and of an organization. */
const SHARE = { user: 2 << 20, keys: 20 << 20, organization: 40 << 20 };
/** The minimum that a session counts for. */
const SESSION_CHARACTERS = 1000;
/** How many changes of a session are remembered, how many of its files, and how many of its newest calls. */
const CHANGES_AT_MOST = 50;
const FILES_AT_MOST = 1000;
const CALLS_AT_MOST = 200;
/** So many calls are counted together. */
const CALLS_TOGETHER = 20;
/** How many digits of a file's hash tell it apart in a session, and the characters that it counts for. */
const FILE_DIGITS = 16;
const FILE_CHARACTERS = 32;
/** How many characters of a call's id and of its mode are remembered. */
const CALL_CHARACTERS = 64;

/** Settings that an agent reports once, and that hold for the rest of the session. Copilot tells its repository in the span of a turn. */
const NAMES = [
  ...['to_mode', 'approval_policy', 'sandbox_policy', 'mcp_servers', 'approval_mode'],
  ...['repository', 'branch', 'commit_sha'].map((name) => `github.copilot.git.${name}`),
  'github.copilot.github.org',
  ...['remote_url', 'head_branch_name', 'head_commit_hash'].map((name) => `copilot_chat.repo.${name}`),
];
const SETTINGS = NAMES.map((name) => ({ name, place: placeOf(name) }));
const FROM_MODE = placeOf('from_mode');
/** The mode in which an agent decided on a call of a tool. */
const CALL_MODE = placeOf('permission_mode');
const CALL = placeOf('tool_use_id');
const SUB_AGENT = placeOf('agent_id');

/** The attributes that identify a session, the most reliable first. */
const SESSION = [
  ...['gen_ai.conversation.id', 'conversation.id'],
  ...['copilot_chat.chat_session_id', 'copilot_chat.parent_chat_session_id', 'session.id'],
].map(placeOf);
const TIMESTAMP = placeOf('event.timestamp');
const FILES = ['tool_input/file_path', 'tool_input/notebook_path'].map(placeOf);
const SUCCESS = placeOf('success');

type Settings = Readonly<Record<string, string>>;

/**
 * A session's settings for a record, the mode in which its call was decided on, and whether an earlier call of the session has read or
 * written the record's file.
 */
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
  /** The id of the call that it names. */
  readonly call: string | undefined;
}

/** The report of an agent on a session. */
interface Session {
  readonly changes: readonly Change[];
  /** By the hashes of files: when a call first read or wrote them. Unix milliseconds. */
  readonly files: Map<string, number>;
  /** By the ids of calls: the mode in which they were decided on. */
  readonly calls: Map<string, string>;
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
  note(
    sender: SessionSender,
    agent: string,
    { attributes, time, start, spanId }: Telemetry,
  ): Moment | undefined {
    const session = SESSION.find((place) => attributes[place]);
    if (session === undefined) return undefined;
    const key = `${agent} ${attributes[session]}`;
    const at = Date.parse(attributes[TIMESTAMP] ?? '') || Number(time) / 1e6;
    const settings = settingsIn(attributes);
    const file = fileIn(attributes);
    const touched = attributes[SUCCESS] === 'true' ? file : undefined;
    const call = attributes[CALL]?.slice(0, CALL_CHARACTERS);
    const mode = attributes[CALL_MODE];
    if (settings !== undefined || touched !== undefined || mode !== undefined) {
      const { orgId, userId } = sender;
      const shares = this.organizations.get(orgId) ?? newShares();
      this.organizations.set(orgId, shares);
      const share = shares.get(userId ?? '') ?? newShare(sender);
      const { changes, files, calls } = share.get(key) ?? {
        changes: [],
        files: new Map(),
        calls: new Map(),
      };
      if (touched !== undefined) addFile(files, touched, at);
      const room = roomOf(calls);
      if (call && mode !== undefined) addCall(calls, call, mode);
      const said = settings ?? (attributes[SUB_AGENT] ? undefined : decidedIn(mode, changes, at));
      // A span comes when it has ended, and says what has held since it began.
      const since = spanId === undefined ? at : Number(start) / 1e6 || at;
      const change = said && { at: since, settings: said, before: beforeIn(attributes) };
      // Most decisions on calls change nothing else, and there is room for them.
      if (change !== undefined || touched !== undefined || room !== roomOf(calls)) {
        share.set(key, { changes: withChange(changes, change), files, calls });
        // TRICKY: setting an existing key would keep its old size.
        shares.delete(userId ?? '');
        shares.set(userId ?? '', share);
      }
    }
    return { sender, key, at, file, call };
  }

  /** The state of a session at a moment. */
  at({ sender: { orgId, userId }, key, at, file, call }: Moment): State | undefined {
    const session = this.organizations
      .get(orgId)
      ?.get(userId ?? '')
      ?.get(key);
    if (session === undefined) return undefined;
    const settings = settingsAt(session.changes, at);
    const since = file === undefined ? undefined : session.files.get(file);
    const mode = call === undefined ? undefined : session.calls.get(call);
    const isKnown = since !== undefined && since < at;
    if (!isKnown && mode === undefined) return settings;
    return {
      ...settings,
      ...(isKnown ? { knows_file: true as const } : {}),
      ...(mode === undefined ? {} : { call_mode: mode }),
    };
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
    sizeCalculation: ({ changes, files, calls }, key) =>
      SESSION_CHARACTERS +
      key.length +
      charactersOf(changes) +
      files.size * FILE_CHARACTERS +
      roomOf(calls) * 2 * CALL_CHARACTERS,
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

/** How many calls a session counts as. */
function roomOf(calls: Map<string, string>): number {
  return Math.ceil(calls.size / CALLS_TOGETHER) * CALLS_TOGETHER;
}

/** Adds the mode of a call. The newest calls of a session are remembered: a call ends soon after the decision on it. */
function addCall(calls: Map<string, string>, call: string, mode: string): void {
  calls.delete(call);
  calls.set(call, mode.slice(0, CALL_CHARACTERS));
  for (const oldest of calls.keys()) {
    if (calls.size <= CALLS_AT_MOST) return;
    calls.delete(oldest);
  }
}

/** The mode of the main agent's decision as a setting of its session, unless it is the one that held. */
function decidedIn(mode: string | undefined, changes: readonly Change[], at: number): Settings | undefined {
  if (mode === undefined || settingsAt(changes, at)?.to_mode === mode) return undefined;
  return { to_mode: mode };
}

function settingsIn(attributes: Attributes): Settings | undefined {
  // Most records tell none.
  let settings: Record<string, string> | undefined;
  for (const { name, place } of SETTINGS) {
    const value = attributes[place];
    if (value === undefined) continue;
    settings ??= {};
    settings[name] = value;
  }
  return settings;
}

function beforeIn(attributes: Attributes): Settings | undefined {
  const mode = attributes[FROM_MODE];
  return mode === undefined ? undefined : { to_mode: mode };
}
