import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { type Source, sourceOf } from '../src/ingest/source.js';
import { foldersIn } from './cases.js';

/**
 * Reads the folders of test/agents, one per source: what its files are, and the events that Daybook makes of them. A folder in it is
 * one case:
 *
 *   README.md        the idea that must hold, in one sentence
 *   files/           the agent's files, as they lie in its folder; for a database of SQLite the statements that make it, as
 *                    opencode.db.sql
 *   files-1/, ...    the same for files that are read while the agent writes them: each folder has what is new or has changed
 *   expect.ndjson    the events as docs/events.md has them, in order of time and id, and then what was rejected
 *
 * A test writes an expect.ndjson that is missing, but never in CI: read it before you commit it.
 */
export const AGENTS = fileURLToPath(new URL('agents/', import.meta.url));

/** The contents of files by their names below the agent's folder. */
export type Files = ReadonlyMap<string, string>;

export interface AgentCase {
  readonly name: string;
  readonly folder: string;
  /** What the agent has written at each reading. */
  readonly states: readonly Files[];
  /** All files as they are in the end. */
  readonly files: Files;
}

/** The sources that have cases. */
export const sources: Source[] = foldersIn(AGENTS).map(sourceOf);

function filesIn(folder: string): Files {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = entries.map((one) => join(one.parentPath, one.name)).sort();
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path, 'utf8')]));
}

export function caseOf(source: Source, name: string): AgentCase {
  const folder = join(AGENTS, source.name, name);
  const states = foldersIn(folder).map((state) => filesIn(join(folder, state)));
  return { name, folder, states, files: new Map(states.flatMap((files) => [...files])) };
}

export function casesOf(source: Source): AgentCase[] {
  return foldersIn(join(AGENTS, source.name)).map((name) => caseOf(source, name));
}

/** Writes files below a folder, and makes databases of the statements for them. */
export function write(
  folder: string,
  files: Iterable<readonly [name: string, content: string | Uint8Array]>,
) {
  for (const [name, content] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    if (!/\.(db|sqlite)\.sql$/.test(name)) writeFileSync(path, content);
    else if (!existsSync(path.slice(0, -'.sql'.length))) {
      const database = new DatabaseSync(path.slice(0, -'.sql'.length));
      database.exec(String(content));
      database.close();
    }
  }
}

/** The JSON documents in files: whole ones, or lines, or texts of statements; text that is none is left out. */
export function documentsIn(contents: Iterable<string>): unknown[] {
  const parsed = (text: string): unknown[] => {
    try {
      return [JSON.parse(text)];
    } catch {
      return [];
    }
  };
  return [...contents].flatMap((text) => {
    const whole = parsed(text);
    if (whole.length > 0) return whole;
    return text.startsWith('CREATE TABLE')
      ? [...text.matchAll(/'((?:[^']|'')*)'/g)].flatMap(([, value = '']) =>
          parsed(value.replaceAll("''", "'")),
        )
      : text.split('\n').flatMap(parsed);
  });
}
