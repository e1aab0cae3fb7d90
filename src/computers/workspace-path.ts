import { z } from 'zod';
import { NO_CONTROLS, NOT_BLANK } from '../input/name-text.js';

/** Counts characters as JSON Schema does: a character beyond the first 65,536 counts as one. */
function length(max: number) {
  return (text: string) => text.length > 0 && [...text].length <= max;
}

// Only the ASCII control characters; NO_CONTROLS has more.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROLS = /^[^\u0000-\u001f\u007f]*$/;
const NO_DOTS = 'must not have two dots in a row';

/** The name of a file that is sent to a computer. */
export const FileName = z
  .string()
  .refine(length(255), 'must have 1 to 255 characters')
  .regex(...NOT_BLANK)
  .regex(/^[^/\\]*$/, 'must have no slash and no backslash')
  .regex(/^(?![\s\S]*\.\.)/, NO_DOTS)
  .regex(CONTROLS, NO_CONTROLS[1])
  .meta({
    minLength: 1,
    maxLength: 255,
    description: 'name of the file',
    examples: ['hello.txt'],
  });

/** The folder of the workspace that a file is written to. */
export const DestPath = z
  .string()
  .refine(length(510), 'must have 1 to 510 characters')
  .regex(...NOT_BLANK)
  .regex(/^[^/]/, 'must not begin with a slash')
  .regex(/^[^\\]*$/, 'must have no backslash')
  .regex(/^(?![\s\S]*\/\/)/, 'must not have two slashes in a row')
  .regex(/^(?![\s\S]*\.\.)/, NO_DOTS)
  .regex(/^(?!(?:[\s\S]*\/)?\.(?:\/|$))/, 'must have no part that is only a dot')
  .regex(CONTROLS, NO_CONTROLS[1])
  .meta({
    minLength: 1,
    maxLength: 510,
    description: 'folder in the workspace, created if it is missing; by default the workspace itself',
    examples: ['docs'],
  });
