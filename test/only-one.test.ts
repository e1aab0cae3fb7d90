import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { OnlyOne } from '../src/disk/only-one.js';
import { NOW, temporaryFolder } from './world.js';

const HOLDS_MS = 900_000;

/** What this process has, at an instant that tests move. */
function world() {
  const path = join(temporaryFolder(), 'running');
  const moved = { path, now: NOW, one: undefined as unknown as OnlyOne };
  const one = OnlyOne.at(path, HOLDS_MS, () => moved.now);
  if (one === undefined) throw new Error('nobody else works there');
  return Object.assign(moved, { one });
}

/** Gives the file to another process, which runs. */
function givenTo(path: string, at: number): string {
  const other = spawn('sleep', ['600']);
  onTestFinished(() => void other.kill());
  writeFileSync(path, String(other.pid));
  utimesSync(path, at / 1000, at / 1000);
  return String(other.pid);
}

test('a file that is gone is written again', () => {
  const { path, one } = world();
  rmSync(path);
  expect(one.touch()).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
  one.end();
  expect(existsSync(path)).toBe(false);
});

test('a file that goes while a sign of life is given is written again', () => {
  const it = world();
  Object.defineProperty(it, 'now', {
    get: () => {
      rmSync(it.path, { force: true });
      return NOW;
    },
  });
  expect(it.one.touch()).toBe(true);
  expect(readFileSync(it.path, 'utf8')).toBe(String(process.pid));
});

test('the file of another process that runs is left alone', () => {
  const { path, now, one } = world();
  const other = givenTo(path, now);
  expect(one.touch()).toBe(false);
  one.end();
  expect(readFileSync(path, 'utf8')).toBe(other);
  expect(statSync(path).mtimeMs).toBe(now);
});

test('the file of another process without a sign of life is taken', () => {
  const { path, now, one } = world();
  givenTo(path, now - HOLDS_MS - 1);
  expect(one.touch()).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
});

test('a long rest has a sign of life before others take this process for gone', async () => {
  const it = world();
  it.one.touch();
  const end = it.now + 5 * HOLDS_MS;
  await it.one.rest(end - it.now, async (ms) => {
    it.now += ms;
    expect(it.now - statSync(it.path).mtimeMs).toBeLessThan(HOLDS_MS);
  });
  expect(it.now).toBe(end);
});
