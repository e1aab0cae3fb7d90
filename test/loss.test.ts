import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { hold } from '../src/backup/held-files.js';
import { restore } from '../src/backup/restore-backup.js';
import { backUp } from '../src/backup/take-backup.js';
import { Controls } from '../src/controls/control-revisions.js';
import { SecretKey } from '../src/controls/secret-key.js';
import { DATABASE } from '../src/disk/data-files.js';
import { readConfig } from '../src/settings/config.js';
import { openStore } from '../src/socket/open-store.js';
import { damagedLogs, sentenceOfQuery } from '../src/store/database-file.js';
import { MARK } from '../src/store/loss-mark.js';
import { runHere } from './program.js';
import { event, NOW, temporaryFolder, World } from './world.js';

const LOG = `${DATABASE}.wal`;

/** The data folder of a service that was killed: of two batches the second is in the log only. With a database as it was before. */
const killed = temporaryFolder(afterAll);
const world = await World.create({}, afterAll, undefined, 'DuckDB');
const { data } = world.config;
const backup = join(killed, 'backup');
await world.send([event('first')]);
await new Controls(world.store, new SecretKey(world.config), world.clock).replace(
  'acme',
  { env: { TOKEN: 'hidden' } },
  { id: 'ada', email: '', name: 'ada' },
);
await backUp(world.config, backup, (copy) =>
  hold({ store: world.store, data, clock: world.clock }, 'id', (heldAt) =>
    copy(join(data, 'held-id'), heldAt),
  ),
);
// Whole in a log that is cut off after it.
await world.store.run([{ sql: "INSERT INTO facts VALUES ('between', 'two batches')" }]);
await world.send([event('second')]);
for (const name of [DATABASE, LOG, 'secret.key']) copyFileSync(join(data, name), join(killed, name));
await world.store.close();
copyFileSync(join(data, MARK), join(killed, MARK));

function copyOfData(): string {
  const folder = join(temporaryFolder(), 'data');
  mkdirSync(folder);
  for (const name of [DATABASE, LOG, MARK, 'secret.key'])
    copyFileSync(join(killed, name), join(folder, name));
  return folder;
}

/** How many events there are, of a data folder that is opened as commands open it. */
async function eventsIn(folder: string, acceptsLoss = false, environment = {}): Promise<number> {
  const config = { ...readConfig({ DAYBOOK_DATA: folder, ...environment }), acceptsLoss };
  const store = await openStore(
    config,
    () => NOW,
    async () => true,
  );
  if (store === undefined) throw new Error('somebody else has it open');
  const [row] = await store.select('SELECT count(*) AS events FROM events');
  await store.close();
  return Number(row?.events);
}

test('a killed service has lost nothing', async () => {
  expect(await eventsIn(copyOfData())).toBe(2);
});

test.each([
  ['nothing of a page', Buffer.alloc(5000)],
  // The length of an entry, what isn't its checksum, and its data.
  [
    'a part of an entry',
    Buffer.concat([Buffer.from([100, 0, 0, 0, 0, 0, 0, 0]), Buffer.alloc(5000, 'else')]),
  ],
])(
  'a log of which a power failure has left %s at its end ends before, and is kept as it was',
  async (_, left) => {
    const folder = copyOfData();
    const log = readFileSync(join(folder, LOG));
    // The disk had a later page before an earlier one.
    const torn = Buffer.concat([log, left, log.subarray(-700)]);
    writeFileSync(join(folder, LOG), torn);
    expect(await eventsIn(folder)).toBe(2);
    const [aside = ''] = damagedLogs(folder);
    expect(readFileSync(join(folder, aside)).equals(torn)).toBe(true);
    expect(await eventsIn(folder)).toBe(2);
  },
);

