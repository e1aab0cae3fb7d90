import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createKey } from '../src/api/api-keys.js';
import { type Manifest, readManifest } from '../src/backup/backup-manifest.js';
import { hold } from '../src/backup/held-files.js';
import { type Place, restore } from '../src/backup/restore-backup.js';
import { backUp, filesBelow } from '../src/backup/take-backup.js';
import { Signer } from '../src/computers/address-signer.js';
import { LIFE_MS } from '../src/computers/transfer.js';
import { Controls } from '../src/controls/control-revisions.js';
import { EXAMPLE } from '../src/controls/control-settings.js';
import { SecretKey } from '../src/controls/secret-key.js';
import { MASK, mapSecrets } from '../src/controls/settings-secrets.js';
import { type Day, dayOf } from '../src/day.js';
import { Inbox } from '../src/ingest/inbox.js';
import { Lake } from '../src/lake/data-lake.js';
import { readConfig } from '../src/settings/config.js';
import { earlierReport } from '../src/sql/earlier-report.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { requireOrganization } from '../src/store/organization.js';
import { daybook, served, start } from './program.js';
import { until } from './service.js';
import { playsSlow } from './slow.js';
import { NOW, temporaryFolder, World } from './world.js';

const event = (id: string, day: string, more: object = {}) => ({
  event_id: id,
  type: 'user_message',
  timestamp: `${day}T10:00:00Z`,
  user_id: `user-${id.length}`,
  session_id: 's',
  ...more,
});
const usage = (id: string, day: string) =>
  event(id, day, { type: 'model_usage', model: 'gpt-5', input_tokens: 7, output_tokens: 9 });

/** A data folder with days, a key, controls with secrets, and a file on its way to a computer; nobody has it open. */
const TRANSFER = randomUUID();
const world = await World.create({}, afterAll, undefined, 'DuckDB');
world.now = Date.parse('2026-06-13T12:00:00.000Z');
await requireOrganization(world.store, 'acme', NOW);
await world.send([
  event('a', '2026-06-10'),
  usage('bc', '2026-06-11'),
  event('d', '2026-06-11'),
  event('d', '2026-06-11'),
  '{',
]);
await world.build();
const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner', userId: 'ada' }, NOW);
await new Controls(world.store, new SecretKey(world.config), world.clock).replace(
  'acme',
  mapSecrets(EXAMPLE, () => 'hidden'),
  { id: 'ada', email: '', name: 'ada' },
);
await world.store.run([
  {
    sql: `INSERT INTO transfers (transfer_id, org_id, computer_id, file_name, size_bytes, created_at, expires_at)
      SELECT $id, 'acme', 'cmp_1', 'hello.txt', 5, instant($now), instant($end)`,
    parameters: { id: TRANSFER, now: Date.now(), end: Date.now() + LIFE_MS },
  },
]);
await world.store.close();
mkdirSync(join(world.config.data, 'objects'));
writeFileSync(join(world.config.data, 'objects', TRANSFER), 'hello');

/** A copy of the data folder for one test. */
function copyOfData(): string {
  const data = join(temporaryFolder(), 'data');
  cpSync(world.config.data, data, { recursive: true });
  return data;
}

/** A backup of it, for all tests that only read one. */
const made = join(world.folder, 'backup');
async function backUpOf(data: string, folder: string): Promise<Manifest> {
  const config = readConfig({ DAYBOOK_DATA: data });
  const store = await DuckDbStore.open(data, { ...config, now: NOW });
  try {
    return await backUp(config, folder, (copy) => {
      const id = randomUUID();
      return hold({ store, data, clock: () => NOW }, id, (heldAt) => copy(join(data, `held-${id}`), heldAt));
    });
  } finally {
    await store.close();
  }
}
const manifest = await backUpOf(world.config.data, made);

const into = (data: string, more: Partial<Place> = {}): Place => ({
  ...{ data, store: 'duckdb', isReplacing: false, now: NOW },
  ...more,
});

