import { writeFileSync } from 'node:fs';
import { LeftOut, mebibytes } from '../disk/foreign-file.js';
import { parsedJson } from '../input/json-object.js';
import { documentOf, linesOf, withoutPacking } from '../store/line-numbers.js';

/** The members of a document that are kept: of an object by name, of a list those of its elements. `true` keeps what is neither. */
type Shape = true | readonly [Shape] | { readonly [name: string]: Shape };

const CALL: Shape = { id: true, name: true, arguments: { filePath: true, command: true } };

/** The members of a chat that the SQL reads: no text that people and models wrote, but for the commands of a terminal. */
const CHAT: Shape = {
  sessionId: true,
  requests: [
    {
      requestId: true,
      timestamp: true,
      modelId: true,
      promptTokens: true,
      completionTokens: true,
      isSystemInitiated: true,
      agent: { extensionVersion: true },
      slashCommand: { name: true },
      result: {
        metadata: {
          promptTokens: true,
          outputTokens: true,
          resolvedModel: true,
          toolCallRounds: [{ toolCalls: [CALL] }],
        },
      },
      response: [
        {
          kind: true,
          toolId: true,
          toolCallId: true,
          isComplete: true,
          isConfirmed: { type: true },
          resultDetails: { isError: true },
          toolSpecificData: {
            commandLine: { original: true, toolEdited: true, userEdited: true },
            terminalCommandState: { exitCode: true, duration: true },
          },
          uri: { path: true, scheme: true },
        },
      ],
    },
  ],
};

type Value = unknown;
type Node = Record<string | number, Value> | Value[];

const isNode = (value: Value): value is Node => typeof value === 'object' && value !== null;

function shapeIn(shape: Shape | undefined, key: string | number): Shape | undefined {
  if (shape === undefined || shape === true) return undefined;
  if (Array.isArray(shape)) return typeof key === 'number' ? shape[0] : undefined;
  return Object.hasOwn(shape, key) ? (shape as Record<string, Shape>)[key] : undefined;
}

