import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createKey } from '../../src/api/api-keys.js';
import { CLAUDE_CODE } from '../../src/ingest/source.js';
import { sampleFolders, testSamples } from '../samples.js';
import { type Attributes, logs, Receiver, recordedRequests } from './sender.js';

const NOW = Date.parse('2027-01-01T12:00:00Z');

const Truth = z.object({ pull_requests: z.array(z.unknown()) });

/** Recordings whose telemetry stays with its installation, and why. */
const STAYS: Record<string, string> = {
  'fork-resume': 'it was recorded without session.id, so nothing says of which session a record is',
};

/** Whose sessions an organization has. */
async function sessionsOf({ world }: Receiver, orgId: string) {
  return world.store.select(
    'SELECT user_id, session_id FROM sessions WHERE org_id = $org_id ORDER BY user_id, session_id',
    { org_id: orgId },
  );
}

async function usersOf({ world }: Receiver, orgId: string): Promise<unknown[]> {
  const rows = await world.store.select(
    'SELECT DISTINCT user_id FROM active_users WHERE org_id = $org_id ORDER BY user_id',
    { org_id: orgId },
  );
  return rows.map(({ user_id }) => user_id);
}

for (const path of sampleFolders('captures/claude-code')) {
  const name = path.split('/').at(-1) as string;
  testSamples(
    `captures/claude-code/${name}`,
    `${name}: transcripts and telemetry, in either order, have the sessions and users of the transcripts alone`,
    async (folder) => {
      const receiver = await Receiver.start(NOW);
      const { world } = receiver;
      const read = (orgId: string) =>
        world.ingest([join(folder, 'logs')], { orgId, source: CLAUDE_CODE, userId: 'ada' });
      const send = async (orgId: string) => {
        const { key } = await createKey(world.store, { orgId, role: 'ingest' }, NOW);
        for (const { signal, type, body } of recordedRequests(folder))
          await receiver.post(signal, body, { 'content-type': type, authorization: `Bearer ${key}` });
        await world.inbox.drain(world.store);
      };
      await read('transcripts');
      await read('before');
      await send('after');
      await world.build();
      await send('before');
      await read('after');
      await world.build();
      const { pull_requests } = Truth.parse(JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')));
      const sessions = await sessionsOf(receiver, 'transcripts');
      expect(sessions.length).toBeGreaterThan(0);
      for (const orgId of ['before', 'after']) {
        expect(await sessionsOf(receiver, orgId), orgId).toEqual(sessions);
        if (STAYS[name] === undefined) expect(await usersOf(receiver, orgId), orgId).toEqual(['ada']);
        const [opened] = await world.store.select(
          'SELECT CAST(coalesce(sum(git_prs_created), 0) AS BIGINT) AS pull_requests FROM users WHERE org_id = $org_id',
          { org_id: orgId },
        );
        expect(Number(opened?.pull_requests), orgId).toBe(pull_requests.length);
      }
    },
  );
}

/** A call of a model by Claude Code, as its log record tells of it. */
const call = (session: string, request: string, who: Attributes) => ({
  body: 'claude_code.api_request',
  attributes: {
    'event.name': 'api_request',
    'event.timestamp': '2026-06-10T10:00:05.000Z',
    'session.id': session,
    model: 'claude-sonnet-5',
    input_tokens: 10,
    output_tokens: 5,
    request_id: request,
    ...who,
  },
});

test("a developer's key can't draw a colleague's telemetry", async () => {
  const receiver = await Receiver.start(NOW);
  const { world } = receiver;
  const installation = { 'user.id': '5e1f0c7a' };
  const telemetry = logs({ 'service.name': 'claude-code' }, [
    call('of-ada', 'req-1', installation),
    call('of-ada', 'req-2', installation),
    call('of-bob', 'req-3', { ...installation, 'user.email': 'bob@acme.example' }),
    call('of-bob', 'req-6', { ...installation, 'user.email': 'bob@acme.example' }),
    call('of-nobody', 'req-4', installation),
  ]);
  expect((await receiver.post('logs', telemetry)).status).toBe(200);
  const bobs = await createKey(world.store, { orgId: 'acme', role: 'member', userId: 'bob' }, NOW);
  const ofKey = logs({ 'service.name': 'claude-code' }, [
    call('of-key', 'req-5', installation),
    call('of-key', 'req-7', installation),
  ]);
  await receiver.post('logs', ofKey, { authorization: `Bearer ${bobs.key}` });
  // Ada knows the ids of all sessions, and of all calls but those of a colleague whom nothing names.
  const adas = await createKey(world.store, { orgId: 'acme', role: 'member', userId: 'ada' }, NOW);
  const claims = ['of-ada req-1', 'of-bob req-3', 'of-nobody req-0', 'of-key req-5'].map((claim, index) => ({
    event_id: `claim-${index}`,
    type: 'model_usage',
    timestamp: '2026-06-10T10:00:00Z',
    user_id: 'ada',
    session_id: claim.split(' ')[0],
    agent: 'claude-code',
    channel: 'log',
    model: 'claude-sonnet-5',
    input_tokens: 10,
    output_tokens: 5,
    request_id: claim.split(' ')[1],
  }));
  const answer = await receiver.app.inject({
    method: 'POST',
    url: '/api/v1/events',
    headers: { authorization: `Bearer ${adas.key}`, 'content-type': 'application/json' },
    payload: claims,
  });
  expect(answer.json()).toMatchObject({ accepted: 4 });
  await receiver.events();
  await world.build();
  const rows = await world.store.select(
    "SELECT request_id, user_id FROM counted_events WHERE channel = 'otlp_log' AND type = 'model_usage' ORDER BY request_id",
  );
  expect(rows.map(({ request_id, user_id }) => `${request_id} ${user_id}`)).toEqual([
    'req-2 ada',
    'req-4 5e1f0c7a',
    'req-6 bob@acme.example',
    'req-7 bob',
  ]);
});

test('an account, an e-mail or a key is a person, the id of an installation is none', async () => {
  const receiver = await Receiver.start(NOW);
  const installation = { 'user.id': '5e1f0c7a' };
  await receiver.post(
    'logs',
    logs({ 'service.name': 'claude-code' }, [
      call('s1', 'req-1', installation),
      call('s2', 'req-2', { ...installation, 'user.account_uuid': 'a-1' }),
      call('s3', 'req-3', { ...installation, 'user.email': 'Grace@acme.example' }),
      call('s4', 'req-4', {}),
    ]),
  );
  const events = await receiver.events();
  const told = events
    .filter(({ type }) => type === 'model_usage')
    .map(({ request_id, user_id, is_installation }) => [request_id, user_id, is_installation])
    .sort();
  expect(told).toEqual([
    ['req-1', '5e1f0c7a', true],
    ['req-2', 'a-1', null],
    ['req-3', 'grace@acme.example', null],
    ['req-4', 'unknown', null],
  ]);
});
