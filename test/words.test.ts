import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'vitest';
import { DuckDBInstance } from '../src/arrow/duckdb-driver.js';
import { DATABASE } from '../src/disk/data-files.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { recordedRequests, textsOf } from './otlp/sender.js';
import {
  bytesBelow,
  type Found,
  type IsName,
  type Kept,
  programText,
  type Texts,
  textFound,
  textsIn,
} from './private-text.js';
import { daybook, start } from './program.js';
import { sampleFolders, testSamples } from './samples.js';
import { until } from './service.js';
import { temporaryFolder } from './world.js';

/** Where files of each source are in the samples. */
const FOLDERS: Record<string, readonly string[]> = {
  'claude-code': ['transcripts/claude-code'],
  codex: ['transcripts/codex', 'captures/codex'],
  'gemini-cli': ['transcripts/gemini-cli', 'captures/gemini-cli'],
  opencode: ['transcripts/opencode', 'captures/opencode'],
  kilo: ['captures/kilo'],
  droid: ['transcripts/factory-droid'],
  'copilot-cli': ['captures/copilot-cli'],
  'qwen-code': ['captures/qwen-code'],
  cline: ['captures/cline'],
  'vs-copilot': ['otlp/visualstudio-copilot'],
  pi: ['transcripts/pi', 'captures/pi', 'captures/omp'],
  openclaw: ['captures/openclaw'],
};

/** Members of answers and of tools' input that name what events have: a tool, its call, a model, a file. A name is one word. */
const isName: IsName = (member, value) =>
  (/^(type|name|role|status|model|(\w*_)?id|\w*I[dD]|uuid|skill|subagent_type)$/.test(member) &&
    /^\S+$/.test(value)) ||
  (/^(\w*_path|filePath|path)$/.test(member) && !value.includes('\n'));

/** What describes a recording, and isn't from the agent. */
const OURS = /\/(otlp|SOURCE\.md|README\.md|truth\.json)(\/|$)/;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !OURS.test(path));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON documents in a file of an agent. */
function documentsIn(path: string): unknown[] {
  if (/\.(db|sqlite)$/.test(path)) {
    const copy = join(temporaryFolder(), basename(path));
    for (const ending of ['', '-wal']) if (existsSync(path + ending)) cpSync(path + ending, copy + ending);
    const database = new DatabaseSync(copy);
    const columns = path.endsWith('.db')
      ? ['data FROM message', 'data FROM part']
      : ['event_json AS data FROM transcript_events', 'event_json AS data FROM trajectory_runtime_events'];
    const rows = columns.flatMap((column) => database.prepare(`SELECT ${column}`).all());
    database.close();
    return rows.map(({ data }) => parsed(String(data)));
  }
  if (!/\.jsonl?$/.test(path)) return [];
  const text = readFileSync(path, 'utf8');
  return path.endsWith('.jsonl') ? text.split('\n').map(parsed) : [parsed(text)];
}

/** Copies files with lines that are cut: those of a program that was killed, or of a full disk. */
function tornCopy(folder: string, into: string): void {
  for (const path of filesBelow(folder).filter((one) => /\.jsonl?$/.test(one))) {
    const lines = readFileSync(path, 'utf8').split('\n');
    const torn = lines.map((line, index) => (index % 5 === 0 ? line.slice(0, line.length >> 1) : line));
    const copy = join(into, relative(folder, path));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, torn.join('\n'));
  }
}

/** Bodies as they can come when something on the way is broken. */
function damagedOf(body: Buffer): Buffer[] {
  return [
    body.subarray(0, body.length >> 1),
    Buffer.concat([body.subarray(0, body.length >> 2), body.subarray((body.length >> 2) + 1)]),
    Buffer.concat([body, Buffer.from('{"more":')]),
  ];
}

/** A running service, and all that it says. */
async function serve(
  data: string,
  said: string[],
): Promise<{ url: string; stop: (signal: NodeJS.Signals) => Promise<void> }> {
  const child = start(['--data', data, 'serve', '--port', '0'], {
    env: { DAYBOOK_LOG_LEVEL: 'trace', DAYBOOK_BUILD_AT: 'off', DAYBOOK_RATE_LIMIT: '0' },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      said.push(chunk);
    });
  const address = /Daybook serves on (http:\S+) from/;
  await until(() => address.test(text) || child.exitCode !== null);
  const url = address.exec(text)?.[1];
  if (url === undefined) throw new Error(`the server ended: ${text}`);
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await until(() => child.exitCode !== null || child.signalCode !== null);
  };
  return { url, stop };
}

/** What was acknowledged and isn't in the database yet. It goes at any moment. */
function waiting(data: string): Kept[] {
  try {
    return bytesBelow(join(data, 'inbox'));
  } catch {
    return [];
  }
}

/**
 * Whether what was found is a text and not a chance of bytes: numbers in a file can look like a ruled line, and in the database's file
 * any byte can stand beside a value. The values themselves are looked through as rows.
 */
function isWords(rows: readonly Kept[]): (found: Found) => boolean {
  const values = rows.map(({ what }) => what).join('\n');
  return ({ where, piece }) =>
    /\p{L}{3}/u.test(piece) &&
    !(
      where.endsWith('.duckdb') && [piece.slice(1), piece.slice(0, -1)].some((part) => values.includes(part))
    );
}

