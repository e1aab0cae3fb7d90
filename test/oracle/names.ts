import type { StoredEvent } from './event.js';

export function trimmed(name: string): string {
  return name.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '');
}

/** The name of a tool call, trimmed; null when the event is none, or a parse artifact. */
export function toolNameOf(event: StoredEvent): string | null {
  if (event.type !== 'tool_call') return null;
  const name = trimmed(event.text('tool_name') ?? '');
  return /^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$/.test(name) ? name : null;
}

export function isParseArtifact(event: StoredEvent): boolean {
  return event.type === 'tool_call' && toolNameOf(event) === null;
}

/** The server and the tool of a name of the form `mcp__<server>__<tool>`, else of `<server>___<tool>`. */
function fullName(name: string): { server: string; tool: string } | null {
  for (const [prefix, between] of [
    ['mcp__', '__'],
    ['', '___'],
  ] as const) {
    if (!name.startsWith(prefix)) continue;
    const rest = name.slice(prefix.length);
    const end = rest.indexOf(between, 1);
    const tool = rest.slice(end + between.length);
    if (end > 0 && tool !== '') return { server: rest.slice(0, end), tool };
  }
  return null;
}

/** The server key and the tool key of a tool call; the server is null when it is not an MCP call. */
export function toolOf(event: StoredEvent): { server: string | null; key: string } | null {
  const name = toolNameOf(event);
  if (name === null) return null;
  const full = fullName(name);
  const server = trimmed(event.text('mcp_server') ?? '') || full?.server;
  if (server === undefined) return { server: null, key: name };
  const serverKey = server.toLowerCase();
  return { server: serverKey, key: `mcp__${serverKey}__${full?.tool ?? name}` };
}

/** The autonomy level of a mode; null when it is unknown. */
export function levelOf(mode: string | null): string | null {
  if (mode === 'spec' || mode === 'manual') return 'manual';
  return mode === null ? null : mode.replace('-', '_');
}

function fileName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? '';
}

/** Lower-case, with the dot; '' when there is none. */
export function extensionOf(path: string): string {
  const name = fileName(path);
  const dot = name.lastIndexOf('.');
  return dot > 0 && dot < name.length - 1 ? name.slice(dot).toLowerCase() : '';
}

/** The last two parts, as `.blade.php`; '' when there are no two. */
function longExtensionOf(path: string): string {
  const name = fileName(path);
  const parts = name.split('.');
  const [before, last] = parts.slice(-2);
  const length = `.${before}.${last}`.length;
  return parts.length > 2 && before !== '' && last !== '' && length < name.length
    ? name.slice(-length).toLowerCase()
    : '';
}

/** data/languages.json: the language of a file name, and of an extension. */
export interface LanguageTable {
  readonly names: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, string>>;
}

/** By file name, then by extension, the longer before the shorter one; null when it is not known. */
export function languageOf(path: string, { names, extensions }: LanguageTable): string | null {
  const find = (table: Readonly<Record<string, string>>, key: string) =>
    Object.hasOwn(table, key) ? table[key] : undefined;
  return (
    find(names, fileName(path)) ??
    find(extensions, longExtensionOf(path)) ??
    find(extensions, extensionOf(path)) ??
    null
  );
}
