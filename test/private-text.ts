import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { PACKAGE_ROOT } from '../src/package-root.js';
import type { World } from './world.js';

/** The shortest text that is looked for, and the longest piece of it: characters. */
const SHORTEST = 12;
const LONGEST = 40;

/** Members that hold what people and agents wrote, what files hold and what commands print. Names of members are no text. */
const TEXT_MEMBERS =
  /^(text|message|content|contents|output|aggregated_output|stdout|stderr|arguments|input|args|result|results|reasoning|summary|prompt|thinking|unified_diff|diff|patch|old_string|new_string|oldString|newString|snapshot|last_agent_message|base_instructions|instructions|error|returnDisplay|resultDisplay|preview|title|body)$/i;

/** The texts of a JSON value: those in members of text, and all others with the names of members. */
function sort(value: unknown, isText: boolean, into: { text: string[]; other: string[] }): void {
  if (typeof value === 'string') {
    (isText ? into.text : into.other).push(value);
  } else if (Array.isArray(value)) {
    for (const element of value) sort(element, isText, into);
  } else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) {
      into.other.push(name);
      // A message that is an object has more than its text.
      const isEnvelope = name === 'message' && typeof member === 'object';
      sort(member, isText || (!isEnvelope && TEXT_MEMBERS.test(name)), into);
    }
  }
}

function piecesOf(text: string): string[] {
  return text
    .split(/\\n|\r?\n/)
    .flatMap((line) => line.trim().match(new RegExp(`.{${SHORTEST},${LONGEST}}`, 'gu')) ?? []);
}

/** Everything that a world has stored: rows of all tables, and the bytes of all files in its data folder. */
async function storedBy(world: World): Promise<string[]> {
  const tables = await world.store.select(
    "SELECT DISTINCT table_name FROM information_schema.tables WHERE lower(table_schema) NOT IN ('information_schema', 'pg_catalog', 'system')",
  );
  const stored: string[] = [];
  for (const { table_name } of tables)
    for (const row of await world.store.select(`SELECT * FROM "${table_name}"`))
      stored.push(Object.values(row).join('\n'));
  for (const entry of readdirSync(world.config.data, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) stored.push(readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  return stored;
}

/** All of the program's SQL, whose words are in every database. */
function programText(): string[] {
  const folder = join(PACKAGE_ROOT, 'sql');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
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

  foundIn(text: string, found: Set<string>): void {
    for (let at = 0; at + SHORTEST <= text.length; at += 1) {
      if (this.marks[Pieces.markOf(text, at)] === 0) continue;
      for (const piece of this.beginnings.get(text.slice(at, at + SHORTEST)) ?? [])
        if (text.startsWith(piece, at)) found.add(piece);
    }
  }
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
  const sorted = { text: [] as string[], other: [...programText(), ...allowed] };
  for (const document of documents) sort(document, false, sorted);
  const pieces = new Set(sorted.text.flatMap(piecesOf));
  expect(pieces.size).toBeGreaterThan(0);
  const asBytes = [...pieces].map((piece) => Buffer.from(piece).toString('latin1'));
  const lookedFor = new Pieces(new Set([...pieces, ...asBytes]));
  const found = new Set<string>();
  for (const stored of await storedBy(world)) lookedFor.foundIn(stored, found);
  const addresses = await world.store.select('SELECT DISTINCT url FROM events WHERE url IS NOT NULL');
  const others = [...sorted.other, ...addresses.map(({ url }) => String(url))].join('\n');
  expect([...found].filter((piece) => !others.includes(piece))).toEqual([]);
}
