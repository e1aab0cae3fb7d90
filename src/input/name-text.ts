import { z } from 'zod';

/** The first rule of a name, with its error: one of white space only can't be seen, so nobody means it. */
export const NOT_BLANK = [/\S/, 'must have a character other than white space'] as const;

/** The second rule of a name, which an address has too: a line feed would begin another line, and an escape would command a terminal. */
export const NO_CONTROLS = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  /^[^\u0000-\u001f\u007f-\u009f]*$/,
  'must have no control characters',
] as const;

/** A name that is stored and shown: of a user, a key, a branch, a model and so on. */
export const nameText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(...NOT_BLANK)
    .regex(...NO_CONTROLS);

/** An e-mail address. */
export const EmailText = z
  .string()
  .regex(/^[^\s@]+@\S+$/, 'must be an e-mail address')
  .regex(...NO_CONTROLS)
  .max(320);

/** A UUID of any version and variant, as `format: uuid` has it: firmware makes ones that RFC 9562 doesn't know. Case means nothing. */
export const Uuid = z.guid().toLowerCase();
