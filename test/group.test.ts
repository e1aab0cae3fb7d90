import { expect, test } from 'vitest';
import { GROUPS, groupOf } from '../src/store/group.js';

test('the group of an organization is the same for ever', () => {
  expect(['acme', 'globex', 'Acme', 'a.b-c_d', 'ünïcode'].map(groupOf)).toEqual([8, 5, 3, 1, 11]);
});

test('many organizations are in all groups, about as many in each', () => {
  const sizes = Array.from({ length: GROUPS }, () => 0);
  for (let one = 0; one < 16_000; one += 1) {
    const group = groupOf(`organization-${one}`);
    sizes[group] = (sizes[group] ?? 0) + 1;
  }
  expect(Math.min(...sizes)).toBeGreaterThan(850);
  expect(Math.max(...sizes)).toBeLessThan(1150);
});
