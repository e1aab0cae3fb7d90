/** What a person belongs to: one team and one cost centre on a day at most. */
export const KINDS = ['team', 'cost_center'] as const;
export type Kind = (typeof KINDS)[number];