/** All bytes of a folder, by the paths of its files. */
async function bytesIn(folder: string): Promise<Record<string, string>> {
  const paths = await filesBelow(folder);
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'base64')]));
}

/** What a restored data folder has: the files of the backup, and since when the lake is another one. */
async function restoredBytes(): Promise<Record<string, string>> {
  const { 'manifest.json': _, ...files } = await bytesIn(made);
  return { ...files, 'lake/_restored_at': Buffer.from(new Date(NOW).toISOString()).toString('base64') };
}

describe('a service that goes on while it is backed up', () => {
  const ask = async (url: string, path: string, options: RequestInit = {}) => {
    const answer = await fetch(`${url}${path}`, {
      ...options,
      headers: { authorization: `Bearer ${key}`, ...options.headers },
    });
    return { status: answer.status, body: await answer.text() };
  };
  const PATHS = [
    ...['tokens', 'tools', 'activity', 'productivity', 'users', 'quality'].map(
      (answer) => `/api/v1/analytics/${answer}?startDate=2026-06-10&endDate=2026-06-12`,
    ),
    '/api/v0/organization/enterprise-controls',
    '/api/v0/computers',
  ];
  const answers = (url: string) => Promise.all(PATHS.map((path) => ask(url, path)));
  const send = (url: string, ids: string[], day: string) =>
    ask(url, '/api/v1/events', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: ids.map((id) => JSON.stringify(event(id, day))).join('\n'),
    });

  test('answers from the backup what it answered, with every event that it had acknowledged, once', async () => {
    const data = copyOfData();
    const { child, url } = await served(data);
    const before = await answers(url);
    expect(before.map(({ status }) => status)).toEqual(PATHS.map(() => 200));
    // Events of a day that is not asked for and not too old for the organization, without a pause.
    const today = dayOf(Date.now());
    const acknowledged: string[] = [];
    let isOver = false;
    const stream = (async () => {
      for (let body = 0; !isOver; body += 1) {
        const ids = Array.from({ length: 20 }, (_, index) => `stream-${body}-${index}`);
        expect((await send(url, ids, today)).status).toBe(200);
        acknowledged.push(...ids);
      }
    })();
    const folder = join(temporaryFolder(), 'backups', 'one');
    await until(() => acknowledged.length > 0);
    const first = acknowledged.length;
    const { code, stderr } = await daybook(['--data', data, 'backup', folder]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    isOver = true;
    await stream;
    expect(acknowledged.length).toBeGreaterThan(first);
    child.kill('SIGTERM');

    const restored = join(temporaryFolder(), 'data');
    expect((await daybook(['--data', restored, 'restore', folder])).code).toBe(0);
    const again = await served(restored);
    expect(await answers(again.url)).toEqual(before);
    // What is kept of a secret can be read again.
    const kept = await ask(again.url, '/api/v0/organization/enterprise-controls', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ settings: mapSecrets(EXAMPLE, () => MASK) }),
    });
    expect(kept.status).toBe(200);
    const signed = Signer.open({ data: restored }).query('GET', TRANSFER, Date.now() + LIFE_MS);
    expect((await ask(again.url, `/api/v0/transfers/${TRANSFER}?${signed}`)).body).toBe('hello');
    again.child.kill('SIGTERM');
    await new Promise((resolve) => again.child.once('close', resolve));
    const store = await DuckDbStore.open(restored, { ...readConfig({ DAYBOOK_DATA: restored }), now: NOW });
    const config = readConfig({ DAYBOOK_DATA: restored });
    // The clock of the services: by that of the tests what they took has yet to happen.
    const inbox = Inbox.open({ ...config, data: restored }, Date.now);
    await inbox.drain(store);
    await inbox.close();
    const rows = await store.select("SELECT event_id FROM events WHERE event_id LIKE 'stream%'");
    const [counts] = await store.select(
      'SELECT sum(duplicates) AS copies FROM batches WHERE token IS NOT NULL',
    );
    await store.close();
    const found = rows.map(({ event_id }) => String(event_id));
    expect(new Set(found).size).toBe(found.length);
    expect(found).toEqual(expect.arrayContaining(acknowledged.slice(0, first)));
    expect(Number(counts?.copies)).toBe(0);
  });
});

