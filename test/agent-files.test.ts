import { mkdirSync, readFileSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CLAUDE_CODE, CODEX, OPENCLAW, OPENCODE, QWEN_CODE } from '../src/ingest/source.js';
import { readSql } from '../src/store/sql-text.js';
import { caseOf, write } from './agent-cases.js';
import { playsSlow } from './slow.js';
import { ending, undoing, World } from './world.js';

/** Tests of agents' files that a folder of test/agents can't hold: what is around them, how large they are, who has them open. */

let world: World;
const atEnd = ending();
beforeAll(async () => {
  world = await World.create({}, atEnd);
});

async function columnOf(orgId: string, column: string): Promise<unknown[]> {
  const rows = await world.store.select(
    `SELECT ${column} FROM events WHERE org_id = $org_id AND type = 'user_message' ORDER BY occurred_at, event_id`,
    { org_id: orgId },
  );
  return rows.flatMap((row) => Object.values(row));
}

const AT = '2026-06-10T10:00:';

/** A prompt of Claude Code, some seconds after ten. */
function prompt(second: number, more: object): string {
  const message = { role: 'user', content: 'x' };
  const timestamp = `${AT}0${second}.000Z`;
  return `${JSON.stringify({ type: 'user', uuid: String(second), timestamp, sessionId: 'morning', message, ...more })}\n`;
}

describe('a transcript of Claude Code', () => {
  const tell = (orgId: string, lines: readonly string[]) =>
    world.ingest([world.file('t.jsonl', lines.join(''))], { orgId, source: CLAUDE_CODE, userId: 'ada' });

  test('has the repository of the checkout in cwd, where this machine has it', async () => {
    const cwd = join(world.folder, 'engine');
    const url = 'https://git.acme.example/engine.git';
    const remote = `[remote "origin"]\n\turl = ${url.replace('//', '//ci:secret@')}\n`;
    write(cwd, [['.git/config', remote]]);
    const folders = [cwd, join(cwd, 'src'), undefined, cwd];
    await tell(
      'repo',
      folders.map((folder, second) => prompt(second, { cwd: folder })),
    );
    expect(await columnOf('repo', 'repo')).toEqual([url, null, null, url]);
    // Events say it themselves: those of other machines must not look at this one's folders.
    const event = { type: 'user_message', timestamp: `${AT}01Z`, user_id: 'ada', session_id: 's' };
    await world.send([{ ...event, event_id: 'e1', cwd }], { orgId: 'canonical' });
    expect(await columnOf('canonical', 'repo')).toEqual([null]);
  });

  test('has the branch of the checkout where lines name none, since it was checked out', async () => {
    const cwd = join(world.folder, 'branched');
    const head = join(cwd, '.git', 'HEAD');
    write(cwd, [['.git/HEAD', 'ref: refs/heads/feature/fast\n']]);
    utimesSync(head, new Date(`${AT}05.000Z`), new Date(`${AT}05.000Z`));
    await tell('branch', [
      prompt(4, { cwd, gitBranch: '' }),
      prompt(5, { cwd, gitBranch: '' }),
      prompt(6, { cwd, gitBranch: 'main' }),
      prompt(7, { cwd: join(cwd, 'gone'), gitBranch: '' }),
    ]);
    expect(await columnOf('branch', 'git_branch')).toEqual([null, 'feature/fast', 'main', null]);
  });

  test('needs little memory for long lines, also for one that is more than the reader takes at once', async () => {
    const { atEnd, undo } = undoing();
    const small = await World.create({ DAYBOOK_MEMORY_MB: '512' }, atEnd);
    const long = (bytes: number) => prompt(1, { message: { role: 'user', content: 'x'.repeat(bytes) } });
    for (const [orgId, text, accepted] of [
      ['many', long(50_000).repeat(1500), 1],
      ['one', long(20 << 20) + prompt(2, {}), 2],
    ] as const) {
      const request = { orgId, source: CLAUDE_CODE, userId: 'ada' };
      const ingested = await small.ingest([small.file('long.jsonl', text)], request);
      expect(ingested).toMatchObject({ accepted, rejected: 0 });
    }
    await undo();
  });
});