test('a command that changes nothing says who mends a log that a power failure has torn', async () => {
  const folder = copyOfData();
  const log = readFileSync(join(folder, LOG));
  writeFileSync(join(folder, LOG), Buffer.concat([log, Buffer.alloc(5000), log.subarray(-700)]));
  expect(await runHere(['--data', folder, 'status'])).toEqual({
    code: 2,
    stdout: '',
    stderr: `The log ${LOG} in ${folder} ends with what could not be written any more: "daybook build" or "daybook serve" goes on without that, and says if something acknowledged was lost.\n`,
  });
  expect(await runHere(['--data', folder, 'build'])).toMatchObject({ code: 0, stderr: '' });
  expect(await runHere(['--data', folder, 'status'])).toMatchObject({ code: 0, stderr: '' });
});

test('a database that is gone, and its mark damaged, is one that there is not', async () => {
  const folder = copyOfData();
  rmSync(join(folder, DATABASE));
  rmSync(join(folder, LOG));
  writeFileSync(join(folder, MARK), Buffer.alloc(100));
  for (const command of ['status', 'build'])
    expect(await runHere(['--data', folder, command])).toEqual({
      code: 2,
      stdout: '',
      stderr: `There is no database in ${folder}: "daybook ingest" creates one, and --data or DAYBOOK_DATA names another folder.\n`,
    });
});

test('every refusal is all that a command prints, with exit code 2, and --accept-loss goes with each command', async () => {
  const folder = copyOfData();
  rmSync(join(folder, LOG));
  for (const command of ['status', 'serve'])
    expect(await runHere(['--data', folder, command])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^The database in \S+ has lost .* with --accept-loss\.\n$/),
    });
  expect(await runHere(['--data', folder, 'status', '--accept-loss'])).toMatchObject({ code: 0, stderr: '' });
});

describe('what a database has lost is told, and given up for once with --accept-loss', () => {
  const LOST = /^The database in .* has lost acknowledged data \(it has 1 of 2 batches of events\): /;
  const DAMAGED_LOG = /^The log daybook.duckdb.wal in .* is damaged, or belongs to another database file: /;
  const losses: [string, RegExp, number, (folder: string) => void][] = [
    ['a log that was deleted', LOST, 1, (folder) => rmSync(join(folder, LOG))],
    ['a log that was cut off', LOST, 1, (folder) => truncateSync(join(folder, LOG), 1000)],
    ['a log that is garbage', LOST, 1, (folder) => writeFileSync(join(folder, LOG), 'garbage'.repeat(500))],
    [
      'a log with other bytes in the middle',
      LOST,
      1,
      (folder) => {
        const bytes = readFileSync(join(folder, LOG));
        bytes.fill(7, 700, 800);
        writeFileSync(join(folder, LOG), bytes);
      },
    ],
    ['a log that is a folder', DAMAGED_LOG, 1, (folder) => mkdirSync(join(folder, LOG))],
    [
      'an older database file',
      LOST,
      1,
      (folder) => {
        rmSync(join(folder, LOG));
        copyFileSync(join(backup, DATABASE), join(folder, DATABASE));
      },
    ],
    [
      'no database file',
      / has lost .* \(it has 0 of 2 batches of events, 0 of 1 revisions of enterprise controls\): /,
      0,
      (folder) => {
        rmSync(join(folder, DATABASE));
        rmSync(join(folder, LOG));
      },
    ],
  ];
  for (const [name, sentence, events, lose] of losses) {
    test(name, async () => {
      const folder = copyOfData();
      if (name.endsWith('folder')) rmSync(join(folder, LOG));
      lose(folder);
      await expect(eventsIn(folder)).rejects.toThrow(sentence);
      expect(await eventsIn(folder, true)).toBe(events);
      expect(await eventsIn(folder)).toBe(events);
    });
  }

  test('what is put back after that is whole', async () => {
    const folder = copyOfData();
    for (const lose of [() => rmSync(join(folder, LOG)), () => truncateSync(join(folder, LOG), 1000)]) {
      lose();
      await expect(eventsIn(folder)).rejects.toThrow(LOST);
      copyFileSync(join(killed, LOG), join(folder, LOG));
    }
    expect(await eventsIn(folder)).toBe(2);
  });

  test('a backup that is restored, older than what was there, is no loss', async () => {
    const folder = copyOfData();
    await restore(backup, { data: folder, store: 'duckdb', isReplacing: true, now: NOW });
    expect(existsSync(join(folder, MARK))).toBe(false);
    expect(await eventsIn(folder)).toBe(1);
    const [replaced = ''] = readdirSync(folder).filter((one) => one.startsWith('replaced-'));
    expect(readFileSync(join(folder, replaced, MARK))).toEqual(readFileSync(join(killed, MARK)));
  });
});

