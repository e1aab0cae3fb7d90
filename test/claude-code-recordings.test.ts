import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { CLAUDE_CODE } from '../src/ingest/source.js';
import { Receiver, recordedRequests } from './otlp/sender.js';
import { countsOf, sampleFolders, testSamples } from './samples.js';
import { World } from './world.js';

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
  /** The usage that only a transcript can have, beside that of `totals`. */
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

async function toldOf(world: World, orgId: string): Promise<Told> {
  const rows = await world.store.select(
    `SELECT
      model_id,
      CAST(sum(input_tokens) AS BIGINT) AS input,
      CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write,
      CAST(sum(cache_write_1h_tokens) AS BIGINT) AS cache_write_1h,
      CAST(sum(cache_read_tokens) AS BIGINT) AS cached,
      CAST(sum(output_tokens) AS BIGINT) AS output
    FROM model_usage
    WHERE org_id = $org_id
    GROUP BY model_id
    ORDER BY model_id`,
    { org_id: orgId },
  );
  const usage = Object.fromEntries(
    rows.map(({ model_id, ...counters }) => [
      String(model_id),
      Usage.parse(Object.fromEntries(Object.entries(counters).map(([name, count]) => [name, Number(count)]))),
    ]),
  );
  const { replies, ...counts } = await countsOf(world, orgId);
  const [others] = await world.store.select(
    `SELECT
      count(*) FILTER (WHERE type = 'slash_command') AS slash_commands,
      count(*) FILTER (WHERE type = 'skill_use') AS skills
    FROM counted_events
    WHERE org_id = $org_id`,
    { org_id: orgId },
  );
  for (const [name, count] of Object.entries(others ?? {})) counts[name] = Number(count);
  return { usage, counts };
}

/** How a recording comes into an organization. */
type Channel = (world: World, orgId: string, folder: string) => Promise<void>;

async function byLogs(world: World, orgId: string, folder: string): Promise<void> {
  const { byReason } = await world.ingest([join(folder, 'logs')], {
    orgId,
    source: CLAUDE_CODE,
    userId: 'ada',
  });
  expect(byReason).toEqual({});
}

/** All its requests, in their order, with a key of nobody. */
async function byTelemetry(world: World, orgId: string, folder: string): Promise<void> {
  const receiver = await Receiver.of(world, 'ingest', undefined, orgId);
  for (const { signal, type, body } of recordedRequests(folder)) {
    const { status, bytes } = await receiver.post(signal, body, { 'content-type': type });
    expect([status, bytes.toString().replace('{}', '')]).toEqual([200, '']);
  }
  await world.inbox.drain(world.store);
}

const inTurn =
  (...channels: readonly Channel[]): Channel =>
  async (...recording) => {
    for (const channel of channels) await channel(...recording);
  };

const CHANNELS: Record<string, Channel> = {
  logs: byLogs,
  telemetry: byTelemetry,
  'logs before telemetry': inTurn(byLogs, byTelemetry),
  'telemetry before logs': inTurn(byTelemetry, byLogs),
};

/** A recording and channel of which less is known, with the reason. */
interface Exception {
  readonly why: string;
  /** Changes what the truth says into what the channel can tell. */
  readonly untold: (told: Told) => void;
}

const EXCEPTIONS: Record<string, Exception> = {
  'background, telemetry': {
    why: 'nothing tells notifications of background tasks and prompts of a person apart',
    untold: ({ counts }) => {
      counts.turns = 3 + 4;
    },
  },
  'edit-commit, telemetry': {
    why: 'an unknown tool and an edit whose text is not found are in no record',
    untold: ({ counts }) => {
      counts.tool_calls = 11 - 2;
      counts.failed_tool_calls = 3 - 2;
    },
  },
  'subagent, telemetry': {
    why: 'files need OTEL_LOG_TOOL_DETAILS',
    untold: ({ counts }) => {
      counts.files_created = 1 - 1;
    },
  },
};

for (const folder of sampleFolders('captures/claude-code')) {
  const recording = basename(folder);
  describe(recording, () => {
    for (const [channel, read] of Object.entries(CHANNELS)) {
      const exception = EXCEPTIONS[`${recording}, ${channel}`];
      const name =
        exception === undefined ? 'gives what happened' : `gives what happened, but ${exception.why}`;
      testSamples(`captures/claude-code/${recording}`, `${channel} ${name}`, async () => {
        const world = await World.create();
        world.now = AFTERWARDS;
        await read(world, 'acme', folder);
        await world.build();
        const expected = toldBy(readTruth(folder));
        exception?.untold(expected);
        expect(await toldOf(world, 'acme')).toEqual(expected);
        // Once more: nothing counts twice.
        await read(world, 'acme', folder);
        await world.build();
        expect(await toldOf(world, 'acme')).toEqual(expected);
      });
    }
  });
}
