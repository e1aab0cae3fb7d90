import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

/** Stands for the escape character of our own colours until they are printed. No text from elsewhere can contain it. */
const OWN_ESCAPE = `\u001b${randomUUID()}`;

/**
 * Characters that control a terminal or hide others, such as escape sequences and changes of direction. Joiners are part of words
 * and emoji.
 */
const OBEYED = /(?!\r?\n|[\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** The same characters as JSON escapes them, so that JSON keeps its meaning. */
function escaped(char: string): string {
  return Array.from({ length: char.length }, (_, index) => char.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}

/** Removes everything that would control a terminal, except line breaks, tabs and our own colours. */
export function printable(text: string): string {
  return text
    .split(OWN_ESCAPE)
    .map((part) => part.replace(OBEYED, escaped))
    .join('\u001b');
}

/** A styled text for `print`, if the stream supports colours. */
export function styled(style: 'bold' | 'dim' | 'red', text: string, stream: Writable): string {
  return styleText(style, printable(text), { stream }).replaceAll('\u001b', OWN_ESCAPE);
}

/** Prints a text as lines. Nothing else in the program writes text to a terminal. */
export function print(text: string, stream: NodeJS.WritableStream = process.stdout): void {
  stream.write(printable(text.endsWith('\n') ? text : `${text}\n`));
}

/** Prints a sentence on standard error, beside a command's output. */
export function note(sentence: string): void {
  print(sentence, process.stderr);
}

/** Writes data for programs: unchanged, except to a terminal. Answers whether the stream takes more. */
export function printData(text: string | Uint8Array, stream: NodeJS.WritableStream): boolean {
  const isShown = 'isTTY' in stream && stream.isTTY === true;
  return stream.write(isShown && typeof text === 'string' ? printable(text) : text);
}
