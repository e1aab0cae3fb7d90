import { afterAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../src/exit.js';
import { openingFaultOf } from '../../src/store/postgres/postgres-fault.js';
import { PostgresSession } from '../../src/store/postgres/postgres-session.js';
import { spelled } from '../../src/store/postgres/postgres-spelling.js';
import { StoreUnavailable } from '../../src/store/store-fault.js';
import { freePort } from '../ask.js';
import { gate } from '../gate.js';
import { ending } from '../world.js';
import { addressOf, postgresDatabase } from './server.js';

const atEnd = ending();
let made: Promise<string> | undefined;

function database(): Promise<string> {
  made ??= postgresDatabase(atEnd);
  return made;
}

/** A session with a database that all tests of the file share. */
async function connected(): Promise<PostgresSession> {
  const session = PostgresSession.of(addressOf(await database()));
  sessions.push(session);
  return session;
}
const sessions: PostgresSession[] = [];
afterAll(() => Promise.all(sessions.map((session) => session.close())));

describe('the spelling', () => {
  test('a parameter has the type of its value, and the same number wherever it stands', () => {
    expect(
      spelled(
        'SELECT $text, $whole, $part, $day, $nothing WHERE $text = $text AND x IN $list AND y NOT IN $list',
        {
          text: 'a',
          whole: 3,
          part: 0.5,
          day: { day: '2026-06-10' as never },
          nothing: null,
          list: ['b', 'c'],
        },
      ),
    ).toEqual({
      text: 'SELECT $1::text, $2::bigint, $3::double precision, $4::date, NULL WHERE $1::text = $1::text AND x = ANY($5::text[]) AND y <> ALL($5::text[])',
      values: ['a', '3', '0.5', '2026-06-10', ['b', 'c']],
    });
  });

  test('what stands in texts, quoted names and comments is no parameter', () => {
    const sql = `SELECT '$a''$a', "$a" -- it's $a\nFROM t`;
    expect(spelled(sql, { a: 1 })).toEqual({ text: sql, values: [] });
  });

  test('a NUL is an error before anything is sent', async () => {
    const session = await connected();
    await expect(session.select("SELECT 'a\0b' AS x")).rejects.toThrow(/NUL/);
    await expect(session.select('SELECT $x AS x', { x: '\0' })).rejects.toThrow(/NUL/);
    await expect(session.select('SELECT 1 AS x WHERE $x IS NULL', { x: ['\0'] })).rejects.toThrow(/NUL/);
  });
});

describe('values', () => {
  test('come out as a store promises them, whatever the time zone of the server', async () => {
    const session = await connected();
    const [row] = await session.select(
      `SELECT
        9007199254740991 AS whole, 0.1 + 0.2 AS tenths, CAST(0.5 AS DOUBLE PRECISION) AS half, true AS is_so,
        DATE '2026-06-10' AS day, CAST('2026-06-10 11:12:13.125' AS TIMESTAMP(3)) AS at, NULL AS nothing,
        CAST('2026-06-10 11:12:13+00' AS TIMESTAMPTZ) AS zoned,
        'a''b' AS word, ARRAY['x', 'y,"z'] AS texts, $text AS given, $day AS given_day, $part AS part`,
      { text: "ä'\\$1", day: { day: '2024-02-29' as never }, part: 1e-7 },
    );
    expect(row).toEqual({
      whole: 9007199254740991,
      tenths: 0.3,
      half: 0.5,
      is_so: true,
      day: '2026-06-10',
      at: Date.parse('2026-06-10T11:12:13.125Z'),
      nothing: null,
      zoned: Date.parse('2026-06-10T11:12:13Z'),
      word: "a'b",
      texts: ['x', 'y,"z'],
      given: "ä'\\$1",
      given_day: '2024-02-29',
      part: 1e-7,
    });
  });

  test('of a type that a store has none for are an error', async () => {
    const session = await connected();
    await expect(session.select("SELECT INTERVAL '1 day' AS x")).rejects.toThrow(/cast it/);
    // The connection can be used on.
    expect(await session.select('SELECT 1 AS x')).toEqual([{ x: 1 }]);
  });
});

describe('transactions', () => {
  test('are made whole or not at all, and what is read in them is what was changed', async () => {
    const session = await connected();
    await session.run([{ sql: 'CREATE TABLE counts (name TEXT PRIMARY KEY, n BIGINT)' }]);
    expect(
      await session.run([
        { sql: 'INSERT INTO counts SELECT $name, $n', parameters: { name: 'a', n: 1 } },
        { sql: "INSERT INTO counts VALUES ('b', 1)" },
        { sql: 'UPDATE counts SET n = n + 1' },
      ]),
    ).toEqual([1, 1, 2]);
    await expect(
      session.transaction(async ({ select, run }) => {
        await run([{ sql: 'UPDATE counts SET n = 100' }]);
        expect(await select('SELECT max(n) AS n FROM counts')).toEqual([{ n: 100 }]);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await expect(
      session.run([{ sql: 'UPDATE counts SET n = 7' }, { sql: "INSERT INTO counts VALUES ('a', 1)" }]),
    ).rejects.toThrow(/duplicate key/);
    expect(await session.select('SELECT name, n FROM counts ORDER BY name')).toEqual([
      { name: 'a', n: 2 },
      { name: 'b', n: 2 },
    ]);
  });

  test('one that goes on after a failed statement is no success', async () => {
    const session = await connected();
    await expect(
      session.transaction(async ({ run }) => {
        await run([{ sql: 'SELECT 1 / 0' }]).catch(() => undefined);
      }),
    ).rejects.toThrow(/undone/);
  });

  test('those in each other’s way are done again', async () => {
    const session = await connected();
    await session.run([
      { sql: 'CREATE TABLE rivals (name TEXT PRIMARY KEY, n BIGINT)' },
      { sql: "INSERT INTO rivals VALUES ('a', 0), ('b', 0)" },
    ]);
    let tries = 0;
    let begun = 0;
    const bothBegun = gate();
    const add = (first: string, second: string) =>
      session.transaction(async ({ run }) => {
        tries += 1;
        const plusOne = (name: string) =>
          run([{ sql: 'UPDATE rivals SET n = n + 1 WHERE name = $name', parameters: { name } }]);
        await plusOne(first);
        begun += 1;
        if (begun === 2) bothBegun.open();
        await bothBegun.opened;
        await plusOne(second);
      });
    await Promise.all([add('a', 'b'), add('b', 'a')]);
    expect(tries).toBeGreaterThan(2);
    expect(await session.select('SELECT n FROM rivals')).toEqual([{ n: 2 }, { n: 2 }]);
  });

  test('a snapshot sees one state, also of statements that are sent beside each other', async () => {
    const session = await connected();
    await session.run([{ sql: 'CREATE TABLE seen (n BIGINT)' }]);
    await session.transaction(
      async ({ select }) => {
        const count = () => select('SELECT count(*) AS n FROM seen');
        expect(await Promise.all([count(), count()])).toEqual([[{ n: 0 }], [{ n: 0 }]]);
        await session.run([{ sql: 'INSERT INTO seen VALUES (1)' }]);
        expect(await count()).toEqual([{ n: 0 }]);
      },
      { isSnapshot: true },
    );
    await expect(
      session.transaction(({ run }) => run([{ sql: 'INSERT INTO seen VALUES (1)' }]), { isSnapshot: true }),
    ).rejects.toThrow(StoreUnavailable);
  });
});

describe('a server that refuses', () => {
  const opened = async (change: object) => {
    const session = PostgresSession.of({ ...addressOf(await database()), ...change });
    sessions.push(session);
    return session
      .select('SELECT 1')
      .catch((error: unknown) => openingFaultOf(error, 'db.acme.example:5432'));
  };

  test('a password, a user, a database or encryption is a mistake in the setting, and no secret is told', async () => {
    for (const change of [
      { password: 'wrong-secret' },
      { user: 'nobody' },
      { database: 'nowhere' },
      { ssl: { mode: 'require', rootCertificate: undefined } },
    ]) {
      const error = await opened(change);
      expect(error).toBeInstanceOf(UsageError);
      expect((error as Error).message).toMatch(
        /^The PostgreSQL server db.acme.example:5432 can't be used \(.*\): correct DAYBOOK_STATE\.$/,
      );
      expect((error as Error).message).not.toMatch(/secret|p@ss/);
    }
  });

  test('nobody who listens there is a fault that passes', async () => {
    const error = await opened({ port: await freePort() });
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect((error as Error).message).toBe(
      "The PostgreSQL server can't be reached (ECONNREFUSED): start it, or correct DAYBOOK_STATE, and try again.",
    );
  });
});
