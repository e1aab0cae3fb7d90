import { z } from 'zod';

/** How many values a filter takes. */
const VALUES_LIMIT = 100;

/** A filter by any of some values. It has each value once, and in an order of its own, so that the order in a request changes no answer. */
export function filterOf<Value extends z.ZodType>(
  value: Value,
  { description, examples }: { readonly description: string; readonly examples: readonly string[] },
) {
  const values = z
    .array(value)
    .min(1)
    .max(VALUES_LIMIT, `must have at most ${VALUES_LIMIT} values`)
    .meta({ description, examples: [examples] });
  // A query string has a text for a parameter that is there once.
  return z.preprocess((given) => [...new Set([given].flat())].sort(), values).optional();
}
