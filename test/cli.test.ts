import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { addDays, dayOf } from '../src/day.js';
import { DATABASE } from '../src/disk/data-files.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { expectPage } from './page.js';
import { CLI, daybook, keyOf, runHere, served, start, TODAY } from './program.js';
import { temporaryFolder } from './world.js';

const [DAY, DAY_AFTER] = [addDays(TODAY, -3), addDays(TODAY, -2)];

const event = (id: string, more: object = {}) =>
  JSON.stringify({
    event_id: id,
    type: 'user_message',
    timestamp: `${DAY}T10:00:00Z`,
    user_id: 'ada',
    session_id: 's',
    ...more,
  });

/** Makes a data folder with a database without events. */
function dataFolder(folder: string): string {
  const data = join(folder, 'data');
  mkdirSync(data);
  copyFileSync(inject('emptyDatabase'), join(data, DATABASE));
  return data;
}

/** One for all tests that only need one. */
let used: string;
beforeAll(() => {
  used = dataFolder(temporaryFolder(afterAll));
});

test('the built program is executable, as `npx daybook` needs it', () => {
  expect(execFileSync(CLI, ['--version'], { encoding: 'utf8' })).toMatch(
    /^\d+\.\d+\.\d+( \([0-9a-f]{12}\))?\n$/,
  );
});

test('what only reads makes no database, and says so', async () => {
  const folder = join(temporaryFolder(), 'typo');
  for (const command of [['status'], ['build'], ['keys', 'list']]) {
    const { code, stderr } = await runHere(['--data', folder, ...command]);
    expect(stderr).toMatch(/^There is no database in .*typo: "daybook ingest" creates one.*\n$/);
    expect(code).toBe(2);
  }
  expect(existsSync(folder)).toBe(false);
});

test('migrate makes the tables, or says that a service has', async () => {
  const data = join(temporaryFolder(), 'new', 'data');
  const migrate = () => runHere(['--data', data, 'migrate']);
  expect(await migrate()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^The store is up to date/),
  });
  expect(existsSync(join(data, DATABASE))).toBe(true);
  await served(data);
  expect(await migrate()).toMatchObject({
    code: 0,
    stdout: `The service on ${data} brought the store up to date when it started.\n`,
  });
});

test('a folder that is none, or that only pretends to be one, is a mistake of use', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  const paths = [
    join(folder, 'file'),
    join(folder, 'file', 'x'),
    ...(existsSync('/proc/self') ? ['/proc/x/y'] : []),
  ];
  for (const path of paths) {
    const { code, stderr } = await runHere([
      '--data',
      path,
      'keys',
      'create',
      '--org',
      'a',
      '--role',
      'guest',
    ]);
    expect(stderr).toMatch(
      /^Daybook can't write to .*: change its permissions, or choose another folder with --data or DAYBOOK_DATA\.\n$/,
    );
    expect(code).toBe(2);
  }
});

test('a new key is alone on standard output, and what is odd about it beside that', async () => {
  const data = dataFolder(temporaryFolder());
  const create = (...args: string[]) => runHere(['--data', data, 'keys', 'create', '--org', 'acme', ...args]);
  const first = await create('--role', 'owner');
  expect(first.stdout).toMatch(/^dbk_[\w-]+\n$/);
  expect(first.stderr).toMatch(
    /^This is key key_\w+, owner of acme\. It is shown only once\.\nThe organization acme is new\.\n$/,
  );
  const second = await create('--role', 'member', '--user', 'ada');
  expect(second.stderr).toMatch(/^This is key \S+ member of acme\. It is shown only once\.\n$/);
});

