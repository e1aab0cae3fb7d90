import { spawn } from 'node:child_process';
import fs, {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
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

test('of two processes that begin at once, one of them between two steps of the other, one has the file', () => {
  const path = join(temporaryFolder(), 'running');
  const other = spawn('sleep', ['600']);
  onTestFinished(() => void other.kill());
  const own = process.pid;
  const begin = () => OnlyOne.at(path, HOLDS_MS, Date.now);
  let theirs: OnlyOne | undefined;
  const write = fs.writeFileSync;
  const written = vi.spyOn(fs, 'writeFileSync').mockImplementationOnce((file, text, options) => {
    closeSync(openSync(String(file), Object(options).flag ?? 'w'));
    Object.defineProperty(process, 'pid', { value: other.pid, configurable: true });
    theirs = begin();
    Object.defineProperty(process, 'pid', { value: own, configurable: true });
    write(file, text);
  });
  syncBuiltinESMExports();
  const ours = begin();
  written.mockRestore();
  syncBuiltinESMExports();
  expect([ours, theirs].filter((one) => one !== undefined)).toHaveLength(1);
  expect(readFileSync(path, 'utf8')).toBe(String(ours === undefined ? other.pid : own));
  expect(readdirSync(dirname(path))).toEqual(['running']);
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
