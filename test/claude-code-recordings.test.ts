import { basename } from 'node:path';
import { describe, expect } from 'vitest';
import {
  AFTERWARDS,
  type Channel,
  grownTranscripts,
  readTruth,
  singleTranscripts,
  type Told,
  telemetry,
  toldBy,
  toldOf,
  transcripts,
} from './claude-code-recordings.js';
import { Receiver } from './otlp/sender.js';
import { sampleFolders, testSamples } from './samples.js';

/** Recordings of Claude Code 2.1.332, whose model was a stub, by the channels that Daybook gets them by. */

const inTurn =
  (...channels: Channel[]): Channel =>
  async (receiver, folder) => {
    for (const channel of channels) {
      await channel(receiver, folder);
      await receiver.world.build();
    }
  };

const CHANNELS: Record<string, Channel> = {
  logs: transcripts,
  'logs that have grown': grownTranscripts,
  'sub-agents last': singleTranscripts((paths) => paths),
  'sub-agents first': singleTranscripts((paths) => paths.reverse()),
  OTLP: telemetry,
  'logs, then OTLP': inTurn(transcripts, telemetry),
  'OTLP, then logs': inTurn(telemetry, transcripts),
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
