import { z } from 'zod';

/** The default size of a page. */
export const DEFAULT_LIMIT = 20;

/** The parameter for the size of a page: at most 100, or without a maximum. */
export function limitOf(description: string, hasMaximum = true) {
  const sentence = hasMaximum ? 'must be an integer from 1 to 100' : 'must be a positive integer';
  return z
    .string(sentence)
    .regex(hasMaximum ? /^([1-9]\d?|100)$/ : /^[1-9]\d*$/, sentence)
    .meta({
      // A query string has only texts; this one is a number.
      type: 'integer',
      pattern: undefined,
      minimum: 1,
      maximum: hasMaximum ? 100 : undefined,
      default: DEFAULT_LIMIT,
      description,
      examples: [DEFAULT_LIMIT],
    })
    .optional();
}
