import { expect, test } from 'vitest';
import { CANONICAL } from '../../src/ingest/source.js';
import { event, lines, World } from '../world.js';

const MS_PER_DAY = 86_400_000;

test('a batch settles files of many organizations: each by its own time, and into its own organization', async () => {
  const world = await World.create();
  const { store } = world;
  let batches = 0;
  const settle = (
    files: readonly (readonly [orgId: string, receivedAt: number, ...events: (object | string)[]])[],
  ) => {
    batches += 1;
    return store.settle({
      source: CANONICAL,
      files: files.map(([orgId, receivedAt, ...events], index) => ({
        path: world.file(`${batches}-${index}.ndjson`, lines(events)),
        name: `req_${batches}_${index}`,
        orgId,
        receivedAt,
      })),
      settledAt: world.now,
      token: `token-${batches}`,
    });
  };
  const soon = { timestamp: new Date(world.now + 1).toISOString() };
  const email = (user_email: string) => ({ user_email });
  expect(
    await settle([
      ['acme', world.now, event('1', email('ada@acme.example')), event('2'), event('3', { org_id: 'zeta' })],
      ['zeta', world.now, event('1', email('ada@zeta.example')), event('3', { org_id: 'zeta' })],
      ['acme', world.now, event('1', email('ada@acme.example')), event('4', soon)],
      ['zeta', world.now - MS_PER_DAY, event('4', soon), '{'],
      ['none', world.now],
    ]),
  ).toMatchObject({
    accepted: 5,
    duplicates: 1,
    rejected: 3,
    byReason: { not_json: 1, org_mismatch: 1, timestamp_in_future: 1 },
  });
  // Copies of what is there, one of which goes before the stored one, and of an organization whose events have gone.
  await store.run([
    { sql: "INSERT INTO removed_days SELECT 'gone', CAST('2026-06-10' AS DATE), instant(0)" },
  ]);
  const earlier = { timestamp: '2026-06-10T09:00:00Z' };
  expect(
    await settle([
      ['gone', world.now, event('1')],
      ['zeta', world.now, event('1', { ...earlier, user_id: 'bob' }), event('2')],
      ['acme', world.now, event('1', email('ada@acme.example')), event('2'), '{'],
    ]),
  ).toMatchObject({ accepted: 1, duplicates: 4, rejected: 1 });
  expect(
    await store.select('SELECT org_id, event_id, user_id, batch FROM events ORDER BY org_id, event_id'),
  ).toEqual([
    { org_id: 'acme', event_id: '1', user_id: 'ada', batch: 1 },
    { org_id: 'acme', event_id: '2', user_id: 'ada', batch: 1 },
    { org_id: 'acme', event_id: '4', user_id: 'ada', batch: 1 },
    { org_id: 'zeta', event_id: '1', user_id: 'bob', batch: 2 },
    { org_id: 'zeta', event_id: '2', user_id: 'ada', batch: 2 },
    { org_id: 'zeta', event_id: '3', user_id: 'ada', batch: 1 },
  ]);
  expect(await store.select('SELECT org_id, user_id, user_email FROM user_emails')).toEqual([
    { org_id: 'acme', user_id: 'ada', user_email: 'ada@acme.example' },
  ]);
  expect(
    await store.select(
      'SELECT batch, org_id, accepted, duplicates, rejected, token FROM batches ORDER BY batch, org_id',
    ),
  ).toEqual([
    { batch: 1, org_id: 'acme', accepted: 3, duplicates: 1, rejected: 1, token: 'token-1' },
    { batch: 1, org_id: 'none', accepted: 0, duplicates: 0, rejected: 0, token: 'token-1' },
    { batch: 1, org_id: 'zeta', accepted: 2, duplicates: 0, rejected: 2, token: 'token-1' },
    { batch: 2, org_id: 'acme', accepted: 0, duplicates: 2, rejected: 1, token: 'token-2' },
    { batch: 2, org_id: 'gone', accepted: 0, duplicates: 1, rejected: 0, token: 'token-2' },
    { batch: 2, org_id: 'zeta', accepted: 1, duplicates: 1, rejected: 0, token: 'token-2' },
  ]);
  expect(
    await store.select(
      'SELECT batch, org_id, accepted, duplicates, changed FROM arrivals WHERE batch = 2 ORDER BY org_id, day',
    ),
  ).toEqual([
    { batch: 2, org_id: 'acme', accepted: 0, duplicates: 2, changed: 0 },
    { batch: 2, org_id: 'gone', accepted: 0, duplicates: 1, changed: 0 },
    { batch: 2, org_id: 'zeta', accepted: 1, duplicates: 1, changed: 2 },
  ]);
  expect(
    await store.select(
      'SELECT org_id, source, line_no, reason, detail FROM rejects ORDER BY source, line_no',
    ),
  ).toEqual([
    {
      org_id: 'acme',
      source: 'req_1_0',
      line_no: 3,
      reason: 'org_mismatch',
      detail: 'org_id must be acme or absent.',
    },
    {
      org_id: 'zeta',
      source: 'req_1_3',
      line_no: 1,
      reason: 'timestamp_in_future',
      detail: 'timestamp must be at most 24 hours in the future.',
    },
    expect.objectContaining({ org_id: 'zeta', source: 'req_1_3', line_no: 2, reason: 'not_json' }),
    expect.objectContaining({ org_id: 'acme', source: 'req_2_2', line_no: 3, reason: 'not_json' }),
  ]);
});
