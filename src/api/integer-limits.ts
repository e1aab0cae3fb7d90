import type { z } from 'zod';

/** Removes the limits of all integers from a schema: they say nothing about this one. */
export const withoutIntegerLimits: NonNullable<z.core.ToJSONSchemaParams['override']> = ({ jsonSchema }) => {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
};
