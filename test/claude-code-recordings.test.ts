import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { inputFiles } from '../src/ingest/input-files.js';
import { CLAUDE_CODE } from '../src/ingest/source.js';
import { Receiver, recordedRequests } from './otlp/sender.js';
import { sampleFolders, testSamples } from './samples.js';
import type { World } from './world.js';

/** Recordings of Claude Code 2.1.332, whose model was a stub, by the channels that Daybook gets them by. */

/** Every day of the recordings is over. */
const AFTERWARDS = Date.parse('2027-01-01T12:00:00Z');

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

function readTruth(folder: string): Truth {
  return Truth.parse(JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')));
}

/** What an organization's days say of the recording. */
interface Told {
  usage: Record<string, Usage>;
  counts: Record<string, number>;
}

function toldBy({ totals, person_turns, tool_calls, ...truth }: Truth): Told {
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

async function toldOf(world: World): Promise<Told> {
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
type Channel = (receiver: Receiver, folder: string) => Promise<void>;

const logs: Channel = async ({ world }, folder) => {
  const { byReason } = await world.ingest([join(folder, 'logs')], { source: CLAUDE_CODE, userId: 'ada' });
  expect(byReason).toEqual({});
};

/** Files that are cut at half, and then whole: as if the agent wrote them meanwhile. */
const grownLogs: Channel = async ({ world }, folder) => {
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
const singleLogs =
  (order: (paths: string[]) => string[]): Channel =>
  async ({ world }, folder) => {
    const paths = inputFiles([join(folder, 'logs')], CLAUDE_CODE).map(({ path }) => path);
    for (const path of order(paths.sort((one, other) => one.length - other.length))) {
      await world.ingest([path], { source: CLAUDE_CODE, userId: 'ada' });
      await world.build();
    }
  };

const otlp: Channel = async (receiver, folder) => {
  for (const { signal, type, body } of recordedRequests(folder))
    expect((await receiver.post(signal, body, { 'content-type': type })).status).toBe(200);
  await receiver.world.inbox.drain(receiver.world.store);
};

const inTurn =
  (...channels: Channel[]): Channel =>
  async (receiver, folder) => {
    for (const channel of channels) {
      await channel(receiver, folder);
      await receiver.world.build();
    }
  };

const CHANNELS: Record<string, Channel> = {
  logs,
  'logs that have grown': grownLogs,
  'sub-agents last': singleLogs((paths) => paths),
  'sub-agents first': singleLogs((paths) => paths.reverse()),
  OTLP: otlp,
  'logs, then OTLP': inTurn(logs, otlp),
  'OTLP, then logs': inTurn(otlp, logs),
};

/** What a channel can't tell of a recording, with the reason. */
interface Exception {
  readonly recordings: RegExp;
  readonly channels: RegExp;
  readonly why: string;
  /** Changes what happened into what the channel tells. */
  readonly untold: (told: Told) => void;
}

const EXCEPTIONS: readonly Exception[] = [
  {
    recordings: /^background$/,
    channels: /^OTLP$/,
    why: 'nothing tells notifications of background tasks and prompts of a person apart',
    untold: ({ counts }) => {
      counts.turns = 3 + 4;
    },
  },
  {
    recordings: /^edit-commit$/,
    channels: /^OTLP$/,
    why: 'an unknown tool and an edit whose text is not found are in no record',
    untold: ({ counts }) => {
      counts.tool_calls = 11 - 2;
      counts.failed_tool_calls = 3 - 2;
    },
  },
  {
    recordings: /^fork-resume$/,
    channels: /^(logs, then OTLP|OTLP, then logs)$/,
    why: 'nothing joins metrics without a session to transcripts, so its commits count once more',
    untold: ({ counts }) => {
      counts.commits = 2 + 2;
    },
  },
  {
    recordings: /^subagent$/,
    channels: /^OTLP$/,
    why: 'files need OTEL_LOG_TOOL_DETAILS',
    untold: ({ counts }) => {
      counts.files_created = 1 - 1;
    },
  },
];

testSamples('captures/claude-code', 'recordings of Claude Code are there', async () => {
  expect(sampleFolders('captures/claude-code')).not.toEqual([]);
});

for (const folder of sampleFolders('captures/claude-code')) {
  const recording = basename(folder);
  describe(recording, () => {
    for (const [channel, read] of Object.entries(CHANNELS)) {
      const exceptions = EXCEPTIONS.filter(
        (one) => one.recordings.test(recording) && one.channels.test(channel),
      );
      const reasons = exceptions.map(({ why }) => `, but ${why}`).join('');
      testSamples(`captures/claude-code/${recording}`, `${channel}: what happened${reasons}`, async () => {
        const receiver = await Receiver.start(AFTERWARDS);
        await read(receiver, folder);
        await receiver.world.build();
        const expected = toldBy(readTruth(folder));
        for (const { untold } of exceptions) untold(expected);
        expect(await toldOf(receiver.world)).toEqual(expected);
      });
    }
  });
}
