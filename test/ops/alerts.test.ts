import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { World } from '../world.js';
import { knownMetrics, unknownIn } from './known-metrics.js';

const FOLDER = join(PACKAGE_ROOT, 'ops', 'prometheus');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

function promtool(...args: string[]) {
  return spawnSync('promtool', args, { cwd: FOLDER, encoding: 'utf8' });
}

const hasPromtool = promtool('--version').status === 0;

/** The alerts of the rules by name, with their expressions. */
const ALERTS = [...read('daybook.rules.yml').matchAll(/- alert: (\w+)\n((?: {8}.*\n)+)/g)].map(
  ([, name = '', text = '']) => {
    const [, inline, block] = /expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/.exec(text) ?? [];
    return { name, expression: inline ?? block ?? '' };
  },
);

// CI has promtool, and fails here without it.
test.skipIf(!hasPromtool && process.env.CI === undefined)(
  'promtool finds no fault in the rules, and each alert fires when it should and not otherwise',
  () => {
    for (const args of [
      ['check', 'rules', 'daybook.rules.yml'],
      ['test', 'rules', 'daybook.test.yml'],
    ]) {
      const { status, stdout, stderr, error } = promtool(...args);
      expect(status, `promtool, of Debian's package prometheus: ${error ?? ''} ${stdout} ${stderr}`).toBe(0);
    }
  },
);

test('each alert has a case in which it fires and one in which it does not', () => {
  expect(ALERTS.length).toBeGreaterThan(10);
  const cases = [...read('daybook.test.yml').matchAll(/alertname: (\w+)\n {8}exp_alerts:( \[\])?\n/g)].map(
    ([, name, none]) => `${name} ${none === undefined ? 'fires' : 'does not'}`,
  );
  expect(cases.sort()).toEqual(ALERTS.flatMap(({ name }) => [`${name} does not`, `${name} fires`]).sort());
});

test('the rules read metrics and labels that a service has', async () => {
  const known = await knownMetrics(await World.create());
  for (const { name, expression } of ALERTS) expect(unknownIn(expression, known), name).toEqual([]);
  // The expressions were read: another name would be found.
  expect(unknownIn('daybook_builds_waiting{job="daybook"} > 0', known)).not.toEqual([]);
  expect(unknownIn('sum by (team) (daybook_builds_due)', known)).toEqual(['team']);
});
