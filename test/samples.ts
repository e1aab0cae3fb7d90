import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'vitest';
import { z } from 'zod';
import { columnNames } from '../src/store/tables.js';
import { foldersIn } from './cases.js';
import type { World } from './world.js';

/**
 * Files that real agents have written. They are not part of the repository: SAMPLES names their folder, which has
 * `transcripts/<agent>` and `captures/<agent>/<session>`.
 */
const ROOT = process.env.SAMPLES;

/** A folder of the samples, or undefined where they aren't. */
export function samples(path: string): string | undefined {
  if (ROOT === undefined) return undefined;
  const folder = resolve(ROOT, path);
  return existsSync(folder) ? folder : undefined;
}

/** A test that reads a folder of the samples. Without them it is skipped, and says how to play it. */
export function testSamples(
  path: string,
  name: string,
  run: (folder: string) => Promise<void>,
  timeoutMs?: number,
): void {
  const folder = samples(path);
  test(
    name,
    async ({ skip }) => {
      if (folder === undefined) skip(`Set SAMPLES to a folder that has ${path} to play this test.`);
      else await run(folder);
    },
    timeoutMs,
  );
}

/** The folders in a folder of the samples, such as the sessions of captures; none where they aren't. */
export function sampleFolders(path: string): string[] {
  const folder = samples(path);
  if (folder === undefined) return [];
  return foldersIn(folder).map((name) => join(folder, name));
}

const Totals = z.object({
  calls: z.number(),
  input_uncached: z.number(),
  cached: z.number(),
  output: z.number(),
  reasoning: z.number(),
});

const TruthSchema = z.object({
  ids: z.record(z.string(), z.unknown()).default({}),
  /** Inside or outside of the output. */
  reasoning_tokens_are: z.string(),
  /** `main` is without calls of other kinds. Auxiliary calls, such as for a title, are in `all`. */
  totals: z.object({ all: Totals, main: Totals, auxiliary: Totals.optional() }),
  model_calls: z.array(
    z.object({
      note: z.string().optional(),
      thread: z.string().optional(),
      response_id: z.string().optional(),
      time: z.string(),
      model: z.string(),
      kind: z.string(),
      input: z.number(),
      cached: z.number(),
      output: z.number(),
      reasoning: z.number(),
    }),
  ),
  person_turns: z.array(z.object({ text: z.string() })),
  tool_calls: z.array(
    z.object({
      id_sent_by_stub: z.string().optional(),
      name: z.string(),
      success: z.boolean().nullable(),
      mcp_server: z.string().optional(),
    }),
  ),
  files_created: z.array(z.string()),
  files_edited: z.array(z.string()),
  commits: z.array(z.object({ sha: z.string() })),
});

export type Truth = z.infer<typeof TruthSchema>;
export type ModelCall = Truth['model_calls'][number];

/** What an agent did while it was recorded, as the recording's truth.json says. */
export function readTruth(folder: string): Truth {
  return TruthSchema.parse(JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')));
}

/** The columns of events that say what was done, as SQL has them: all but whose they are and when they came. */
export const EVENT = columnNames('events')
  .filter((name) => !['org_id', 'batch'].includes(name))
  .join(', ');

/** The usage of an organization by UTC day and model: the number of usages, and input, cache read and output tokens. */
export async function usageOf(world: World, orgId: string): Promise<Record<string, number[]>> {
  const rows = await world.store.select(
    `SELECT
      CAST(day AS VARCHAR) || ' ' || model AS pair,
      count(*) AS usages,
      CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
      CAST(sum(coalesce(cache_read_tokens, 0)) AS BIGINT) AS cache_read_tokens,
      CAST(sum(output_tokens) AS BIGINT) AS output_tokens
    FROM counted_events
    WHERE org_id = $org_id AND type = 'model_usage'
    GROUP BY day, model
    ORDER BY day, model`,
    { org_id: orgId },
  );
  return Object.fromEntries(
    rows.map(({ pair, ...counts }) => [String(pair), Object.values(counts).map(Number)]),
  );
}

/** How much of each kind an organization has done, without usage: in all sessions or in one. */
export async function countsOf(world: World, orgId: string, session = '%'): Promise<Record<string, number>> {
  const [counts] = await world.store.select(
    `SELECT
      count(*) FILTER (WHERE type = 'user_message') AS turns,
      count(*) FILTER (WHERE type = 'assistant_message') AS replies,
      count(*) FILTER (WHERE type = 'tool_call') AS tool_calls,
      count(*) FILTER (WHERE type = 'tool_call' AND NOT success) AS failed_tool_calls,
      count(*) FILTER (WHERE type = 'file_change' AND operation = 'create') AS files_created,
      count(*) FILTER (WHERE type = 'file_change' AND operation = 'edit') AS files_edited,
      count(*) FILTER (WHERE type = 'git_commit') AS commits,
      count(*) FILTER (WHERE type = 'pull_request') AS pull_requests
    FROM counted_events
    WHERE org_id = $org_id AND session_id LIKE $session`,
    { org_id: orgId, session },
  );
  return Object.fromEntries(Object.entries(counts ?? {}).map(([name, count]) => [name, Number(count)]));
}

/** The same as a recording's truth says it. No recording has a pull request. */
export function countsIn({ totals, person_turns, tool_calls, files_created, files_edited, commits }: Truth) {
  return {
    turns: person_turns.length,
    replies: totals.all.calls,
    tool_calls: tool_calls.length,
    failed_tool_calls: tool_calls.filter(({ success }) => success === false).length,
    files_created: files_created.length,
    files_edited: files_edited.length,
    commits: commits.length,
    pull_requests: 0,
  };
}