describe('organizations and keys', () => {
  const start = () => {
    const data = dataFolder(temporaryFolder());
    const here = (...args: string[]) => runHere(['--data', data, ...args]);
    return { data, here, create: (...args: string[]) => here('keys', 'create', ...args) };
  };

  test('a key that would see nothing, and an organization that looks like a typo, are refused', async () => {
    const { here, create } = start();
    expect(await create('--org', 'acme', '--role', 'member')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'A key of role member needs --user: without one it would see and send nothing.\n',
    });
    await create('--org', 'acme', '--role', 'owner');
    expect(await create('--org', 'acmee', '--role', 'owner')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'There is no organization acmee, but acme: correct --org, or add --new to make another.\n',
    });
    expect((await create('--org', 'globex', '--role', 'owner')).stderr).toContain(
      'The organization globex is new.',
    );
    const listed = JSON.parse((await here('organizations', '--json')).stdout);
    expect(listed.map(({ created_at: _, ...one }: { created_at: number }) => one)).toEqual([
      { org_id: 'acme', valid_keys: 1, is_empty: true },
      { org_id: 'globex', valid_keys: 1, is_empty: true },
    ]);
  });

  test('events go into an organization that looks like a typo only with --new', async () => {
    const { data, here } = start();
    const file = join(data, '..', 'one.ndjson');
    writeFileSync(file, event('e'));
    expect((await here('ingest', '--org', 'acme', file)).code).toBe(0);
    expect((await here('ingest', '--org', 'globex', file)).stdout).toContain('1 accepted');
    expect(await here('ingest', '--org', 'acmee', file)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'There is no organization acmee, but acme: correct --org, or add --new to make another.\n',
    });
    expect((await here('organizations')).stdout).not.toContain('acmee');
    expect((await here('ingest', '--org', 'acmee', '--new', file)).stdout).toContain('1 accepted');
    expect((await here('ingest', '--org', 'acmee', file)).code).toBe(0);
  });

  test('an organization is removed once it has nothing but revoked keys', async () => {
    const { data, here, create } = start();
    await create('--org', 'acme', '--role', 'owner');
    const made = JSON.parse((await create('--org', 'acmee', '--role', 'owner', '--new', '--json')).stdout);
    const remove = (org: string) => here('organizations', 'remove', org);
    expect((await remove('nobody')).stderr).toMatch(/^There is no organization nobody: /);
    expect((await remove('acmee')).stderr).toMatch(/^The organization acmee still has valid keys: /);
    await here('keys', 'revoke', made.key_id);
    expect(await remove('acmee')).toMatchObject({ code: 0, stdout: 'The organization acmee is removed.\n' });
    expect((await here('organizations')).stdout).not.toContain('acmee');
    const file = join(data, '..', 'one.ndjson');
    writeFileSync(file, event('e'));
    await here('ingest', '--org', 'used', file);
    expect((await remove('used')).stderr).toMatch(/^The organization used has events, /);
  });

  test('keys of all users in a file are made together, or none', async () => {
    const { data, here, create } = start();
    const file = join(data, '..', 'users.csv');
    const from = (text: string, ...more: string[]) => {
      writeFileSync(file, text);
      return create('--org', 'acme', '--role', 'member', '--users', file, ...more);
    };
    for (const [text, sentence] of [
      ['', 'must name 1 to 10000 users, not 0'],
      ['ada\nada', 'Line 2 of .* names ada a second time'],
      ['ada,ada@acme.example,x', 'Line 1 of .* must be a user'],
      ['ada,nobody', 'e-mail'],
    ] as const)
      expect(await from(text)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(sentence),
      });
    expect((await from('ada', '--user', 'bob')).stderr).toMatch(/^--users can't be combined with --user/);
    const many = Array.from({ length: 250 }, (_, index) => `user-${index}`);
    const { stdout, stderr } = await from(`\ufeffada,ada@acme.example\r\n\r\n${many.join('\n')}\n`);
    expect(stderr).toMatch(/^These are 251 keys, member of acme\. They are shown only once\.\n/);
    const lines = stdout.trimEnd().split('\r\n');
    expect(lines.map((line) => line.replace(/,dbk_[\w-]{43}$/, ''))).toEqual(['ada', ...many]);
    const listed = JSON.parse((await here('keys', 'list', '--json')).stdout);
    expect(listed).toHaveLength(251);
    expect(listed.find(({ user_id }: { user_id: string }) => user_id === 'ada')).toMatchObject({
      user_email: 'ada@acme.example',
      role: 'member',
      last_used_on: null,
    });
  });
});

test('a report of costs ends in their total, and one of two ranges has both beside each other', async () => {
  const data = dataFolder(temporaryFolder());
  const file = join(data, '..', 'two.ndjson');
  const usage = (name: string, day: string, input_tokens: number) =>
    JSON.stringify({
      event_id: name,
      timestamp: `${day}T09:00:00Z`,
      user_id: 'ada',
      session_id: 's',
      type: 'model_usage',
      model: 'claude-sonnet-4-5',
      input_tokens,
      output_tokens: 0,
    });
  writeFileSync(
    file,
    [usage('a', '2026-06-09', 190_000), usage('b', '2026-06-10', 100_000), usage('c', '2026-06-10', 1)].join(
      '\n',
    ),
  );
  const here = (...args: string[]) => runHere(['--data', data, ...args]);
  await here('ingest', '--org', 'acme', file);
  await here('build');
  const range = ['--from', '2026-06-09', '--to', '2026-06-10'];
  expect((await here('report', 'costs', ...range)).stdout).toContain(
    '\nTotal: 0.87 USD; 0 tokens have no price.\n',
  );
  const day = ['--from', '2026-06-10', '--to', '2026-06-10'];
  const [, head, row] = (await here('report', 'summary', '--compare', 'previous', ...day)).stdout.split('\n');
  expect(head).toMatch(/^cost_usd {2}previous_cost_usd {2}/);
  expect(row).toMatch(/^ *0\.30 +0\.57 /);
});

test('a database that is damaged is named as such', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'daybook.duckdb'), 'no database at all, whatever its name says'.repeat(500));
  const { code, stderr } = await runHere(['--data', folder, 'status']);
  expect(stderr).toMatch(/^The database in .* is damaged: restore a backup with/);
  expect(stderr.split('\n')).toHaveLength(2);
  expect(code).toBe(2);
});

