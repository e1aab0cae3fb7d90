import { z } from 'zod';

/** What a name must match: one of white space only can't be seen, so nobody means it. The second part is the error. */
export const NOT_BLANK = [/\S/, 'must have a character other than white space'] as const;

/** A name that is stored and shown. */
export const nameText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(...NOT_BLANK);

/** A name of one line. */
export const lineText = (max: number) =>
  nameText(max)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'must have no control characters');

/** A UUID of any version and variant, as `format: uuid` has it: firmware makes ones that RFC 9562 doesn't know. Case means nothing. */
export const Uuid = z.guid().toLowerCase();
