import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import { inputFiles } from '../src/ingest/input-files.js';
import { CLAUDE_CODE } from '../src/ingest/source.js';
import type { Signal } from '../src/otlp/telemetry.js';
import { type Receiver, recordedRequests } from './otlp/sender.js';
import type { World } from './world.js';

/** What recordings of Claude Code 2.1.332 say of themselves, what Daybook counts of them, and the channels that bring them in. */

/** Every day of the recordings is over. */
export const AFTERWARDS = Date.parse('2027-01-01T12:00:00Z');

const Usage = z.object({
  input: z.number(),
  cache_write: z.number(),
  cache_write_1h: z.number(),
  cached: z.number(),
  output: z.number(),
});
type Usage = z.infer<typeof Usage>;

const Truth = z.object({
  totals: z.object({ by_model: z.record(z.string(), Usage) }),
  ids: z.object({ session: z.array(z.string()) }),
  person_turns: z.array(z.object({ text: z.string(), slash_command: z.string().optional() })),
  tool_calls: z.array(z.object({ name: z.string(), success: z.boolean() })),
  files_created: z.array(z.string()),
  files_edited: z.array(z.string()),
  commits: z.array(z.object({ sha: z.string() })),
  pull_requests: z.array(z.object({ url: z.string() })),
  skills_by_the_model: z.array(z.string()).default([]),
});
type Truth = z.infer<typeof Truth>;