test('what was published before a restore is said to be gone', async () => {
  const data = join(temporaryFolder(), 'data');
  await restore(made, into(data));
  const config = readConfig({ DAYBOOK_DATA: data });
  const store = await DuckDbStore.open(data, { ...config, now: NOW });
  await new Lake(config, () => NOW + 1000).publish(store, []);
  const range = { orgId: 'acme', from: '2026-06-10' as Day, to: '2026-06-11' as Day };
  const ask = (asOf: number) => earlierReport(store, config, 'users', range, asOf, NOW + 2000);
  await expect(ask(NOW - 1)).rejects.toThrow(
    'What was published before 2026-07-10T12:00:00.000Z is gone, because a backup was restored then: ask for 2026-07-10T12:00:01.000Z or later.',
  );
  await expect(ask(NOW)).rejects.toThrow(
    'Nothing that was published before 2026-07-10T12:00:01.000Z is in the lake',
  );
  expect((await ask(NOW + 1000)).length).toBeGreaterThan(0);
  await store.close();
});

describe('a backup', () => {
  test('has all that can not be computed again, for its owner alone, each file with its digest', async () => {
    const paths = await filesBelow(made);
    expect(paths).toEqual(['daybook.duckdb', 'manifest.json', `objects/${TRANSFER}`, 'secret.key']);
    for (const path of paths) expect(statSync(join(made, path)).mode & 0o777).toBe(0o600);
    expect(statSync(made).mode & 0o777).toBe(0o700);
    expect(manifest).toEqual(await readManifest(made));
    expect(manifest).toMatchObject({ store: 'duckdb', taken_at: new Date(NOW).toISOString() });
    expect(manifest.files.map(({ path }) => path)).toEqual(paths.filter((path) => path !== 'manifest.json'));
    // Nothing else is left in the data folder.
    expect(readdirSync(world.config.data).sort()).toEqual([
      'daybook.duckdb',
      'daybook.duckdb.mark',
      'inbox',
      'objects',
      'secret.key',
    ]);
  });

  test('takes what waits in the inbox once, also what is just moved on to be settled, and not what nobody was told', async () => {
    const data = copyOfData();
    for (const [path, text] of [
      ['ready/req_one.1.acme.0123456789abcdef.body', '1'],
      ['ready/req_two.2.acme.0123456789abcdef.body', '2'],
      ['ready/.DS_Store', ''],
      ['settling/TOKEN/req_two.2.acme.0123456789abcdef.body', '2'],
      ['settling/TOKEN/req_three.3.acme.0123456789abcdef.body', '3'],
      ['incoming/four', '4'],
    ] as const) {
      mkdirSync(join(data, 'inbox', path, '..'), { recursive: true });
      writeFileSync(join(data, 'inbox', path), text);
    }
    const folder = join(temporaryFolder(), 'backup');
    const { files } = await backUpOf(data, folder);
    expect(files.flatMap(({ path }) => (path.startsWith('inbox') ? [path] : []))).toEqual([
      'inbox/ready/req_one.1.acme.0123456789abcdef.body',
      'inbox/settling/TOKEN/req_three.3.acme.0123456789abcdef.body',
      'inbox/settling/TOKEN/req_two.2.acme.0123456789abcdef.body',
    ]);
  });

  test('holds the state of its instant, whatever is written while it is copied', async () => {
    const data = copyOfData();
    const config = readConfig({ DAYBOOK_DATA: data });
    const store = await DuckDbStore.open(data, { ...config, now: NOW });
    const folder = join(temporaryFolder(), 'backup');
    const grow = `INSERT INTO rejects SELECT range, 'acme', DATE '2026-06-10', md5(range::VARCHAR), range, 'not_json', '', NULL FROM range(300000)`;
    await backUp(config, folder, (copy) =>
      hold({ store, data, clock: () => NOW }, 'id', async (heldAt) => {
        await store.run([{ sql: grow }, { sql: 'DELETE FROM events' }]);
        await store.run([{ sql: 'DELETE FROM rejects' }, { sql: grow }]);
        await copy(join(data, 'held-id'), heldAt);
      }),
    );
    const lines = 'SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM rejects) AS rejects';
    expect(await store.select(lines)).toEqual([{ events: 0, rejects: 300_000 }]);
    await store.close();
    const restored = join(temporaryFolder(), 'data');
    await restore(folder, into(restored));
    const old = await DuckDbStore.open(restored, { ...config, now: NOW });
    expect(await old.select(lines)).toEqual([{ events: 3, rejects: 1 }]);
    await old.close();
  });

  test('goes into a new folder only, and leaves nothing behind where it fails', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'mine'), '');
    await expect(backUpOf(copyOfData(), folder)).rejects.toThrow('is not empty');
    const other = join(temporaryFolder(), 'backup');
    const failing = backUp(readConfig({ DAYBOOK_DATA: world.config.data }), other, async () => {
      throw new Error('the service is gone');
    });
    await expect(failing).rejects.toThrow('the service is gone');
    expect(readdirSync(join(other, '..'))).toEqual([]);
    const file = join(folder, 'mine', 'backup');
    await expect(backUpOf(copyOfData(), file)).rejects.toThrow(
      /^The backup can't be written to .* \(ENOTDIR\)/,
    );
  });

  test('is refused before the database is touched where there is no room', async () => {
    const data = copyOfData();
    mkdirSync(join(data, 'inbox', 'ready', 'acme'), { recursive: true });
    writeFileSync(join(data, 'inbox', 'ready', 'acme', 'large.ndjson'), '');
    truncateSync(join(data, 'inbox', 'ready', 'acme', 'large.ndjson'), 2 ** 43);
    const config = readConfig({ DAYBOOK_DATA: data });
    const backingUp = backUp(config, join(temporaryFolder(), 'backup'), () => {
      throw new Error('the database was held');
    });
    await expect(backingUp).rejects.toThrow(/^The backup takes 8796\d{3}.\d MB, but .* has room for/);
  });

  test('names the folder that can not be read', async () => {
    const data = copyOfData();
    rmSync(join(data, 'inbox', 'ready'), { recursive: true });
    writeFileSync(join(data, 'inbox', 'ready'), '');
    const { code, stderr } = await daybook(['--data', data, 'backup', join(temporaryFolder(), 'backup')]);
    expect(stderr).toMatch(/^Daybook can't use \S+\/inbox\/ready \(ENOTDIR\): restore it, [^\n]*\.\n$/);
    expect(code).toBe(2);
  });

  const KILLS = playsSlow() ? 30 : 2;
  test('is there whole or not at all, wherever the command is killed', async () => {
    const data = copyOfData();
    const folder = join(temporaryFolder(), 'backup');
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = start(['--data', data, 'backup', folder]);
      const ended = new Promise((resolve) => child.once('close', resolve));
      const isBegun = () =>
        readdirSync(dirname(folder)).some((name) => name.startsWith(`${basename(folder)}.unfinished`));
      while (child.exitCode === null && !isBegun()) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, (200 * kill) / KILLS));
      child.kill('SIGKILL');
      await ended;
      if (!existsSync(folder)) continue;
      await restore(folder, into(join(temporaryFolder(), 'data')));
      rmSync(folder, { recursive: true });
    }
    await backUpOf(data, folder);
    expect(readdirSync(join(folder, '..'))).toEqual(['backup']);
    expect(readdirSync(data).filter((name) => name.startsWith('held'))).toEqual([]);
  });
});

