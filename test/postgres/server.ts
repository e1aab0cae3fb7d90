import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { type PostgresAddress, toPostgres } from '../../src/settings/store-address.js';
import { applyChanges } from '../../src/store/postgres/postgres-schema.js';
import { PostgresSession } from '../../src/store/postgres/postgres-session.js';
import type { Shared } from '../../src/store/store.js';
import { freePort } from '../ask.js';
import { programs } from './installed.js';

/** Whose rights a server needs: PostgreSQL refuses to run as root. */
const OWNER = 'postgres';

type AtEnd = (undo: () => Promise<void>) => void;

/** The numbers of the user who owns the server, if this process is root. */
export function owner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const number = (flag: string) => Number(execFileSync('id', [flag, OWNER], { encoding: 'utf8' }));
  return { uid: number('-u'), gid: number('-g') };
}

/** A folder that the owner of the server can write. */
export function ownedFolder(): string {
  const { uid, gid } = owner();
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  if (uid === undefined || gid === undefined) return folder;
  chownSync(folder, uid, gid);
  // The folder of the run is this user's alone.
  chmodSync(tmpdir(), 0o711);
  return folder;
}

/** Lets a lease expire, as if its holder had slept; one of a holder only if that still has it. */
export async function expireLease(nodes: Pick<Shared, 'run'>, name: string, holder?: string): Promise<void> {
  const still = holder === undefined ? '' : ' AND holder = $holder';
  await nodes.run([
    {
      sql: `UPDATE leases SET expires_at = clock_timestamp() - INTERVAL '1 second' WHERE name = $name${still}`,
      parameters: { name, ...(holder !== undefined && { holder }) },
    },
  ]);
}

/** Lets a holder's lease expire, also when it has just been renewed, until work has ended for which another one needs it. */
export async function expireFor<T>(
  nodes: Pick<Shared, 'run'>,
  name: string,
  holder: string,
  work: Promise<T>,
): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const ended = work.then(end, end);
  while (!isOver) {
    await expireLease(nodes, name, holder);
    await Promise.race([ended, wait(20)]);
  }
  return work;
}

/** The password has characters that a URL has to encode. */
const PASSWORD = "p@ss/w'rd";

let running: Promise<string> | undefined;

/** The address of a server with a user who may make databases, as DAYBOOK_STATE names it. It is started once for this process. */
function server(): Promise<string> {
  running ??= process.env.TEST_POSTGRES === undefined ? start() : Promise.resolve(process.env.TEST_POSTGRES);
  return running;
}

async function start(): Promise<string> {
  const bin = programs();
  if (bin === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  const folder = ownedFolder();
  const data = join(folder, 'data');
  const password = join(folder, 'password');
  writeFileSync(password, PASSWORD);
  chmodSync(password, 0o644);
  // Not the order of bytes, so that tests notice if an order depends on the server's.
  const order = Number(/\d+/.exec(bin)?.[0]) >= 15 ? ['--locale-provider=icu', '--icu-locale=en-US'] : [];
  execFileSync(
    join(bin, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'daybook',
      '-A',
      'scram-sha-256',
      '--pwfile',
      password,
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
      '-N',
      ...order,
    ],
    { ...owner(), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const settings = [
    'fsync=off',
    'full_page_writes=off',
    'synchronous_commit=off',
    'max_connections=200',
    'timezone=Asia/Tokyo',
  ];
  const port = await freePort();
  const child = spawn(
    join(bin, 'postgres'),
    [
      '-D',
      data,
      '-k',
      folder,
      '-h',
      '127.0.0.1',
      '-p',
      String(port),
      ...settings.flatMap((one) => ['-c', one]),
    ],
    { ...owner(), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const url = `postgres://daybook:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`;
  process.on('exit', () => child.kill('SIGQUIT'));
  await isUp(url, child);
  return url;
}

/** Waits until a server answers. */
export async function isUp(url: string, child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said = `${said}${chunk}`.slice(-2000);
  });
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`the server has ended with exit code ${child.exitCode}: ${said}`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await wait(50);
    }
  }
}

/** Runs a statement as the user who may make databases. */
async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: await server() });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The address of an empty database, as DAYBOOK_STATE names it; or of one like another. */
export async function postgresDatabase(atEnd: AtEnd, template = 'template0'): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  atEnd(() => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  return (await server()).replace(/\/[^/]*$/, `/${name}`);
}

/** A database whose tables are made, which others are copied from: that takes a third of the time. */
let made: Promise<string> | undefined;

async function makeTemplate(): Promise<string> {
  const url = await postgresDatabase(() => undefined);
  const session = PostgresSession.of(addressOf(url));
  await applyChanges(session, { now: 0 });
  await session.close();
  return url.slice(url.lastIndexOf('/') + 1);
}

/** The databases that tests use, by the data folder that goes with them. */
const used = new Map<string, Promise<string>>();

/** The address of the database of state that goes with a data folder: an empty one, unless the folder was there before. */
export function stateOf(data: string, atEnd: AtEnd): Promise<string> {
  made ??= makeTemplate();
  const url = used.get(data) ?? made.then((template) => postgresDatabase(atEnd, template));
  used.set(data, url);
  return url;
}

/** The same, parsed. */
export function addressOf(url: string): PostgresAddress {
  const address = toPostgres(url, { addIssue: () => undefined } as never);
  if (address === undefined) throw new Error('no address of a PostgreSQL database');
  return address;
}

/** The texts that are in the database of state that goes with a data folder. */
export async function textsInState(
  data: string,
  texts: readonly string[],
): Promise<Record<string, string[]>> {
  return textsIn((await used.get(data)) ?? '', texts);
}

/**
 * The texts that are in rows of a database, in bytes of its files, or in what PostgreSQL notes of the values of columns; by where they are.
 * Case is ignored.
 */
export async function textsIn(url: string, texts: readonly string[]): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  const look = (where: string, content: string) => {
    const names = texts.filter((one) => content.toLowerCase().includes(one.toLowerCase()));
    if (names.length > 0) found[where] = names;
  };
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('CHECKPOINT');
    const { rows: tables } = await client.query(
      "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
    );
    for (const { tablename } of tables) {
      const { rows } = await client.query(`SELECT CAST(one AS TEXT) AS text FROM ${tablename} AS one`);
      look(`rows of ${tablename} in PostgreSQL`, rows.map(({ text }) => text).join('\n'));
    }
    // Of tables, their indexes and what is too long for a row.
    const { rows: files } = await client.query(
      `SELECT relname, encode(pg_read_binary_file(pg_relation_filepath(oid)), 'hex') AS bytes FROM pg_class
      WHERE relnamespace IN ('public'::regnamespace, 'pg_toast'::regnamespace) AND relfilenode <> 0`,
    );
    for (const { relname, bytes } of files)
      look(`bytes of ${relname} in PostgreSQL`, Buffer.from(bytes, 'hex').toString('latin1'));
    const { rows: values } = await client.query(
      "SELECT tablename, CAST(pg_stats AS TEXT) AS text FROM pg_stats WHERE schemaname = 'public'",
    );
    for (const { tablename, text } of values) look(`values of ${tablename} in PostgreSQL`, text);
  } finally {
    await client.end();
  }
  return found;
}
