import { count } from '../terminal/counted.js';
import { columnsOf, layOut, numberText, plainText } from '../terminal/text-table.js';

/** What a run of a command came to. */
export interface RunSummary {
  readonly exit_code: number;
  readonly started_at: string;
  readonly duration_ms: number;
  /** Events of the run, and how many of them the service has. */
  readonly events: number;
  readonly events_sent: number;
  /** Why something is missing at the service or here, in sentences; null if nothing is. */
  readonly problem: string | null;
  /** Rows of sql/report/run_usage.sql: one per model, and all of them; null if nothing was used. */
  readonly models: readonly Usage[];
  readonly total: Usage | null;
}

type Usage = Readonly<Record<string, unknown>>;

/** The columns of tables, and the members that they show. */
const COLUMNS = {
  agent: 'agent',
  model: 'model_id',
  input: 'input_tokens',
  output: 'output_tokens',
  'cache write': 'cache_write_tokens',
  'cache read': 'cache_read_tokens',
  USD: 'cost_usd',
} as const;

function rowsOf({ models, total }: RunSummary): Usage[] {
  const rows = total === null ? models : [...models, { ...total, agent: 'total', model_id: '' }];
  return rows.map((row) =>
    Object.fromEntries(Object.entries(COLUMNS).map(([column, member]) => [column, row[member]])),
  );
}

function unpricedSentences({ total }: RunSummary): string[] {
  const tokens = Number(total?.unpriced_tokens ?? 0);
  return tokens === 0 ? [] : [`${numberText(tokens, 0)} tokens have no price and are in no cost.`];
}

/** The summary for a terminal. */
export function textOf(summary: RunSummary): string {
  const { head, lines } = layOut(columnsOf(rowsOf(summary)), {});
  return [head, ...lines, ...unpricedSentences(summary)].join('\n');
}

/** The summary as Markdown, for a page of a CI system. */
export function markdownOf(summary: RunSummary): string {
  const columns = columnsOf(rowsOf(summary));
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const cells = (index: number) => columns.map((column) => escaped(String(column.cells[index] ?? '')));
  const table = [
    line(columns.map(({ name }) => name)),
    line(columns.map(({ isNumber }) => (isNumber ? '--:' : '---'))),
    ...rowsOf(summary).map((_, index) => line(cells(index))),
  ];
  const { events, events_sent, problem, exit_code } = summary;
  return [
    '### Coding agents in this run',
    ...(summary.total === null ? ['No agent used a model.'] : [table.join('\n')]),
    [
      ...unpricedSentences(summary),
      `${count(events, 'event')}, ${events_sent} sent to Daybook. Exit code ${exit_code}.`,
      ...(problem === null ? [] : [escaped(problem)]),
    ].join(' '),
    '',
  ].join('\n\n');
}

/** A text in which nothing is taken for Markdown or HTML. */
function escaped(text: string): string {
  return plainText(text).replaceAll(/[\\`*_[\]<>|#~]/g, '\\$&');
}
