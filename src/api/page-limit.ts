import { z } from 'zod';

/** The default size of a page. */
export const DEFAULT_LIMIT = 20;

const A_LIMIT = 'must be an integer from 1 to 100';

/** The parameter for the size of a page. */
export function limitOf(description: string) {
  return z
    .string(A_LIMIT)
    .regex(/^([1-9]\d?|100)$/, A_LIMIT)
    .meta({
      // A query string has only texts; this one is a number.
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
