import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { FrontProcess } from '../clickhouse/front/process.js';
import { KILLS, SEED } from '../faults/settings.js';
import { laterVersion } from '../other-version.js';
import { postgresDatabase } from '../postgres/server.js';
import { randomOf } from '../random.js';
import { withCredentials } from '../s3/s3-credentials.js';
import { S3Server } from '../s3/s3-server.js';
import { NodeCluster } from './node-cluster.js';
import { faultsOf } from './outcome.js';
import { serverFaults } from './server-faults.js';

/** Longer than a lease is held. */
const FREEZE_MS = 75_000;

/** Three nodes and two engines share the processors: more than they settle beside all that goes wrong would only make it longer. */
const REST_MS = 400;

/** After so much that went wrong the nodes may come to themselves. */
const ROUND = 25;

test(`three nodes that die, sleep past their leases, are cut off and get a new version lose and double nothing, and no answer is wrong, seed ${SEED}`, async () => {
  const random = randomOf(SEED + 20);
  const front = await FrontProcess.start({ servers: 2, isFollowed: true });
  const behind = await FrontProcess.start({ of: front });
  const state = new URL(await postgresDatabase(onTestFinished));
  const bucket = await S3Server.start();
  onTestFinished(() => bucket.close());
  withCredentials(onTestFinished);
  bucket.delayOf = () => random() * 20;
  bucket.faultOf = () => {
    const one = random();
    return one < 0.01 ? 'slow down' : one < 0.02 ? 'cut' : one < 0.03 ? 'lost answer' : undefined;
  };
  const cluster = await NodeCluster.start({
    nodes: 3,
    seed: SEED,
    freezeMs: FREEZE_MS,
    restMs: REST_MS,
    waiting: () => {
      const [aside] = bucket.keys('inbox/aside/');
      if (aside !== undefined) throw new Error(`a body was taken for one that can't be settled: ${aside}`);
      return bucket.keys('inbox/').length;
    },
    settingsOf: async (wayTo) => {
      const hosts: string[] = [];
      for (const port of [...front.ports, ...behind.ports]) hosts.push(`127.0.0.1:${await wayTo(port)}`);
      const own = new URL(state);
      own.port = String(await wayTo(Number(state.port)));
      const s3 = await wayTo(Number(new URL(bucket.url).port));
      return {
        DAYBOOK_STORE: `clickhouse://ada:secret@${hosts.join()}/acme?cluster=eu`,
        DAYBOOK_STATE: String(own),
        DAYBOOK_SECRET_KEY: 'k'.repeat(32),
        DAYBOOK_INBOX: bucket.address('inbox').replace(bucket.url, `http://127.0.0.1:${s3}`),
      };
    },
    more: {
      ...serverFaults(front, random),
      'kill a server': async () => {
        const one = random() < 0.5 ? front : behind;
        await one.kill();
        await wait(random() * 1000);
        await one.start();
      },
      'let a server be late': async () => {
        await behind.lag(random() < 0.3 ? 'stopped' : random() * 3000);
        await wait(random() * 3000);
        await behind.lag(random() * 100);
      },
    },
  });
  // Answers that never change would always be right.
  const disturb = async (times: number) => {
    for (let left = times; left > 0; left -= ROUND) {
      await cluster.disturb(Math.min(left, ROUND));
      await cluster.recover();
    }
  };
  await cluster.recover();
  await disturb(KILLS);
  // Node by node, with the other two as they were.
  const later = laterVersion();
  for (const node of cluster.nodes) {
    await node.update(later);
    await disturb(Math.ceil(KILLS / 6));
  }
  await disturb(Math.ceil(KILLS / 2));
  await front.take('answer');
  await behind.lag(0);
  bucket.faultOf = () => undefined;
  await cluster.settle();
  expect(await faultsOf(cluster, onTestFinished)).toEqual([]);
  console.log(
    `${JSON.stringify(cluster.disturbed)}; acknowledged ${cluster.ledgers.map(({ acknowledged }) => acknowledged.size)}; ${cluster.twins?.answers} answers, ${cluster.twins?.newest} pairs`,
  );
}, 7_200_000);
