import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { FrontProcess } from '../clickhouse/front/process.js';
import { KILLS, SEED } from '../faults/settings.js';
import { randomOf } from '../random.js';
import { NodeCluster } from './node-cluster.js';
import { faultsOf } from './outcome.js';
import { serverFaults } from './server-faults.js';

test(`one node on two ClickHouse servers that die, hang and break off loses and doubles nothing, seed ${SEED}`, async () => {
  const front = await FrontProcess.start({ servers: 2 });
  const random = randomOf(SEED + 20);
  const cluster = await NodeCluster.start({
    nodes: 1,
    seed: SEED,
    settingsOf: async (wayTo) => {
      const ports = [];
      for (const port of front.ports) ports.push(`127.0.0.1:${await wayTo(port)}`);
      return { DAYBOOK_STORE: `clickhouse://ada:secret@${ports.join()}/acme?cluster=eu` };
    },
    more: {
      ...serverFaults(front, random),
      'kill the servers': async () => {
        await front.kill();
        await wait(random() * 1000);
        await front.start();
      },
    },
  });
  await cluster.disturb(2 * KILLS);
  await front.take('answer');
  await cluster.settle();
  expect(await faultsOf(cluster, onTestFinished)).toEqual([]);
  console.log(
    `${JSON.stringify(cluster.disturbed)}; acknowledged ${cluster.ledgers.map(({ acknowledged }) => acknowledged.size)}`,
  );
}, 3_600_000);