test('what is written into the data folder is for its owner only, and a folder that is not is told of', async () => {
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const folder = temporaryFolder();
  const data = join(folder, 'new', 'data');
  writeFileSync(join(folder, 'one.ndjson'), `${event('1')}\n`);
  const done = await runHere(['--data', data, 'ingest', '--org', 'acme', join(folder, 'one.ndjson')]);
  expect(done.code).toBe(0);
  expect((await runHere(['--data', data, 'build'])).code).toBe(0);
  // A folder whose files nobody else can read, such as `data` in a fresh checkout, is no reason to warn.
  chmodSync(data, 0o755);
  const quiet = await served(data);
  let log = '';
  quiet.child.stderr?.on('data', (part) => {
    log += part;
  });
  quiet.child.kill('SIGTERM');
  await once(quiet.child, 'close');
  expect(log).toBe('');
  // As a copy has it.
  chmodSync(join(data, 'daybook.duckdb'), 0o644);
  const { child } = await served(data);
  const [text] = await once((child.stderr as Readable).setEncoding('utf8'), 'data');
  expect(JSON.parse(text.split('\n')[0]).msg).toBe(
    `Every user of this machine can read the data folder: run "chmod -R go= ${data}" to change that.`,
  );
  const backup = ['--data', data, 'backup', join(folder, 'new', 'backup')];
  expect((await runHere(backup)).code).toBe(0);
  const paths = ['', ...readdirSync(join(folder, 'new'), { recursive: true, encoding: 'utf8' })];
  expect(paths).toEqual(
    expect.arrayContaining([
      'data/daybook.duckdb',
      'data/daybook.sock',
      'data/lake/acme/users',
      'backup/daybook.duckdb',
    ]),
  );
  // What the service has removed meanwhile is open to nobody.
  const modeOf = (path: string) => lstatSync(join(folder, 'new', path), { throwIfNoEntry: false })?.mode ?? 0;
  const open = paths.filter((path) => (modeOf(path) & 0o077) !== 0);
  expect(open).toEqual(['data', 'data/daybook.duckdb']);
});

test('a service warns of a log of which it could not read the end', async () => {
  const data = temporaryFolder();
  const name = 'daybook.duckdb.wal.damaged-20260701T000000Z';
  writeFileSync(join(data, name), '', { mode: 0o600 });
  const { child } = await served(data);
  const [text] = await once((child.stderr as Readable).setEncoding('utf8'), 'data');
  expect(JSON.parse(text.split('\n')[0]).msg).toBe(
    `The end of the database's log could not be read: the log as it was is kept as ${name} in the data folder until you delete it.`,
  );
});

