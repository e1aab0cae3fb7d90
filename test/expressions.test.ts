import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vite';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { MEMBERS } from '../src/ingest/event-members.js';
import { textOf, type WorstText, worstTexts } from './worst-texts.js';

/**
 * Every regular expression of the service, its commands and the page takes a time in proportion to its text, whatever is in that. It is
 * collected from the code, so a new one is tested by being there.
 */

/** Expressions that meet no text of a client, by their file, and what they read instead. */
const OWN_TEXTS: Readonly<Record<string, string>> = {
  'src/terminal/text-table.ts': 'a number as JavaScript writes it, of some twenty digits',
};

/** The files that make expressions at run time, and the expressions. */
const MADE: Readonly<Record<string, readonly string[]>> = {
  'src/controls/control-revisions.ts': ['[\\s\\S]{1,30000}'],
  'src/ingest/event-check.ts': patternsOfMembers(),
  'src/ingest/event-schema.ts': patternsOfMembers(),
  'src/otlp/known-names.ts': patternsOfNames(),
  'web/src/sql-answer.ts': ['(?<!\\w)a name(?!\\w)'],
};

function patternsOfMembers(): string[] {
  return Object.values(MEMBERS).flatMap((member) =>
    member.kind === 'text' && member.pattern !== undefined ? [`^(?:${member.pattern[0]})$`] : [],
  );
}

function patternsOfNames(): string[] {
  const names: { services: string; scopes?: string }[] = JSON.parse(
    readFileSync(join(PACKAGE_ROOT, 'sql/source/otlp/names.json'), 'utf8'),
  );
  return names.flatMap(({ services, scopes = '' }) => [services, scopes]);
}

/** How many characters an expression is tried with to find its worst texts, and how many of these are looked at. */
const TRIED = 400;
const LOOKED_AT = 3;
const CHARACTERS = 102_400;
/** Twice the text may take so many times as long: 2 is linear, 4 is quadratic. Times below a few milliseconds say nothing. */
const MOST_GROWTH = 3;
const LITTLE_MS = 20;

function filesIn(folder: string): string[] {
  return readdirSync(join(PACKAGE_ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('src/otlp/proto'));
}

/** The expressions of a file, and whether it makes others. */
function expressionsIn(file: string): { written: RegExp[]; makes: boolean } {
  const text = readFileSync(join(PACKAGE_ROOT, file), 'utf8');
  const written: RegExp[] = [];
  let makes = false;
  JSON.stringify(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }), (_, node) => {
    if (node?.type === 'Literal' && node.regex)
      written.push(new RegExp(node.regex.pattern, node.regex.flags));
    if (/^(New|Call)Expression$/.test(node?.type) && node.callee.name === 'RegExp') makes = true;
    return typeof node === 'bigint' ? String(node) : node;
  });
  return { written, makes };
}

/** Finds all that an expression matches in a text, and keeps none of it: room for matches costs time by itself. */
function findAll(expression: RegExp, text: string): void {
  for (let from = 0; from <= text.length; from = Math.max(expression.lastIndex, from + 1)) {
    expression.lastIndex = from;
    if (!expression.test(text) || !expression.global) return;
  }
}

/** The processor time in which an expression finds all in a text: the least of some runs, whatever else the machine does. */
function msOf(expression: RegExp, text: string, runs: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const begin = process.cpuUsage();
    findAll(expression, text);
    const { user, system } = process.cpuUsage(begin);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

function slowestOf(expression: RegExp): WorstText[] {
  return worstTexts(expression)
    .map((worst) => ({ worst, ms: msOf(expression, textOf(worst, TRIED), 2) }))
    .sort((one, other) => other.ms - one.ms)
    .slice(0, LOOKED_AT)
    .map(({ worst }) => worst);
}

/** Whether the time grows faster than the text on its way to 100 kB. */
function growsFast(expression: RegExp, worst: WorstText): boolean {
  let before = Number.POSITIVE_INFINITY;
  for (let characters = TRIED; characters <= CHARACTERS; characters *= 2) {
    const text = textOf(worst, characters);
    let ms = msOf(expression, text, 3);
    const isMuchMore = () => ms > LITTLE_MS && ms / before > MOST_GROWTH;
    // The processor may have been slower for a while: both are timed again, one after the other.
    const half = textOf(worst, characters / 2);
    for (let again = 0; again < 3 && isMuchMore(); again += 1) {
      before = Math.min(before, msOf(expression, half, 1));
      ms = Math.min(ms, msOf(expression, text, 1));
    }
    if (isMuchMore()) return true;
    before = ms;
  }
  return false;
}

/** The texts on which an expression takes more than linear time. */
function faultsOf(expression: RegExp): string[] {
  return slowestOf(expression)
    .filter((worst) => growsFast(expression, worst))
    .map((worst) => `${expression} on ${JSON.stringify(worst)}`);
}

describe('a regular expression', () => {
  const FILES = ['src', 'web/src'].flatMap(filesIn);

  test('takes linear time, also with 100 kB of its worst', () => {
    const all = FILES.filter((file) => OWN_TEXTS[file] === undefined).flatMap((file) =>
      expressionsIn(file).written.map((expression) => ({ file, expression })),
    );
    expect(all.length).toBeGreaterThan(300);
    const faults = all.flatMap(({ file, expression }) =>
      faultsOf(expression).map((fault) => `${file}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  test('so does one that is made at run time', () => {
    expect(FILES.filter((file) => expressionsIn(file).makes).sort()).toEqual(Object.keys(MADE).sort());
    for (const pattern of new Set(Object.values(MADE).flat()))
      expect(faultsOf(new RegExp(pattern))).toEqual([]);
  });

  test('that takes quadratic time is found', () => {
    for (const slow of [/\s+$/, /[a-z]:\/\/[^\s/:@]*?(?::|%3a)[^\s/]*@/gi, /^\S+@\S+$/])
      expect(faultsOf(slow), String(slow)).not.toEqual([]);
  });
});
