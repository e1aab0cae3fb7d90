import { z } from 'zod';

/** How mature a repository is, from 1 to 5. */
export const Level = z.int().min(1).max(5);
export type Level = z.infer<typeof Level>;

const LEVELS: readonly Level[] = [1, 2, 3, 4, 5];

/** The share of a level's criteria that opens the next one. */
export const OPENS_NEXT = 0.8;

/** What a level is computed from: a criterion that holds in some of the places that were looked at. */
export interface Counted {
  readonly level?: Level | undefined;
  readonly numerator: number;
  readonly denominator: number;
}

/** How much of each level is met, from 0 to 1, by level; a level without criteria is absent. */
export function sharesOf(criteria: readonly Counted[]): Map<Level, number> {
  const shares = new Map<Level, number>();
  for (const level of LEVELS) {
    const own = criteria.filter((criterion) => criterion.level === level);
    const met = own.reduce((sum, { numerator, denominator }) => sum + numerator / denominator, 0);
    if (own.length > 0) shares.set(level, met / own.length);
  }
  return shares;
}

/**
 * The level that a repository has reached: everyone begins at 1, and where a level is met by 80 % the next one is open.
 * Undefined where no criterion has a level.
 */
export function levelOf(criteria: readonly Counted[]): Level | undefined {
  const shares = sharesOf(criteria);
  if (shares.size === 0) return undefined;
  let reached = 1;
  // A sum of thirds can be the last bit short of 80 %.
  while (reached < LEVELS.length && (shares.get(reached) ?? 0) >= OPENS_NEXT - 1e-9) reached += 1;
  return reached;
}
