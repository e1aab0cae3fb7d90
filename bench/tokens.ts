import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelTokens } from './bare-engine.js';
import { runProcess } from './run-process.js';

/** Input, output, read from the cache, written to it. */
type Tokens = readonly number[];

/** The part of ccusage's report that is read. */
interface TheirReport {
  daily: {
    date: string;
    modelBreakdowns: {
      modelName: string;
      inputTokens: number;
      outputTokens: number;
      cacheReadTokens: number;
      cacheCreationTokens: number;
    }[];
  }[];
}

/** The part of a row of Daybook's report that is read. */
interface OurRow {
  date: string;
  group_key: string;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
}

/** Tokens, by day and model as `2026-06-10 gpt-5`. */
export type TokensOfDays = ReadonlyMap<string, Tokens>;

function programOf(root: string): string {
  return join(root, 'test', 'ccusage', 'node_modules', '.bin', 'ccusage');
}

/** Throws unless ccusage is installed. */
export function requireCcusage(root: string): void {
  if (!existsSync(programOf(root)))
    throw new Error('ccusage is not there: npm install --no-package-lock --prefix test/ccusage');
}

/** Has ccusage report the tokens of each day and model, of transcripts in `folder/projects`. */
export function reportOfTheirs(root: string, folder: string, environment: Record<string, string> = {}) {
  return runProcess(programOf(root), ['claude', 'daily', '--json', '--offline', '--timezone', 'UTC'], {
    ...environment,
    CLAUDE_CONFIG_DIR: folder,
  });
}

export function tokensOfTheirs(output: string): TokensOfDays {
  const { daily }: TheirReport = JSON.parse(output);
  return new Map(
    daily.flatMap(({ date, modelBreakdowns }) =>
      modelBreakdowns.map((one): [string, Tokens] => [
        `${date} ${one.modelName}`,
        [one.inputTokens, one.outputTokens, one.cacheReadTokens, one.cacheCreationTokens],
      ]),
    ),
  );
}

/** The command of Daybook that reports the same. */
export function reportOfOurs(orgId: string, from: string, to: string): string[] {
  const range = ['--org', orgId, '--from', from, '--to', to];
  return ['report', 'tokens', ...range, '--group-by', 'model', '--format', 'json'];
}

export function tokensOfOurs(output: string): TokensOfDays {
  const rows: OurRow[] = JSON.parse(output);
  return new Map(
    rows.map((row): [string, Tokens] => [
      `${row.date} ${row.group_key}`,
      [row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens],
    ]),
  );
}

export function tokensOfBare(output: string): TokensOfDays {
  const rows: ModelTokens[] = JSON.parse(output);
  return new Map(rows.map(([day, model, ...tokens]): [string, Tokens] => [`${day} ${model}`, tokens]));
}
