import { createWriteStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type ClickHouseClient, type ClickHouseClientConfigOptions, createClient } from '@clickhouse/client';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { codeOf } from '../../src/exit.js';

/** Where scripts/chdb.js installs the engine, wherever this code was compiled to. */
const MODULES = join(PACKAGE_ROOT, 'test', 'clickhouse', 'node_modules');

type Connection = NonNullable<ClickHouseClientConfigOptions['connection']>;

/** Where this process has its databases: the engine takes one folder for as long as the process lives. */
let folder: string | undefined;
let databases = 0;

function engineFolder(): string {
  if (folder !== undefined) return folder;
  const path = mkdtempSync(join(tmpdir(), 'daybook-clickhouse-'));
  process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  folder = path;
  return path;
}

function chdb(): { createChdbConnection: (options: { path: string }) => Connection } {
  return createRequire(join(MODULES, 'installed.json'))('chdb/connection');
}

/** Whether the engine is installed: scripts/chdb.js does that before the tests run. */
export function isInstalled(): boolean {
  return existsSync(join(MODULES, 'installed.json'));
}

/** Of a request's settings only those that the connection doesn't have: they stay, and each is a statement of its own. */
function withSettingsOnce(connection: Connection): Connection {
  const there = new Map<string, unknown>();
  return new Proxy(connection, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (name !== 'query' && name !== 'command' && name !== 'exec') return member.bind(target);
      return async (parameters: Parameters<Connection['query']>[0]) => {
        const settings = Object.entries(parameters.clickhouse_settings ?? {});
        const missing = settings.filter(([setting, value]) => there.get(setting) !== value);
        const result = await member.call(target, {
          ...parameters,
          clickhouse_settings: Object.fromEntries(missing),
        });
        for (const [setting, value] of missing) there.set(setting, value);
        return result;
      };
    },
  });
}

/**
 * A connection to the ClickHouse in this process that takes binary files, as a server does: by itself it takes what comes
 * with an INSERT for text.
 */