/** A JSON value with each of its members, one at a time, replaced by each of some values. */
function spoiled(value: unknown, by: readonly unknown[]): unknown[] {
  if (value === null || typeof value !== 'object') return [...by];
  return Object.entries(value).flatMap(([name, member]) =>
    spoiled(member, by).map((other) =>
      Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other },
    ),
  );
}

test('whatever a member of a rollout holds, the lines around it count', async () => {
  const values = [
    ...[null, true, -1, 1.5, 9e18, 1e300, '', 'x', 'x'.repeat(3000)],
    ...[[], {}, [[{ a: [] }]], { a: 1 }],
  ];
  const files = caseOf(CODEX, 'whole-session').files;
  const rollouts = [1, 3].map((index) => files.get(`2026/06/10/rollout-${index}.jsonl`) ?? '');
  for (const [index, rollout] of rollouts.entries()) {
    const lines = rollout.trimEnd().split('\n');
    write(join(world.folder, 'whole'), [[`${index}.jsonl`, rollout]]);
    for (const [at, line] of lines.entries())
      for (const [number, other] of spoiled(JSON.parse(line), values).entries())
        if (playsSlow() || number % 3 === 0)
          write(join(world.folder, 'spoiled'), [
            [`${index}-${at}-${number}.jsonl`, lines.with(at, JSON.stringify(other)).join('\n')],
          ]);
  }
  for (const orgId of ['whole', 'spoiled'])
    await world.ingest([join(world.folder, orgId)], { orgId, source: CODEX, userId: 'ada' });
  const whole = await columnOf('whole', 'event_id');
  expect(whole).toHaveLength(3);
  expect(await columnOf('spoiled', 'event_id')).toEqual(expect.arrayContaining(whole));
});

test('a sub-agent of Qwen Code is read again with the file of its session, and the other way round', () => {
  for (const ending of ['.jsonl', '.jsonl.gz', '.jsonl.zst'])
    expect(QWEN_CODE.context?.(`/p/chats/morning${ending}`)).toEqual(['/p/subagents/morning']);
  expect(QWEN_CODE.context?.('/p/subagents/morning/agent-1.jsonl')).toEqual([
    '/p/subagents/morning',
    '/p/chats/morning.jsonl',
  ]);
});

