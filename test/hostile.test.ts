import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, type Ask, Service } from './service.js';

/** How many names and paths are tried. */
const RUNS = 10_000;
const AT_ONCE = 20;

/** The rules of public-api.md 2.4 and 4.4 again, spelled another way: character by character. */
function isBlank(text: string): boolean {
  return text.trim() === '';
}

function hasControl(text: string): boolean {
  return [...text].some((character) => character.charCodeAt(0) < 32 || character.charCodeAt(0) === 127);
}

function isName(name: string): boolean {
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

function isPath(path: string): boolean {
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
  fc.string({ unit: 'binary', maxLength: 6 }),
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
const name = fc.oneof({ weight: 2, arbitrary: hostile }, { weight: 1, arbitrary: harmless });
const path = fc.oneof(
  { weight: 2, arbitrary: hostile },
  {
    weight: 1,
    arbitrary: fc.array(harmless, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
  },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

let service: Service;
let computer: { id: string; agentToken: string };
let agent: Agent;
let ada: Ask;
beforeAll(async () => {
  service = await Service.start({}, afterAll);
  computer = await service.computer();
  agent = await service.agent(computer);
  ada = service.as('member', 'ada');
});

/** A text as UTF-8 has it. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** The name as a part of a path: what has no encoding, half a pair, goes as the bytes that stand for it. */
function encoded(name: string): string {
  return encodeURIComponent(wellFormed(name));
}

test(`of ${RUNS} names and paths those are taken that the rules take, none gives a 5xx, and none leads outside`, async () => {
  const before = readdirSync(service.world.folder, { recursive: true, encoding: 'utf8' })
    .filter((found) => !found.startsWith('workspace-1/inside') && !found.startsWith('data/'))
    .sort();
  const seen = { written: 0, refused: 0 };
  const send = async ([fileName, destPath]: [string, string | undefined]) => {
    service.world.now += 1;
    const url = `/computers/${computer.id}/files/${encoded(fileName)}`;
    const created = await ada('POST', `${url}/create-upload`, { sizeBytes: 0 });
    const isTaken = isName(wellFormed(fileName));
    expect(created.status).toBe(isTaken ? 200 : 400);
    if (!isTaken) {
      seen.refused += 1;
      return;
    }
    const { transferId, uploadUrl } = created.body;
    expect((await fetch(uploadUrl, { method: 'PUT', body: '' })).status).toBe(204);
    const completed = await ada('POST', `${url}/complete-upload`, {
      transferId,
      sessionId: 's',
      ...(destPath === undefined ? {} : { destPath }),
    });
    if (destPath !== undefined && !isPath(destPath)) {
      expect(completed.status).toBe(400);
      seen.refused += 1;
      return;
    }
    // What the rules take the file system may still refuse: too long a name, a folder where a file is, a file that is there.
    expect([200, 409, 424]).toContain(completed.status);
    if (completed.status !== 200) return;
    seen.written += 1;
    expect(existsSync(`${agent.workspace}/${destPath ?? ''}/${fileName}`)).toBe(true);
  };
  const property = fc.asyncProperty(
    fc.array(fc.tuple(name, path), { minLength: AT_ONCE, maxLength: AT_ONCE }),
    async (sent) => {
      await Promise.all(sent.map(send));
    },
  );
  await fc.assert(property, { numRuns: RUNS / AT_ONCE, endOnFailure: true });
  expect(agent.said.some((sentence) => sentence.includes('broke'))).toBe(false);
  expect(seen.written).toBeGreaterThan(RUNS / 20);
  expect(seen.refused).toBeGreaterThan(RUNS / 4);
  const after = readdirSync(service.world.folder, { recursive: true, encoding: 'utf8' })
    .filter((found) => !found.startsWith('workspace-1/inside') && !found.startsWith('data/'))
    .sort();
  expect(after).toEqual(before);
  const written = readdirSync(agent.workspace, { recursive: true, withFileTypes: true }).filter((found) =>
    found.isFile(),
  );
  expect(written).toHaveLength(seen.written);
  expect(written.filter((found) => found.name.startsWith('.daybook..'))).toEqual([]);
  expect(existsSync(join(agent.workspace, '..', 'inside'))).toBe(true);
}, 900_000);
