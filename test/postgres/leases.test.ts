import { afterAll, beforeAll, expect, test } from 'vitest';
import { Leases } from '../../src/store/postgres/leases.js';
import { applyChanges } from '../../src/store/postgres/postgres-schema.js';
import { PostgresSession } from '../../src/store/postgres/postgres-session.js';
import { StoreUnavailable } from '../../src/store/store-fault.js';
import { gate } from '../gate.js';
import { ending, NOW } from '../world.js';
import { addressOf, expireFor, postgresDatabase } from './server.js';

const atEnd = ending();
let session: PostgresSession;

beforeAll(async () => {
  session = PostgresSession.of(addressOf(await postgresDatabase(atEnd)));
  await applyChanges(session, { now: NOW });
});

afterAll(() => session.close());

const epochOf = async (name: string) =>
  Number((await session.select('SELECT epoch FROM leases WHERE name = $name', { name }))[0]?.epoch);

/** Work that ends when it is told to. */
function held() {
  const [begin, end] = [gate(), gate()];
  const work = async () => {
    begin.open();
    await end.opened;
  };
  return { work, begun: begin.opened, end: end.open };
}

test('work of a name is done by one node at a time, and whoever has waited comes before the last holder', async () => {
  const [one, two] = [new Leases(session), new Leases(session)];
  const order: string[] = [];
  const first = held();
  const leading = one.leading('turn', async () => {
    await first.work();
    order.push('one');
  });
  await first.begun;
  const waiting = two.leading('turn', async () => {
    order.push('two');
  });
  for (let isWanted = false; !isWanted; )
    isWanted =
      (await session.select('SELECT 1 AS wanted FROM leases WHERE wanted_by IS NOT NULL')).length > 0;
  first.end();
  await leading;
  await one.leading('turn', async () => {
    order.push('one again');
  });
  await waiting;
  expect(order).toEqual(['one', 'two', 'one again']);
  expect(await epochOf('turn')).toBe(3);
});

test('work inside of work has the lease already, and it is free afterwards, also when the work fails', async () => {
  const [one, two] = [new Leases(session), new Leases(session)];
  expect(await one.leading('nested', () => one.leading('nested', async () => 'done'))).toBe('done');
  await expect(
    one.leading('nested', async () => {
      throw new Error('no luck');
    }),
  ).rejects.toThrow('no luck');
  expect(await two.leading('nested', async () => 'mine')).toBe('mine');
});

test('a lease that expired goes to another node, and its last holder notices', async () => {
  const [one, two] = [new Leases(session), new Leases(session)];
  const asleep = held();
  let lease: { epoch: number } | undefined;
  const leading = one.leading('asleep', async () => {
    lease = one.lease('asleep');
    await asleep.work();
    await one.renew();
    one.lease('asleep');
  });
  await asleep.begun;
  await one.renew();
  expect(one.lease('asleep')).toEqual(lease);
  const taken = two.leading('asleep', async () => {
    expect(two.lease('asleep').epoch).toBe((lease?.epoch ?? 0) + 1);
    asleep.end();
    await expect(leading).rejects.toThrow(StoreUnavailable);
  });
  await expireFor(session, 'asleep', one.holder, taken);
});

test('a renewal whose answer is late takes no lease that was released and taken again meanwhile', async () => {
  const [answer, ask] = [gate(), gate()];
  const late = new Leases({
    run: (statements) => session.run(statements),
    select: async (sql, parameters) => {
      const rows = await session.select(sql, parameters);
      if (sql.includes('RETURNING name, epoch')) {
        ask.open();
        await answer.opened;
      }
      return rows;
    },
  });
  const [first, second] = [held(), held()];
  const before = late.leading('late', first.work);
  await first.begun;
  const renewed = late.renew();
  await ask.opened;
  first.end();
  await before;
  const after = late.leading('late', async () => {
    await second.work();
    return late.lease('late').epoch;
  });
  await second.begun;
  answer.open();
  await renewed;
  second.end();
  expect(await after).toBe(2);
});

test('work that one node does for all is kept until it closes', async () => {
  const [one, two] = [new Leases(session), new Leases(session)];
  expect(await one.keeping('pulls', async () => 'one')).toBe('one');
  expect(await two.keeping('pulls', async () => 'two')).toBeUndefined();
  expect(await one.keeping('pulls', async () => 'one')).toBe('one');
  await one.close();
  expect(await two.keeping('pulls', async () => 'two')).toBe('two');
  await expect(one.leading('pulls', async () => 'late')).rejects.toThrow(StoreUnavailable);
});