describe('a restore', () => {
  function copyOfBackup(): string {
    const folder = join(temporaryFolder(), 'backup');
    cpSync(made, folder, { recursive: true });
    return folder;
  }

  const changed: [string, RegExp, (folder: string) => void][] = [
    [
      'a changed byte',
      /^The file daybook.duckdb of the backup in .* has changed since it was made/,
      (folder) => {
        const bytes = readFileSync(join(folder, 'daybook.duckdb'));
        bytes[5000] = (bytes[5000] ?? 0) ^ 1;
        writeFileSync(join(folder, 'daybook.duckdb'), bytes);
      },
    ],
    [
      'a byte more',
      /^The file secret.key of the backup in .* has changed/,
      (folder) => appendFileSync(join(folder, 'secret.key'), '\n'),
    ],
    [
      'a missing file',
      /^The backup in .* lacks objects/,
      (folder) => rmSync(join(folder, 'objects'), { recursive: true }),
    ],
    [
      'a file that is a folder',
      /^The backup in .* lacks secret.key: use another backup\.$/,
      (folder) => {
        rmSync(join(folder, 'secret.key'));
        mkdirSync(join(folder, 'secret.key'));
      },
    ],
    ['no manifest', /^There is no backup in /, (folder) => rmSync(join(folder, 'manifest.json'))],
    [
      'a manifest that is cut off',
      /^The file .*manifest.json is damaged/,
      (folder) => writeFileSync(join(folder, 'manifest.json'), '{"format": 1,'),
    ],
    ...['../outside', '/etc/outside', 'a/../../outside', ''].map((path): (typeof changed)[number] => [
      `a manifest with the path "${path}"`,
      /^The file .*manifest.json is damaged/,
      (folder) => edit(folder, (text) => text.replace('secret.key', path)),
    ]),
    [
      'a database of a newer Daybook',
      /^A newer Daybook made the database \(change 9999/,
      (folder) => edit(folder, (text) => text.replace(/"change": \d+/, '"change": 9999')),
    ],
    [
      'another store',
      /^The backup in .* is of the store clickhouse, but DAYBOOK_STORE is duckdb/,
      (folder) => edit(folder, (text) => text.replace('"duckdb"', '"clickhouse"')),
    ],
    [
      'more than there is room for',
      /^The backup takes \d+\.\d MB, but .* has room for/,
      (folder) => edit(folder, (text) => text.replace(/"bytes": \d+/, '"bytes": 1000000000000000')),
    ],
  ];

  function edit(folder: string, change: (text: string) => string): void {
    const path = join(folder, 'manifest.json');
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }

  for (const [what, sentence, change] of changed) {
    test(`refuses ${what}, and leaves the data folder as it was`, async () => {
      const folder = copyOfBackup();
      change(folder);
      const data = copyOfData();
      const before = await bytesIn(data);
      await expect(restore(folder, into(data, { isReplacing: true }))).rejects.toThrow(sentence);
      expect(await bytesIn(data)).toEqual(before);
      expect(readdirSync(data).some((name) => name.startsWith('restored'))).toBe(false);
    });
  }

  test('moves what is there aside when it may, and else refuses', async () => {
    const data = copyOfData();
    writeFileSync(join(data, 'daybook.duckdb.wal'), 'of the old one');
    writeFileSync(join(data, 'notes.txt'), 'not of Daybook');
    const before = await bytesIn(data);
    await expect(restore(made, into(data))).rejects.toThrow(
      /has daybook.duckdb, daybook.duckdb.mark, daybook.duckdb.wal, inbox.*--replace/,
    );
    expect(await bytesIn(data)).toEqual(before);
    const { aside } = await restore(made, into(data, { isReplacing: true }));
    expect(await bytesIn(String(aside))).toEqual(
      Object.fromEntries(Object.entries(before).filter(([path]) => path !== 'notes.txt')),
    );
    rmSync(String(aside), { recursive: true });
    expect(await bytesIn(data)).toEqual({ ...(await restoredBytes()), 'notes.txt': before['notes.txt'] });
  });

  test('of a backup without files leaves an empty lake', async () => {
    const folder = copyOfBackup();
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, files: [] }));
    const data = join(temporaryFolder(), 'data');
    expect(await restore(folder, into(data))).toMatchObject({ aside: undefined });
    expect(Object.keys(await bytesIn(data))).toEqual(['lake/_restored_at']);
  });

  test('moves aside again what another one has put there in the same second', async () => {
    const data = copyOfData();
    const first = await restore(made, into(data, { isReplacing: true }));
    const files = await bytesIn(String(first.aside));
    const again = await restore(made, into(data, { isReplacing: true }));
    expect(again.aside).not.toBe(first.aside);
    expect(await bytesIn(String(first.aside))).toEqual(files);
    expect(await bytesIn(String(again.aside))).toEqual(await restoredBytes());
  });

  test('that was cut off while it moved files lets nobody open the folder, and is finished by the next', async () => {
    const data = copyOfData();
    const old = await bytesIn(data);
    // Before, among and after the old files that are moved aside; then among the new ones, and when only their folder is left.
    const { 'manifest.json': _, ...files } = await bytesIn(made);
    const restored = join(data, 'restored');
    const cut: (() => void)[] = [
      () => {},
      () => renameSync(join(data, 'daybook.duckdb'), join(data, 'elsewhere')),
      () => {
        for (const name of ['inbox', 'objects', 'secret.key', 'daybook.duckdb'])
          rmSync(join(data, name), { recursive: true, force: true });
        renameSync(join(restored, 'files'), join(restored, 'moving'));
        renameSync(join(restored, 'moving', 'secret.key'), join(data, 'secret.key'));
      },
      () => {
        for (const name of readdirSync(join(restored, 'files'))) {
          rmSync(join(data, name), { recursive: true, force: true });
          renameSync(join(restored, 'files', name), join(data, name));
        }
        rmSync(join(restored, 'files'), { recursive: true });
        mkdirSync(join(data, 'replaced-before'));
      },
    ];
    const asides: (string | undefined)[] = [];
    for (const cutOff of cut) {
      rmSync(data, { recursive: true });
      cpSync(world.config.data, data, { recursive: true });
      cpSync(made, join(restored, 'files'), { recursive: true });
      rmSync(join(restored, 'files', 'manifest.json'));
      // A restore notes where it moves the old files before it does.
      writeFileSync(join(restored, 'aside'), 'replaced-before');
      cutOff();
      expect(await daybook(['--data', data, 'status'])).toEqual({
        code: 2,
        stdout: '',
        stderr: `A restore into ${data} was interrupted: run the same "daybook restore" again.\n`,
      });
      const opening = DuckDbStore.open(data, { ...readConfig({ DAYBOOK_DATA: data }), now: NOW });
      await expect(opening).rejects.toThrow(/^A restore into .* was interrupted/);
      const { manifest: done, aside } = await restore(made, into(data));
      expect(done).toBeUndefined();
      asides.push(aside);
      const now = await bytesIn(data);
      for (const [path, bytes] of Object.entries(files)) expect(now[path]).toBe(bytes);
      expect(existsSync(restored)).toBe(false);
    }
    expect(Object.keys(old).length).toBeGreaterThan(0);
    const before = join(data, 'replaced-before');
    expect(asides).toEqual([before, before, undefined, before]);
  });

  test('is refused while a service has the folder open', async () => {
    const data = copyOfData();
    await served(data);
    const { code, stderr } = await daybook(['--data', data, 'restore', made, '--replace']);
    expect(stderr).toBe(
      `A service runs on the data folder ${data}: stop it first, or restore into another one with --data.\n`,
    );
    expect(code).toBe(2);
  });
});
