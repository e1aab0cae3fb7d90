import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { inputFiles } from '../src/ingest/input-files.js';
import {
  CLAUDE_CODE,
  CODEX,
  COPILOT_CLI,
  DROID,
  GEMINI_CLI,
  PI,
  QWEN_CODE,
  type Source,
} from '../src/ingest/source.js';
import { expectSameHoweverGrown, type GrownFile } from './grown-files.js';
import { testSamples } from './samples.js';
import { undoing, World } from './world.js';

/** Every day of the samples is over. */
const AFTERWARDS = Date.parse('2027-01-01T12:00:00.000Z');
/** A group is played a few times: one with more takes minutes. */
const BYTES = 2 ** 20;
const FILES = 4;

/** The groups of files of lines below a folder that belong together, by the folder at some depth: a session, or a day of them. */
function groupsOf(folder: string, source: Source, depth: number): GrownFile[][] {
  const groups = new Map<string, GrownFile[]>();
  for (const { path, size } of inputFiles([folder], source)) {
    const name = relative(folder, path);
    if (!name.endsWith('.jsonl') || size > BYTES) continue;
    const group = dirname(name).split('/').slice(0, depth).join('/');
    const lines = readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    groups.set(group, [...(groups.get(group) ?? []), { name, lines }]);
  }
  return [...groups.values()].map((files) => files.slice(0, FILES));
}

/** Every group is read some hundred times. */
const TIMEOUT_MS = 1_800_000;

for (const [source, path, depth] of [
  [CLAUDE_CODE, 'transcripts/claude-code', 2],
  [CODEX, 'transcripts/codex', 2],
  [GEMINI_CLI, 'transcripts/gemini-cli', 2],
  [DROID, 'transcripts/factory-droid', 2],
  [CODEX, 'captures/codex', 1],
  [GEMINI_CLI, 'captures/gemini-cli', 1],
  [QWEN_CODE, 'captures/qwen-code', 1],
  [PI, 'captures/pi', 1],
  [PI, 'captures/omp', 1],
  [COPILOT_CLI, 'captures/copilot-cli', 1],
] as const)
  testSamples(
    path,
    `real files in ${basename(path)} give the same however they grew`,
    async (folder) => {
      for (const files of groupsOf(folder, source, depth)) {
        const { atEnd, undo } = undoing();
        try {
          const world = await World.create({}, atEnd);
          world.now = AFTERWARDS;
          await expectSameHoweverGrown(world, source, files);
        } finally {
          await undo();
        }
      }
    },
    TIMEOUT_MS,
  );
