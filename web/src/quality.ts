import type { Answers } from './answers.js';
import { type Asked, analyticsPath, useAnswer } from './client.js';
import type { Range } from './days.js';

type Answer = Answers['getAnalyticsQuality'];
export type QualityRow = Extract<Answer['data'][number], { rejected: number }>;
export type AgentQualityRow = Exclude<Answer['data'][number], QualityRow>;
/** A row for each built day. */
export type Quality = { data: QualityRow[]; meta: Answer['meta'] };

export interface QualityProps {
  readonly asked: Asked<Quality>;
  readonly range: Range;
}

/** The quality of a range's days. Without a range, nothing is asked. */
export function useQuality(range: Range | undefined): Asked<Quality> {
  return useAnswer<Quality>(range && analyticsPath('quality', range));
}
