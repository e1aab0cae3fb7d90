import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JobFailed } from '../src/computers/agent-message.js';
import { install } from '../src/computers/repository-clone.js';
import { writeFile } from '../src/computers/workspace.js';
import { DestPath, FileName } from '../src/computers/workspace-path.js';
import { isRunning } from '../src/disk/running.js';
import { FUZZ_SEED, isName, isPath, name, path, wellFormed } from './hostile.js';
import { until } from './service.js';
import { playsSlow } from './slow.js';
import { NOW, temporaryFolder } from './world.js';

/** A workspace with a neighbour, and what writes a file into it. */
function workspaceWith() {
  const folder = temporaryFolder();
  const inside = join(folder, 'inside');
  const outside = join(folder, 'outside');
  mkdirSync(inside);
  mkdirSync(outside);
  const target = (fileName: string, bytes: string, destPath?: string, transferId: string = randomUUID()) => ({
    transferId,
    fileName,
    ...(destPath === undefined ? {} : { destPath }),
    sizeBytes: Buffer.byteLength(bytes),
    sha256: createHash('sha256').update(bytes).digest('hex'),
    createdAt: NOW - 1234,
  });
  const write = async (
    wanted: ReturnType<typeof target>,
    source: () => Readable = () => Readable.from([]),
    signal = new AbortController().signal,
  ) => {
    try {
      await writeFile(inside, wanted, async () => source(), NOW, signal);
      return 'written';
    } catch (error) {
      if (error instanceof JobFailed) return error.reason;
      throw error;
    }
  };
  return { inside, outside, target, write };
}

const bytesOf = (text: string) => () => Readable.from([Buffer.from(text)]);

describe('a file for the workspace', () => {
  test('leaves nothing but itself', async () => {
    const { inside, target, write } = workspaceWith();
    expect(await write(target('a', 'daybook', 'x/y'), bytesOf('daybook'))).toBe('written');
    expect(readdirSync(inside, { recursive: true })).toEqual(['x', 'x/y', 'x/y/a']);
    expect(readFileSync(join(inside, 'x/y/a'), 'utf8')).toBe('daybook');
  });

  test('of other bytes, of fewer or of more leaves nothing', async () => {
    const { inside, target, write } = workspaceWith();
    for (const bytes of ['daybooK', 'daybo', 'daybooks', ''])
      expect(await write(target('a', 'daybook'), bytesOf(bytes))).toBe('changed');
    expect(readdirSync(inside)).toEqual([]);
  });

  test('whose bytes break off, or that is stopped, leaves nothing', async () => {
    const { inside, target, write } = workspaceWith();
    const broken = () =>
      Readable.from(
        (async function* () {
          yield Buffer.from('day');
          throw new Error('reset');
        })(),
      );
    expect(await write(target('a', 'daybook'), broken)).toBe('unreachable');
    const stopping = new AbortController();
    const endless = () => {
      const stream = new Readable({ read() {} });
      stream.push(Buffer.from('day'));
      setImmediate(() => stopping.abort());
      return stream;
    };
    expect(await write(target('a', 'daybook'), endless, stopping.signal)).toBe('unreachable');
    expect(readdirSync(inside)).toEqual([]);
  });

  test('never takes the place of another that comes while it is written', async () => {
    const { inside, target, write } = workspaceWith();
    const slow = () => {
      writeFileSync(join(inside, 'a'), 'theirs');
      return bytesOf('ours')();
    };
    expect(await write(target('a', 'ours'), slow)).toBe('exists');
    expect(readFileSync(join(inside, 'a'), 'utf8')).toBe('theirs');
    expect(readdirSync(inside)).toEqual(['a']);
  });

  test('that is there from the same transfer is not fetched again; one of another transfer is in the way', async () => {
    const { inside, target, write } = workspaceWith();
    const first = target('a', 'daybook');
    expect(await write(first, bytesOf('daybook'))).toBe('written');
    const never = () => {
      throw new Error('fetched again');
    };
    expect(await write(first, never)).toBe('written');
    expect(await write({ ...first, createdAt: first.createdAt + 1 }, never)).toBe('exists');
    utimesSync(join(inside, 'a'), NOW / 1000, NOW / 1000);
    expect(await write(first, never)).toBe('exists');
  });

  test('clears what a killed agent was writing: of the same transfer at once, of others when they are old', async () => {
    const { inside, target, write } = workspaceWith();
    const wanted = target('a', 'daybook');
    const left = (transferId: string, ageMs: number) => {
      const name = `.daybook..${transferId}.0123`;
      writeFileSync(join(inside, name), 'day');
      utimesSync(join(inside, name), (NOW - ageMs) / 1000, (NOW - ageMs) / 1000);
      return name;
    };
    left(wanted.transferId, 0);
    left(randomUUID(), 3_600_001);
    const young = left(randomUUID(), 3_599_999);
    expect(await write(wanted, bytesOf('daybook'))).toBe('written');
    expect(readdirSync(inside)).toEqual([young, 'a']);
  });
});

