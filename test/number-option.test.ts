import { expect, test } from 'vitest';
import { numberFrom } from '../src/command/number-option.js';

test("a number of the command line is within its limits, and isn't left empty", () => {
  const some = numberFrom(0, 100);
  expect(['0', '2.5', '100'].map(some)).toEqual([0, 2.5, 100]);
  for (const value of ['', ' ', 'x', '-1', '101', 'Infinity'])
    expect(() => some(value), value).toThrow('It must be a number from 0 to 100.');
  expect(() => numberFrom(2, 100, 'whole')('2.5')).toThrow('It must be a whole number from 2 to 100.');
});