/** What the rows of all tables of a database and of all files of a lake hold. */
async function rowsOf(data: string): Promise<Kept[]> {
  const database = await DuckDBInstance.create(join(data, DATABASE), { access_mode: 'READ_ONLY' });
  const connection = await database.connect();
  const select = async (sql: string) => (await connection.runAndReadAll(sql)).getRows();
  const tables = await select(`SELECT '"' || schema_name || '"."' || table_name || '"' FROM duckdb_tables()`);
  const files = filesBelow(data).filter((path) => path.endsWith('.parquet'));
  const rows: Kept[] = [];
  for (const where of [...tables.map(String), ...files.map((path) => `read_parquet('${path}')`)])
    for (const row of await select(`SELECT * FROM ${where}`))
      rows.push({ where, what: row.map(String).join('\n') });
  connection.closeSync();
  database.closeSync();
  return rows;
}

interface Sent {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
  readonly isDamaged: boolean;
}

/** All that the samples have of telemetry and of hooks, whole and damaged. `add` hears the texts in them. */
function* requestsOf(samples: string, add: (texts: Texts) => void): Generator<Sent> {
  for (const agent of sampleFolders('captures'))
    for (const recording of sampleFolders(`captures/${basename(agent)}`)) {
      if (!existsSync(join(recording, 'otlp'))) continue;
      for (const request of recordedRequests(recording)) {
        const { signal, type, body } = request;
        add(textsIn([textsOf(request)], isName));
        const path = `/otlp/v1/${signal}`;
        yield { path, type, body, isDamaged: false };
        for (const damaged of damagedOf(body)) yield { path, type, body: damaged, isDamaged: true };
        yield { ...HOOK, body, isDamaged: true };
      }
    }
  const payloads = filesBelow(join(samples, 'hooks'))
    .filter((path) => /\.jsonl?$/.test(path))
    .flatMap((path) => documentsIn(path).flat())
    .filter((document) => typeof document === 'object' && document !== null);
  add(textsIn(payloads, isName));
  for (const [index, payload] of payloads.entries()) {
    const body = Buffer.from(JSON.stringify(payload));
    yield { ...HOOK, body, isDamaged: true };
    if (index % 20 === 0)
      for (const damaged of damagedOf(body)) yield { ...HOOK, body: damaged, isDamaged: true };
  }
}

const HOOK = { path: '/api/v1/hooks', type: 'application/json' };

testSamples(
  'captures',
  'no text of any recording is in what the program keeps and says',
  async (captures) => {
    const samples = dirname(captures);
    const folder = temporaryFolder();
    const data = join(folder, 'data');
    const said: string[] = [];
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await daybook(['--data', data, ...args], {
        env: { DAYBOOK_LOG_LEVEL: 'debug' },
      });
      said.push(stdout, stderr);
      return { code, stdout };
    };
    const texts: Texts = { text: [], other: [] };
    const add = ({ text, other }: Texts) => {
      for (const one of text) texts.text.push(one);
      for (const one of other) texts.other.push(one);
    };

    const { stdout } = await run('keys', 'create', '--org', 'acme', '--role', 'ingest', '--json');
    const { key } = JSON.parse(stdout);
    // What a new database has, what the program calls things, and the paths of what it reads.
    const own = [...(await rowsOf(data)), ...bytesBelow(data)].map(({ what }) => what);
    const known = [
      ...own,
      ...programText('src'),
      readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'),
      ...filesBelow(samples),
      folder,
    ];
    const first = await serve(data, said);
    const post = async (path: string, type: string, body: Buffer, more: Record<string, string> = {}) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': type, ...more };
      return (await fetch(`${first.url}${path}`, { method: 'POST', headers, body: new Uint8Array(body) }))
        .status;
    };
    const statuses = new Set<number>();
    const waited: Kept[] = [];
    for (const { path, type, body, isDamaged } of requestsOf(samples, add)) {
      const status = await post(path, type, body);
      if (!isDamaged) expect(status, path).toBeLessThan(300);
      statuses.add(status);
      statuses.add(await post(path, type, gzipSync(body).subarray(0, -9), { 'content-encoding': 'gzip' }));
      waited.push(...waiting(data));
    }
    expect(waited).not.toEqual([]);
    // What is damaged is refused, or taken as what it is.
    expect([...statuses].filter((status) => status >= 500)).toEqual([]);
    expect(statuses).toContain(400);
    // What waits to be settled, and the write-ahead log.
    await first.stop('SIGKILL');
    const killed = bytesBelow(data);

    for (const [source, names] of Object.entries(FOLDERS)) {
      const folders = names.map((name) => join(samples, name));
      for (const path of folders.flatMap(filesBelow)) add(textsIn(documentsIn(path), isName));
      const ingest = (orgId: string, ...paths: string[]) =>
        run('ingest', '--org', orgId, '--source', source, '--user', 'ada', ...paths);
      expect(await ingest('acme', ...folders)).toMatchObject({ code: 0 });
      // Claude Code's are too many to be torn.
      if (source === 'claude-code') continue;
      const torn = join(folder, 'torn', source);
      tornCopy(folders.at(-1) ?? '', torn);
      await ingest('torn', torn);
    }
    const second = await serve(data, said);
    expect(await run('build')).toMatchObject({ code: 0 });
    expect(await run('backup', join(folder, 'backup'))).toMatchObject({ code: 0 });
    expect(await run('status')).toMatchObject({ code: 0 });
    await second.stop('SIGTERM');
    rmSync(join(folder, 'torn'), { recursive: true });

    const rows = await rowsOf(data);
    const urls = rows.flatMap(({ what }) => what.match(/^https:\/\/\S+\/pull\/\d+$/gm) ?? []);
    const heard = said.map((what) => ({ where: 'what the program says', what }));
    const kept = [...waited, ...killed, ...heard, ...rows, ...bytesBelow(folder)];
    const found = textFound({ text: texts.text, other: [...texts.other, ...known, ...urls] }, kept);
    expect(found.filter(isWords(rows))).toEqual([]);
  },
);
