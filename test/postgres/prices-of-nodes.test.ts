import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { FETCHED_PRICES } from '../../src/disk/data-files.js';
import { readConfig } from '../../src/settings/config.js';
import { ClusterStore } from '../../src/store/cluster-store.js';
import { BASE_PRICES } from '../../src/store/price-list.js';
import { databaseOf } from '../clickhouse/engine.js';
import { ending, NOW, temporaryFolder } from '../world.js';
import { addressOf, postgresDatabase } from './server.js';

const atEnd = ending();
let folder: string;
let open: (name: string) => Promise<ClusterStore>;
beforeAll(async () => {
  folder = temporaryFolder(atEnd);
  const state = addressOf(await postgresDatabase(atEnd));
  const connected = databaseOf(join(folder, 'here'), atEnd);
  open = async (name) => {
    const environment = { DAYBOOK_DATA: join(folder, name), DAYBOOK_PRICES: fileOf(name) };
    const config = readConfig({ DAYBOOK_THREADS: '1', ...environment });
    return ClusterStore.with(config.data, state, { ...config, now: NOW }, connected);
  };
});

const fileOf = (name: string) => join(folder, `${name}.json`);

function price(name: string, input: number): void {
  const prices = [{ valid_from: '2026-01-01', input, source: 'https://acme.example' }];
  writeFileSync(fileOf(name), JSON.stringify({ models: [{ id: 'acme-1', prices }] }));
}

const priceIn = async (store: ClusterStore) =>
  (await store.select("SELECT CAST(input_price AS DOUBLE) AS usd FROM prices WHERE model_id = 'acme-1'")).map(
    ({ usd }) => usd,
  );

const replaced = (name: string) =>
  `The price list ${fileOf(name)} isn't used, because another node has replaced it by a newer one: to go back to it, set a file with another $comment.`;

test('the newest file counts on all nodes, however often those with another one start and build', async () => {
  price('here', 1);
  price('there', 2);
  const here = await open('here');
  expect(await here.refresh()).toEqual([]);
  const there = await open('there');
  atEnd(() => there.close());
  // A node that doesn't build brings nothing.
  expect(await priceIn(there)).toEqual([1]);
  expect(await there.refresh()).toEqual([]);
  expect([await priceIn(here), await priceIn(there)]).toEqual([[2], [2]]);
  expect(await here.refresh()).toEqual([replaced('here')]);
  expect(await there.refresh()).toEqual([]);
  await here.close();
  const again = await open('here');
  atEnd(() => again.close());
  expect(await again.refresh()).toEqual([replaced('here')]);
  expect(await priceIn(again)).toEqual([2]);
  price('here', 3);
  expect(await again.refresh()).toEqual([]);
  expect(await there.refresh()).toEqual([replaced('there')]);
  expect(await priceIn(there)).toEqual([3]);
  // Prices that a node fetched, on all nodes.
  const fetched = (name: string) => join(folder, name, FETCHED_PRICES);
  writeFileSync(fetched('here'), readFileSync(BASE_PRICES));
  expect(await again.refresh()).toEqual([]);
  expect(existsSync(fetched('there'))).toBe(false);
  price('there', 4);
  expect(await there.refresh()).toEqual([]);
  expect(readFileSync(fetched('there'))).toEqual(readFileSync(BASE_PRICES));
  expect(await priceIn(again)).toEqual([4]);
});
