import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { MS_PER_DAY } from '../src/day.js';
import type { Random } from './random.js';

/** A file that an agent keeps on a laptop, by its path in the home. */
export type AgentFile =
  /** Lines are appended to it, in pieces that end anywhere. */
  | { readonly path: string; readonly text: string }
  /** It is written anew each time. */
  | { readonly path: string; readonly versions: readonly string[] };

/** A row of opencode's database. */
interface Row {
  readonly table: string;
  readonly values: Readonly<Record<string, string | number | null>>;
}

/** What agents write on a laptop: files, and the rows of a database in the order in which they are written. */
export interface Work {
  readonly files: readonly AgentFile[];
  readonly rows: readonly Row[];
}

/** Where the samples of an agent go in a home. `project` tells projects and copies apart. */
const HOMES: Record<string, (project: string, path: string) => string | undefined> = {
  'claude-code': (project, path) =>
    path.endsWith('.jsonl') ? join('.claude', 'projects', project, path) : undefined,
  codex: (project, path) => (path.endsWith('.jsonl') ? join('.codex', 'sessions', project, path) : undefined),
  'gemini-cli': (project, path) =>
    /\.jsonl?$/.test(path)
      ? join('.gemini', 'tmp', project, 'chats', path.replace(/^.*\/chats\//, ''))
      : undefined,
  opencode: (project, path) =>
    /ses_\w+\.json$/.test(path)
      ? join('.local', 'share', 'opencode', 'export', project, basename(path))
      : undefined,
  'factory-droid': (project, path) => join('.factory', 'sessions', project, basename(path)),
  'copilot-cli': (project, path) =>
    path.endsWith('events.jsonl')
      ? join('.copilot', 'session-state', project, basename(dirname(path)), 'events.jsonl')
      : undefined,
  'qwen-code': (project, path) =>
    path.includes('/chats/')
      ? join('.qwen', 'projects', project, path.replace(/^.*\/chats\//, 'chats/'))
      : undefined,
  cline: (project, path) =>
    path.includes('/sessions/')
      ? join('.cline', 'data', 'sessions', path.replace(/^.*\/sessions\//, `${project}-`))
      : undefined,
};

/** Files of samples that aren't sessions. */
const NO_SESSION = /\/(growing|entire-metadata|otlp)\/|\.md$|\/truth\.json$/;
const DATABASE = join('.local', 'share', 'opencode', 'opencode.db');
const TABLES = ['session', 'message', 'part'];
/** Small samples are there more often, so that every agent has many sessions. */
const SMALL_BYTES = 400_000;
const SMALL_COPIES = 12;

interface Project {
  readonly agent: string;
  readonly name: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly bytes: number;
  readonly newest: number;
}

function projectsIn(samples: string): Project[] {
  const found = ['transcripts', 'captures'].flatMap((kind) =>
    Object.keys(HOMES).flatMap((agent) => {
      const folder = join(samples, kind, agent);
      try {
        return readdirSync(folder, { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map(({ name }) => ({ agent, name, folder: join(folder, name) }));
      } catch {
        return [];
      }
    }),
  );
  const projects = found.flatMap(({ agent, name, folder }) => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.jsonl?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !NO_SESSION.test(path) && HOMES[agent]?.('', path) !== undefined)
      .map((path) => ({ path: path.slice(folder.length), text: readFileSync(path, 'utf8') }));
    const bytes = files.reduce((sum, { text }) => sum + text.length, 0);
    return files.length === 0 ? [] : [{ agent, name, files, bytes, newest: newestOf(files) }];
  });
  // Every agent is there, however little is to be written.
  return projects.sort((a, b) => a.bytes - b.bytes);
}

const TIME = /\b(20\d\d-\d\d-\d\d)(?=T\d\d)/g;
const MILLISECONDS = /\b1[67]\d{11}\b/g;

function newestOf(files: readonly { text: string }[]): number {
  let newest = 0;
  for (const { text } of files) {
    for (const [day] of text.matchAll(TIME)) newest = Math.max(newest, Date.parse(day) || 0);
    for (const [ms] of text.matchAll(MILLISECONDS)) newest = Math.max(newest, Number(ms));
  }
  return newest;
}

/** Gives what an agent wrote other ids and days, the same ones wherever an id is. Times in milliseconds tell calls of opencode apart. */
function copied(text: string, seed: number, days: number): string {
  const mask = (BigInt(seed) * 0x9e3779b97f4bn) & 0xffffffffffffn;
  return text
    .replaceAll(
      /\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-)([0-9a-f]{12})\b/g,
      (_, first: string, last: string) => first + (BigInt(`0x${last}`) ^ mask).toString(16).padStart(12, '0'),
    )
    .replaceAll(/\b((?:[a-z]+_){1,2}(?=\w*\d)[A-Za-z0-9]{16,})\b/g, `$1${seed.toString(36)}`)
    .replaceAll(
      /("(?:sessionId|session_id|uuid|parentUuid|requestId)":")(?![0-9a-f]{8}-|req_)([^"]+)"/g,
      `$1$2-${seed.toString(36)}"`,
    )
    .replaceAll(/\b(agent-[0-9a-f]{6,17})\b/g, `$1${seed.toString(16)}`)
    .replaceAll(TIME, (day) =>
      Number.isNaN(Date.parse(day))
        ? day
        : new Date(Date.parse(day) + days * MS_PER_DAY).toISOString().slice(0, 10),
    )
    .replaceAll(MILLISECONDS, (ms) => String(Number(ms) + days * MS_PER_DAY + seed));
}

/** How an agent writes a document anew: with more and more messages. */
function versionsOf(text: string): string[] {
  const whole = (JSON.parse(text) ?? {}) as { messages?: unknown[] };
  const { messages } = whole;
  if (!Array.isArray(messages)) return [text];
  return [0.3, 0.6, 0.9]
    .map((share) =>
      JSON.stringify({ ...whole, messages: messages.slice(0, Math.ceil(messages.length * share)) }),
    )
    .concat(text);
}

function fileOf(path: string, text: string): AgentFile {
  if (path.endsWith('.jsonl')) return { path, text };
  try {
    return { path, versions: versionsOf(text) };
  } catch {
    return { path, versions: [text] };
  }
}

/**
 * What agents of one person write: the samples, as often as it takes to fill so many bytes, with other ids and days each time, so
 * that the newest of each is in the last weeks before `now`. `person` tells people apart.
 */
export function workOf(
  samples: string,
  { person, bytes, now, random }: { person: number; bytes: number; now: number; random: Random },
): Work {
  const projects = projectsIn(samples);
  const files: AgentFile[] = [];
  let written = 0;
  for (let copy = 0; written < bytes; copy += 1) {
    for (const project of projects) {
      if (written >= bytes) break;
      const times = project.bytes < SMALL_BYTES ? SMALL_COPIES : 1;
      for (let more = 0; more < times; more += 1) {
        const seed = 1 + person * 100_000 + copy * SMALL_COPIES + more;
        const days = Math.floor((now - project.newest) / MS_PER_DAY) - 2 - random.below(40);
        const name = `${project.name.replaceAll(/\W/g, '-')}-${copy}-${more}`;
        for (const { path, text } of project.files) {
          const home = HOMES[project.agent]?.(name, copied(path, seed, 0)) ?? '';
          files.push(fileOf(home, copied(text, seed, days)));
          written += text.length;
        }
      }
    }
  }
  return { files, rows: rowsOf(samples, { person, now, copies: SMALL_COPIES }) };
}

/** The rows of opencode's database, as often as `copies`, in the order in which they were written. */
function rowsOf(
  samples: string,
  { person, now, copies }: { person: number; now: number; copies: number },
): Row[] {
  const database = new DatabaseSync(join(samples, 'captures', 'opencode', 'db', 'logs', DATABASE), {
    readOnly: true,
  });
  const rows: (Row & { at: number })[] = [];
  for (const table of TABLES) {
    const found = database.prepare(`SELECT * FROM ${table}`).all() as Row['values'][];
    for (let copy = 0; copy < copies; copy += 1) {
      for (const values of found) {
        const days = Math.floor((now - Number(values.time_created)) / MS_PER_DAY) - 2 - copies + copy;
        const seed = 1 + person * 100_000 + copy;
        const changed = Object.fromEntries(
          Object.entries(values).map(([name, value]) => [
            name,
            typeof value === 'string'
              ? copied(value, seed, days)
              : name.startsWith('time_') && typeof value === 'number'
                ? value + days * MS_PER_DAY + seed
                : value,
          ]),
        );
        const at = Number(changed.time_created);
        rows.push({ table, values: { ...changed, time_updated: at }, at });
      }
    }
  }
  database.close();
  return rows.sort((a, b) => a.at - b.at);
}

/** The database of opencode in a home, with the tables of the samples. */
export class AgentDatabase {
  private readonly database: InstanceType<typeof DatabaseSync>;

  constructor(samples: string, home: string) {
    const path = join(home, DATABASE);
    mkdirSync(dirname(path), { recursive: true });
    const from = new DatabaseSync(join(samples, 'captures', 'opencode', 'db', 'logs', DATABASE), {
      readOnly: true,
    });
    this.database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
    this.database.exec('PRAGMA journal_mode = WAL');
    for (const table of TABLES) {
      const { sql } = from.prepare('SELECT sql FROM sqlite_master WHERE name = ?').get(table) as {
        sql: string;
      };
      this.database.exec(sql);
    }
    from.close();
  }

  /** Writes rows in one transaction. */
  add(rows: readonly Row[]): void {
    this.database.exec('BEGIN');
    for (const { table, values } of rows) {
      const names = Object.keys(values);
      this.database
        .prepare(
          `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
        )
        .run(...Object.values(values));
    }
    this.database.exec('COMMIT');
  }

  close(): void {
    this.database.close();
  }
}

/** Writes all of a file at once. */
export function writeWhole(home: string, file: AgentFile): void {
  const path = join(home, file.path);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'text' in file ? file.text : (file.versions.at(-1) ?? ''));
}
