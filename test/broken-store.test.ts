import { describe, expect, test } from 'vitest';
import { DuckDBInstance } from '../src/arrow/duckdb-driver.js';
import { CANONICAL } from '../src/ingest/source.js';
import { connect, type Session, withWriter } from '../src/store/duckdb-session.js';
import { Renewable } from '../src/store/renewable.js';
import { StoreUnavailable } from '../src/store/store-fault.js';
import { Service, until } from './service.js';
import { event, World } from './world.js';

/** Has the engine give up on a database, as when the disk is full during a checkpoint. */
async function breakDown(store: World['store']): Promise<void> {
  await store.run([{ sql: "INSERT INTO facts VALUES ('what', 'a checkpoint takes in')" }]);
  await store.select("SET debug_checkpoint_abort = 'before_header'");
  await expect(store.select('FORCE CHECKPOINT')).rejects.toThrow(StoreUnavailable);
}

const works = (store: World['store']) =>
  store.select('SELECT 1').then(
    () => true,
    () => false,
  );

describe('a database that the engine has given up on', () => {
  test('is opened again, and nothing that was settled is lost or counted twice', async () => {
    const world = await World.create({}, undefined, undefined, 'DuckDB');
    const { store } = world;
    await world.send([event('before')]);
    await breakDown(store);
    // Until it is open again nobody waits, and nobody gets anything from what is broken.
    const files = { source: CANONICAL, files: [], settledAt: world.now };
    await expect(store.select('SELECT 1')).rejects.toThrow(StoreUnavailable);
    await expect(store.run([])).rejects.toThrow(StoreUnavailable);
    await expect(store.settle(files)).rejects.toThrow(StoreUnavailable);
    await until(() => works(store));
    await world.send([event('before'), event('after')]);
    await world.build();
    const rows = await store.select('SELECT event_id FROM events ORDER BY event_id');
    expect(rows.map(({ event_id }) => event_id)).toEqual(['after', 'before']);
    expect(await store.select('SELECT day FROM activity')).not.toEqual([]);
    // And once more: all of it is new each time.
    await breakDown(store);
    await until(() => works(store));
  });

  test('ends a hold, since nothing keeps the files as they are', async () => {
    const { store } = await World.create({}, undefined, undefined, 'DuckDB');
    const held = store.hold(
      async () => {},
      async () => {
        await breakDown(store);
        return new Promise(() => {});
      },
    );
    await expect(held).rejects.toThrow(StoreUnavailable);
    await until(() => works(store));
  });

  test('is a 503 with Retry-After for all who ask meanwhile; events are taken, and settled once afterwards', async () => {
    const service = await Service.start({}, undefined, 0);
    const { store, inbox } = service.world;
    const get = () =>
      fetch(`${service.url}/api/v1/analytics/users?startDate=2026-07-01&endDate=2026-07-02`, {
        headers: { authorization: `Bearer ${service.key}` },
      });
    const send = () =>
      fetch(`${service.url}/api/v1/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/x-ndjson' },
        body: JSON.stringify(event('meanwhile')),
      });
    expect((await get()).status).toBe(200);
    // Whoever still reads keeps the broken database from being closed.
    let leave = () => {};
    let isReading = false;
    const reader = store.snapshot(
      () =>
        new Promise<void>((resolve) => {
          leave = resolve;
          isReading = true;
        }),
    );
    await until(() => isReading);
    await breakDown(store);
    const refused = await get();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({ detail: /reopened .*: try again/ });
    expect((await send()).status).toBe(200);
    await expect(inbox.drain(store)).rejects.toThrow(StoreUnavailable);
    leave();
    await reader.catch(() => undefined);
    await until(() => works(store));
    await inbox.drain(store);
    await send();
    await inbox.drain(store);
    expect((await get()).status).toBe(200);
    expect(await store.select('SELECT count(*) AS events FROM events')).toEqual([{ events: 1 }]);
  });
});

describe('a transaction that fails', () => {
  test('says why, whatever becomes of its ROLLBACK', async () => {
    const broke: unknown[] = [];
    const instance = await DuckDBInstance.create(':memory:');
    const [one, other] = [
      await connect(instance, (error) => broke.push(error)),
      await connect(instance, (error) => broke.push(error)),
    ];
    await one.run('CREATE TABLE names (name VARCHAR PRIMARY KEY)');
    // A COMMIT that fails leaves nothing to roll back.
    const clash = one.transaction(async () => {
      await one.run("INSERT INTO names VALUES ('ada')");
      await other.run("INSERT INTO names VALUES ('ada')");
    });
    await expect(clash).rejects.toThrow(/PRIMARY KEY|constraint/i);
    expect(broke).toEqual([]);
    // A connection that can't be rolled back is of no more use.
    const gone = one.transaction(async () => {
      one.connection.closeSync();
      throw new Error('the cause');
    });
    await expect(gone).rejects.toThrow('the cause');
    const tried = other.trial(async () => {
      other.connection.closeSync();
      throw new Error('the cause');
    });
    await expect(tried).rejects.toThrow('the cause');
    expect(broke).toHaveLength(2);
    instance.closeSync();
  });
});

test('what can not be made of a database leaves neither it nor its connection open', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  let made: Session | undefined;
  const failed = withWriter(
    instance,
    () => {},
    async (writer) => {
      made = writer;
      throw new Error('the cause');
    },
  );
  await expect(failed).rejects.toThrow('the cause');
  await expect(made?.run('SELECT 1')).rejects.toThrow();
  await expect(instance.connect()).rejects.toThrow();
});

describe('what is opened again', () => {
  /** Something that can be broken; `at` hears how often it was opened, and can make an opening fail. */
  async function breakable(
    at: (opened: number, breaking: (error: unknown) => void) => void,
    closing: (opened: number) => void = () => {},
  ) {
    const told: unknown[] = [];
    let reopened = 0;
    const closed: number[] = [];
    let opened = 0;
    let broke = (_: unknown): void => {};
    const renewable = await Renewable.start<number>(
      {
        open: async (breaking) => {
          broke = breaking;
          opened += 1;
          at(opened, breaking);
          return opened;
        },
        close: (value) => {
          closed.push(value);
          closing(value);
        },
      },
      {
        broken: () => {},
        unopened: (error) => told.push(error),
        reopened: () => {
          reopened += 1;
        },
      },
    );
    broke(new Error('FATAL Error'));
    return { renewable, told, closed, opened: () => opened, reopened: () => reopened };
  }
  const gone = () => {
    throw new Error('the disk is gone');
  };

  test('is tried until it can be, and that is told once, and its end too', async () => {
    const { renewable, told, opened, reopened } = await breakable((count) => {
      if (count === 2 || count === 3) gone();
    });
    await until(() => told.length > 0);
    await expect(renewable.use(async () => 1)).rejects.toThrow(StoreUnavailable);
    await until(() => reopened() > 0);
    expect([opened(), reopened()]).toEqual([4, 1]);
    expect(await renewable.use(async (value) => value)).toBe(4);
    expect(told).toEqual([new Error('the disk is gone')]);
    await renewable.close();
  });

  test('is closed, and opened again, when it breaks as it is opened', async () => {
    const { renewable, closed, opened } = await breakable((count, breaking) => {
      if (count === 2) breaking(new Error('FATAL Error'));
    });
    await until(() => opened() === 3);
    expect(await renewable.use(async (value) => value)).toBe(3);
    expect(closed).toEqual([1, 2]);
    await renewable.close();
  });

  test('is opened again also where what is broken can not be closed', async () => {
    const { renewable, reopened } = await breakable(
      () => {},
      (count) => {
        if (count === 1) gone();
      },
    );
    await until(() => reopened() > 0);
    expect(await renewable.use(async (value) => value)).toBe(2);
    await renewable.close();
  });

  test('is closed all the same while it can not be', async () => {
    const { renewable, opened } = await breakable((count) => {
      if (count > 1) gone();
    });
    await until(() => opened() > 1);
    await renewable.close();
    await expect(renewable.use(async () => 1)).rejects.toThrow('the store is closed');
  });
});
