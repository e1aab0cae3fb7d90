import { hash } from 'node:crypto';
import { LEVELS_AT_MOST } from '../input/json-depth.js';
import { jsonOf, shortened } from './allow-list.js';
import { type Known, knownOf } from './known-names.js';
import type { Moment, SessionSender, Sessions } from './session-settings.js';
import type { Piece, Signal, Telemetry } from './telemetry.js';

/** The sender of a request's records. */
export interface RecordSender extends SessionSender {
  readonly requestId: string;
}

/** Turns records into the lines that sql/source/otlp maps, and counts the others. */
export class RecordLines {
  readonly lines: string[] = [];
  /** The view that maps each line. */
  readonly sections: string[] = [];
  /** Records that become no events. */
  ignored = 0;
  tooLarge = 0;
  /** Parts of the body without any member of the signal. */
  unknown = 0;
  /** Whether the body is JSON with protobuf's names. */
  isRenamed = false;
  cumulative = 0;
  /** The session and moment of each line. */
  private readonly moments: (Moment | undefined)[] = [];
  /** The parents of the request's spans, by their ids. */
  private readonly parents = new Map<string, string>();
  /** The spans that a sub-agent can be in. */
  private readonly starters = new Set<string>();
  /** The spans of agents, and where their lines are. */
  private readonly agents: { readonly at: number; readonly span: Telemetry }[] = [];

  constructor(
    private readonly signal: Signal,
    private readonly sender: RecordSender,
    private readonly sessions: Sessions,
  ) {}

  add(record: Exclude<Piece, undefined>): void {
    if (record === 'too large') {
      this.tooLarge += 1;
      return;
    }
    if (record === 'renamed') {
      this.isRenamed = true;
      return;
    }
    if (record === 'unknown') {
      this.unknown += 1;
      return;
    }
    if (record.spanId !== undefined)
      this.parents.set(idOf(record.traceId, record.spanId), idOf(record.traceId, record.parentSpanId));
    const known = knownOf(this.signal, record);
    if (known === undefined) this.ignored += 1;
    else if (record.isCumulative === true) this.cumulative += 1;
    else if (known.section === undefined) {
      this.sessions.note(this.sender, known.agent, record);
      this.ignored += 1;
    } else this.keep(record, known, known.section);
  }

  private keep(record: Telemetry, known: Known, section: string): void {
    const { requestId, userId } = this.sender;
    const { time, start, value, kind, attributes } = record;
    if (known.name === 'invoke_agent') this.agents.push({ at: this.lines.length, span: record });
    if (STARTERS.includes(known.name)) this.starters.add(idOf(record.traceId, record.spanId));
    const { agent, name } = known;
    const plain = { agent, name, signal: this.signal, time, start, value: value && shortened(value), kind };
    const ids = { trace_id: shortenedId(record.traceId), span_id: shortenedId(record.spanId) };
    const content = `${JSON.stringify(Object.assign(plain, ids)).slice(0, -1)},"attributes":${jsonOf(attributes)}}`;
    const user = userId === null ? '' : `"user":${JSON.stringify(userId)},`;
    this.lines.push(
      `{"request":"${requestId}","digest":"${hash('md5', content)}",${user}${content.slice(1)}`,
    );
    this.sections.push(section);
    this.moments.push(this.sessions.note(this.sender, agent, record));
  }

  /** Completes lines with what only the whole request tells: a session's settings, and which agents no other one started. */
  end(): void {
    for (const [at, moment] of this.moments.entries()) {
      const settings = moment === undefined ? undefined : this.sessions.at(moment);
      if (settings !== undefined)
        this.lines[at] = `{"state":${JSON.stringify(settings)},${(this.lines[at] ?? '').slice(1)}`;
    }
    for (const { at, span } of this.agents) {
      const isRoot = span.kind === CLIENT || !this.isStarted(span);
      this.lines[at] = `{"is_root":${isRoot},${(this.lines[at] ?? '').slice(1)}`;
    }
  }

  /** Whether an ancestor of a span can have started it. */
  private isStarted({ traceId, parentSpanId }: Telemetry): boolean {
    let id: string | undefined = idOf(traceId, parentSpanId);
    for (let level = 0; id !== undefined && level < LEVELS_AT_MOST; level += 1) {
      if (this.starters.has(id)) return true;
      id = this.parents.get(id);
    }
    return false;
  }
}

/** The names of spans that a sub-agent can be in. */
const STARTERS = ['invoke_agent', 'execute_tool'];

/** The kind of a span that calls something outside of its process. */
const CLIENT = 3;

function shortenedId(id: string | undefined): string | undefined {
  return id && shortened(id);
}

function idOf(trace = '', span = ''): string {
  return `${trace} ${span}`;
}
