import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { CLAUDE_CODE } from '../src/ingest/source.js';
import { type Given, payloadsOf, sendPayloads } from './claude-code-recordings.js';
import { Receiver, recordedRequests } from './otlp/sender.js';
import { sampleFolders, testSamples } from './samples.js';

/** Recordings of Claude Code whose hooks were recorded too: what its payloads tell, alone and beside the other channels. */

/** Every day of the recordings is over. */
const AFTERWARDS = Date.parse('2027-01-01T12:00:00Z');

const Truth = z.object({
  person_turns: z.array(z.object({ text: z.string(), slash_command: z.string().optional() })),
  tool_calls: z.array(
    z.object({ id: z.string(), name: z.string(), success: z.boolean(), agent_id: z.string().optional() }),
  ),
  files_created: z.array(z.string()),
  files_edited: z.array(z.string()),
  commits: z.array(z.object({ sha: z.string() })),
  pull_requests: z.array(z.object({ url: z.string() })),
  skills_by_the_model: z.array(z.string()),
});
type Truth = z.infer<typeof Truth>;

/** The commands of which no payload tells. */
const UNTOLD_COMMANDS = ['add-dir'];

async function sendTelemetry(receiver: Receiver, folder: string): Promise<void> {
  for (const { signal, type, body } of recordedRequests(folder))
    expect((await receiver.post(signal, body, { 'content-type': type })).status).toBe(200);
}

async function readTranscripts({ world }: Receiver, folder: string): Promise<void> {
  await world.ingest([join(folder, 'logs')], { orgId: 'acme', source: CLAUDE_CODE, userId: 'ada' });
}

/** The values of a query's only column, in order. */
async function listOf({ world }: Receiver, sql: string): Promise<unknown[]> {
  const rows = await world.store.select(`SELECT ${sql} ORDER BY 1`);
  return rows.map((row) => Object.values(row)[0]);
}

const callsOf = (receiver: Receiver) =>
  listOf(
    receiver,
    "concat(event_id, ' ', tool_key, CASE WHEN success THEN ' succeeded' WHEN NOT success THEN ' failed' ELSE '' END) FROM tool_calls",
  );

const callsIn = ({ tool_calls }: Truth) =>
  tool_calls.map(({ id, name, success }) => `tool:${id} ${name} ${success ? 'succeeded' : 'failed'}`).sort();

const recordings = sampleFolders('captures/claude-code').filter((folder) =>
  existsSync(join(folder, 'hooks')),
);

testSamples('captures/claude-code', 'a recording of Claude Code has hooks', async () => {
  expect(recordings).not.toEqual([]);
});

for (const folder of recordings) {
  const recording = basename(folder);
  const truth = Truth.parse(JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')));
  const path = `captures/claude-code/${recording}`;
  const isAnnouncement = ({ event }: Given) => event === 'PreToolUse';
  const orders: Record<string, (given: readonly Given[]) => Given[][]> = {
    'together, twice': (given) => [[...given], [...given]],
    'with the announcements of calls first': (given) => [
      given.filter(isAnnouncement),
      given.filter((one) => !isAnnouncement(one)),
    ],
    'with the announcements of calls last': (given) => [
      given.filter((one) => !isAnnouncement(one)),
      given.filter(isAnnouncement),
    ],
  };

  describe(recording, () => {
    for (const [order, arrange] of Object.entries(orders))
      testSamples(path, `payloads ${order} tell what happened`, async () => {
        const receiver = await Receiver.start(AFTERWARDS);
        for (const given of arrange(payloadsOf(folder))) {
          await sendPayloads(receiver, given);
          await receiver.events();
          await receiver.world.build();
        }
        const commands = truth.person_turns.flatMap(
          ({ slash_command = '' }) => slash_command.split(' ')[0] || [],
        );
        const turns = await listOf(receiver, 'event_id FROM user_turns');
        expect(turns).toHaveLength(
          truth.person_turns.filter(({ slash_command = '' }) => !UNTOLD_COMMANDS.includes(slash_command))
            .length,
        );
        expect(await listOf(receiver, 'command_name FROM slash_commands')).toEqual(
          commands.filter((name) => !UNTOLD_COMMANDS.includes(name)).sort(),
        );
        expect(await callsOf(receiver)).toEqual(callsIn(truth));
        expect(await listOf(receiver, 'CAST(sum(failed_tool_calls) AS INTEGER) FROM session_facts')).toEqual([
          truth.tool_calls.filter(({ success }) => !success).length,
        ]);
        expect(await listOf(receiver, "path FROM file_changes WHERE operation = 'create'")).toEqual(
          [...truth.files_created].sort(),
        );
        expect(await listOf(receiver, "path FROM file_changes WHERE operation = 'edit'")).toEqual(
          [...truth.files_edited].sort(),
        );
        expect(await listOf(receiver, 'event_id FROM git_commits')).toHaveLength(truth.commits.length);
        expect(await listOf(receiver, 'url FROM pull_requests')).toEqual(
          truth.pull_requests.map(({ url }) => url).sort(),
        );
        expect(await listOf(receiver, 'skill_name FROM skill_uses')).toEqual(truth.skills_by_the_model);
        expect(
          await listOf(receiver, "event_id FROM events WHERE type = 'tool_call' AND agent_id IS NOT NULL"),
        ).toEqual(
          truth.tool_calls.filter(({ agent_id }) => agent_id !== undefined).map(({ id }) => `tool:${id}`),
        );
      });

    const ways: Record<string, (receiver: Receiver) => Promise<void>> = {
      hooks: (receiver) => sendPayloads(receiver, payloadsOf(folder)),
      transcripts: (receiver) => readTranscripts(receiver, folder),
      telemetry: (receiver) => sendTelemetry(receiver, folder),
    };
    for (const other of ['transcripts', 'telemetry'])
      testSamples(path, `${other} beside hooks change no tool call, whichever comes first`, async () => {
        for (const order of [
          ['hooks', other],
          [other, 'hooks'],
        ]) {
          const receiver = await Receiver.start(AFTERWARDS);
          for (const way of order) {
            await ways[way]?.(receiver);
            await receiver.events();
            await receiver.world.build();
          }
          expect(await callsOf(receiver)).toEqual(callsIn(truth));
        }
      });
  });
}
