import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import type { World } from './world.js';

/** The shortest text that is looked for, and the longest piece of it: characters. */
const SHORTEST = 12;
const LONGEST = 40;

/** Members that hold what people and agents wrote, what files hold and what commands print. Names of members are no text. */
const TEXT_MEMBERS = new Set(
  `
    text message content contents summary prompt prompt_text lastPrompt expanded_text transformedContent userMessage
    assistant_message last_agent_message last_assistant_message thinking reasoning title aiTitle plan planContent description
    intentionSummary
    instructions base_instructions developer_instructions system_prompt systemPrompt systemPayload
    input tool_input arguments args cmd query queries
    output aggregated_output tool_output fullOutput stdout stderr result results toolUseResult tool_response returnDisplay
    resultDisplay resultPreview preview body error error_message hookErrors
    diff unified_diff patch old_string new_string oldString newString addedLines addedBlocks snippet snapshot
  `
    .toLowerCase()
    .trim()
    .split(/\s+/),
);

/** The texts that JSON documents hold: those of people, agents and files, and all others with the names of members. */
export interface Texts {
  readonly text: string[];
  readonly other: string[];
}

/** Something that the program keeps or says, and what to call the place. */
export interface Kept {
  readonly where: string;
  readonly what: string;
}

/** A piece of a text, and the first place where it was found. */
export interface Found {
  readonly where: string;
  readonly piece: string;
}

/** Whether a member names something that events have: a tool, its call, a file. */
export type IsName = (member: string, value: string) => boolean;

/** The texts of a JSON value: those in members of text, and all others with the names of members. */
function sort(value: unknown, isText: boolean, into: Texts, isName: IsName): void {
  if (typeof value === 'string') {
    (isText ? into.text : into.other).push(value);
  } else if (Array.isArray(value)) {
    for (const element of value) sort(element, isText, into, isName);
  } else if (value !== null && typeof value === 'object') {
    // An attribute of OTLP is a member by another spelling.
    const { key } = value as { key?: unknown };
    const name = typeof key === 'string' && 'value' in value ? key.split('.').at(-1) : undefined;
    const members = name === undefined ? value : { [name]: (value as { value: unknown }).value };
    for (const [name, member] of Object.entries(members)) {
      into.other.push(name);
      // A message that is an object has more than its text.
      const isEnvelope = name === 'message' && typeof member === 'object';
      const isContent = isText || (!isEnvelope && TEXT_MEMBERS.has(name.toLowerCase()));
      sort(member, isContent && !(typeof member === 'string' && isName(name, member)), into, isName);
    }
  }
}

function piecesOf(text: string): string[] {
  return text
    .split(/\\n|\r?\n/)
    .flatMap((line) => line.trim().match(new RegExp(`.{${SHORTEST},${LONGEST}}`, 'gu')) ?? []);
}

/** Everything that a world has stored: rows of all tables, and the bytes of all files in its data folder. */
async function storedBy(world: World): Promise<Kept[]> {
  const tables = await world.store.select(
    "SELECT DISTINCT table_name FROM information_schema.tables WHERE lower(table_schema) NOT IN ('information_schema', 'pg_catalog', 'system')",
  );
  const stored: Kept[] = [];
  for (const { table_name } of tables)
    for (const row of await world.store.select(`SELECT * FROM "${table_name}"`))
      stored.push({ where: String(table_name), what: Object.values(row).join('\n') });
  return [...stored, ...bytesBelow(world.config.data)];
}

/** The bytes of all files below a folder. */
export function bytesBelow(folder: string): Kept[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ where: relative(folder, path), what: readFileSync(path, 'latin1') }));
}

/** All of the program's SQL, whose words are in every database. */
export function programText(folder = 'sql'): string[] {
  return bytesBelow(join(PACKAGE_ROOT, folder)).map(({ what }) => what);
}

/** Texts that can be found quickly: few places of a long text have what the first characters of one of them give. */
class Pieces {
  private readonly beginnings = new Map<string, string[]>();
  private readonly marks = new Uint8Array(1 << 22);

  constructor(pieces: Iterable<string>) {
    for (const piece of pieces) {
      const beginning = piece.slice(0, SHORTEST);
      this.beginnings.set(beginning, [...(this.beginnings.get(beginning) ?? []), piece]);
      this.marks[Pieces.markOf(piece, 0)] = 1;
    }
  }

  private static markOf(text: string, at: number): number {
    let mark = 0;
    for (let index = at; index < at + 6; index += 1) mark = (mark * 33 + text.charCodeAt(index)) & 0x3fffff;
    return mark;
  }

  /** Those that a text has. */
  in(text: string): Set<string> {
    const found = new Set<string>();
    for (let at = 0; at + SHORTEST <= text.length; at += 1) {
      if (this.marks[Pieces.markOf(text, at)] === 0) continue;
      for (const piece of this.beginnings.get(text.slice(at, at + SHORTEST)) ?? [])
        if (text.startsWith(piece, at)) found.add(piece);
    }
    return found;
  }
}

/** The texts of JSON documents. No member below one of text is a name unless `isName` says so. */
export function textsIn(documents: Iterable<unknown>, isName: IsName = () => false): Texts {
  const sorted: Texts = { text: [], other: [] };
  for (const document of documents) sort(document, false, sorted, isName);
  return sorted;
}

/**
 * The pieces of texts that are in what was kept. Those that are also elsewhere in the documents
 * or in the program are left out.
 */
export function textFound({ text, other }: Texts, kept: Iterable<Kept>): Found[] {
  const pieces = new Map<string, string>();
  for (const piece of text.flatMap(piecesOf)) {
    pieces.set(piece, piece);
    pieces.set(Buffer.from(piece).toString('latin1'), piece);
  }
  expect(pieces.size).toBeGreaterThan(0);
  const lookedFor = new Pieces(pieces.keys());
  const foundAt = new Map<string, string>();
  for (const { where, what } of kept)
    for (const form of lookedFor.in(what)) {
      const piece = pieces.get(form) ?? form;
      if (!foundAt.has(piece)) foundAt.set(piece, where);
    }
  for (const known of [...programText(), ...other])
    for (const piece of lookedFor.in(known)) foundAt.delete(piece);
  return [...foundAt].map(([piece, where]) => ({ where, piece }));
}

/**
 * Expects that no text of prompts, answers, files and outputs in some JSON documents is anywhere in what a world has stored. A text
 * that the documents also have elsewhere, such as a path, may be there, and so may the addresses of pull requests. `allowed` are texts
 * that must be stored, such as the path of a file that only a patch names.
 */
export async function expectNoText(
  world: World,
  documents: readonly unknown[],
  allowed: readonly string[] = [],
): Promise<void> {
  const { text, other } = textsIn(documents);
  const addresses = await world.store.select('SELECT DISTINCT url FROM events WHERE url IS NOT NULL');
  const known = [...other, ...allowed, ...addresses.map(({ url }) => String(url))];
  expect(textFound({ text, other: known }, await storedBy(world))).toEqual([]);
}