test('secrets whose key is gone are told, and given up with --accept-loss', async () => {
  const folder = copyOfData();
  rmSync(join(folder, 'secret.key'));
  await expect(eventsIn(folder)).rejects.toThrow(
    /^The file secret.key is missing in .*: copy it from a backup, .* --accept-loss and set them again\.$/,
  );
  expect(existsSync(join(folder, 'secret.key'))).toBe(false);
  expect(await eventsIn(folder, false, { DAYBOOK_SECRET_KEY: 'x'.repeat(40) })).toBe(2);
  expect(await eventsIn(folder, true)).toBe(2);
});

test('a damaged key is told to commands too', async () => {
  const NO_KEY = /^The file .*secret.key is not the key that Daybook made: /;
  for (const text of ['', 'garbage']) {
    const folder = copyOfData();
    writeFileSync(join(folder, 'secret.key'), text);
    await expect(eventsIn(folder)).rejects.toThrow(NO_KEY);
    expect(await eventsIn(folder, false, { DAYBOOK_SECRET_KEY: 'x'.repeat(40) })).toBe(2);
    expect(await eventsIn(folder, true)).toBe(2);
  }
});

describe('what is damaged is told in one sentence', () => {
  const DAMAGED = /^The database in .* is damaged: restore a backup with .*\)$/;
  const damages: [string, (folder: string) => void][] = [
    ['garbage', (folder) => writeFileSync(join(folder, DATABASE), 'garbage')],
    ['empty', (folder) => truncateSync(join(folder, DATABASE), 0)],
    ['cut off', (folder) => truncateSync(join(folder, DATABASE), 300_000)],
    [
      'a folder',
      (folder) => {
        rmSync(join(folder, DATABASE));
        mkdirSync(join(folder, DATABASE));
      },
    ],
  ];
  for (const [name, damage] of damages) {
    test(`a database that is ${name}`, async () => {
      const folder = copyOfData();
      damage(folder);
      await expect(eventsIn(folder)).rejects.toThrow(DAMAGED);
    });
  }

  test('a database of which a query finds it', () => {
    const read = (file: string) =>
      new Error(`IO Error: Could not read enough bytes from file "${file}": ...`);
    const checksum = new Error('IO Error: Corrupt database file: computed checksum 1 does not match ...');
    for (const error of [read('/data/daybook.duckdb'), checksum])
      expect(sentenceOfQuery(error, '/data')).toMatchObject({ message: expect.stringMatching(DAMAGED) });
    const other = read('/data/lake/day.parquet');
    expect(sentenceOfQuery(other, '/data')).toBe(other);
  });

  test('what else a service can not use', async () => {
    const uses: [RegExp, (folder: string) => void][] = [
      [
        /^The key in \S+ can't be read \(EISDIR\): .*\.\n$/,
        (folder) => {
          rmSync(join(folder, 'secret.key'));
          mkdirSync(join(folder, 'secret.key'));
        },
      ],
      [
        /^Daybook can't use \S+inbox\S* \(ENOTDIR\): .*\.\n$/,
        (folder) => writeFileSync(join(folder, 'inbox'), ''),
      ],
      [/^Daybook can't use \S+sock \(\w+\): .*\.\n$/, (folder) => mkdirSync(join(folder, 'daybook.sock'))],
    ];
    for (const [sentence, damage] of uses) {
      const folder = copyOfData();
      damage(folder);
      expect(
        await runHere(['--data', folder, 'serve', '--port', '0'], { env: { DAYBOOK_LOG_LEVEL: 'silent' } }),
      ).toMatchObject({ code: 2, stderr: expect.stringMatching(sentence) });
    }
  });
});
