import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import { ingest as ingestFiles } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { OPENCODE } from '../src/ingest/source.js';
import { readSql } from '../src/store/sql-text.js';
import { expectSameHoweverGrown } from './grown-files.js';
import { expectNoText } from './private-text.js';
import { countsOf, EVENT, readTruth, testSamples, usageOf } from './samples.js';
import { ending, World } from './world.js';

const AT = Date.parse('2026-06-10T10:00:00.000Z');

interface Part {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Message {
  readonly info: { readonly id: string; readonly time: { readonly created: number }; readonly role: string };
  readonly parts: readonly Part[];
}

interface Session {
  readonly info: { readonly id: string; readonly parentID?: string; readonly directory: string };
  readonly messages: readonly Message[];
}

const text = (more: object = {}): Part => ({ type: 'text', text: 'Please greet whoever asks.', ...more });

function prompt(seconds: number, parts: readonly Part[] = [text()], more: object = {}): Message {
  const time = { created: AT + seconds * 1000 };
  return { info: { id: `msg_${seconds}`, role: 'user', time, ...more }, parts };
}

const TOKENS = { input: 100, output: 20, reasoning: 5, cache: { read: 3000, write: 40 } };

function answer(seconds: number, parts: readonly Part[] = [], more: object = {}): Message {
  const created = AT + seconds * 1000;
  return {
    info: {
      id: `msg_${seconds}`,
      role: 'assistant',
      agent: 'build',
      modelID: 'glm-5',
      path: { cwd: '/home/ada/engine/src' },
      time: { created, completed: created + 900 },
      finish: 'stop',
      tokens: TOKENS,
      ...more,
    } as Message['info'],
    parts: [text({ text: 'I greet them all, as you have asked.' }), ...parts],
  };
}

function tool(name: string, input: object, metadata: object = {}, more: object = {}): Part {
  const time = { start: AT + 5000, end: AT + 7500 };
  const state = { status: 'completed', input, output: 'what the tool printed', metadata, time, ...more };
  return { type: 'tool', tool: name, callID: `call_${name}`, state };
}

const session = (messages: readonly Message[], more: object = {}): Session => ({
  info: { id: 'ses_1', directory: '/home/ada/engine', version: '1.18.4', ...more } as Session['info'],
  messages,
});

const SESSION = session([
  prompt(1),
  answer(2, [
    tool('write', { filePath: '/e/new.py', content: 'print("good morning")' }, { exists: false }),
    tool('edit', { filePath: '/e/old.py' }, { filediff: { additions: 4, deletions: 1 } }),
    tool('bash', { command: 'git commit -m "Greet"' }, { exit: 0 }, { output: '[main 0123abc] Greet' }),
  ]),
  prompt(3, [text({ synthetic: true })]),
  answer(4, [tool('invalid', {}), tool('skill', { name: 'review' })], { agent: 'plan' }),
]);

const WORDS = /Please greet|I greet them|good morning|what the tool printed/;

let world: World;
const atEnd = ending();
beforeAll(async () => {
  world = await World.create({}, atEnd);
});

let organizations = 0;
const newOrganization = () => `org-${++organizations}`;

/** Writes a file below the folder of an organization. */
function put(orgId: string, name: string, content: unknown): void {
  const path = join(world.folder, orgId, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}

/** Reads the folder of an organization as the command does. */
async function read(orgId: string) {
  const files = inputFiles([join(world.folder, orgId)], OPENCODE);
  return ingestFiles(world.store, { orgId, source: OPENCODE, userId: 'ada', files }, world.clock);
}

/** Takes in a session as its export, of a new organization, and answers whose it is. */
async function exported(one: Session): Promise<string> {
  const orgId = newOrganization();
  put(orgId, `${one.info.id}.json`, one);
  await read(orgId);
  return orgId;
}

async function eventsOf(orgId: string, columns = EVENT, type = '%'): Promise<unknown[]> {
  const rows = await world.store.select(
    `SELECT ${columns} FROM events WHERE org_id = $org_id AND type LIKE $type ORDER BY occurred_at, event_id`,
    { org_id: orgId, type },
  );
  return rows.map((row) => Object.values(row));
}

/** Creates opencode's database, and leaves it open as opencode does: what is written stays in the write-ahead log. */
function openDatabase(orgId: string, name = 'opencode.db'): DatabaseSyncInstance {
  mkdirSync(join(world.folder, orgId), { recursive: true });
  const database = new DatabaseSync(join(world.folder, orgId, name));
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA wal_autocheckpoint = 0;
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, version TEXT NOT NULL);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL)`);
  atEnd(() => database.close());
  return database;
}

/** Writes a session into opencode's database, with the times of its messages unless others are given. */
function store(database: DatabaseSyncInstance, { info, messages }: Session, updated?: number): void {
  const { id, parentID = null, directory } = info;
  database
    .prepare('INSERT OR IGNORE INTO session VALUES (?, ?, ?, ?)')
    .run(id, parentID, directory, '1.18.4');
  for (const { info: data, parts } of messages) {
    const at = updated ?? data.time.created;
    const message = database.prepare('INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?)');
    message.run(data.id, id, at, JSON.stringify({ ...data, id: undefined }));
    const part = database.prepare('INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?)');
    for (const [index, one] of parts.entries())
      part.run(`prt_${data.id}_${index}`, data.id, at, JSON.stringify(one));
  }
}

describe('a session', () => {
  test('has a usage and a reply per answer, with reasoning in the output', async () => {
    const orgId = await exported(session([answer(1), answer(2, [], { tokens: undefined, error: {} })]));
    const usage = 'event_id, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens';
    expect(await eventsOf(orgId, usage, 'model_usage')).toEqual([
      [`usage:${AT + 1000}:glm-5:100:20:3000`, 'glm-5', 100, 25, 3000, 40],
    ]);
    expect(await eventsOf(orgId, 'event_id, cwd, agent_version', 'assistant_message')).toEqual([
      [`message:${AT + 1000}:glm-5`, '/home/ada/engine/src', '1.18.4'],
      [`message:${AT + 2000}:glm-5`, '/home/ada/engine/src', '1.18.4'],
    ]);
  });

  test('has a turn for each text or file of a person, and none in the session of a sub-agent', async () => {
    const messages = [
      prompt(1),
      prompt(2, [{ type: 'file' }]),
      prompt(3, [text({ synthetic: true }), text({ ignored: true })]),
      prompt(4, []),
    ];
    expect((await eventsOf(await exported(session(messages)), 'event_id', 'user_message')).length).toBe(2);
    const helper = session(messages, { parentID: 'ses_0' });
    expect(await eventsOf(await exported(helper), 'event_id', 'user_message')).toEqual([]);
  });

  test('has tool calls that succeed if the exit code says so', async () => {
    const orgId = await exported(
      session([
        answer(1, [
          tool('bash', { command: 'false' }, { exit: 1 }),
          tool('edit', {}, {}, { status: 'error' }),
          tool('grep', {}),
          tool('invalid', {}),
          tool('task', {}, {}, { status: 'running', time: { start: AT } }),
        ]),
      ]),
    );
    expect(await eventsOf(orgId, 'tool_name, success, duration_ms', 'tool_call')).toEqual([
      ['bash', false, 2500],
      ['edit', false, 2500],
      ['grep', true, 2500],
      ['invalid', false, 2500],
      ['task', null, null],
    ]);
  });

  test('has files with their operation and lines, and none of a tool that failed', async () => {
    const patch = [
      { filePath: '/e/a', type: 'add', additions: 3, deletions: 0 },
      { filePath: '/e/b', movePath: '/e/c', type: 'move', additions: 1, deletions: 1 },
      { filePath: '/e/d', type: 'delete', additions: 0, deletions: 9 },
    ];
    const orgId = await exported(
      session([
        answer(1, [
          tool('write', { filePath: '/e/new' }, { exists: false }),
          { ...tool('write', { filePath: '/e/old' }, { exists: true }), callID: 'call_again' },
          tool('edit', { filePath: '/e/x' }, { filediff: { additions: 4, deletions: 1 } }),
          { ...tool('edit', { filePath: '/e/y' }, {}, { status: 'error' }), callID: 'call_failed' },
          tool('apply_patch', {}, { files: patch }),
        ]),
      ]),
    );
    const files = await eventsOf(orgId, 'path, operation, lines_added, lines_removed', 'file_change');
    expect(files.sort()).toEqual([
      ['/e/a', 'create', 3, 0],
      ['/e/c', 'edit', 1, 1],
      ['/e/new', 'create', null, null],
      ['/e/old', 'edit', null, null],
      ['/e/x', 'edit', 4, 1],
    ]);
  });

  test('has commits and pull requests of shell commands that succeeded', async () => {
    const output = 'https://github.com/acme/engine/pull/7';
    const orgId = await exported(
      session([
        answer(1, [
          tool('bash', { command: 'git commit -m x' }, { exit: 0 }, { output: '[main 0123abc] x' }),
          { ...tool('bash', { command: 'git commit -m y' }, { exit: 1 }), callID: 'call_failed' },
          { ...tool('bash', { command: 'gh pr create --fill' }, { exit: 0 }, { output }), callID: 'call_pr' },
        ]),
      ]),
    );
    expect(await eventsOf(orgId, 'commit_sha', 'git_commit')).toEqual([['0123abc']]);
    expect(await eventsOf(orgId, 'url', 'pull_request')).toEqual([[output]]);
  });

  test('has the mode spec as long as its agent plans, and skills', async () => {
    const orgId = await exported(SESSION);
    const replies = await eventsOf(orgId, 'autonomy_mode', 'assistant_message');
    expect(replies).toEqual([[null], ['spec']]);
    expect(await eventsOf(orgId, 'skill_name', 'skill_use')).toEqual([['review']]);
  });

  test('counts once, though forks copy its messages under new ids', async () => {
    const orgId = await exported(SESSION);
    const before = await eventsOf(orgId, 'event_id');
    const copies = SESSION.messages.map(({ info, parts }) => ({
      info: { ...info, id: `fork_${info.id}` },
      parts,
    }));
    put(orgId, 'ses_2.json', session([...copies, answer(9)], { id: 'ses_2' }));
    await read(orgId);
    expect((await eventsOf(orgId, 'event_id')).length).toBe(before.length + 2);
  });
});

describe('an export, the files of older versions and the database', () => {
  test('give the same events', async () => {
    const expected = await eventsOf(await exported(SESSION));
    expect(expected.length).toBe(14);
    const stored = newOrganization();
    put(stored, 'storage/session/project/ses_1.json', SESSION.info);
    put(stored, 'storage/session_diff/ses_1.json', []);
    for (const { info, parts } of SESSION.messages) {
      put(stored, `storage/message/ses_1/${info.id}.json`, { ...info, sessionID: 'ses_1' });
      for (const [index, part] of parts.entries())
        put(stored, `storage/part/${info.id}/prt_${index}.json`, part);
    }
    expect(await read(stored)).toMatchObject({ files: 4, rejected: 0 });
    expect(await eventsOf(stored)).toEqual(expected);
    const inDatabase = newOrganization();
    store(openDatabase(inDatabase), SESSION);
    expect(await read(inDatabase)).toMatchObject({ files: 1, rejected: 0 });
    expect(await eventsOf(inDatabase)).toEqual(expected);
  });

  test('are read again when a part of a message changes', async () => {
    const orgId = newOrganization();
    put(orgId, 'storage/message/ses_1/msg_1.json', { ...answer(1).info, sessionID: 'ses_1' });
    await read(orgId);
    expect(await read(orgId)).toMatchObject({ files: 0, unchanged: 1 });
    put(orgId, 'storage/part/msg_1/prt_1.json', tool('grep', {}));
    expect(await read(orgId)).toMatchObject({ files: 1, accepted: 1 });
  });
});

describe('a database', () => {
  test('is read with its write-ahead log while it is written, and stays as it is', async () => {
    const orgId = newOrganization();
    const database = openDatabase(orgId);
    store(database, SESSION);
    const bytes = () =>
      ['opencode.db', 'opencode.db-wal'].map((name) => readFileSync(join(world.folder, orgId, name)));
    const before = bytes();
    expect(before[1]?.length).toBeGreaterThan(before[0]?.length ?? 0);
    expect(await read(orgId)).toMatchObject({ accepted: 14, rejected: 0 });
    expect(bytes()).toEqual(before);
    expect(await read(orgId)).toMatchObject({ files: 0, unchanged: 1 });
    store(database, session([answer(30)]));
    expect(await read(orgId)).toMatchObject({ files: 1, accepted: 2 });
  });

  test('is read from its newest rows on when it has changed', async () => {
    const orgId = newOrganization();
    const database = openDatabase(orgId);
    store(database, session([answer(1), answer(2)]), AT);
    store(database, session([answer(3)]), AT + 3_600_000);
    expect(await read(orgId)).toMatchObject({ accepted: 6 });
    store(database, session([answer(4)]), AT + 3_700_000);
    // A row of an hour before isn't read again, one of minutes before is.
    expect(await read(orgId)).toMatchObject({ accepted: 2, duplicates: 2 });
    const part = JSON.stringify(tool('grep', {}));
    database.prepare('INSERT INTO part VALUES (?, ?, ?, ?)').run('prt_late', 'msg_1', AT + 3_800_000, part);
    expect(await read(orgId)).toMatchObject({ accepted: 1, duplicates: 6 });
  });

  test('gives no text of prompts, answers, files and outputs to the data folder', () => {
    const database = openDatabase(newOrganization());
    store(database, SESSION);
    const rows = database.prepare(readSql('source/opencode/sqlite/rows.sql')).all({ since: 0 });
    expect(JSON.stringify(SESSION)).toMatch(WORDS);
    expect(JSON.stringify(rows)).not.toMatch(WORDS);
  });

  test('is read once, not once for each message, also without an index of parts', () => {
    const statement = readSql('source/opencode/sqlite/rows.sql');
    const plan = openDatabase(newOrganization()).prepare(`EXPLAIN QUERY PLAN ${statement}`).all({ since: 0 });
    const repeated = plan.filter(({ detail }) => String(detail).startsWith('CORRELATED'));
    expect(repeated.length).toBeGreaterThan(0);
    const scanned = plan.filter(
      ({ parent, detail }) =>
        repeated.some(({ id }) => id === parent) && /^SCAN (part|message)/.test(String(detail)),
    );
    expect(scanned).toEqual([]);
  });

  test('that is damaged is rejected, and what can be read of it counts', async () => {
    const orgId = newOrganization();
    const database = openDatabase(orgId);
    store(database, session([answer(1)]));
    database.exec(`INSERT INTO message VALUES ('msg_0', 'ses_1', ${AT}, '{')`);
    put(orgId, 'opencode-beta.db', 'no database');
    const foreign = new DatabaseSync(join(world.folder, orgId, 'opencode-two.db'));
    foreign.exec('CREATE TABLE other (id)');
    foreign.close();
    const { accepted, examples } = await read(orgId);
    expect(accepted).toBe(2);
    const detail = 'The database must be one that SQLite can read, with the tables of its agent.';
    expect(examples.map((one) => [one.source.split('/').at(-1), one.detail])).toEqual([
      ['opencode-beta.db', detail],
      ['opencode-two.db', detail],
      ['opencode.db', detail],
    ]);
    // It is told of again as long as it is damaged.
    expect(await read(orgId)).toMatchObject({ files: 3, rejected: 3 });
  });
});

test('a document of another kind is rejected', async () => {
  const orgId = newOrganization();
  put(orgId, 'ses_1.json', { title: 'no session' });
  const { examples } = await read(orgId);
  expect(examples.map(({ detail }) => detail)).toEqual(['messages is required.']);
});

/** A session as it is written: a tool's start moves while it runs, and an older version's tokens grow. */
function grown(): string[] {
  const running = (start: number) =>
    tool('bash', { command: 'sleep 9' }, {}, { status: 'running', time: { start: AT + start } });
  const unfinished = { time: { created: AT + 2000 }, finish: undefined };
  return [
    [prompt(1)],
    [prompt(1), answer(2, [running(100)], { ...unfinished, tokens: { input: 0, output: 0 } })],
    [prompt(1), answer(2, [running(200)], { ...unfinished, tokens: { ...TOKENS, output: 3 } })],
    SESSION.messages,
  ].map((messages) => JSON.stringify(session(messages)));
}

test('a session that is read as it is written has each event once', async () => {
  const orgId = newOrganization();
  for (const version of grown()) {
    put(orgId, 'ses_1.json', version);
    await read(orgId);
  }
  expect(await eventsOf(orgId)).toEqual(await eventsOf(await exported(SESSION)));
});

test('sessions give the same however they grew', async () => {
  const fork = JSON.stringify(session(SESSION.messages, { id: 'ses_2' }));
  await expectSameHoweverGrown(world, OPENCODE, [
    { name: 'ses_1.json', versions: grown() },
    { name: 'ses_2.json', versions: [fork] },
  ]);
});

test('no text of prompts, answers, files and outputs is stored', async () => {
  const world = await World.create();
  const file = world.file('ses_1.json', JSON.stringify(SESSION));
  const database = new DatabaseSync(join(world.folder, 'opencode.db'));
  database.exec('CREATE TABLE session (id, parent_id, directory, version)');
  database.exec('CREATE TABLE message (id, session_id, time_updated, data)');
  database.exec('CREATE TABLE part (id, message_id, time_updated, data)');
  store(database, SESSION);
  database.close();
  const paths = [file, join(world.folder, 'opencode.db')];
  expect(await world.ingest(paths, { source: OPENCODE, userId: 'ada' })).toMatchObject({ accepted: 14 });
  await world.build();
  await expectNoText(world, [SESSION], ['/e/new.py', '/e/old.py']);
});

describe('real sessions', () => {
  const totalsOf = async (folder: string) => {
    const orgId = newOrganization();
    const world = await World.create();
    world.now = Date.parse('2026-12-01T00:00:00Z');
    const { rejected } = await world.ingest([folder], { orgId, source: OPENCODE, userId: 'ada' });
    expect(rejected).toBe(0);
    return { usage: await usageOf(world, orgId), counts: await countsOf(world, orgId) };
  };

  testSamples('transcripts/opencode', 'of a public project count as they should', async (folder) => {
    expect(await totalsOf(folder)).toEqual({
      usage: {
        '2026-07-21 mimo-v2.5-free': [73, 67951, 1821696, 23581],
        '2026-07-22 deepseek-v4-flash-free': [4, 13529, 40064, 1021],
        '2026-07-22 mimo-v2.5-free': [33, 31309, 590208, 7957],
        '2026-07-23 mimo-v2.5-free': [69, 75253, 1649600, 15295],
        '2026-07-24 ling-3.0-flash-free': [12, 38622, 168192, 2161],
        '2026-07-24 mimo-v2.5-free': [6, 14803, 63552, 1495],
        '2026-07-26 mimo-v2.5-free': [37, 60275, 708416, 7609],
        '2026-07-28 ling-3.0-flash-free': [33, 91396, 881280, 13245],
        '2026-07-28 mimo-v2.5-free': [22, 28086, 461120, 4962],
        '2026-08-04 deepseek-v4-flash-free': [4, 17136, 9088, 1226],
      },
      // opencode calls 6 tool calls an error. The other 12 are shell commands that exited with another code than 0.
      counts: {
        turns: 38,
        replies: 300,
        tool_calls: 382,
        failed_tool_calls: 18,
        files_created: 14,
        files_edited: 86,
        commits: 0,
        pull_requests: 0,
      },
    });
  });

  testSamples(
    'captures/opencode',
    'that were recorded have all that happened, but for titles',
    async (folder) => {
      const truths = ['edit-commit', 'fork', 'otel'].map((name) => readTruth(join(folder, name)));
      const sum = (of: (truth: (typeof truths)[number]) => number) =>
        truths.reduce((total, truth) => total + of(truth), 0);
      const total = (name: 'calls' | 'input_uncached' | 'cached' | 'output') =>
        sum(({ totals }) => totals.main[name]);
      const expected = {
        usage: {
          '2026-11-22 stub-1': [total('calls'), total('input_uncached'), total('cached'), total('output')],
        },
        counts: {
          turns: sum((truth) => truth.person_turns.length),
          replies: total('calls'),
          tool_calls: sum((truth) => truth.tool_calls.length),
          failed_tool_calls: sum(
            (truth) => truth.tool_calls.filter(({ success }) => success === false).length,
          ),
          files_created: sum((truth) => truth.files_created.length),
          files_edited: sum((truth) => truth.files_edited.length),
          commits: sum((truth) => truth.commits.length),
          pull_requests: 0,
        },
      };
      const sessions = readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.json') && path.includes('export'))
        // The first run of the recording otel isn't in its truth.
        .filter((path) => !path.endsWith('ses_dfaeb2d80ffejjp32F1E64ozEl.json'));
      const world = await World.create();
      world.now = Date.parse('2026-12-01T00:00:00Z');
      const read = (orgId: string, paths: readonly string[]) =>
        world.ingest(
          paths.map((path) => join(folder, path)),
          { orgId, source: OPENCODE, userId: 'ada' },
        );
      await read('exports', sessions);
      expect({ usage: await usageOf(world, 'exports'), counts: await countsOf(world, 'exports') }).toEqual(
        expected,
      );
      // The database has these sessions and two others.
      await read('database', ['db']);
      const [others] = await world.store.select(
        `SELECT count(*) AS missing FROM (
        SELECT ${EVENT} FROM events WHERE org_id = 'exports'
        EXCEPT SELECT ${EVENT} FROM events WHERE org_id = 'database')`,
      );
      expect(others).toEqual({ missing: 0 });
    },
  );
});
