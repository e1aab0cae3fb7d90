import fc from 'fast-check';

/** Of the inputs that nobody would write; others with FUZZ_SEED. */
export const FUZZ_SEED = Number(process.env.FUZZ_SEED ?? 20260611);

/** The rules of src/computers/workspace-path.ts again, spelled another way: character by character. */
function isBlank(text: string): boolean {
  return text.trim() === '';
}

function hasControl(text: string): boolean {
  return [...text].some((character) => character.charCodeAt(0) < 32 || character.charCodeAt(0) === 127);
}

export function isName(name: string): boolean {
  const size = [...name].length;
  return (
    size >= 1 &&
    size <= 255 &&
    !isBlank(name) &&
    !name.includes('/') &&
    !name.includes('\\') &&
    !name.includes('..') &&
    !hasControl(name)
  );
}

export function isPath(path: string): boolean {
  const size = [...path].length;
  return (
    size >= 1 &&
    size <= 510 &&
    !isBlank(path) &&
    !path.startsWith('/') &&
    !path.includes('\\') &&
    !path.includes('//') &&
    !path.split('/').some((part) => part === '.' || part === '..') &&
    !path.includes('..') &&
    !hasControl(path)
  );
}

/** Any character of Unicode. The `binary` of fast-check is the same, and makes a table of all of them first. */
export const character = fc
  .nat({ max: 0x10ffff - 0x800 })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));

const piece = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '/',
    '//',
    '\\',
    '\\\\',
    '%2e%2e',
    '%2f',
    '%5c',
    '%00',
    '..%2f',
    '%252e',
    '\u0000',
    '\u001f',
    '\u007f',
    '\u0080',
    ' ',
    '\t',
    '\n',
    '\r',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\u202e',
    '\u2024\u2024',
    '\uff0e\uff0e',
    '\uff0f',
    '\u2215',
    '\u29f5',
    '~',
    '~root',
    '$HOME',
    '`id`',
    '$(id)',
    ';',
    '|',
    '&',
    '-rf',
    '--',
    '*',
    '?',
    ':',
    'C:',
    'c:\\',
    '\\\\?\\',
    'CON',
    'NUL.txt',
    'aux',
    'COM1',
    'LPT9.log',
    'file.',
    'file ',
    'file::$DATA',
    '.git',
    '.ssh',
    'etc/passwd',
    'proc/self/fd',
    'e\u0301',
    '\u00e9',
    'İ',
    'ß',
    '😀',
    '\ud83d',
    '\ude00',
    '\u{e0041}',
    'a\u200db',
    '.daybook',
    '.daybook..x',
    '__proto__',
    'constructor',
    '<script>',
    "'",
    '"',
    'a'.repeat(100),
    'ä'.repeat(60),
    'a'.repeat(254),
    'a'.repeat(255),
  ),
  fc.string({ maxLength: 6 }),
  fc.string({ unit: character, maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
);
const hostile = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
/** Ones that are mostly taken, so that much is written too. */
const harmless = fc
  .array(fc.constantFrom('a', 'B', 'é', '😀', '.x', '-', ' ', '日', '\u202e', '%2e'), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(''));
/** A name for a file: many hostile, some harmless. */
export const name = fc.oneof({ weight: 2, arbitrary: hostile }, { weight: 1, arbitrary: harmless });
/** A folder for it, or none. */
export const path = fc.oneof(
  { weight: 2, arbitrary: hostile },
  {
    weight: 1,
    arbitrary: fc.array(harmless, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
  },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

/** A text as UTF-8 has it: half of a pair is no character there. */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
