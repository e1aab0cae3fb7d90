import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL, CLINE, DROID, OPENCODE, type Source } from '../src/ingest/source.js';
import { inOwnProcess } from '../src/store/own-process.js';
import { until } from './service.js';
import { ending, event, lines, temporaryFolder, World } from './world.js';

let world: World;
const atEnd = ending();
beforeAll(async () => {
  world = await World.create({}, atEnd);
});

/** The folder of a new organization, what is put there, and how its files are read. */
let organizations = 0;
function home(source: Source) {
  organizations += 1;
  const orgId = `home-${organizations}`;
  const at = (name: string) => join(world.folder, orgId, name);
  const put = (name: string, content: string | Buffer = '') => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
    return at(name);
  };
  /** Reads the folder as the command does. */
  const read = async (signal?: AbortSignal) => {
    const leftOut = new Set<string>();
    const files = inputFiles([join(world.folder, orgId)], source, ({ message }) => leftOut.add(message));
    const request = { orgId, source, userId: 'ada', files };
    const result = await ingest(world.store, request, world.clock, undefined, signal);
    for (const sentence of result.leftOut) leftOut.add(sentence);
    return { ...result, leftOut: [...leftOut] };
  };
  return { orgId, at, put, read };
}

const pipe = (path: string) => execFileSync('mkfifo', [path]);
const folder = (path: string) => mkdirSync(path);
const device = (path: string) => symlinkSync('/dev/zero', path);
const pipeBehindLink = (path: string) => {
  pipe(`${path}.pipe`);
  symlinkSync(`${path}.pipe`, path);
};
const large = (path: string) => {
  writeFileSync(path, '');
  truncateSync(path, 2 ** 40);
};

/** A session of Droid with one prompt. */
const prompt = (session: string) =>
  lines([
    { type: 'session_start', id: session, title: 'A greeting', cwd: '/home/ada/engine', version: 2 },
    {
      type: 'message',
      id: `m-${session}`,
      timestamp: '2026-06-10T10:00:00.000Z',
      message: { role: 'user', content: [{ type: 'text', text: 'Greet' }] },
    },
  ]);

describe('in the place of a file beside a session', () => {
  test.each([
    ['a pipe', pipe, 'it is a pipe and not a file'],
    ['a link to a pipe', pipeBehindLink, 'it is a pipe and not a file'],
    ['a folder', folder, 'it is a folder and not a file'],
    ['a device', device, 'it is a device and not a file'],
    ['a file of a terabyte', large, 'it has more than 64 MiB'],
  ])('%s is left out and named, and the session counts', async (_, make, reason) => {
    const { put, at, read } = home(DROID);
    put('a.jsonl', prompt('a'));
    put('b.jsonl', prompt('b'));
    make(at('a.settings.json'));
    const leftOut = [`${at('a.settings.json')} is left out, because ${reason}.`];
    expect(await read()).toMatchObject({ accepted: 2, rejected: 0, leftOut });
    // It is named as long as it is there, and read once it is a file.
    expect(await read()).toMatchObject({ files: 0, leftOut });
    rmSync(at('a.settings.json'), { recursive: true });
    put(
      'a.settings.json',
      JSON.stringify({ model: 'opus', tokenUsage: { inputTokens: 3, outputTokens: 4 } }),
    );
    expect(await read()).toMatchObject({ files: 1, accepted: 1, leftOut: [] });
  });

  test('files that are too large together are left out', async () => {
    const { put, at, read } = home(CLINE);
    put('tasks/1/ui_messages.json', '[]');
    for (const name of ['task_metadata', 'api_conversation_history']) {
      put(`tasks/1/${name}.json`);
      truncateSync(at(`tasks/1/${name}.json`), 40 << 20);
    }
    expect((await read()).leftOut).toEqual([expect.stringContaining('has more than 24 MiB')]);
  });

  test('a part of a message of opencode is left out', async () => {
    const { put, at, read } = home(OPENCODE);
    put('storage/message/ses_1/msg_1.json', '{"role":"user","time":{"created":1781085600000}}');
    mkdirSync(at('storage/part/msg_1'), { recursive: true });
    pipe(at('storage/part/msg_1/prt_1.json'));
    expect((await read()).leftOut).toEqual([expect.stringContaining('prt_1.json is left out')]);
  });
});

