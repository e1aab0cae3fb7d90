import { z } from 'zod';

/** How many there are on a page where nobody says. */
export const DEFAULT_LIMIT = 20;

const A_LIMIT = 'must be an integer from 1 to 100';

/** The parameter that says how many of something a page has. */
export function limitOf(description: string) {
  return z
    .string(A_LIMIT)
    .regex(/^([1-9]\d?|100)$/, A_LIMIT)
    .meta({
      // All that a query has is text; what is meant is a number.
      type: 'integer',
      pattern: undefined,
      minimum: 1,
      maximum: 100,
      default: DEFAULT_LIMIT,
      description,
      examples: [DEFAULT_LIMIT],
    })
    .optional();
}