test('settings that are nested too deeply are a mistake of use', async () => {
  const file = join(temporaryFolder(), 'deep.json');
  writeFileSync(file, `{"env":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
  const { code, stderr } = await runHere(['controls', 'set', file, '--org', 'acme']);
  expect(stderr).toMatch(/deep\.json must be nested at most 100 levels deep\.\n$/);
  expect(code).toBe(2);
});

describe('a mistake of use ends with one sentence and exit code 2', () => {
  test.each([
    [['ingest', '--org', 'acme', 'nowhere.ndjson'], 'There is no file or folder'],
    [['ingest', 'x.ndjson'], "Required option '--org <org>' not specified"],
    [['ingest', '--org', 'acme'], 'Name the files or folders to read'],
    [['ingest', '--org', 'a b', '.'], '--org must be'],
    [['ingest', '--org', 'acme', '--source', 'all', '.'], "Paths can't be combined with --source all"],
    [['ingest', '--org', 'acme', '--source', 'emacs', '.'], 'Allowed choices are canonical, claude-code'],
    [['ingest', '--org', 'acme', '--user', 'ada', '.'], "--user can't be combined with --source canonical"],
    [['build', '--from', '2026-02-30'], '--from must be a calendar date as YYYY-MM-DD, not "2026-02-30"'],
    [['build', '--from', '2026-02-03', '--to', '2026-02-01'], '--from must not be after'],
    [['build', '--to', '9999-01-01'], 'have not ended yet'],
    [
      [
        'report',
        'users',
        '--org',
        'acme',
        '--from',
        '2026-06-01',
        '--to',
        '2026-06-02',
        '--group-by',
        'model',
      ],
      '--group-by of users must be agent',
    ],
    [
      [
        'report',
        'productivity',
        '--org',
        'acme',
        '--from',
        '2026-06-01',
        '--to',
        '2026-06-02',
        '--group-by',
        'agent',
      ],
      'productivity has no --group-by',
    ],
    [
      ['report', 'tools', '--org', 'acme', '--from', '2026-06-02', '--to', '2026-06-01'],
      '--from must not be after --to',
    ],
    [
      ['report', 'money', '--org', 'acme', '--from', '2026-06-01', '--to', '2026-06-02'],
      'Allowed choices are tokens',
    ],
    [['keys', 'create', '--org', 'acme', '--role', 'king'], 'Allowed choices are owner'],
    [['keys', 'revoke', 'key_none'], 'There is no key key_none'],
    [['serve', '--port', '70000'], 'DAYBOOK_PORT'],
    [['--nothing'], "Unknown option '--nothing'"],
    [['fly'], "Unknown command 'fly'"],
    [['build', '--all', '--from', '2026-02-01'], "--all can't be combined with --from or --to"],
    [
      ['report', 'users', '--org', 'acme', '--from', '2026-06-01', '--to', '9999-01-01'],
      'have not ended yet (UTC)',
    ],
    [
      ['ingest', '--org', 'acme', '--source', 'claude-code', '--user', 'x'.repeat(129), '.'],
      '--user must have',
    ],
    [['keys', 'create', '--org', 'acme', '--role', 'owner', '--email', 'ada'], '--email must be an e-mail'],
    [
      ['keys', 'create', '--org', 'acme', '--role', 'owner', '--expires', '2020-01-01'],
      '--expires must be today or later',
    ],
    [['ingest', '--org', 'acme', ''], 'A path is empty'],
    [['readiness', 'check', 'nowhere'], 'There is no folder nowhere to check'],
    [['readiness', 'check', '--rules', 'nowhere.json'], "the file can't be read"],
    [['readiness', 'check', '--submit'], 'Give an API key with --key or DAYBOOK_KEY'],
    [['readiness', 'check', '--repo', 'api'], '--repo must be an address'],
    [
      ['readiness', 'check', '--submit', '--key', 'dbk_x'],
      'has no remote origin: give its address with --repo',
    ],
    [['serve', '--prot', '1'], "Unknown option '--prot' (Did you mean --port?)"],
  ])('%j', async (args, sentence) => {
    const { code, stdout, stderr } = await runHere(['--data', used, ...args]);
    expect(stderr).toContain(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test('a store that is wrong, or that nobody can reach, without showing its password', async () => {
    const status = (store: string) => runHere(['status'], { env: { DAYBOOK_STORE: store } });
    for (const store of ['postgres://ada:secret@host/db', 'clickhouse://ada:secret@host', 'x']) {
      expect(await status(store)).toEqual({
        code: 2,
        stdout: '',
        stderr: 'DAYBOOK_STORE must be duckdb or clickhouse://user:password@host:8123/database.\n',
      });
    }
    const { code, stderr } = await status('clickhouse://ada:secret@127.0.0.1:1/daybook');
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^The ClickHouse server http:\/\/127.0.0.1:1 can't be reached \(ECONNREFUSED\): start it, .+\n$/,
    );
  });

  test('a setting that is wrong', async () => {
    const { code, stderr } = await runHere(['status'], { env: { DAYBOOK_HISTORY_START: 'soon' } });
    expect(stderr).toMatch(/^DAYBOOK_HISTORY_START can't be "soon": .*YYYY-MM-DD.*\n$/);
    expect(code).toBe(2);
  });

  test('a rate card that is wrong names the member', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'card.json'), '{"models": [{"id": "m", "tier": "gold", "rates": []}]}');
    const { code, stderr } = await runHere(['keys', 'create', '--org', 'a', '--role', 'guest'], {
      cwd,
      env: { DAYBOOK_RATE_CARD: 'card.json' },
    });
    expect(stderr).toMatch(/card\.json.*models\.0\.tier/);
    expect(code).toBe(2);
  });

  test('a port that is in use', async () => {
    const other = createServer();
    await once(other.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      other.close();
    });
    const address = other.address();
    const port = String(typeof address === 'object' ? address?.port : '');
    const { code, stderr } = await runHere(['--data', used, 'serve', '--port', port]);
    expect(stderr).toContain(`Port ${port} of 127.0.0.1 is in use`);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(75);
  });
});

describe('ingest', () => {
  test('takes files, folders, gzip and standard input, and prints one JSON object', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'one.ndjson'), `${event('1')}\n${event('2')}\n`);
    writeFileSync(join(cwd, 'two.ndjson.gz'), gzipSync(`${event('2')}\n${event('3')}\n`));
    const { code, stdout } = await daybook(['ingest', '--org', 'acme', '--json', '.', '-'], {
      cwd,
      input: `${event('4')}\nnonsense\n`,
    });
    expect(JSON.parse(stdout)).toEqual({
      accepted: 4,
      duplicates: 1,
      rejected: 1,
      mended: 0,
      by_reason: { not_json: 1 },
      unchanged_files: 0,
      unreadable: [],
      seconds: expect.any(Number),
    });
    expect(code).toBe(0);
  });

  test('reads the folder of the source where no path is named', async () => {
    const folder = temporaryFolder();
    dataFolder(folder);
    mkdirSync(join(folder, '.claude', 'projects'), { recursive: true });
    writeFileSync(join(folder, '.claude', 'projects', 's-1.jsonl'), '{}\n');
    const args = ['ingest', '--org', 'acme', '--source', 'claude-code'];
    const byHome = await daybook(args, { cwd: folder, env: { HOME: folder } });
    expect(byHome.stdout).toMatch(/^1 file, 3 B/);
    const env = { CLAUDE_CONFIG_DIR: join(folder, 'elsewhere') };
    const byVariable = await runHere(args, { cwd: folder, env });
    expect(byVariable.stderr).toContain(
      `There is no file or folder ${join(folder, 'elsewhere', 'projects')}`,
    );
  });

  test('reads every agent of the machine, and says what each has', async () => {
    const home = temporaryFolder();
    const droid = join(home, '.factory', 'sessions');
    mkdirSync(droid, { recursive: true });
    const lines = [
      { type: 'session_start', id: 's-1' },
      {
        type: 'message',
        id: 'm1',
        timestamp: `${TODAY}T00:00:00Z`,
        message: { role: 'user', content: 'Greet' },
      },
    ];
    writeFileSync(
      join(droid, 's-1.jsonl'),
      `${lines.map((line) => JSON.stringify(line)).join('\n')}\nno JSON\n`,
    );
    // Only what is in this home.
    const env = { HOME: home, CLAUDE_CONFIG_DIR: '', CODEX_HOME: '', XDG_DATA_HOME: '', COPILOT_HOME: '' };
    const args = ['ingest', '--org', 'acme', '--source', 'all'];
    const { code, stdout } = await daybook(args, { cwd: home, env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^droid +1 file, 1 accepted, 1 rejected$/m);
    expect(stdout).toMatch(/^claude-code +not found$/m);
    expect(stdout).toContain('s-1.jsonl:3: ');
    const again = await daybook([...args, '--json', '--strict'], { cwd: home, env });
    expect(again.code).toBe(1);
    const { agents } = JSON.parse(again.stdout) as { agents: { agent: string }[] };
    expect(agents.find(({ agent }) => agent === 'droid')).toEqual({
      agent: 'droid',
      folders: [droid],
      files: 1,
      read: 1,
      accepted: 0,
      duplicates: 1,
      rejected: 1,
      mended: 0,
      unreadable: [],
    });
  });

  test('says what was rejected and where, and --strict makes it an error', async () => {
    const cwd = temporaryFolder();
    dataFolder(cwd);
    writeFileSync(join(cwd, 'mixed.ndjson'), `${event('1')}\n\n${event('2', { user_id: 7 })}\n`);
    const loose = await runHere(['ingest', '--org', 'acme', 'mixed.ndjson'], { cwd });
    expect(loose.stdout).toContain('1 accepted, 0 duplicates, 1 rejected');
    expect(loose.stdout).toContain('mixed.ndjson:3: user_id must be a string.');
    expect(loose.code).toBe(0);
    const strict = await runHere(['ingest', '--org', 'acme', '--strict', 'mixed.ndjson'], { cwd });
    expect(strict.stdout).toContain('0 accepted, 1 duplicate, 1 rejected');
    expect(strict.code).toBe(1);
  });

  test('ends with 1 when every line was rejected, and with 0 when there was nothing to do', async () => {
    const cwd = temporaryFolder();
    dataFolder(cwd);
    writeFileSync(join(cwd, 'bad.ndjson'), '{}\n');
    writeFileSync(join(cwd, 'empty.ndjson'), '');
    expect((await runHere(['ingest', '--org', 'acme', 'bad.ndjson'], { cwd })).code).toBe(1);
    expect((await runHere(['ingest', '--org', 'acme', 'empty.ndjson'], { cwd })).code).toBe(0);
  });
});

describe('local', () => {
  test('prints what the sessions on this machine cost, the open day too, and reads what is new', async () => {
    const home = temporaryFolder();
    const folder = join(home, '.claude', 'projects', '-work');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 's-1.jsonl');
    const before = addDays(TODAY, -3);
    const asked = (day: string, number: number) => [
      {
        ...{
          type: 'user',
          uuid: `u${number}`,
          sessionId: 's-1',
          cwd: '/work',
          timestamp: `${day}T00:00:00Z`,
        },
        message: { role: 'user', content: 'Nobody else reads these words' },
      },
      {
        ...{ type: 'assistant', uuid: `a${number}`, sessionId: 's-1', cwd: '/work', requestId: `r${number}` },
        timestamp: `${day}T00:00:01Z`,
        message: {
          ...{ id: `m${number}`, role: 'assistant', model: 'claude-sonnet-4-5', stop_reason: 'end_turn' },
          content: [{ type: 'text', text: 'Nobody else reads these words' }],
          usage: { input_tokens: 100_000, output_tokens: 10_000 },
        },
      },
    ];
    const textOf = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const env = { HOME: home, CLAUDE_CONFIG_DIR: '', CODEX_HOME: '', XDG_DATA_HOME: '', COPILOT_HOME: '' };
    const local = async (...args: string[]) => {
      const { code, stdout, stderr } = await daybook(['local', ...args], { cwd: home, env });
      expect(stderr).toBe('');
      expect(code).toBe(0);
      return stdout;
    };
    expect(await local()).toMatch(/^No agent has kept a session on this machine/);
    // 0.1 M input tokens for $0.30, and 0.01 M output tokens for $0.15.
    writeFileSync(file, textOf(asked(before, 1)));
    expect(await local()).toMatch(/^total +100,000 +10,000 +0 +0 +0\.450$/m);
    appendFileSync(file, textOf(asked(TODAY, 2)));
    const first = await local();
    expect(first).toMatch(/^claude-code \(1 file\); days in UTC$/m);
    expect(first).toMatch(new RegExp(`^${before} +100,000 +10,000 +0 +0 +0\\.450$`, 'm'));
    expect(first).toMatch(new RegExp(`^${TODAY} +100,000 +10,000 +0 +0 +0\\.450$`, 'm'));
    expect(first).toMatch(/^total +200,000 +20,000 +0 +0 +0\.900$/m);
    expect(first.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(await local()).toBe(first);
    appendFileSync(file, textOf(asked(TODAY, 3)));
    expect(await local('--models')).toMatch(/^claude-sonnet-4-5 +300,000 +30,000 +0 +0 +1\.350$/m);
    const { rows, total } = JSON.parse(await local('--month', '--json'));
    expect(rows.reduce((sum: number, row: { cost_usd: number }) => sum + row.cost_usd, 0)).toBeCloseTo(
      1.35,
      9,
    );
    expect(total).toMatchObject({ cost_usd: 1.35, user_turns: 3 });
    for (const path of readdirSync(join(home, '.daybook'), { recursive: true, encoding: 'utf8' })) {
      const kept = join(home, '.daybook', path);
      if (statSync(kept).isFile()) expect(readFileSync(kept).includes('Nobody else'), path).toBe(false);
    }
  });
});

describe('build', () => {
  test('tells of the days that break a check, builds the others, and ends with 1', async () => {
    const folder = temporaryFolder();
    // An installation whose query for productivity is wrong on one day.
    for (const part of ['dist', 'sql', 'package.json'])
      cpSync(join(PACKAGE_ROOT, part), join(folder, part), { recursive: true });
    dataFolder(folder);
    for (const file of ['rate-card.json', 'base-prices.json', 'prices.json', 'languages.json'])
      cpSync(join(PACKAGE_ROOT, 'data', file), join(folder, 'data', file));
    symlinkSync(join(PACKAGE_ROOT, 'node_modules'), join(folder, 'node_modules'));
    const query = join(folder, 'sql', 'daily', 'productivity.sql');
    const sound = readFileSync(query, 'utf8');
    const commits = 'CAST(coalesce(person.git_commits, 0) AS BIGINT)';
    const broken = `CAST(CASE WHEN day = DATE '${DAY}' THEN 7 ELSE coalesce(person.git_commits, 0) END AS BIGINT)`;
    expect(sound).toContain(commits);
    const run = (...args: string[]) =>
      daybook(['--data', join(folder, 'data'), ...args], {
        cli: join(folder, 'dist', 'cli.js'),
        cwd: folder,
      });
    writeFileSync(query, sound.replace(commits, broken));
    writeFileSync(join(folder, 'event.ndjson'), `${event('1')}\n`);
    await runHere(['ingest', '--org', 'acme', 'event.ndjson'], { cwd: folder });
    const first = await run('build', '--json');
    const { days, failed } = JSON.parse(first.stdout);
    expect(days).toContainEqual({ org_id: 'acme', day: DAY_AFTER });
    expect(days).not.toContainEqual({ org_id: 'acme', day: DAY });
    expect(failed).toEqual([
      {
        org_id: 'acme',
        day: DAY,
        check: 'users_add_up',
        difference: 'git_commits of the users add up to 0 where the day has 7',
      },
    ]);
    expect(first.stderr).toMatch(new RegExp(`^The day ${DAY} of acme .* users_add_up .*\\.\\n$`));
    expect(first.code).toBe(1);
    const again = await run('build');
    expect(again.stdout).toBe('No day was built.\n');
    expect(again.code).toBe(1);
    // The installation of the tests has the query as it should be.
    const mended = await runHere(['build'], { cwd: folder });
    expect(mended.stderr).toBe('');
    expect(mended.code).toBe(0);
    const last = await runHere(['build'], { cwd: folder });
    expect(last.stdout).toBe('Every closed day is up to date.\n');
  });
});

test('status names silent agents and events without a user, and the report of coverage shows channels', async () => {
  const folder = temporaryFolder();
  const data = dataFolder(folder);
  const run = (...args: string[]) => runHere(['--data', data, ...args], { cwd: folder });
  // Other tests may have begun on the day before.
  const today = dayOf(Date.now());
  const on = (daysAgo: number, user_id: string, agent?: string) => {
    const timestamp = `${addDays(today, -daysAgo)}T10:00:00Z`;
    return event(`${user_id} ${agent} ${daysAgo}`, { timestamp, user_id, agent });
  };
  const daysAgo = (first: number, last: number) =>
    Array.from({ length: first - last + 1 }, (_, index) => first - index);
  const users = ['ada', 'bert', 'carl', 'dora', 'emil', 'fritz'];
  const events = [
    ...users.flatMap((user) => daysAgo(12, 6).map((days) => on(days, user, 'codex'))),
    ...daysAgo(12, 1).map((days) => on(days, 'grace', 'codex')),
    ...[on(1, 'unknown', 'codex'), on(2, 'unknown', 'codex'), on(14, 'unknown', 'gemini-cli')],
    ...[on(1, 'unknown'), on(15, 'unknown', 'codex')],
  ];
  writeFileSync(join(folder, 'events.ndjson'), `${events.join('\n')}\n`);
  expect((await run('ingest', '--org', 'acme', 'events.ndjson')).code).toBe(0);
  expect((await run('build')).code).toBe(0);
  const { stdout } = await run('status');
  const last = addDays(today, -6);
  const named = users.slice(0, 5).map((user) => `${user} (codex, last on ${last})`);
  expect(stdout).toContain(`\n  acme: agents of 6 users went silent: ${named.join(', ')} and 1 more\n`);
  expect(stdout).toContain(
    '  acme: 1 event of an unnamed agent in the last 14 days without a user, counted for "unknown"\n' +
      '  acme: 2 events of codex in the last 14 days without a user, counted for "unknown"\n' +
      '  acme: 1 event of gemini-cli in the last 14 days without a user, counted for "unknown"\n',
  );
  const { organizations } = JSON.parse((await run('status', '--json')).stdout);
  expect(organizations[0].silent_agents).toHaveLength(6);
  expect(organizations[0].silent_agents[0]).toEqual({ user_id: 'ada', agent: 'codex', last_day: last });
  expect(organizations[0].without_user).toContainEqual({ agent: 'codex', events: 2 });
  const day = String(addDays(today, -1));
  const shown = await run('report', 'coverage', '--org', 'acme', '--from', day, '--to', day);
  expect(shown.stdout).toMatch(/^grace .* codex +1 .* event 1 +0$/m);
});

describe('with a server running', () => {
  test('every command works, and the API has the very bytes of the report', async () => {
    const folder = temporaryFolder();
    const data = dataFolder(folder);
    const { child, url } = await served(data);
    writeFileSync(join(folder, 'events.ndjson'), `${event('1')}\n${event('2', { user_id: 'grace' })}\n`);
    const run = (...args: string[]) => runHere(['--data', data, ...args], { cwd: folder });
    expect((await run('ingest', '--org', 'acme', 'events.ndjson')).stdout).toContain('2 accepted');
    expect((await run('build', '--json')).code).toBe(0);
    const key = await keyOf(data, 'owner');
    for (const family of ['tokens', 'tools', 'activity', 'productivity', 'users', 'quality', 'coverage']) {
      const answer = await fetch(`${url}/api/v1/analytics/${family}?startDate=${DAY}&endDate=${DAY_AFTER}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const { stdout } = await run(
        'report',
        family,
        '--org',
        'acme',
        '--from',
        DAY,
        '--to',
        DAY_AFTER,
        '--format',
        'json',
      );
      expect(stdout.trimEnd().length).toBeGreaterThan(20);
      expect(await answer.text()).toContain(`{"data":${stdout.trimEnd()},"meta"`);
    }
    expect((await run('status')).stdout).toContain('acme');
    // A folder without git says what it finds, and the service keeps the very report.
    const args = ['readiness', 'check', '--repo', 'https://ada:secret@github.com/acme/api', '--server', url];
    const submitted = await runHere([...args, '--submit'], { cwd: folder, env: { DAYBOOK_KEY: key } });
    expect(submitted.stdout).toMatch(/^https:\/\/github\.com\/acme\/api\nRepository without a package\n/);
    expect(submitted.stdout).toMatch(/ readme +no +no README of more than a few lines\./);
    expect(submitted.stdout).toMatch(
      /\nLevel 1 of 5\. .+\n\nNext steps, most useful first:\n {2}1\. \w+: .+\n/,
    );
    const [, reportId] = /The service stored it as report (\S+) of repo_/.exec(submitted.stdout) ?? [];
    const stored = await fetch(`${url}/api/organization/maturity-level-reports`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { reports } = (await stored.json()) as { reports: object[] };
    const { stdout } = await runHere([...args, '--json'], { cwd: folder });
    expect(reports).toEqual([
      {
        ...JSON.parse(stdout),
        reportId,
        createdAt: expect.any(Number),
        repoId: expect.any(String),
        level: 1,
      },
    ]);
    const guessed = await runHere([...args, '--submit', '--key', 'dbk_x'], { cwd: folder });
    expect(guessed.stderr).toMatch(/^The API key is unknown, expired or revoked: .*\n$/);
    expect(guessed.code).toBe(2);

    // The only organization is the default, and a link signs in once.
    const { host, port } = new URL(url);
    // The service tells its address, whatever the settings of the command say.
    expect(port).not.toBe('8787');
    const opened = await run('open');
    expect(opened.stderr).toBe('');
    const [, token] = new RegExp(`^http://${host}/#token=([\\w-]+)\\n$`).exec(opened.stdout) ?? [];
    const signIn = () =>
      fetch(`${url}/sign-in`, {
        method: 'POST',
        headers: { origin: url, 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      });
    expect((await signIn()).status).toBe(204);
    expect((await signIn()).status).toBe(401);
    expect((await run('open', '--org', 'nobody')).stderr).toBe(
      'There is no organization nobody: the known one is acme.\n',
    );

    const [listed] = JSON.parse((await run('keys', 'list', '--json')).stdout);
    expect((await run('keys', 'revoke', listed.fingerprint)).code).toBe(0);
    const refused = await fetch(`${url}/api/v1/analytics/users?startDate=${DAY}&endDate=${DAY_AFTER}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(refused.status).toBe(401);
    const mistake = await run('keys', 'revoke', 'key_none');
    expect(mistake.stderr).toContain('There is no key key_none');
    expect(mistake.code).toBe(2);

    // What the second one finds of the log may be gone a moment later, since the first one takes it into the file.
    const gone = join(data, `${DATABASE}.wal.gone`);
    symlinkSync(join(data, 'nothing'), gone);
    const second = await run('serve', '--port', '0');
    unlinkSync(gone);
    expect(second.stderr).toContain('Another "daybook serve" uses the data folder');
    expect(second.code).toBe(75);

    child.kill('SIGTERM');
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect((await run('status')).stdout).toContain('acme');
    expect((await run('open')).stderr).toMatch(/^No service uses \S+: start it with "daybook serve", /);
    // What was found is not lost with the service.
    const lost = await runHere([...args, '--submit', '--key', 'dbk_x', '--json'], { cwd: folder });
    expect(lost.stderr).toBe(
      `The service ${url} can't be reached (ECONNREFUSED): start it, or name another address with --server or DAYBOOK_URL.\n`,
    );
    expect([lost.code, lost.stdout]).toEqual([2, stdout]);
  });

  test('commands that run at once wait for each other', async () => {
    const cwd = temporaryFolder();
    const files = ['a', 'b', 'c'];
    for (const name of files) writeFileSync(join(cwd, `${name}.ndjson`), `${event(name)}\n`);
    const ran = await Promise.all(
      files.map((name) => daybook(['ingest', '--org', 'acme', '--json', `${name}.ndjson`], { cwd })),
    );
    expect(ran.map(({ stderr }) => stderr.replace(/^Waiting for .* to finish.*\n/, ''))).toEqual(
      files.map(() => ''),
    );
    expect(ran.map(({ code, stdout }) => [code, JSON.parse(stdout).accepted])).toEqual(
      files.map(() => [0, 1]),
    );
  });

  test("what a killed process had acknowledged is there, and its socket is in nobody's way", async () => {
    const data = dataFolder(temporaryFolder());
    const { child } = await served(data);
    const file = join(data, '..', 'event.ndjson');
    writeFileSync(file, `${event('1')}\n`);
    const ingest = ['--data', data, 'ingest', '--org', 'acme', '--json', file];
    const sent = await runHere(ingest);
    expect(JSON.parse(sent.stdout).accepted).toBe(1);
    child.kill('SIGKILL');
    await once(child, 'close');
    writeFileSync(join(data, 'lines-1.tmp'), 'half of a line');
    const again = await runHere(ingest);
    expect(JSON.parse(again.stdout)).toMatchObject({ accepted: 0, unchanged_files: 1 });
    expect(existsSync(join(data, 'lines-1.tmp'))).toBe(false);
    const { url } = await served(data);
    expect((await fetch(`${url}/api/v1/analytics/users`)).status).toBe(401);
  });
});