describe('in the place of a file of lines', () => {
  test.each([
    ['a pipe', pipe, 'it is a pipe and not a file'],
    ['a link', device, 'it is a link, and links are not followed'],
    ['a file of a terabyte', large, 'it has more than 65536 MiB'],
  ])('%s is left out and named, and the others count', async (_, make, reason) => {
    const { put, at, read } = home(CANONICAL);
    put('a.ndjson', lines([event('1')]));
    make(at('b.ndjson'));
    put('c.ndjson', lines([event('2')]));
    expect(await read()).toMatchObject({
      accepted: 2,
      leftOut: [`${at('b.ndjson')} is left out, because ${reason}.`],
    });
  });

  test('a document of a terabyte is rejected without reading it', async () => {
    const { put, at, read } = home(CLINE);
    large(put('tasks/1/ui_messages.json') && at('tasks/1/ui_messages.json'));
    expect(await read()).toMatchObject({ byReason: { line_too_long: 1 } });
  });

  test('a name that the system knows otherwise is named', async () => {
    const { put, read } = home(CANONICAL);
    const path = put('a.ndjson');
    writeFileSync(
      Buffer.concat([Buffer.from(dirname(path)), Buffer.from([0x2f, 0xff]), Buffer.from('.ndjson')]),
      '',
    );
    expect((await read()).leftOut).toEqual([expect.stringContaining('its name is not UTF-8')]);
  });

  test('what becomes a pipe after it was found is left out, and read when it is a file again', async () => {
    const { put, at, read } = home(CANONICAL);
    const files = inputFiles(
      [put('a.ndjson', lines([event('1')])), put('b.ndjson', lines([event('2')]))],
      CANONICAL,
    );
    rmSync(at('a.ndjson'));
    pipe(at('a.ndjson'));
    const request = { orgId: 'turned', source: CANONICAL, files };
    expect(await ingest(world.store, request, world.clock)).toMatchObject({
      accepted: 1,
      leftOut: [expect.stringContaining('a.ndjson is left out')],
    });
    rmSync(at('a.ndjson'));
    put('a.ndjson', lines([event('1')]));
    expect(await read()).toMatchObject({ accepted: 2, leftOut: [] });
  });

  test('a file that unpacks to a hundred times its size and more is left out, and others are read', async () => {
    const { put, at, read } = home(CANONICAL);
    put('a.ndjson.gz', gzipSync('{}\n'.repeat(30_000_000), { level: 1 }));
    put('b.ndjson.gz', gzipSync(lines([event('1')])));
    expect(await read()).toMatchObject({
      accepted: 1,
      rejected: 0,
      leftOut: [`${at('a.ndjson.gz')} is left out, because it unpacks to more than 64 MiB.`],
    });
  });

  test('a file that the store fails on is left out, and others are read', async () => {
    const { put, at, read } = home({ ...CANONICAL, sql: failingSql() });
    for (const name of ['a', 'b', 'c', 'd']) put(`${name}.ndjson`, lines([event(name)]));
    expect(await read()).toMatchObject({
      accepted: 3,
      leftOut: [`${at('c.ndjson')} is left out, because the database can't take it (Invalid Input Error).`],
    });
    expect(await read()).toMatchObject({ files: 1 });
  });
});

/** SQL of a source that fails on the event c. */
function failingSql(): string {
  const sql = temporaryFolder();
  writeFileSync(
    join(sql, 'events.sql'),
    `SELECT source, line_no, CASE WHEN (line ->> 'event_id') = 'c' THEN error(CAST(line AS VARCHAR)) ELSE line ->> 'event_id' END AS event_id,
      'ada' AS user_id, 's1' AS session_id, 'user_message' AS type, epoch_ms(CAST(line ->> 'timestamp' AS TIMESTAMP)) AS occurred_ms
    FROM lines`,
  );
  return sql;
}

