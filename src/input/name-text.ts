import { z } from 'zod';

/** The first rule of a name, with its error: white space alone can't be seen, so nobody means it. */
export const NOT_BLANK = [/\S/, 'must have a character other than white space'] as const;

/** The second rule of a name, also for addresses: a line feed would begin another line, and an escape would control a terminal. */
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

/** The form of an organization's id. */
export const ORG_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const OrgId = z
  .string()
  .regex(ORG_ID, 'must be 1 to 64 letters, digits, dots, hyphens and underscores');

/** An e-mail address. */
export const EmailText = z
  .string()
  .regex(/^[^\s@]+@\S+$/, 'must be an e-mail address')
  .regex(...NO_CONTROLS)
  .max(320);

/** A UUID of any version and variant, like `format: uuid`: firmware makes ones that RFC 9562 doesn't define. Case is ignored. */
export const Uuid = z.guid().toLowerCase();
