import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { dayOf } from '../../src/day.js';
import { ClickHouseSession } from '../../src/store/clickhouse/clickhouse-session.js';
import { StoreUnavailable } from '../../src/store/store-fault.js';
import { until } from '../service.js';
import { ending, NOW } from '../world.js';
import { FrontProcess } from './front/process.js';

/** A session of a server's database, which is made when it isn't there. */
async function sessionOf(url: string, database = 'bench'): Promise<ClickHouseSession> {
  const first = createClient({ url });
  await first.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` });
  await first.close();
  const client = createClient({
    url,
    database,
    request_timeout: 300_000,
    compression: { response: true },
    log: { level: ClickHouseLogLevel.OFF },
  });
  onTestFinished(() => client.close());
  return new ClickHouseSession(client);
}

const count = async (session: ClickHouseSession, table: string) =>
  (await session.select(`SELECT count(*) AS rows FROM ${table}`))[0]?.rows;

const atEnd = ending();

describe('one engine behind two servers', () => {
  let front: FrontProcess;
  let table = 0;
  const made = async (session: ClickHouseSession) => {
    const name = `numbers_${++table}`;
    await session.define(`CREATE TABLE ${name} (n BIGINT NOT NULL) ENGINE = MergeTree ORDER BY n`);
    return name;
  };
  beforeAll(async () => {
    front = await FrontProcess.start({ servers: 2 }, atEnd);
  });

  test('take statements of all kinds as a server does', async () => {
    const session = await sessionOf(front.url());
    const parameters = {
      text: "a\\b\t'c'",
      nothing: null,
      list: ["x'y", 'z\\'],
      n: -5,
      day: { day: dayOf(NOW) },
    };
    expect(
      await session.select(
        'SELECT $text AS text, $nothing AS nothing, $list AS list, $n AS n, $day AS day, NULL AS none',
        parameters,
      ),
    ).toEqual([{ ...parameters, day: '2026-07-10', none: null }]);
    const name = await made(session);
    await session.run(`INSERT INTO ${name} SELECT $n`, { n: 7 });
    expect(await count(await sessionOf(front.url(1)), name)).toBe(1);
    await expect(session.select('SELECT * FROM nothing')).rejects.toMatchObject({
      code: '60',
      type: 'UNKNOWN_TABLE',
    });
    const other = await sessionOf(front.url(1));
    // The other one sees it, and ends it.
    const slow = session.select(
      'SELECT count(*) AS n FROM numbers(3000) WHERE sleepEachRow(0.1) = 0 SETTINGS max_block_size = 1',
    );
    const ended = expect(slow).rejects.toMatchObject({ type: 'QUERY_WAS_CANCELLED' });
    const isSlow = "query LIKE 'SELECT count(*) AS n FROM numbers(3000)%'";
    await until(async () => (await count(other, `system.processes WHERE ${isSlow}`)) === 1);
    await other.run(`KILL QUERY WHERE ${isSlow} ASYNC`);
    await ended;
  });

  test('lose connections before a statement, after it and in its answer', async () => {
    const session = await sessionOf(front.url());
    const name = await made(session);
    const insert = () => session.run(`INSERT INTO ${name} SELECT 1`);
    for (const [way, rows] of [
      ['drop', 0],
      ['busy', 0],
      ['cut', 1],
    ] as const) {
      await front.take(way, { server: 0, match: '^INSERT', times: 1 });
      await expect(insert(), way).rejects.toThrow(StoreUnavailable);
      expect(await count(session, name), way).toBe(rows);
    }
    const inserting = (request_timeout: number) => {
      const log = { level: ClickHouseLogLevel.OFF };
      const client = createClient({ url: front.url(), database: 'bench', request_timeout, log });
      onTestFinished(() => client.close());
      return new ClickHouseSession(client).run(`INSERT INTO ${name} SELECT 2`);
    };
    const isInserted = () => count(session, `${name} WHERE n = 2`);
    await front.take('hang', { match: '^INSERT', times: 1 });
    await expect(inserting(300)).rejects.toThrow(StoreUnavailable);
    expect(await isInserted()).toBe(0);
    await front.take('hang after', { match: '^INSERT', times: 1 });
    const silent = expect(inserting(600_000)).rejects.toThrow(StoreUnavailable);
    await expect.poll(isInserted).toBe(1);
    // Until now it has no answer.
    await front.take('refuse', { server: 0 });
    await silent;
    await expect(count(session, name)).rejects.toThrow(/ECONNREFUSED/);
    expect(await count(await sessionOf(front.url(1)), name)).toBe(2);
    await front.take('answer');
    expect(await count(session, name)).toBe(2);
  });

  test('die and come back with all that was acknowledged', async () => {
    const name = await made(await sessionOf(front.url()));
    const session = await sessionOf(front.url());
    await session.define('CREATE OR REPLACE FUNCTION twice AS (n) -> 2 * n');
    await session.run(`INSERT INTO ${name} SELECT 21`);
    await front.kill();
    await expect(count(session, name)).rejects.toThrow(StoreUnavailable);
    await front.start();
    expect(await session.select(`SELECT twice(n) AS n FROM ${name}`)).toEqual([{ n: 42 }]);
  });
});

describe('a server that has later what another wrote', () => {
  test('gets it in order when it may, also after it was killed, and passes writes on', async () => {
    const first = await FrontProcess.start({ isFollowed: true });
    const second = await FrontProcess.start({ of: first });
    const isThere = () =>
      until(async () => {
        const [{ logged }, { applied, failure }] = [await first.state(), await second.state()];
        if (failure !== undefined) throw new Error(failure);
        return logged === applied;
      });
    const session = await sessionOf(first.url());
    await session.define('CREATE TABLE numbers (n BIGINT NOT NULL) ENGINE = MergeTree ORDER BY n');
    await isThere();
    const other = await sessionOf(second.url());
    await second.lag('stopped');
    await session.run('INSERT INTO numbers SELECT 1');
    await session.run('INSERT INTO numbers SELECT n + 1 FROM numbers');
    await session.define('CREATE TABLE numbers_new (n BIGINT NOT NULL) ENGINE = MergeTree ORDER BY n');
    await session.run('INSERT INTO numbers_new SELECT max(n) FROM numbers');
    await session.run('EXCHANGE TABLES numbers AND numbers_new');
    expect([await count(session, 'numbers'), await count(other, 'numbers')]).toEqual([1, 0]);
    await expect(other.run('INSERT INTO numbers SELECT 9')).rejects.toThrow(StoreUnavailable);
    await second.kill();
    await second.start();
    await isThere();
    expect(await other.select('SELECT n FROM numbers')).toEqual([{ n: 2 }]);
    expect(await count(other, 'numbers_new')).toBe(2);
    await second.lag(50);
    await other.run('INSERT INTO numbers SELECT 9');
    expect([await count(session, 'numbers'), await count(other, 'numbers')]).toEqual([2, 2]);
  });

  test('has a repeated insert with the same token once', async () => {
    const first = await FrontProcess.start({ isFollowed: true });
    const session = await sessionOf(first.url());
    await session.define('CREATE TABLE numbers (n BIGINT NOT NULL) ENGINE = MergeTree ORDER BY n');
    const once = session.once('7 numbers');
    await first.take('cut', { match: '^INSERT', times: 1 });
    await expect(once.run('INSERT INTO numbers SELECT number FROM numbers(3)')).rejects.toThrow(
      StoreUnavailable,
    );
    await once.run('INSERT INTO numbers SELECT number FROM numbers(3)');
    expect(await count(session, 'numbers')).toBe(3);
  });
});
