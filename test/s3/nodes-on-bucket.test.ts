import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runAgent } from '../../src/computers/run-agent.js';
import { addDays } from '../../src/day.js';
import { ClickHouseServer } from '../clickhouse/server.js';
import { hasPostgres } from '../postgres/installed.js';
import { postgresDatabase } from '../postgres/server.js';
import { daybook, servedWith, TODAY } from '../program.js';
import { until } from '../service.js';
import { event, lines, temporaryFolder } from '../world.js';
import { commitsOf, filesOf, inSnapshot } from './published.js';
import { withCredentials } from './s3-credentials.js';
import { S3Server } from './s3-server.js';

const ROUNDS = 2;
const DAY = addDays(TODAY, -3);

test.runIf(hasPostgres())(
  'two nodes that publish to one bucket lose no commit, and a file sent to one is completed at the other',
  async () => {
    withCredentials(onTestFinished);
    const server = await S3Server.start();
    onTestFinished(() => server.close());
    const { store } = await ClickHouseServer.start(onTestFinished);
    const env = {
      DAYBOOK_STORE: store,
      DAYBOOK_STATE: await postgresDatabase(onTestFinished),
      DAYBOOK_SECRET_KEY: 'k'.repeat(32),
      DAYBOOK_INBOX: server.address('inbox'),
      DAYBOOK_LAKE: server.address('lake'),
      DAYBOOK_OBJECTS: server.address('objects'),
      DAYBOOK_RATE_LIMIT: '0',
    };
    const folder = temporaryFolder();
    const nodes: { data: string; url: string }[] = [];
    for (const name of ['first', 'second']) {
      const data = join(folder, name);
      nodes.push({ data, url: (await servedWith(env, data)).url });
    }
    const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
    const command = async ({ data }: { data: string }, ...args: string[]) => {
      const ended = await daybook(['--data', data, ...args], { env });
      expect(ended.code, ended.stderr).toBe(0);
      return ended.stdout;
    };
    const keys = new Map<string, string>();
    for (const orgId of ['acme', 'globex']) {
      const made = ['keys', 'create', '--org', orgId, '--role', 'owner', '--user', 'ada', '--json'];
      keys.set(orgId, JSON.parse(await command(first, ...made)).key);
    }
    const post = async (
      url: string,
      orgId: string,
      path: string,
      body: string,
      type = 'application/json',
    ) => {
      const headers = { authorization: `Bearer ${keys.get(orgId)}`, 'content-type': type };
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body });
      expect(answer.status).toBeLessThan(300);
      return answer.json();
    };

    const sent = new Map<string, string[]>([...keys.keys()].map((orgId) => [orgId, []]));
    server.delayOf = () => Math.random() * 20;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, { url }] of nodes.entries())
        for (const [orgId, ids] of sent) {
          const id = `${orgId}-${round}-${index}`;
          const timestamp = `${addDays(DAY, index)}T10:00:00Z`;
          await post(url, orgId, '/api/v1/events', lines([event(id, { timestamp })]), 'application/x-ndjson');
          ids.push(id);
        }
      await Promise.all(nodes.map((node) => command(node, 'build')));
    }
    server.delayOf = () => 0;
    await command(second, 'build');
    for (const [orgId, ids] of sent) {
      expect(commitsOf(server, 'events', orgId).length).toBeGreaterThan(1);
      expect(filesOf(server, 'events', orgId)).toEqual(inSnapshot(server, 'events', orgId));
      for (const { url } of nodes) {
        const sql = 'SELECT event_id FROM events ORDER BY event_id';
        const { data } = await post(url, orgId, '/api/v1/sql', JSON.stringify({ sql }));
        expect(data.map((row: { event_id: string }) => row.event_id)).toEqual(ids.sort());
      }
    }
    for (const node of nodes) await command(node, 'lake', 'verify');

    const box = JSON.stringify({ name: 'box', remoteUser: 'ada' });
    const { id, agentToken } = await post(first.url, 'acme', '/api/v0/computers', box);
    const said: string[] = [];
    const stopping = new AbortController();
    const workspace = temporaryFolder();
    const agent = runAgent({
      ...{ server: second.url, token: agentToken, workspace, version: 'test', clock: Date.now },
      say: (sentence) => said.push(sentence),
      signal: stopping.signal,
    }).catch(() => undefined);
    onTestFinished(async () => {
      stopping.abort();
      await agent;
    });
    await until(() => said.some((sentence) => sentence.startsWith('Connected')));
    const path = `/api/v0/computers/${id}/files/a.txt`;
    const { transferId, uploadUrl } = await post(
      first.url,
      'acme',
      `${path}/create-upload`,
      JSON.stringify({ sizeBytes: 5 }),
    );
    expect((await fetch(uploadUrl, { method: 'PUT', body: 'hello' })).status).toBe(200);
    const completion = JSON.stringify({ transferId, sessionId: 's', destPath: 'in' });
    await post(second.url, 'acme', `${path}/complete-upload`, completion);
    expect(readFileSync(join(workspace, 'in', 'a.txt'), 'utf8')).toBe('hello');
    expect(server.keys('objects/')).toEqual([]);
  },
  1_200_000,
);
