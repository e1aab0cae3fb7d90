import { basename } from 'node:path';
import { describe, expect } from 'vitest';
import {
  AFTERWARDS,
  type ChannelName,
  channelsOf,
  readTruth,
  type Told,
  toldBy,
  toldOf,
} from './claude-code-recordings.js';
import { Receiver } from './otlp/sender.js';
import { sampleFolders, testSamples } from './samples.js';

/** Recordings of Claude Code 2.1.332 by each channel alone and by each pair of channels, in both orders. */

/** What nothing tells in some recordings. */
const NOTIFICATIONS: Record<string, number> = { background: 4 };
const COMMANDS_WITHOUT_HOOK: Record<string, number> = { hooks: 1 };
const CALLS_WITHOUT_RECORD: Record<string, number> = { 'edit-commit': 2 };
const WITHOUT_DETAILS = ['subagent'];

/** What some channels together can tell of what happened. docs/claude-code.md has the same in a table. */
function toldByChannels(truth: Told, recording: string, names: readonly ChannelName[]): Told {
  const has = (name: ChannelName) => names.includes(name);
  if (has('transcripts')) return truth;
  const isDetailed = has('log records') && !WITHOUT_DETAILS.includes(recording);
  const none = Object.fromEntries(Object.keys(truth.counts).map((name) => [name, 0]));
  const { turns = 0, slash_commands = 0, skills = 0, tool_calls = 0, failed_tool_calls = 0 } = truth.counts;
  const { files_created = 0, files_edited = 0, commits = 0, pull_requests = 0 } = truth.counts;

  const withoutHook = COMMANDS_WITHOUT_HOOK[recording] ?? 0;
  const byPrompt = has('hooks')
    ? { turns: turns - withoutHook, slash_commands: slash_commands - withoutHook }
    : has('log records')
      ? { turns: turns + (NOTIFICATIONS[recording] ?? 0), slash_commands }
      : {};
  const withoutRecord = has('hooks') ? 0 : (CALLS_WITHOUT_RECORD[recording] ?? 0);
  const byTool =
    has('hooks') || has('log records') || has('spans')
      ? {
          skills,
          tool_calls: tool_calls - withoutRecord,
          failed_tool_calls: failed_tool_calls - withoutRecord,
        }
      : {};
  const byFile = has('hooks') || isDetailed ? { files_created, files_edited } : {};
  const byGit = has('hooks') || isDetailed || has('metrics') ? { commits, pull_requests } : {};
  const isSplit = has('log records');
  const usage = isSplit || has('spans') || has('metrics') ? Object.entries(truth.usage) : [];
  return {
    usage: Object.fromEntries(
      usage.map(([model, counters]) => [model, isSplit ? counters : { ...counters, cache_write_1h: 0 }]),
    ),
    counts: { ...none, ...byPrompt, ...byTool, ...byFile, ...byGit },
  };
}

for (const folder of sampleFolders('captures/claude-code')) {
  const recording = basename(folder);
  const channels = channelsOf(folder);
  const names = [...channels.keys()];
  const pairs = names.flatMap((one, place) => names.slice(place + 1).map((other) => [one, other] as const));
  describe(recording, () => {
    for (const used of [...names.map((name) => [name] as const), ...pairs])
      testSamples(`captures/claude-code/${recording}`, `by ${used.join(' and ')}, in any order`, async () => {
        const expected = toldByChannels(toldBy(readTruth(folder)), recording, used);
        for (const order of used.length === 1 ? [used] : [used, [...used].reverse()]) {
          // The key of a person: without a session, nothing else joins metrics to a transcript.
          const receiver = await Receiver.start(AFTERWARDS, 'member', 'ada');
          for (const name of order) {
            await channels.get(name)?.(receiver, folder);
            await receiver.world.build();
          }
          expect({ order, ...(await toldOf(receiver.world)) }).toEqual({ order, ...expected });
        }
      });
  });
}

testSamples(
  'captures/claude-code',
  'recordings have every pair of channels but hooks and spans',
  async () => {
    const pairs = new Set<string>();
    for (const folder of sampleFolders('captures/claude-code')) {
      const names = [...channelsOf(folder).keys()];
      for (const one of names) for (const other of names) if (one !== other) pairs.add(`${one} and ${other}`);
    }
    expect(pairs.size).toBe(5 * 4 - 2);
    expect([...pairs]).not.toContain('hooks and spans');
  },
);
