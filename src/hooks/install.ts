import { existsSync, realpathSync, statSync } from 'node:fs';
import { chmod, mkdir, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { findNodeAtLocation, type JSONPath, type ParseError, parse, parseTree } from 'jsonc-parser';
import { readForeign } from '../disk/foreign-file.js';
import { isRefused, sync } from '../disk/refusals.js';
import { rename, rm } from '../disk/renames.js';
import { UsageError } from '../exit.js';
import { AGENT_NAMES, type AgentName, hookedAgent } from './hooked-agents.js';
import { membersOf } from './payload-members.js';

/** How many bytes a settings file of an agent can have. */
const SETTINGS_BYTES = 16 << 20;

/** A change of an agent's file. */
export interface Change {
  readonly path: string;
  /** Undefined if there is no file. */
  readonly before: string | undefined;
  readonly after: string;
  /** The added and removed hooks, for people to read. */
  readonly lines: readonly string[];
}

/** An agent's file with hooks, and where in it they are: its member `hooks`, or in a file of their own the whole document. */
function fileOf(agent: AgentName, home: string): { path: string; root: JSONPath } {
  const { fileIn, ownFile } = hookedAgent(agent);
  const path = fileIn(home);
  if (basename(path) !== ownFile) return { path, root: ['hooks'] };
  return { path, root: Object.hasOwn(membersOf(readJson(path)?.document), 'hooks') ? ['hooks'] : [] };
}

function readJson(path: string): { text: string; document: unknown } | undefined {
  const text = readForeign(path, { limitBytes: SETTINGS_BYTES })?.toString();
  if (text === undefined) return undefined;
  const document = documentOf(text);
  if (document === undefined)
    throw new UsageError(`${path} is not a JSON object, so nothing was changed: correct it first.`);
  return { text, document };
}

/** Parses a text as an object; undefined if it isn't one. */
function documentOf(text: string): unknown {
  const errors: ParseError[] = [];
  try {
    const document: unknown = parse(text, errors, { allowTrailingComma: true });
    return errors.length > 0 || membersOf(document) !== document ? undefined : document;
  } catch (error) {
    // The parser is recursive.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A word as PowerShell, cmd and Git Bash read it alike. Throws a UsageError for one that they read differently. */
function quotedOnWindows(word: string): string {
  const plain = word.replaceAll('\\', '/');
  if (/^[\w./:@+-]+$/.test(plain)) return plain;
  if (/["$`%!\n\r]/.test(plain))
    throw new UsageError(
      `The shells of Windows read the path ${word} in different ways: install Daybook and its folder below a path without any of " $ \` % !`,
    );
  return `"${plain}"`;
}

/**
 * The command that an agent's hook runs. On Windows that is Git Bash, PowerShell or cmd. A quoted program at the beginning is a text for
 * PowerShell, and cmd takes a slash in it for an option, so there Node.js is found by its name. Throws a UsageError for a path that these
 * shells read differently.
 */
export function commandOf(agent: AgentName, program: readonly string[], folder: string | undefined): string {
  const more = folder === undefined ? [] : ['--folder', folder];
  const words = ['hooks', 'send', '--agent', agent, ...more];
  const [node = '', ...script] = program;
  return /^(?:[A-Za-z]:)?\\|^[A-Za-z]:\//.test(node)
    ? ['node', ...[...script, ...words].map(quotedOnWindows)].join(' ')
    : [...program, ...words].map(quoted).join(' ');
}

/** Whether a hook was installed by Daybook, wherever Daybook was installed at that time. */
function isOurs(hook: unknown): boolean {
  const { command, bash } = membersOf(hook);
  const [, agent] = / hooks send --agent ([a-z-]+)(?: |$)/.exec(String(command ?? bash)) ?? [];
  return AGENT_NAMES.some((name) => name === agent);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Replaces a part of a text. */
function spliced(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}

/**
 * Adds a value at the end of an object (under a name) or of a list. The rest of the text stays unchanged, so that removing the value
 * restores it. `indent` is the indentation of one level.
 */
function withValue(
  text: string,
  at: JSONPath,
  name: string | undefined,
  value: unknown,
  indent: string,
): string {
  const tree = parseTree(text);
  const node = tree === undefined ? undefined : findNodeAtLocation(tree, at);
  if (node === undefined) return text;
  const member = name === undefined ? '' : `${JSON.stringify(name)}: `;
  const last = node.children?.at(-1);
  if (last === undefined)
    return spliced(text, node.offset + 1, node.offset + 1, `${member}${JSON.stringify(value)}`);
  const start = `${text.includes('\r\n') ? '\r\n' : '\n'}${indent.repeat(at.length + 1)}`;
  const pretty = JSON.stringify(value, null, indent).replaceAll('\n', start);
  const end = last.offset + last.length;
  return spliced(text, end, end, `,${start}${member}${pretty}`);
}

/** Removes a member of an object or an element of a list from a text. */
function without(text: string, at: JSONPath): string {
  const tree = parseTree(text);
  const value = tree === undefined ? undefined : findNodeAtLocation(tree, at);
  const node = value?.parent?.type === 'property' ? value.parent : value;
  const siblings = node?.parent?.children ?? [];
  if (node === undefined) return text;
  const index = siblings.indexOf(node);
  const [before, after] = [siblings[index - 1], siblings[index + 1]];
  const end = node.offset + node.length;
  if (before !== undefined) return spliced(text, before.offset + before.length, end, '');
  return spliced(text, node.offset, after?.offset ?? end, '');
}

/** The hooks of a text by event, at a path; undefined if there are none. */
function hooksOf(text: string, root: JSONPath): unknown {
  return root.reduce<unknown>((value, name) => membersOf(value)[name], parse(text));
}

/**
 * Adds a command to each event that Daybook understands, in place of an installed one. Without lines where all of it is there already. Throws a
 * UsageError for a file that nobody reads.
 */
export function installed(agent: AgentName, home: string, command: string): Change {
  const { path, after: rest, before, lines: removed } = uninstalled(agent, home);
  const { root } = fileOf(agent, home);
  const { events, entry, inNewFile, neededMember } = hookedAgent(agent);
  const same = events.map((event) => removedLine(event, entry(event, command)));
  if (before !== undefined && same.sort().join() === removed.toSorted().join())
    return { path, before, after: before, lines: [] };
  // What is left of a file that was new is written as a new one.
  const text = /^\{\n +\n\}\n$/.test(rest) ? '' : rest;
  const all = Object.fromEntries(events.map((event) => [event, [entry(event, command)]]));
  const [, indent = '  '] = /^([ \t]+)"/m.exec(text) ?? [];
  let after = text;
  if (text.trim() === '') {
    const hooks = root.reduceRight<object>((value, name) => ({ [name]: value }), all);
    after = `${JSON.stringify({ ...inNewFile, ...hooks }, null, 2)}\n`;
  } else if (neededMember !== undefined && membersOf(parse(text))[neededMember] === undefined)
    throw new UsageError(
      `${path} has no member ${neededMember}, without which the agent doesn't read it: delete it, or add the member.`,
    );
  else if (hooksOf(text, root) === undefined) after = withValue(text, [], 'hooks', all, indent);
  else
    for (const event of events) {
      const entries = membersOf(hooksOf(after, root))[event];
      after = Array.isArray(entries)
        ? withValue(after, [...root, event], undefined, entry(event, command), indent)
        : withValue(after, root, event, [entry(event, command)], indent);
    }
  return { path, before, after, lines: [`+ ${command}`, `  on ${events.join(', ')}`] };
}

function removedLine(event: string, entry: unknown): string {
  return `- ${event}: ${JSON.stringify(entry)}`;
}

/** Removes all installed hooks from an agent's file. The rest of the text stays exactly as it is. */
export function uninstalled(agent: AgentName, home: string): Change {
  const { path, root } = fileOf(agent, home);
  const found = readJson(path);
  let after = found?.text ?? '';
  const lines: string[] = [];
  const entriesOf = (event: string) => listOf(membersOf(hooksOf(after, root))[event]);
  // Backwards, since removing an element moves those after it.
  for (const event of Object.keys(membersOf(hooksOf(after, root))).reverse()) {
    const entries = entriesOf(event);
    for (const [index, entry] of [...entries.entries()].reverse()) {
      const hooks = listOf(membersOf(entry).hooks);
      const ours = [...hooks.entries()].filter(([, hook]) => isOurs(hook)).reverse();
      if (ours.length === 0 && !isOurs(entry)) continue;
      const isWhole = ours.length === hooks.length;
      lines.unshift(removedLine(event, isWhole ? entry : ours.map(([, hook]) => hook)));
      if (isWhole) after = without(after, [...root, event, index]);
      else for (const [position] of ours) after = without(after, [...root, event, index, 'hooks', position]);
    }
    if (entries.length > 0 && entriesOf(event).length === 0) after = without(after, [...root, event]);
  }
  const isNeeded = hookedAgent(agent).neededMember === root[0];
  if (
    lines.length > 0 &&
    root.length > 0 &&
    !isNeeded &&
    Object.keys(membersOf(hooksOf(after, root))).length === 0
  )
    after = without(after, root);
  return { path, before: found?.text, after, lines };
}

/** Writes a changed file: whole or not at all, with the permissions that it had, and through links. */
export async function write({ path, after }: Change): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const target = existsSync(path) ? realpathSync(path) : path;
  const draft = `${target}.daybook-${process.pid}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    await file
      .writeFile(after)
      .then(() => file.sync())
      .finally(() => file.close());
    // A disk without modes gives every file the same one.
    if (existsSync(target))
      await chmod(draft, statSync(target).mode & 0o777).catch((error) => {
        if (!isRefused(error)) throw error;
      });
    await rename(draft, target);
    await sync(dirname(target));
  } catch (error) {
    await rm(draft, { force: true });
    throw new UsageError(
      `${path} can't be written (${error instanceof Error && 'code' in error ? error.code : 'unknown'}), so nothing was changed: change its permissions.`,
    );
  }
}
