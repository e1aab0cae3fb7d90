import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { applyEdits, type JSONPath, modify, type ParseError, parse } from 'jsonc-parser';
import { UsageError } from '../exit.js';
import { sync } from '../folder.js';
import { membersOf } from './payload.js';

export const AGENTS = ['claude-code', 'droid'] as const;
export type AgentName = (typeof AGENTS)[number];

/** The events that something comes of: docs/hooks.md. */
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'SessionEnd'];
/** More than enough: what takes longer is handed to another process. */
const TIMEOUT_SECONDS = 10;

/** A file of an agent, and what it is to become. */
export interface Change {
  readonly path: string;
  /** Undefined where there is no file. */
  readonly before: string | undefined;
  readonly after: string;
  /** What is added or taken away, for people. */
  readonly lines: readonly string[];
}

/**
 * Where an agent reads its user's hooks. Droid has them in hooks.json, and where that isn't there in its settings, which
 * older versions read alone.
 */
function fileOf(agent: AgentName, home: string): { path: string; root: JSONPath } {
  if (agent === 'claude-code') return { path: join(home, '.claude', 'settings.json'), root: ['hooks'] };
  const own = join(home, '.factory', 'hooks.json');
  if (!existsSync(own)) return { path: join(home, '.factory', 'settings.json'), root: ['hooks'] };
  return { path: own, root: Object.hasOwn(membersOf(readJson(own)?.document), 'hooks') ? ['hooks'] : [] };
}

function readJson(path: string): { text: string; document: unknown } | undefined {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  const errors: ParseError[] = [];
  const document: unknown = parse(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || Object.keys(membersOf(document)).length !== Object.keys(Object(document)).length)
    throw new UsageError(
      `${path} is not the JSON object that it should be: correct it first, nothing was changed.`,
    );
  return { text, document };
}

function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The command that an agent's hook runs. */
export function commandOf(agent: AgentName, program: readonly string[], folder: string | undefined): string {
  const more = folder === undefined ? [] : ['--folder', folder];
  return [...program, 'hooks', 'send', '--agent', agent, ...more].map(quoted).join(' ');
}

/** Whether a hook is one that was installed, wherever Daybook was then. */
function isOurs(hook: unknown): boolean {
  return / hooks send --agent (claude-code|droid)( |$)/.test(String(membersOf(hook).command));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text with one place changed; undefined takes it away. */
function changed(text: string, path: JSONPath, value: unknown): string {
  const [, indent = '  '] = /^([ \t]+)"/m.exec(text) ?? [];
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  const isInsertion = value !== undefined && typeof path.at(-1) === 'number';
  return applyEdits(text, modify(text, path, value, { formattingOptions, isArrayInsertion: isInsertion }));
}

/** What an agent's file becomes with a command on each event that tells something. One that is there already is replaced. */
export function installed(agent: AgentName, home: string, command: string): Change {
  const { path, after: text, before } = uninstalled(agent, home);
  const { root } = fileOf(agent, home);
  const group = (event: string) => ({
    ...(event === 'PostToolUse' ? { matcher: '*' } : {}),
    hooks: [{ type: 'command', command, timeout: TIMEOUT_SECONDS }],
  });
  let after = text.trim() === '' ? '{}\n' : text;
  for (const event of EVENTS) {
    const hooks = root.reduce<unknown>((value, name) => membersOf(value)[name], parse(after));
    const groups = membersOf(hooks)[event];
    after = Array.isArray(groups)
      ? changed(after, [...root, event, groups.length], group(event))
      : changed(after, [...root, event], [group(event)]);
  }
  const lines = EVENTS.map((event) => `+ ${event}: ${JSON.stringify(group(event))}`);
  return { path, before, after, lines };
}

/** What an agent's file becomes without what was installed: all else stays as it is, where and how it is written. */
export function uninstalled(agent: AgentName, home: string): Change {
  const { path, root } = fileOf(agent, home);
  const found = readJson(path);
  let after = found?.text ?? '';
  const lines: string[] = [];
  const hooksOf = () =>
    membersOf(root.reduce<unknown>((value, name) => membersOf(value)[name], parse(after)));
  for (const event of Object.keys(hooksOf())) {
    const groups = listOf(hooksOf()[event]);
    // From the last one on, since each that goes moves those behind it.
    for (const [index, group] of [...groups.entries()].reverse()) {
      const hooks = listOf(membersOf(group).hooks);
      const ours = [...hooks.entries()].filter(([, hook]) => isOurs(hook)).reverse();
      if (ours.length === 0) continue;
      lines.unshift(`- ${event}: ${JSON.stringify(group)}`);
      if (ours.length === hooks.length) after = changed(after, [...root, event, index], undefined);
      else
        for (const [position] of ours)
          after = changed(after, [...root, event, index, 'hooks', position], undefined);
    }
    if (groups.length > 0 && listOf(hooksOf()[event]).length === 0)
      after = changed(after, [...root, event], undefined);
  }
  if (lines.length > 0 && root.length > 0 && Object.keys(hooksOf()).length === 0)
    after = changed(after, root, undefined);
  return { path, before: found?.text, after, lines };
}

/** Writes what a file becomes: whole or not at all, with the permissions that it had, and where a link leads. */
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
    if (existsSync(target)) await chmod(draft, statSync(target).mode & 0o777);
    await rename(draft, target);
    await sync(dirname(target));
  } catch (error) {
    await rm(draft, { force: true });
    throw new UsageError(
      `${path} can't be written (${error instanceof Error && 'code' in error ? error.code : 'unknown'}): make that possible, nothing was changed.`,
    );
  }
}
