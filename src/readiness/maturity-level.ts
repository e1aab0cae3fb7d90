import { z } from 'zod';

/** How mature a repository is, from 1 to 5. */
export const Level = z.int().min(1).max(5);
export type Level = z.infer<typeof Level>;

const LEVELS: readonly Level[] = [1, 2, 3, 4, 5];

/** The share of a level's criteria that opens the next level. */
export const OPENS_NEXT = 0.8;

/** A criterion's result as a level needs it: how many of its places meet it. */
export interface Counted {
  readonly level?: Level | undefined;
  readonly numerator: number;
  readonly denominator: number;
}

/** The met share of each level, from 0 to 1; levels without criteria are absent. */
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
 * The level that a repository has reached: it begins at 1, and 80 % of a level's criteria open the next. Undefined if no criterion has a
 * level.
 */
export function levelOf(criteria: readonly Counted[]): Level | undefined {
  const shares = sharesOf(criteria);
  if (shares.size === 0) return undefined;
  let reached = 1;
  // A sum of thirds can fall short of 80 % by the last bit.
  while (reached < LEVELS.length && (shares.get(reached) ?? 0) >= OPENS_NEXT - 1e-9) reached += 1;
  return reached;
}

/** The unmet criteria, most useful first: those of the present level, which open the next, then those of lower levels. */
export function nextSteps<Criterion extends Counted & { readonly level: Level }>(
  criteria: readonly Criterion[],
): Criterion[] {
  const reached = levelOf(criteria) ?? 1;
  const order = (level: Level) => (level === reached ? 0 : level < reached ? reached - level : level);
  const share = ({ numerator, denominator }: Counted) => numerator / denominator;
  return criteria
    .filter((one) => share(one) < 1)
    .sort((one, other) => order(one.level) - order(other.level) || share(one) - share(other));
}
