import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
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
    "SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'pg_catalog')",
  );
  const stored: string[] = [];
  for (const { table_name } of tables)
    for (const row of await world.store.select(`SELECT * FROM "${table_name}"`))
      stored.push(Object.values(row).join('\n'));
  for (const entry of readdirSync(world.config.data, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) stored.push(readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  return stored;
}

/**
 * Expects that no text of prompts, answers, files and outputs in some JSON documents is anywhere in what a world has stored. A text
 * that the documents also have elsewhere, such as a path, may be there. `allowed` are texts that must be stored, such as the path of
 * a file that only a patch names.
 */
export async function expectNoText(
  world: World,
  documents: readonly unknown[],
  allowed: readonly string[] = [],
): Promise<void> {
  const found = { text: [] as string[], other: [...allowed] };
  for (const document of documents) sort(document, false, found);
  const others = found.other.join('\n');
  const pieces = new Set(found.text.flatMap(piecesOf));
  expect(pieces.size).toBeGreaterThan(0);
  const byBeginning = new Map<string, string[]>();
  for (const piece of pieces) {
    const bytes = Buffer.from(piece).toString('latin1');
    for (const form of new Set([piece, bytes]))
      byBeginning.set(form.slice(0, SHORTEST), [...(byBeginning.get(form.slice(0, SHORTEST)) ?? []), form]);
  }
  const leaked = new Set<string>();
  for (const stored of await storedBy(world))
    for (let at = 0; at + SHORTEST <= stored.length; at += 1)
      for (const form of byBeginning.get(stored.slice(at, at + SHORTEST)) ?? [])
        if (stored.startsWith(form, at) && !others.includes(form)) leaked.add(form);
  expect([...leaked]).toEqual([]);
}
