/** The families of numbers, in the order of the specification. */
export const FAMILIES = ['tokens', 'tools', 'activity', 'productivity', 'users'] as const;
export type Family = (typeof FAMILIES)[number];

/** All answers of the analytics API: the families, and (ours) the quality of their numbers and who reports. */
export const ANSWERS = [...FAMILIES, 'quality', 'coverage'] as const;
export type Answer = (typeof ANSWERS)[number];

/** Whether an answer's rows are those of users, and come in pages of them. */
export function isPaged(answer: Answer): boolean {
  return answer === 'users' || answer === 'coverage';
}

/** What an answer's rows can be grouped by (public-api.md 4.6-4.10), and by agent (ours). */
export const GROUPS: Readonly<Record<Answer, readonly string[]>> = {
  tokens: ['model', 'agent'],
  tools: ['tool_name'],
  activity: ['client', 'agent'],
  productivity: [],
  users: ['agent'],
  quality: [],
  coverage: [],
};

/** The file of `sql/answer` that has an answer's rows. */
export function fileOf(answer: Answer, groupBy?: string): string {
  return groupBy === undefined ? answer : `${answer}_by_${groupBy}`;
}