describe('a database of opencode', () => {
  const text = caseOf(OPENCODE, 'database').files.get('opencode.db.sql') ?? '';
  const folderOf = (orgId: string) => join(world.folder, orgId);

  /** Makes the database, and leaves it open as opencode does: rows stay in the write-ahead log. */
  function open(orgId: string): DatabaseSyncInstance {
    const path = join(folderOf(orgId), 'opencode.db');
    mkdirSync(dirname(path), { recursive: true });
    const database = new DatabaseSync(path);
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; ${text}`);
    atEnd(() => database.close());
    return database;
  }

  /** Adds a reply without tools, so many seconds after the first one. */
  const reply = (id: string, seconds: number) =>
    `INSERT INTO message SELECT '${id}', session_id, time_updated + ${seconds * 1000},
      json_set(data, '$.time.created', time_updated + ${seconds * 1000}) FROM message WHERE id = 'msg_2'`;

  /** Reads the folder of an organization as the command does. */
  const read = (orgId: string) => {
    const files = inputFiles([folderOf(orgId)], OPENCODE);
    return ingest(world.store, { orgId, source: OPENCODE, userId: 'ada', files }, world.clock);
  };

  test('is read with its write-ahead log while it is written, and stays as it is', async () => {
    const database = open('log');
    const bytes = () =>
      ['opencode.db', 'opencode.db-wal'].map((name) => readFileSync(join(folderOf('log'), name)));
    const before = bytes();
    expect(before[1]?.length).toBeGreaterThan(before[0]?.length ?? 0);
    expect(await read('log')).toMatchObject({ accepted: 14, rejected: 0 });
    expect(bytes()).toEqual(before);
    expect(await read('log')).toMatchObject({ files: 0, unchanged: 1 });
    database.exec(reply('msg_30', 28));
    expect(await read('log')).toMatchObject({ files: 1, accepted: 2 });
  });

  test('is read from its newest rows on when it has changed', async () => {
    const database = open('newest');
    database.exec(reply('msg_5', 3600));
    expect(await read('newest')).toMatchObject({ accepted: 16 });
    database.exec(reply('msg_6', 3700));
    // A row of an hour before isn't read again, one of minutes before is.
    expect(await read('newest')).toMatchObject({ accepted: 2, duplicates: 2 });
    database.exec(`INSERT INTO part SELECT 'prt_late', 'msg_5', time_updated + 3800000,
      json_set(data, '$.callID', 'late') FROM part WHERE id = 'prt_msg_2_3'`);
    expect(await read('newest')).toMatchObject({ accepted: 2, duplicates: 4 });
  });

  test('gives no text of prompts, answers, files and outputs to the data folder', () => {
    const words = /Please greet|I greet them|good morning|what the tool printed/;
    const rows = open('words').prepare(readSql('source/opencode/sqlite/rows.sql')).all({ since: 0 });
    expect(text).toMatch(words);
    expect(JSON.stringify(rows)).not.toMatch(words);
  });

  test('is read once, not once for each message, also without an index of parts', () => {
    const statement = readSql('source/opencode/sqlite/rows.sql');
    const plan = open('plan').prepare(`EXPLAIN QUERY PLAN ${statement}`).all({ since: 0 });
    const repeated = plan.filter(({ detail }) => String(detail).startsWith('CORRELATED'));
    expect(repeated.length).toBeGreaterThan(0);
    const scanned = plan.filter(
      ({ parent, detail }) =>
        repeated.some(({ id }) => id === parent) && /^SCAN (part|message)/.test(String(detail)),
    );
    expect(scanned).toEqual([]);
  });

  test('that is damaged is told of as long as it is', async () => {
    write(folderOf('damaged'), caseOf(OPENCODE, 'damaged-databases').files);
    expect(await read('damaged')).toMatchObject({ files: 3, accepted: 2, rejected: 3 });
    expect(await read('damaged')).toMatchObject({ files: 3, accepted: 0, rejected: 3 });
  });
});

describe('a database of OpenClaw', () => {
  const statement = readSql('source/pi/sqlite/rows.sql');

  /** A database of a case, as SQLite has it without the process that reads databases. */
  function open(name: string): DatabaseSyncInstance {
    const database = new DatabaseSync(':memory:');
    const [text = ''] = caseOf(OPENCLAW, name).files.values();
    database.exec(text);
    database.function('unzstd', (_packed: unknown) => null);
    atEnd(() => database.close());
    return database;
  }

  test('gives no text of prompts, answers and files to the data folder', () => {
    const words = /Ask the helper|I will look|def greet|hello, you|zweieinhalb/;
    const rows = open('whole-session').prepare(statement).all({ since: 0 });
    expect(caseOf(OPENCLAW, 'whole-session').files.values().next().value).toMatch(words);
    expect(rows).toHaveLength(32);
    expect(JSON.stringify(rows)).not.toMatch(words);
  });

  test('gives whole sessions, but only those that have changed', () => {
    const database = open('sub-agent-and-packed-lines');
    const sessionsOf = (since: number) =>
      database
        .prepare(
          `SELECT line ->> '$.sessionId' AS id, count(*) AS n FROM (${statement}) WHERE line <> 'damaged' GROUP BY id`,
        )
        .all({ since })
        .map(({ id, n }) => [String(id).at(-1), n]);
    expect(sessionsOf(0)).toEqual([
      ['1', 3],
      ['2', 3],
    ]);
    expect(sessionsOf(1_780_214_406_000)).toEqual([['1', 3]]);
  });
});
