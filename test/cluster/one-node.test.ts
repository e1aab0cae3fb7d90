import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, onTestFinished, test } from 'vitest';
import { DATABASE } from '../../src/disk/data-files.js';
import { KILLS, SEED } from '../faults/settings.js';
import { NodeCluster } from './node-cluster.js';
import { faultsOf } from './outcome.js';

test(`one node that is killed, frozen and whose clock is set loses and doubles nothing, and this would be seen, seed ${SEED}`, async () => {
  const cluster = await NodeCluster.start({ nodes: 1, seed: SEED, settingsOf: async () => ({}) });
  await cluster.disturb(2 * KILLS);
  await cluster.settle();
  expect(await faultsOf(cluster, onTestFinished)).toEqual([]);
  const [acme] = cluster.ledgers;
  console.log(
    `${JSON.stringify(cluster.disturbed)}; acknowledged ${cluster.ledgers.map(({ acknowledged }) => acknowledged.size)}`,
  );

  const [lost, doubled] = [...(acme?.acknowledged ?? [])];
  const instance = await DuckDBInstance.create(join(cluster.node.data, DATABASE));
  const connection = await instance.connect();
  await connection.run(`DELETE FROM events WHERE event_id = '${lost}'`);
  await connection.run(`INSERT INTO events FROM events WHERE event_id = '${doubled}'`);
  await connection.run("UPDATE digests SET digest = 'another' WHERE table_name = 'users'");
  connection.closeSync();
  instance.closeSync();
  const faults = await faultsOf(cluster, onTestFinished);
  expect(faults).toContain(`${lost} is lost`);
  expect(faults).toContain(`${doubled} is doubled`);
  expect(faults.some((fault) => /^the cluster has acme .* users .* another$/.test(fault))).toBe(true);
}, 3_600_000);