/** A value without the members that aren't kept. Arguments of tools are texts of JSON. */
function kept(value: Value, shape: Shape | undefined): Value {
  if (shape === undefined) return undefined;
  if (shape === true) return isNode(value) ? undefined : value;
  if (Array.isArray(shape))
    return Array.isArray(value) ? value.map((one) => kept(one, shape[0]) ?? null) : undefined;
  if (typeof value === 'string') return kept(parsedJson(value), shape);
  // Older versions say true or false where newer ones have an object.
  if (!isNode(value) || Array.isArray(value)) return typeof value === 'boolean' ? value : undefined;
  const members = Object.keys(shape).map((name) => [name, kept(value[name], shapeIn(shape, name))]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

/** A chat that changes are made to, as VS Code's log of changes has them. */
class Chat {
  private root: Node = { requests: [] };
  /** Requests that were taken back. They were made all the same. */
  private readonly gone: Value[] = [];
  /** How much was kept of all changes: characters. */
  private size = 0;

  get length(): number {
    return this.size;
  }

  /** Makes one change, if it is of a kind that is known. */
  apply({ kind, k, v, i }: Record<string, unknown>): void {
    const path = Array.isArray(k) ? k : [];
    if (kind === 0) this.set([], v);
    else if (kind === 1) this.set(path, v);
    else if (kind === 2) this.push(path, Array.isArray(v) ? v : [], i);
    else if (kind === 3) this.set(path, undefined);
  }

  /** The document, with the requests that were taken back and not made again. */
  document(): Record<string, Value> {
    const requests = this.requests();
    const idOf = (request: Value) =>
      isNode(request) ? (request as Record<string, Value>).requestId : request;
    const ids = new Set(requests.map(idOf));
    const gone = new Map(this.gone.filter((one) => !ids.has(idOf(one))).map((one) => [idOf(one), one]));
    return { ...(this.root as Record<string, Value>), requests: [...gone.values(), ...requests] };
  }

  private keep(value: Value, shape: Shape | undefined): Value {
    const left = kept(value, shape);
    this.size += JSON.stringify(left)?.length ?? 0;
    return left;
  }

  private requests(): Value[] {
    const { requests } = this.root as Record<string, Value>;
    return Array.isArray(requests) ? requests : [];
  }

  private set(path: readonly Value[], value: Value): void {
    // Only what is at the top can take requests away.
    if (path.length < 2) {
      const before = this.requests();
      if (path.length === 0) this.root = (this.keep(value, CHAT) as Node | undefined) ?? {};
      else this.put(path, value);
      if (this.requests() !== before) this.gone.push(...before);
    } else this.put(path, value);
  }

  private put(path: readonly Value[], value: Value): void {
    const place = this.placeOf(path);
    if (place === undefined) return;
    const left = this.keep(value, place.shape);
    if (left !== undefined) (place.node as Record<string | number, Value>)[place.key] = left;
    else if (!Array.isArray(place.node)) delete place.node[place.key];
  }

  private push(path: readonly Value[], values: readonly Value[], length: unknown): void {
    const place = this.placeOf(path);
    if (place === undefined || !Array.isArray(place.shape)) return;
    const node = place.node as Record<string | number, Value>;
    const list = Array.isArray(node[place.key]) ? (node[place.key] as Value[]) : [];
    const left = typeof length === 'number' && length >= 0 ? list.splice(length) : [];
    if (path.length === 1) this.gone.push(...left);
    for (const value of values) list.push(this.keep(value, place.shape[0]) ?? null);
    node[place.key] = list;
  }

  /** Where a path ends; undefined if nothing of it is kept, or a list has no such place. */
  private placeOf(path: readonly Value[]): { node: Node; key: string | number; shape: Shape } | undefined {
    let node: Node = this.root;
    let shape: Shape = CHAT;
    for (const [at, key] of path.entries()) {
      if (typeof key !== 'string' && typeof key !== 'number') return undefined;
      const inner = shapeIn(shape, key);
      if (inner === undefined || (Array.isArray(node) && !(Number(key) >= 0 && Number(key) <= node.length)))
        return undefined;
      if (at === path.length - 1) return { node, key, shape: inner };
      const members = node as Record<string | number, Value>;
      const next: Value = members[key];
      const child: Node = isNode(next) ? (next as Node) : Array.isArray(inner) ? [] : {};
      members[key] = child;
      [node, shape] = [child, inner];
    }
    return undefined;
  }
}

/** A change of what is being typed, with what is attached to it: tens of megabytes that mean nothing. */
const isOfInput = (line: Buffer) => line.subarray(0, 64).includes('"k":["inputState"');

/**
 * Writes the document that a chat of VS Code is in the end: a file is a log of changes, `.jsonl`, or the chat itself, `.json`. One line is in memory
 * at a time, and of what it says the members that the SQL reads. `unread` is how many lines can't be read; the last one may be in writing.
 */
export async function writeChat(path: string, to: string, limitBytes: number): Promise<void> {
  const chat = new Chat();
  let [unread, isTorn, isChat] = [0, false, true];
  if (withoutPacking(path).endsWith('.jsonl'))
    for await (const { bytes, isTooLong } of linesOf(path, limitBytes)) {
      if (isTorn) unread += 1;
      isTorn = false;
      if (bytes.length === 0 || isOfInput(bytes)) continue;
      const change = isTooLong ? undefined : parsedJson(bytes.toString());
      if (isNode(change)) chat.apply(change as Record<string, unknown>);
      else isTorn = true;
      if (chat.length > limitBytes) throw new LeftOut(path, `it says more than ${mebibytes(limitBytes)}`);
    }
  else
    for await (const { bytes, isTooLong } of documentOf(path, limitBytes)) {
      const whole = isTooLong ? undefined : parsedJson(bytes.toString());
      isChat = isNode(whole);
      chat.apply({ kind: 0, v: whole });
    }
  const text = isChat ? JSON.stringify({ ...chat.document(), unread }) : 'damaged';
  writeFileSync(to, text, { mode: 0o600 });
}