export function readTruth(folder: string): Truth {
  return Truth.parse(JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')));
}

/** What an organization's days say of the recording. */
export interface Told {
  usage: Record<string, Usage>;
  counts: Record<string, number>;
}

export function toldBy({ totals, person_turns, tool_calls, ...truth }: Truth): Told {
  return {
    usage: totals.by_model,
    counts: {
      turns: person_turns.length,
      slash_commands: person_turns.filter(({ slash_command }) => slash_command !== undefined).length,
      skills: truth.skills_by_the_model.length,
      tool_calls: tool_calls.length,
      failed_tool_calls: tool_calls.filter(({ success }) => !success).length,
      files_created: truth.files_created.length,
      files_edited: truth.files_edited.length,
      commits: truth.commits.length,
      pull_requests: truth.pull_requests.length,
    },
  };
}

export async function toldOf(world: World): Promise<Told> {
  const usage = await world.store.select(
    `SELECT
      model_id,
      CAST(sum(input_tokens) AS BIGINT) AS input,
      CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write,
      CAST(sum(cache_write_1h_tokens) AS BIGINT) AS cache_write_1h,
      CAST(sum(cache_read_tokens) AS BIGINT) AS cached,
      CAST(sum(output_tokens) AS BIGINT) AS output
    FROM session_models
    GROUP BY model_id
    ORDER BY model_id`,
  );
  const [counts] = await world.store.select(
    `SELECT
      CAST(sum(user_messages) AS BIGINT) AS turns,
      (SELECT count(*) FROM counted_events WHERE type = 'slash_command') AS slash_commands,
      (SELECT count(*) FROM counted_events WHERE type = 'skill_use') AS skills,
      CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
      (SELECT count(*) FROM tool_calls WHERE NOT success) AS failed_tool_calls,
      CAST(sum(files_created) AS BIGINT) AS files_created,
      CAST(sum(files_edited) AS BIGINT) AS files_edited,
      CAST(sum(git_commits) AS BIGINT) AS commits,
      CAST(sum(git_prs_created) AS BIGINT) AS pull_requests
    FROM session_parts`,
  );
  const numbers = (row: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(row).map(([name, count]) => [name, Number(count)]));
  return {
    usage: Object.fromEntries(
      usage.map(({ model_id, ...counters }) => [String(model_id), Usage.parse(numbers(counters))]),
    ),
    counts: numbers(counts ?? {}),
  };
}

/** Brings a recording into the organization acme of a service. */
export type Channel = (receiver: Receiver, folder: string) => Promise<void>;

export const transcripts: Channel = async ({ world }, folder) => {
  const { byReason } = await world.ingest([join(folder, 'logs')], { source: CLAUDE_CODE, userId: 'ada' });
  expect(byReason).toEqual({});
};

/** Files that are cut at half, and then whole: as if the agent wrote them meanwhile. */
export const grownTranscripts: Channel = async ({ world }, folder) => {
  const copy = join(world.folder, 'grown');
  for (const share of [0.5, 1]) {
    for (const { path } of inputFiles([join(folder, 'logs')], CLAUDE_CODE)) {
      const target = join(copy, relative(folder, path));
      const content = readFileSync(path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content.subarray(0, Math.floor(content.length * share)));
    }
    await world.ingest([copy], { source: CLAUDE_CODE, userId: 'ada' });
    await world.build();
  }
};

/** One file after the other, those of sub-agents last or first. */
export const singleTranscripts =
  (order: (paths: string[]) => string[]): Channel =>
  async ({ world }, folder) => {
    const paths = inputFiles([join(folder, 'logs')], CLAUDE_CODE).map(({ path }) => path);
    for (const path of order(paths.sort((one, other) => one.length - other.length))) {
      await world.ingest([path], { source: CLAUDE_CODE, userId: 'ada' });
      await world.build();
    }
  };

export const telemetry: Channel = async (receiver, folder) => {
  for (const { signal, type, body } of recordedRequests(folder))
    expect((await receiver.post(signal, body, { 'content-type': type })).status).toBe(200);
  await receiver.world.inbox.drain(receiver.world.store);
};

/** A payload as the agent gave it, and when. */
export interface Given {
  readonly event: string;
  readonly time: string;
  readonly payload: object;
}

/** The payloads of a recording, in their order. */
export function payloadsOf(folder: string): Given[] {
  const linesOf = (name: string) =>
    readFileSync(join(folder, 'hooks', `${name}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n');
  const left = new Map<string, string[]>();
  return linesOf('_times').map((line) => {
    const { event, time } = JSON.parse(line);
    const lines = left.get(event) ?? linesOf(event);
    left.set(event, lines);
    return { event, time, payload: JSON.parse(lines.shift() ?? '') };
  });
}

/** Sends payloads as `hooks send` does: with the time, and an id of each. They come at once, as from processes of their own. */
export async function sendPayloads({ app, key }: Receiver, given: readonly Given[]): Promise<void> {
  const answers = await Promise.all(
    given.map(({ event, time, payload }) =>
      app.inject({
        method: 'POST',
        url: '/api/v1/hooks',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        payload: JSON.stringify({
          ...payload,
          timestamp: time,
          payload_id: `${event} ${time}`,
          user_id: 'ada',
        }),
      }),
    ),
  );
  expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`))).toEqual(new Set(['202 ']));
}

/** The requests of one signal. */
const signalOf =
  (wanted: Signal): Channel =>
  async (receiver, folder) => {
    for (const { signal, type, body } of recordedRequests(folder))
      if (signal === wanted)
        expect((await receiver.post(signal, body, { 'content-type': type })).status).toBe(200);
    await receiver.world.inbox.drain(receiver.world.store);
  };

const hooks: Channel = async (receiver, folder) => {
  await sendPayloads(receiver, payloadsOf(folder));
  await receiver.world.inbox.drain(receiver.world.store);
};

/** The channels that Claude Code can report by. */
export type ChannelName = 'transcripts' | 'hooks' | 'log records' | 'spans' | 'metrics';

/** The channels that a recording has. */
export function channelsOf(folder: string): Map<ChannelName, Channel> {
  const signals = new Set(recordedRequests(folder).map(({ signal }) => signal));
  return new Map<ChannelName, Channel>([
    ['transcripts', transcripts],
    ...(existsSync(join(folder, 'hooks')) ? [['hooks', hooks] as const] : []),
    ...(signals.has('logs') ? [['log records', signalOf('logs')] as const] : []),
    ...(signals.has('traces') ? [['spans', signalOf('traces')] as const] : []),
    ...(signals.has('metrics') ? [['metrics', signalOf('metrics')] as const] : []),
  ]);
}