describe('a link on the way', () => {
  test('is followed when it stays inside, and not when it leads outside', async () => {
    const { inside, outside, target, write } = workspaceWith();
    mkdirSync(join(inside, 'real'));
    symlinkSync('real', join(inside, 'near'));
    symlinkSync(outside, join(inside, 'far'));
    symlinkSync('../../outside', join(inside, 'real', 'up'));
    symlinkSync('/', join(inside, 'root'));
    symlinkSync(join(inside, '..', 'inside-too'), join(inside, 'sibling'));
    mkdirSync(join(inside, '..', 'inside-too'));
    expect(await write(target('a', 'x', 'near/deeper'), bytesOf('x'))).toBe('written');
    expect(readFileSync(join(inside, 'real', 'deeper', 'a'), 'utf8')).toBe('x');
    for (const path of ['far', 'far/new', 'near/up', 'real/up/new', 'root/tmp', 'sibling', 'sibling/new'])
      expect(await write(target('a', 'x', path), bytesOf('x'))).toBe('outside');
    symlinkSync('nowhere', join(inside, 'dangling'));
    symlinkSync('loop', join(inside, 'loop'));
    for (const path of ['dangling', 'loop', 'near/deeper/a'])
      expect(await write(target('b', 'x', path), bytesOf('x'))).toBe('denied');
    symlinkSync(join(outside, 'target'), join(inside, 'name'));
    expect(await write(target('name', 'x'), bytesOf('x'))).toBe('exists');
    expect(readdirSync(outside)).toEqual([]);
    expect(readdirSync(join(inside, '..', 'inside-too'))).toEqual([]);
  });

  test.skipIf(process.platform !== 'linux')(
    'that takes the place of a folder while a file is written changes nothing',
    async () => {
      const { inside, outside, target, write } = workspaceWith();
      const swap = () => {
        renameSync(join(inside, 'x'), join(inside, 'moved'));
        symlinkSync(outside, join(inside, 'x'));
        return bytesOf('daybook')();
      };
      expect(await write(target('a', 'daybook', 'x'), swap)).toBe('written');
      expect(readdirSync(outside)).toEqual([]);
      expect(readFileSync(join(inside, 'moved', 'a'), 'utf8')).toBe('daybook');
    },
  );

  test.skipIf(process.platform !== 'linux')(
    'that comes and goes at any instant lets nothing out',
    async () => {
      const { inside, outside, target, write } = workspaceWith();
      let isOver = false;
      const swapping = (async () => {
        while (!isOver) {
          try {
            rmSync(join(inside, 'x'), { recursive: true, force: true });
            symlinkSync(outside, join(inside, 'x'));
            await new Promise((resolve) => setImmediate(resolve));
            rmSync(join(inside, 'x'), { force: true });
          } catch {
            // The one who writes was faster.
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      const outcomes = new Set<string>();
      for (let round = 0; round < 500; round += 1)
        outcomes.add(await write(target(`a${round}`, 'x', 'x/y'), bytesOf('x')));
      isOver = true;
      await swapping;
      expect(outcomes).toContain('outside');
      expect(readdirSync(outside)).toEqual([]);
    },
  );
});

/** Of how many names that are taken one is written: each costs milliseconds. */
const WRITTEN = playsSlow() ? 1 : 20;

test('of 10,000 names and paths those are taken that the rules take, and none leads outside', async () => {
  const { inside, target, write } = workspaceWith();
  const seen = { tried: 0, refused: 0, written: 0 };
  const property = fc.asyncProperty(name.map(wellFormed), path, async (fileName, destPath) => {
    expect(FileName.safeParse(fileName).success).toBe(isName(fileName));
    if (destPath !== undefined) expect(DestPath.safeParse(destPath).success).toBe(isPath(destPath));
    if (!isName(fileName) || (destPath !== undefined && !isPath(destPath))) {
      seen.refused += 1;
      return;
    }
    seen.tried += 1;
    if (seen.tried % WRITTEN !== 0) return;
    const outcome = await write(
      { ...target(fileName, 'x', destPath), createdAt: NOW - seen.tried },
      bytesOf('x'),
    );
    // What the rules take the file system may still refuse: too long a name, a folder where a file is, a file that is there.
    expect(['written', 'exists', 'denied']).toContain(outcome);
    if (outcome !== 'written') return;
    seen.written += 1;
    expect(existsSync(`${inside}/${destPath ?? ''}/${fileName}`)).toBe(true);
  });
  await fc.assert(property, { seed: FUZZ_SEED, numRuns: 10_000, endOnFailure: true });
  expect(seen.refused).toBeGreaterThan(2500);
  expect(seen.written).toBeGreaterThan(4000 / WRITTEN);
  expect(readdirSync(join(inside, '..')).sort()).toEqual(['inside', 'outside']);
  expect(readdirSync(join(inside, '..', 'outside'))).toEqual([]);
  const there = readdirSync(inside, { recursive: true, withFileTypes: true });
  expect(there.filter((found) => found.isFile())).toHaveLength(seen.written);
  expect(there.filter((found) => !found.isFile() && !found.isDirectory())).toEqual([]);
});

test('of what a package manager said, no address is kept that has lost its beginning', async () => {
  const [folder, programs] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(folder, 'package-lock.json'), '');
  // Of the address and the space after it twelve characters are among the last 2,000.
  const rest = 'x'.repeat(1988);
  writeFileSync(join(programs, 'npm'), `#!/bin/sh\nprintf 'https://ci:SECRET@host.org ${rest}'\nexit 1\n`, {
    mode: 0o755,
  });
  const { PATH } = process.env;
  process.env.PATH = `${programs}:${PATH}`;
  try {
    await expect(install(folder, undefined, new AbortController().signal)).rejects.toThrow(
      `"npm ci" ended with 1: ${rest}`,
    );
  } finally {
    process.env.PATH = PATH;
  }
});

test('an agent that stops when a package manager has ended, but not what this one left behind, waits for its output', async () => {
  const [folder, programs] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(folder, 'package-lock.json'), '');
  const text = '#!/bin/sh\nsetsid sleep 600 &\necho $$ $! > pids.new\nmv pids.new pids\n';
  writeFileSync(join(programs, 'npm'), text, { mode: 0o755 });
  const { PATH } = process.env;
  process.env.PATH = `${programs}:${PATH}`;
  const stopping = new AbortController();
  try {
    const stopped = expect(install(folder, undefined, stopping.signal)).rejects.toThrow('was stopped');
    await until(() => existsSync(join(folder, 'pids')));
    const [own, left] = readFileSync(join(folder, 'pids'), 'utf8').split(' ').map(Number);
    await until(() => !isRunning(own ?? 0));
    stopping.abort();
    process.kill(left ?? 0);
    await stopped;
  } finally {
    process.env.PATH = PATH;
  }
});
