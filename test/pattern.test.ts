import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { compilePattern, PATTERN_SIZE, sizeOfPattern } from '../src/input/pattern.js';

test('the size of an expression is about that of its program, with repetitions written out', () => {
  for (const text of [
    'Edit|Write|mcp__.*',
    '(a{10}b){5}',
    '(a{1000}b{1000})',
    '(?:(?:x?){10}y*){20}z+',
    '[a-z0-9_-]{3,40}[^]{}()]{7}',
    String.raw`\{9\}\(\d{2,}\)`,
    '(){500}',
    '(|a){100}',
    '((((a{5}){5}){5}){5})',
  ]) {
    const size = sizeOfPattern(text);
    const steps = RE2JS.compile(text).programSize();
    expect(size, text).toBeGreaterThanOrEqual(steps / 3);
    expect(size, text).toBeLessThanOrEqual(steps * 3);
  }
});

test('an expression that is slow to compile is refused before it is compiled', () => {
  for (const text of [
    '(a{1000}b{1000})'.repeat(120),
    '(|a){1000}'.repeat(100),
    '(){1000}'.repeat(250),
    '(?i)[b-\u{1e942}]'.repeat(100),
    String.raw`(?i)[b-\x{1E942}]`.repeat(100),
    `[${'\\pL'.repeat(600)}]`,
    String.raw`(?i)\PL`.repeat(280),
  ]) {
    expect(sizeOfPattern(text), text.slice(0, 40)).toBeGreaterThan(PATTERN_SIZE);
    expect(() => compilePattern(text)).toThrow('is too large: with repetitions such as {9} written out');
  }
});

test('an expression that anyone writes is compiled', () => {
  for (const text of [
    'Edit|Write',
    '^mcp__(github|jira)__[a-z_]{1,64}$',
    String.raw`(?i)\bgit\s+push\b.*--force`,
    String.raw`[\p{L}\p{N}_]+`,
    String.raw`[\x00-\x1f]`,
    '[а-яё]+',
    'x'.repeat(2048),
  ])
    expect(() => compilePattern(text), text).not.toThrow();
});
