import fs, { readFileSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { pausesOn, rename, renameSync, rm, rmSync } from '../src/disk/renames.js';
import { temporaryFolder } from './world.js';

const held = (code: string) => Object.assign(new Error(`${code}: rename`), { code });

/** Has a function of the system fail so often, as while a scanner has the file open. */
function failing<Name extends string>(of: Record<Name, unknown>, name: Name, code: string, times: number) {
  let left = times;
  const real = of[name] as (...args: unknown[]) => unknown;
  const replaced = vi.spyOn(of as never, name).mockImplementation(((...args: unknown[]) => {
    left -= 1;
    if (left >= 0) throw held(code);
    return real(...args);
  }) as never);
  onTestFinished(() => replaced.mockRestore());
}

describe.each(['EPERM', 'EBUSY', 'EACCES'])('a file that another program has open (%s)', (code) => {
  test('is renamed and removed as soon as it is free', async () => {
    const path = join(temporaryFolder(), 'file');
    writeFileSync(path, 'text');
    failing(promises, 'rename', code, 2);
    await rename(path, `${path}-1`);
    failing(fs, 'renameSync', code, 2);
    renameSync(`${path}-1`, path);
    expect(readFileSync(path, 'utf8')).toBe('text');
    failing(promises, 'rm', code, 2);
    await rm(path);
    writeFileSync(path, 'text');
    failing(fs, 'rmSync', code, 2);
    rmSync(path);
    expect(fs.existsSync(path)).toBe(false);
  });

  test('is given up in the end', async () => {
    const path = join(temporaryFolder(), 'file');
    failing(promises, 'rename', code, 100);
    await expect(rename(path, `${path}-1`)).rejects.toThrow(code);
    failing(fs, 'renameSync', code, 100);
    expect(() => renameSync(path, `${path}-1`)).toThrow(code);
  });
});

test('another error is thrown at once', async () => {
  const path = join(temporaryFolder(), 'file');
  failing(promises, 'rename', 'ENOSPC', 1);
  await expect(rename(path, `${path}-1`)).rejects.toThrow('ENOSPC');
});

test('on Windows some seconds pass before that', () => {
  const seconds = (platform: NodeJS.Platform) => pausesOn(platform).reduce((sum, ms) => sum + ms, 0) / 1000;
  expect(seconds('win32')).toBeGreaterThan(3);
  expect(seconds('win32')).toBeLessThan(10);
  expect(seconds('linux')).toBeLessThan(0.5);
});
