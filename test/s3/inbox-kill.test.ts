import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { Inbox } from '../../src/ingest/inbox.js';
import { readConfig } from '../../src/settings/config.js';
import { DuckDbStore } from '../../src/store/duckdb-store.js';
import { keyOf, servedWith, TODAY } from '../program.js';
import { randomOf } from '../random.js';
import { event, lines, temporaryFolder } from '../world.js';
import { withCredentials } from './s3-credentials.js';
import { S3Server } from './s3-server.js';

const SENDERS = 6;

test('a service that is killed, and whose inbox folder is lost each time, has lost and doubled nothing', async () => {
  const { kills, seed } = inject('faults');
  const random = randomOf(seed);
  const server = await S3Server.start();
  onTestFinished(() => server.close());
  withCredentials(onTestFinished);
  server.delayOf = () => (random() < 0.02 ? 400 : random() * 30);
  server.faultOf = () => {
    const one = random();
    return one < 0.02 ? 'slow down' : one < 0.03 ? 'cut' : one < 0.05 ? 'lost answer' : undefined;
  };
  const settings = { DAYBOOK_INBOX: server.address('inbox'), DAYBOOK_RATE_LIMIT: '0' };
  const data = join(temporaryFolder(), 'data');
  const key = await keyOf(data, 'owner');
  const acknowledged = new Set<string>();
  let sent = 0;
  let sentAgain = 0;
  let url = '';
  let isOver = false;
  const timestamp = `${addDays(TODAY, -3)}T10:00:00Z`;
  const sending = Array.from({ length: SENDERS }, async () => {
    while (!isOver) {
      sent += 1;
      const ids = Array.from({ length: 5 }, (_, one) => `e-${sent}-${one}`);
      const body = lines(ids.map((id) => event(id, { timestamp })));
      for (let isTaken = false; !isTaken && !isOver; ) {
        const answer = await fetch(`${url}/api/v1/events`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
          body,
        }).catch(() => undefined);
        isTaken = answer?.status === 200;
        if (isTaken) for (const id of ids) acknowledged.add(id);
        else {
          sentAgain += 1;
          await wait(50);
        }
      }
    }
  });
  for (let life = 0; life < kills; life += 1) {
    const { child, url: own } = await servedWith(settings, data);
    url = own;
    await wait(500 + random() * 3000);
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(join(data, 'inbox'), { recursive: true });
  }
  isOver = true;
  await Promise.all(sending);
  server.faultOf = () => undefined;
  const config = readConfig({ DAYBOOK_DATA: data, DAYBOOK_INBOX: settings.DAYBOOK_INBOX });
  const store = await DuckDbStore.open(data, { ...config, now: Date.now() });
  const inbox = Inbox.open(config, Date.now);
  for (let drains = 0; drains < 3; drains += 1) await inbox.drain(store);
  const rows = await store.select('SELECT event_id FROM events');
  const [copies] = await store.select('SELECT coalesce(sum(duplicates), 0) AS copies FROM batches');
  await inbox.close();
  await store.close();
  const stored = rows.map(({ event_id }) => String(event_id));
  expect(acknowledged.size).toBeGreaterThan(kills * 5);
  expect([...acknowledged].filter((id) => !stored.includes(id))).toEqual([]);
  expect(new Set(stored).size).toBe(stored.length);
  // Copies come from requests that were sent again, and from nothing else.
  expect(Number(copies?.copies)).toBeLessThanOrEqual(5 * sentAgain);
  expect(inbox.setAside).toEqual([]);
  expect(server.keys()).toEqual([]);
});
