import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { CLAUDE_CODE } from '../src/ingest/source.js';
import { tablesOf } from './laws/law.js';
import { ending, World } from './world.js';

/** Transcripts whose events were made on a laptop and sent as events count as transcripts that are read here. */

const SAMPLE = join(PACKAGE_ROOT, 'data', 'sample');

const atEnd = ending();
let world: World;
beforeAll(async () => {
  world = await World.create({}, atEnd);
  world.now = Date.parse('2026-07-20T12:00:00.000Z');
});

/** A line of a model's answer. Two files can have the same answer: as it grows, repeated by a side chain, or told by a sub-agent. */
function answer(id: string, output_tokens: number, more: object = {}): object {
  return {
    type: 'assistant',
    uuid: `${id}-${output_tokens}`,
    timestamp: '2026-06-10T10:00:01.000Z',
    sessionId: 'morning',
    requestId: `req_${id}`,
    version: '2.1.29',
    message: { id, model: 'claude-opus-4-5', content: [], usage: { input_tokens: 3, output_tokens } },
    ...more,
  };
}

const isSidechain = true;
const PARTS = [
  [answer('m1', 1), answer('m2', 5, { isSidechain }), answer('m3', 2), answer('m4', 9, { isSidechain })],
  [answer('m1', 80), answer('m2', 4), answer('m3', 7, { requestId: undefined }), answer('m4', 8)],
];

/** Reads one part of the transcripts into an organization: each of its own user. */
async function read(part: number, orgId: string): Promise<void> {
  const lines = (PARTS[part] ?? []).map((line) => `${JSON.stringify(line)}\n`);
  const paths = [world.file(`${orgId}-${part}.jsonl`, lines.join(''))];
  const projects = readdirSync(SAMPLE, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const [index, { name }] of projects.entries()) if (index % 2 === part) paths.push(join(SAMPLE, name));
  await world.ingest(paths, { orgId, source: CLAUDE_CODE, userId: `user-${part}` });
}

/** The stored events of an organization as lines that can be sent. */
async function exported(orgId: string): Promise<object[]> {
  const rows = await world.store.select('SELECT * FROM events WHERE org_id = $orgId', { orgId });
  return rows.map(({ org_id: _, day: __, batch: ___, occurred_at, ...members }) => ({
    ...members,
    timestamp: Number(occurred_at),
  }));
}

test('transcripts that were parsed elsewhere and sent as events give the same tables', async () => {
  for (const part of [0, 1]) {
    await read(part, 'here');
    await read(part, `laptop-${part}`);
  }
  const [first, second] = [await exported('laptop-0'), await exported('laptop-1')];
  for (const [index, batches] of [[first, second], [second, first], [[...second, ...first]]].entries())
    for (const batch of batches) await world.send(batch, { orgId: `there-${index}` });
  await world.build();
  const here = await tablesOf(world, 'here');
  expect(here.events?.length).toBeGreaterThan(500);
  const kept = await world.store.select(
    "SELECT event_id, output_tokens FROM events WHERE org_id = 'here' AND event_id LIKE 'usage:m_:%' ORDER BY event_id",
  );
  expect(kept.map(Object.values)).toEqual([
    ['usage:m1:req_m1', 80],
    ['usage:m2:req_m2', 4],
    ['usage:m3:req_m3', 2],
    ['usage:m4:req_m4', 8],
  ]);
  for (const orgId of ['there-0', 'there-1', 'there-2'])
    expect(await tablesOf(world, orgId), orgId).toEqual(here);
});