test('the first start of the demo loads the sample and shows a request that works; the second just serves', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await served(data, '--demo');
  const table = /^user_id .*\n(?:\S.*\n)+/m.exec(first.text())?.[0] ?? 'no table';
  expect(readFileSync(join(PACKAGE_ROOT, 'README.md'), 'utf8')).toContain(
    table.replaceAll(/^(?=.)/gm, '    '),
  );
  const [, key, url] = /Bearer (dbk_\S+)' \\\n {2}'(\S+)'/.exec(first.text()) ?? [];
  const answer = await fetch(String(url), { headers: { authorization: `Bearer ${key}` } });
  const { data: rows } = (await answer.json()) as { data: { daily_active_users: number }[] };
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.some((row) => row.daily_active_users > 0)).toBe(true);
  // A stop would wait for all of the lake.
  first.child.kill('SIGKILL');
  await once(first.child, 'close');
  const second = await served(data, '--demo');
  expect(second.text()).not.toContain('dbk_');
});

test('computers are created, listed and sent files to over the API, and their agent stops cleanly', async () => {
  const folder = temporaryFolder();
  const data = dataFolder(folder);
  const { url } = await served(data);
  const env = { DAYBOOK_URL: url, DAYBOOK_KEY: await keyOf(data, 'member', '--user', 'ada') };
  const created = await runHere(['computers', 'create', 'box', '--user', 'ada'], { env });
  const [token = ''] = created.stdout.split('\n');
  expect(token).toMatch(/^dba_/);
  const workspace = join(folder, 'workspace');
  const agent = start(['agent', '--workspace', workspace], {
    env: { DAYBOOK_URL: url, DAYBOOK_AGENT_TOKEN: token },
  });
  for await (const chunk of agent.stdout ?? []) if (String(chunk).includes('Connected')) break;
  const listed = await runHere(['computers', 'list', '--json'], { env });
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { name: 'box', status: 'active', connectedAt: expect.any(Number) },
  ]);
  expect((await runHere(['computers', 'list'], { env })).stdout).toMatch(/box +byom +active/);
  writeFileSync(join(folder, 'my file.txt'), 'hello');
  const upload = ['computers', 'upload', join(folder, 'my file.txt'), 'box', '--dest', 'in/'];
  const sent = await runHere(upload, { env });
  expect(sent).toEqual({ code: 0, stdout: 'in/my file.txt is on box: 5 B.\n', stderr: '' });
  expect(readFileSync(join(workspace, 'in', 'my file.txt'), 'utf8')).toBe('hello');
  const again = await runHere(upload, { env });
  expect(again.stderr).toMatch(/^The folder already has a file my file.txt.*\n$/);
  expect(again.code).toBe(2);
  const ended = once(agent, 'close');
  agent.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
  for (const [args, sentence, more] of [
    [['computers', 'create', 'Box'], /^The member name must be 1 to 63.*\n$/, {}],
    [['computers', 'upload', join(folder, 'none'), 'box'], /^The file .*\n$/, {}],
    [['computers', 'upload', join(folder, 'my file.txt'), 'none'], /^There is no computer none.*\n$/, {}],
    [['computers', 'list'], /^Give an API key with --key or DAYBOOK_KEY.*\n$/, { DAYBOOK_KEY: '' }],
    [['computers', 'list'], /^The API key is unknown.*\n$/, { DAYBOOK_KEY: `dbk_${'a'.repeat(43)}` }],
    [['computers', 'list'], /can't be reached \(ECONNREFUSED\).*\n$/, { DAYBOOK_URL: 'http://127.0.0.1:9' }],
    [['computers', 'list', '--key', 'x'], /^The API key is unknown.*\n$/, {}],
    [['agent', '--workspace', workspace], /^Give the agent token.*\n$/, {}],
    [
      ['agent', '--workspace', join(folder, 'my file.txt')],
      /^The workspace .* can't be written to \(EEXIST\).*\n$/,
      { DAYBOOK_AGENT_TOKEN: 'x' },
    ],
    [
      ['agent', '--workspace', workspace],
      /^The service does not know this agent token.*\n$/,
      { DAYBOOK_AGENT_TOKEN: 'x' },
    ],
    [['agent', '--workspace', workspace, '--server', 'box'], /^DAYBOOK_URL can't be "box".*\n$/, {}],
  ] as const) {
    const { code, stderr } = await runHere(args, { env: { ...env, ...more } });
    expect(stderr).toMatch(sentence);
    expect(code).toBe(2);
  }
});

test('docs/commands.md has the help of every command', async () => {
  const parts = ['# Commands\n\nThis page is generated from the help of each command.\n'];
  const add = async (command: readonly string[]): Promise<void> => {
    const { stdout, code } = await runHere([...command, '--help']);
    expect(code).toBe(0);
    parts.push(`## ${['daybook', ...command].join(' ')}\n\n\`\`\`\n${stdout.trimEnd()}\n\`\`\`\n`);
    const [, below = ''] = /^Commands:\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
    const names = [...below.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name);
    for (const name of names) if (name !== 'help') await add([...command, name]);
  };
  await add([]);
  expect(parts.length).toBeGreaterThan(45);
  await expectPage('commands.md', parts.join('\n'));
});
