import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { buildApp } from '../src/service/app.js';
import { print, printable, printData, styled } from '../src/terminal/printing.js';
import { faint, headline, table } from '../src/terminal/terminal.js';
import { World } from './world.js';

/** A stream that takes what a terminal would. */
function terminal(): PassThrough & { isTTY?: boolean } {
  return Object.assign(new PassThrough().setEncoding('utf8'), { isTTY: true });
}

const HOSTILE = [
  '\u001b[31mred',
  '\u001b]0;title\u0007',
  '\u001b]52;c;UFdO\u0007',
  '\u009b2J',
  'a\rb',
  '\u0000',
  '\u007f',
  'txt.\u202eexe',
  '\u2066x',
  '\u200f',
  '\u2028',
  '\u{e0041}',
  '\ud800',
];

test('a text from elsewhere has nothing that a terminal obeys, and our own colours stay', () => {
  vi.stubEnv('FORCE_COLOR', '1');
  for (const text of HOSTILE) {
    const out = terminal();
    const sentence = `${styled('red', `The server says ${text}.`, out)} ${text}`;
    print(`${headline(text, out)} ${faint(text, out)} ${sentence}`, out);
    const printed = String(out.read());
    const ownEscapes = ['1', '22', '2', '22', '31', '39'].map((code) => `\u001b[${code}m`);
    expect(printed.match(/(?!\n)\p{C}(?:\[\d+m)?|\u2028/gu)).toEqual(ownEscapes);
  }
  vi.unstubAllEnvs();
});

test('lines, tabs and the letters of all languages are printed as they are', () => {
  for (const text of ['a\tb\nc', 'a\r\nb', 'é 漢字 עברית', '😀', '👩\u200d💻', 'می\u200cخواهم', 'a\\u001b'])
    expect(printable(text)).toBe(text);
});

test('JSON stays the JSON of the same value', () => {
  for (const value of HOSTILE) {
    const out = terminal();
    print(JSON.stringify({ value }), out);
    expect(JSON.parse(String(out.read()))).toEqual({ value });
  }
});

test('an answer for programs is what it is, except in a terminal', () => {
  const [file, shown] = [new PassThrough().setEncoding('utf8'), terminal()];
  for (const stream of [file, shown]) printData('a,\u001b[31m\r\n', stream);
  expect(file.read()).toBe('a,\u001b[31m\r\n');
  expect(shown.read()).toBe('a,\\u001b[31m\r\n');
});

test('a table shows the same of a text as before', () => {
  expect(printable(table([{ name: '\u001b[2J' }]))).toContain('\\u{1b}[2J');
});

test('the log of a service has nothing of it either', async () => {
  const world = await World.create();
  const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => log.mockRestore());
  const app = buildApp(world, { logs: true });
  onTestFinished(() => app.close());
  app.log.error({ err: new Error(HOSTILE.join(' ')) }, HOSTILE.join(' '));
  const [line] = log.mock.calls.map(([written]) => String(written));
  expect(JSON.parse(line ?? '').msg).toBe(HOSTILE.join(' '));
  expect(line).not.toMatch(/(?!\n)\p{C}/u);
});

test('one file prints', () => {
  const files = readdirSync(join(PACKAGE_ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  // An older Node.js can't load the printing file.
  const printing = ['printing.ts', 'node-version.ts'].map((name) => join('terminal', name));
  const others = files.filter((path) => path.endsWith('.ts') && !printing.includes(path));
  expect(
    others.filter((path) =>
      /\b(stdout|stderr)\.write|\bconsole\.|\bstyleText\b/.test(
        readFileSync(join(PACKAGE_ROOT, 'src', path), 'utf8'),
      ),
    ),
  ).toEqual([]);
});