describe('a database', () => {
  const TABLES = `CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, version TEXT, time_created INT);
    CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_updated INT, data TEXT)`;
  const MESSAGES = 'CREATE TABLE message (id TEXT, session_id TEXT, time_updated INT, data TEXT)';
  const ENDLESS = 'WITH RECURSIVE r (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM r)';
  const VIEW = `CREATE VIEW message AS ${ENDLESS} SELECT 'm' AS id, 's' AS session_id, a AS time_updated, '{}' AS data FROM r`;

  function database(make: (database: DatabaseSyncInstance) => void) {
    const place = home(OPENCODE);
    const path = place.put('opencode.db');
    const made = new DatabaseSync(path);
    made.exec(TABLES);
    make(made);
    made.close();
    place.put('ses_1.json', '{"info":{"id":"ses_1"},"messages":[]}');
    return { ...place, path };
  }

  test.each<[string, (database: DatabaseSyncInstance) => void, string]>([
    ['is a view', (made) => made.exec(VIEW), 'its table message is not a table (view)'],
    [
      'is virtual',
      (made) => made.exec('CREATE VIRTUAL TABLE message USING fts5 (id, session_id, time_updated, data)'),
      'its table message is not a table (virtual)',
    ],
    [
      'gives far more than it has',
      (made) => {
        made.exec(MESSAGES);
        made.exec(`INSERT INTO message ${ENDLESS} SELECT 'm', 's', 1, '{}' FROM r LIMIT 2000`);
        made.exec(`INSERT INTO part ${ENDLESS} SELECT a, 'm', 's', 1, '{"type":"text"}' FROM r LIMIT 2000`);
      },
      'its rows have more than 65 MiB',
    ],
  ])('of which a table %s is left out, and the rest is read', async (_, make, reason) => {
    const { path, read } = database(make);
    expect(await read()).toMatchObject({
      files: 2,
      rejected: 0,
      leftOut: [`${path} is left out, because ${reason}.`],
    });
    // It isn't known as read.
    expect(await read()).toMatchObject({ files: 1 });
  });

  test.each(['', '-wal', '-journal'])('is left out if opencode.db%s is a pipe', async (ending) => {
    const { path, read } = database((made) => made.exec(MESSAGES));
    rmSync(`${path}${ending}`, { force: true });
    pipe(`${path}${ending}`);
    expect((await read()).leftOut).toEqual([
      `${path}${ending} is left out, because it is a pipe and not a file.`,
    ]);
  });

  test('that takes for ever keeps nobody from the store, and is left when the service stops', async () => {
    const { at, read } = database((made) => {
      made.exec('CREATE TABLE message (id TEXT, session_id TEXT, time_updated INT)');
      made.exec(`INSERT INTO message ${ENDLESS} SELECT a, 's', 1 FROM r LIMIT 10000`);
      made.exec('ALTER TABLE message ADD COLUMN data TEXT AS (hex(zeroblob(30000000 + id)))');
    });
    // It is the only file.
    rmSync(at('ses_1.json'));
    const stopping = new AbortController();
    let isRead = false;
    const reading = read(stopping.signal).finally(() => {
      isRead = true;
    });
    reading.catch(() => undefined);
    expect(await world.send([event('meanwhile')], { orgId: 'others' })).toMatchObject({ accepted: 1 });
    expect(isRead).toBe(false);
    stopping.abort(new Error('the service stops'));
    await expect(reading).rejects.toThrow('the service stops');
  });
});

describe('a process of its own', () => {
  const program = (text: string) => {
    const path = join(temporaryFolder(), 'program.cjs');
    writeFileSync(path, text);
    return path;
  };
  const limits = { seconds: 60, idleSeconds: 60, memoryMb: 512, progress: () => 0 };

  test('answers, or is ended at its limits', async () => {
    const echo = program("process.on('message', (job) => process.send({ got: job }))");
    expect(await inOwnProcess(echo, { a: 1 }, limits)).toEqual({ got: { a: 1 } });
    const endless = program("process.on('message', () => { for (;;); })");
    await expect(inOwnProcess(endless, {}, { ...limits, seconds: 1 })).rejects.toThrow(
      'reading it takes more than 1 seconds',
    );
    await expect(inOwnProcess(endless, {}, { ...limits, idleSeconds: 1 })).rejects.toThrow(
      'reading it takes 1 seconds without a result',
    );
    let steps = 0;
    const moving = { ...limits, seconds: 3, idleSeconds: 1, progress: () => ++steps };
    await expect(inOwnProcess(endless, {}, moving)).rejects.toThrow('more than 3 seconds');
    const greedy = program(
      "const all = []; process.on('message', () => { for (;;) all.push(Buffer.alloc(1 << 20, 1)); })",
    );
    await expect(inOwnProcess(greedy, {}, limits)).rejects.toThrow(/memory|ended/);
    const dead = program("process.on('message', () => process.exit(3))");
    await expect(inOwnProcess(dead, {}, limits)).rejects.toThrow('ended with 3');
  });

  test.skipIf(process.platform !== 'linux')('that reads a database ends with its parent', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'opencode.db');
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE row (n INT); INSERT INTO row VALUES (1)');
    database.close();
    const request = {
      ...{ path, since: 0, spool: join(folder, 'rows'), limitBytes: 1000 },
      statement: `WITH RECURSIVE r (a) AS (SELECT n FROM row UNION ALL SELECT a + 1 FROM r) SELECT 'x' AS line, a AS updated_at FROM r WHERE a < :since`,
    };
    const reader = join(PACKAGE_ROOT, 'dist', 'store', 'sqlite-process.js');
    const parent = program(
      `const child = require('node:child_process').fork(${JSON.stringify(reader)});
      child.send(${JSON.stringify(request)});
      console.log(child.pid);`,
    );
    const parentProcess = spawn(process.execPath, [parent], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [pid] = (await once(parentProcess.stdout, 'data')) as [Buffer];
    await until(() => existsSync(request.spool));
    parentProcess.kill('SIGKILL');
    // Nobody may be there who asks what became of it.
    const stateOf = () => readFileSync(`/proc/${Number(pid)}/stat`, 'utf8');
    await until(() => !existsSync(`/proc/${Number(pid)}`) || / Z /.test(stateOf()));
  });
});
