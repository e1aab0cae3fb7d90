import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomOf } from '../test/random.js';
import { S3Server } from '../test/s3/s3-server.js';
import { Service } from './service.js';
import { table } from './table.js';

const SECONDS = 10;
/** Senders, each of which sends its next body when the last one is acknowledged, and the events of a body. */
const LOADS = [
  { senders: 1, events: 1 },
  { senders: 16, events: 1 },
  { senders: 256, events: 1 },
  { senders: 16, events: 1000 },
] as const;
/**
 * Dollars for a thousand requests of S3 Standard in us-east-1, PUT and LIST alike; DELETE is free. Amazon's prices, as
 * https://c3x.dev/blog/s3-request-fees-explained gives them.
 */
const DOLLARS = 0.005;

/** How long a PUT takes in ms: half of them 20 to 35, one in a hundred more than 140. */
function delays(): () => number {
  const random = randomOf(46);
  return () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return 20 + 15 * Math.exp(0.9 * normal);
  };
}

let sent = 0;

function body(events: number): string {
  const lines = Array.from({ length: events }, () => {
    sent += 1;
    return JSON.stringify({
      event_id: `bench-${sent}`,
      type: 'user_message',
      timestamp: new Date().toISOString(),
      user_id: `user-${sent % 100}`,
      session_id: `session-${sent % 1000}`,
    });
  });
  return lines.join('\n');
}

function send({ url, key }: Service, agent: Agent, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' };
    const asked = request(`${url}/api/v1/events`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`an answer of ${answer.statusCode}`));
      });
    });
    asked.on('error', reject).end(text);
  });
}

/** How long a request takes until it is acknowledged, and what the bucket is asked for: the inbox in a folder and in a bucket. */
export async function inbox(root: string): Promise<void> {
  process.env.AWS_ACCESS_KEY_ID = 'bench';
  process.env.AWS_SECRET_ACCESS_KEY = 'bench';
  const print = table(
    ...[
      'inbox ',
      'senders',
      'events a body',
      'median ms',
      '  p99 ms',
      'events/s',
      'objects/s',
      'PUTs a million events',
      '$ a million',
    ],
  );
  for (const { senders, events } of LOADS)
    for (const isBucket of [false, true]) {
      const server = await S3Server.start();
      const delay = delays();
      server.delayOf = ({ method }) => (method === 'PUT' ? delay() : 5);
      const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
      const service = await Service.start(
        root,
        join(folder, 'data'),
        isBucket ? { DAYBOOK_INBOX: server.address('inbox') } : {},
      );
      const agent = new Agent({ keepAlive: true });
      // The first request loads the SDK.
      await send(service, agent, body(1));
      const before = { ...server.counts };
      const times: number[] = [];
      const end = performance.now() + SECONDS * 1000;
      await Promise.all(
        Array.from({ length: senders }, async () => {
          while (performance.now() < end) {
            const text = body(events);
            const started = performance.now();
            await send(service, agent, text);
            times.push(performance.now() - started);
          }
        }),
      );
      times.sort((a, b) => a - b);
      const at = (share: number) => (times[Math.ceil(share * times.length) - 1] ?? 0).toFixed(1);
      const million = 1e6 / (times.length * events);
      const count = (name: string) => ((server.counts[name] ?? 0) - (before[name] ?? 0)) * million;
      const [puts, lists] = [count('PUT'), count('LIST')];
      print(
        isBucket ? 'bucket' : 'folder',
        ...[String(senders), String(events), at(0.5), at(0.99)],
        String(Math.round((times.length * events) / SECONDS)),
        ...(isBucket
          ? [
              (puts / million / SECONDS).toFixed(1),
              String(Math.round(puts)),
              (((puts + lists) * DOLLARS) / 1000).toFixed(3),
            ]
          : []),
      );
      agent.destroy();
      await service.stop();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    }
}