function withFiles(connection: Connection, folder: string): Connection {
  return new Proxy(connection, {
    get(target, name) {
      const exec: Connection['exec'] = async (parameters) => {
        const [, into, format] = /^(INSERT INTO .*) FORMAT (\w+)$/s.exec(parameters.query) ?? [];
        if (parameters.values === undefined || into === undefined) return target.exec(parameters);
        const { values, ...rest } = parameters;
        const path = join(folder, `upload-${Math.random()}.${format}`);
        try {
          await pipeline(values, createWriteStream(path));
          const columns = /\(([^)]*)\)$/.exec(into)?.[1];
          return await target.exec({
            ...rest,
            query: `${into} SELECT ${columns} FROM file('${path}', ${format})`,
          });
        } finally {
          rmSync(path, { force: true });
        }
      };
      if (name === 'exec') return exec;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** On small data it takes longer to compile a query than to run it. */
const UNCOMPILED = {
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
} as const;

/** A connection to each database: making one, and setting what clients set, takes longer than to open a store. */
const connections = new Map<string, Promise<Connection>>();

/** The connection to a database, which is made when it isn't there. It stays when clients close it. */
function connectionOf(database: string, path: string): Promise<Connection> {
  const there = connections.get(database) ?? connect(database, path);
  connections.set(database, there);
  return there;
}

/** A client with a connection of its own to a database, which is made when it isn't there: its statements run beside others. */
export async function clientBeside(database: string): Promise<ClickHouseClient> {
  return createClient({ connection: await connect(database, engineFolder()) });
}

/** A database that no other test uses, for clients beside each other. */
export async function newDatabase(atEnd: (undo: () => Promise<void>) => void): Promise<string> {
  const database = `test_${++databases}`;
  const client = await clientBeside(database);
  atEnd(async () => {
    await client.command({ query: `DROP DATABASE ${database} SYNC` });
    await client.close();
  });
  return database;
}

async function connect(database: string, path: string): Promise<Connection> {
  const connection = withFiles(withSettingsOnce(chdb().createChdbConnection({ path })), path);
  const client = createClient({ connection, clickhouse_settings: UNCOMPILED });
  await client.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` });
  await client.command({ query: `USE ${database}` });
  return new Proxy(connection, {
    get: (target, name) => (name === 'close' ? async () => undefined : Reflect.get(target, name)),
  });
}

/** Databases that no test uses any more: their tables are made, and empty but for what does not hang on events. */
const free: string[] = [];

/** What tells what a database's tables are, and stays when it is used again. */
const KEPT = ['changes', 'facts', 'languages', 'prices', 'price_multipliers', 'rates', 'trailing_days'];

/** Empties a database for the next test, which then opens one that is there already; making one takes far longer. */
async function recycle(client: ClickHouseClient, database: string): Promise<void> {
  const made = await client.query({
    query: `SELECT 1 FROM system.tables WHERE database = '${database}' AND name = 'facts'`,
    format: 'JSONEachRow',
  });
  // A test that failed early may have left a half of one.
  if ((await made.json()).length === 0) return;
  const kept = KEPT.map((table) => `'${table}'`).join(', ');
  const parts = await client.query({
    query: `SELECT DISTINCT table FROM system.parts WHERE active AND database = '${database}' AND table NOT IN (${kept})`,
    format: 'JSONEachRow',
  });
  for (const { table } of await parts.json<{ table: string }>())
    await client.command({ query: `TRUNCATE TABLE ${database}.${table}` });
  await client.command({ query: `DELETE FROM ${database}.facts WHERE name = 'demo'` });
  free.push(database);
}

/** The databases that tests use, by the data folder that goes with them. */
const used = new Map<string, string>();

/**
 * What connects to the database that goes with a data folder, in the ClickHouse of this process: an empty one, unless the
 * folder was there before.
 */
export function databaseOf(
  data: string,
  atEnd: (undo: () => Promise<void>) => void,
): () => Promise<ClickHouseClient> {
  const path = engineFolder();
  const known = used.get(data);
  const database = known ?? free.pop() ?? `test_${++databases}`;
  if (known === undefined) {
    used.set(data, database);
    atEnd(async () => recycle(createClient({ connection: await connectionOf(database, path) }), database));
  }
  return async () =>
    createClient({ connection: await connectionOf(database, path), clickhouse_settings: UNCOMPILED });
}

/** The texts that are in rows of the database that goes with a data folder, or in bytes of its files; by where they are. Case is ignored. */
export async function textsInDatabase(
  data: string,
  texts: readonly string[],
): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  const look = (where: string, content: string) => {
    const names = texts.filter((one) => content.toLowerCase().includes(one.toLowerCase()));
    if (names.length > 0) found[where] = names;
  };
  const path = engineFolder();
  const client = createClient({ connection: await connectionOf(used.get(data) ?? '', path) });
  const select = async <T>(query: string) => (await client.query({ query, format: 'JSONEachRow' })).json<T>();
  for (const { name } of await select<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
  )) {
    look(`table ${name}`, name);
    look(`rows of ${name}`, JSON.stringify(await select(`SELECT * FROM ${name}`)));
  }
  // All but the files of other databases, so that those of tables that were dropped are among them.
  const others = await select<{ path: string }>(
    'SELECT arrayJoin(data_paths) AS path FROM system.tables WHERE database <> currentDatabase()',
  );
  const isOther = (file: string) => others.some((other) => file.startsWith(other.path));
  const lookIn = (folder: string) => {
    for (const entry of unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
      const file = join(folder, entry.name);
      if (isOther(file)) continue;
      if (entry.isDirectory()) lookIn(file);
      if (entry.isFile())
        look(`bytes of ${relative(path, file)}`, unlessGone(() => readFileSync(file, 'latin1')) ?? '');
    }
  };
  lookIn(path);
  return found;
}

/** What is read from a path. The engine removes files of parts that it has merged whenever it likes. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
