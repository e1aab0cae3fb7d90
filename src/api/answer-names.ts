import { KINDS } from '../input/kinds.js';

/** The families of numbers, in the order of the reference. */
export const FAMILIES = ['tokens', 'tools', 'activity', 'productivity', 'users'] as const;
export type Family = (typeof FAMILIES)[number];

/** All answers of the analytics API: the families, the quality of their numbers, who reports, totals of a range, what changed, costs, the export of costs, and lines that vendors report. */
export const ANSWERS = [
  ...FAMILIES,
  'quality',
  'coverage',
  'summary',
  'changes',
  'costs',
  'focus',
  'vendor_lines',
] as const;
export type Answer = (typeof ANSWERS)[number];

/** Whether an answer's rows are those of users, and come in pages of them. */
export function isPaged(answer: Answer): boolean {
  return answer === 'users' || answer === 'coverage';
}

/** Whether a group is one that people belong to. */
export function isKind(group: string | undefined): boolean {
  return KINDS.some((kind) => kind === group);
}

/** Whether an answer's rows are totals, which can be filtered. */
export function isTotals(answer: Answer): boolean {
  return answer === 'changes' || answer === 'focus' || hasRowPages(answer);
}

/** Whether an answer's rows are totals that come in pages of rows. */
export function hasRowPages(answer: Answer): boolean {
  return answer === 'summary' || answer === 'costs';
}

/** What the rows of totals can be grouped by. */
const TOTALS_GROUPS = [
  'user',
  'model',
  'model_key',
  'agent',
  'repo',
  'client',
  'team',
  'cost_center',
  'tool',
  'mcp_server',
] as const;

/** The values of `group_by` that each answer takes. */
export const GROUPS: Readonly<Record<Answer, readonly string[]>> = {
  tokens: ['model', 'agent'],
  tools: ['tool_name', 'autonomy_level'],
  activity: ['client', 'agent'],
  productivity: [],
  users: ['agent'],
  quality: ['agent'],
  coverage: [...KINDS, 'month', 'vendor'],
  summary: TOTALS_GROUPS,
  changes: [],
  costs: TOTALS_GROUPS,
  // Groups that share no session, so that no cost is there twice.
  focus: ['user', 'repo', 'client', 'team', 'cost_center'],
  vendor_lines: [],
};

/** The file of `sql/answer` that has an answer's rows. Those of totals are the same for every group. */
export function fileOf(answer: Answer, groupBy?: string): string {
  if (groupBy === undefined || isTotals(answer)) return answer;
  return `${answer}_by_${isKind(groupBy) ? 'group' : groupBy}`;
}
