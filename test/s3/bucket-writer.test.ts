import { expect, onTestFinished, test, vi } from 'vitest';
import { digestOfBody } from '../../src/ingest/body-name.js';
import { BucketWriter } from '../../src/ingest/bucket-writer.js';
import { Bucket } from '../../src/objects/bucket.js';
import { withCredentials } from './s3-credentials.js';
import { S3Server } from './s3-server.js';

const NOW = Date.UTC(2026, 5, 1);

function bodyFor(orgId: string) {
  const held = Buffer.from('{}\n');
  const body = { requestId: orgId, orgId, receivedAt: NOW, digest: digestOfBody('0'.repeat(64)) };
  return { path: '', body, bytes: held.length, held };
}

test('what comes after a slow object does not wait for it, also if a timer fires before its time', async () => {
  const server = await S3Server.start();
  withCredentials(onTestFinished);
  const bucket = new Bucket({ bucket: 'bucket', prefix: '', region: 'eu-central-1', endpoint: server.url });
  const writer = new BucketWriter(
    bucket,
    () => NOW,
    () => {},
  );
  // What writes is loaded by the first of them; the second one is there at once.
  await writer.keep(bodyFor('first'));
  await writer.keep(bodyFor('second'));
  server.delayOf = ({ key }) => (key.includes('.slow!') ? 60_000 : 0);
  // By this clock, timers fire up to a millisecond early. Here no time passes for it at all.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  let isSlowDone = false;
  const slow = writer.keep(bodyFor('slow')).catch(() => {
    isSlowDone = true;
  });
  await writer.keep(bodyFor('quick'));
  expect(isSlowDone).toBe(false);
  await server.close();
  await slow;
});
