import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { addDays } from '../src/day.js';
import { falseServer, Laptop } from './laptop.js';
import { daybook, keyOf, runHere, served, TODAY } from './program.js';
import { until, waitingIn } from './service.js';
import { temporaryFolder } from './world.js';

/** A small file system of its own; undefined where this user can't mount one. */
function smallDisk(size = '48m'): string | undefined {
  const folder = join(temporaryFolder(), 'disk');
  mkdirSync(folder);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  if (mounted.status !== 0) return undefined;
  onTestFinished(() => {
    spawnSync('umount', ['--lazy', folder]);
  });
  return folder;
}

/** Takes all the room that is left. */
function fill(ballast: string): void {
  const file = openSync(ballast, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(1 << 16));
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  } finally {
    closeSync(file);
  }
}

test('a service on a full disk refuses what needs room, and goes on when there is room again', async (context) => {
  const disk = smallDisk();
  if (disk === undefined) return context.skip('Only root can mount the small file system that this needs.');
  const data = join(disk, 'data');
  const key = await keyOf(data, 'owner');
  const { child, url } = await served(data);
  let sent = 0;
  const linesOf = (events: number) =>
    Array.from({ length: events }, () => {
      sent += 1;
      const member = { user_id: `user-${sent % 50}`, session_id: `session-${sent % 500}` };
      const at = `${TODAY}T00:00:00Z`;
      return JSON.stringify({ event_id: `${sent}`, type: 'user_message', timestamp: at, ...member });
    }).join('\n');
  const send = (events: number) =>
    fetch(`${url}/api/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
      body: linesOf(events),
    });
  const isSettled = () => waitingIn(data).length === 0;
  const events = async () => {
    const { stdout } = await daybook(['--data', data, 'status', '--json']);
    return JSON.parse(stdout).organizations[0].events;
  };
  const ready = async () => (await fetch(`${url}/readyz`)).status;
  const backup = () => daybook(['--data', data, 'backup', join(disk, 'backup')]);
  expect((await send(5000)).status).toBe(200);
  await until(isSettled);

  const ballast = join(disk, 'ballast');
  fill(ballast);
  expect(await backup()).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^The backup takes .* MB, but .* has room for 0.0 MB: make room there.\n$/),
  });
  const refused = await send(10);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await ready()).toBe(503);
  const file = join(disk, '..', 'more.ndjson');
  writeFileSync(file, linesOf(5000));
  const taken = await daybook(['--data', data, 'ingest', '--org', 'acme', file]);
  expect(taken.stderr).toMatch(/The disk of the data folder is full: make room there and try again.\n$/);
  expect(await events()).toBe(5000);

  rmSync(ballast);
  expect((await send(10)).status).toBe(200);
  await until(isSettled);
  await until(async () => (await ready()) === 200);
  expect(await events()).toBe(5010);
  expect(await backup()).toMatchObject({ code: 0 });
  expect(child.exitCode).toBe(null);
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  expect(await closed).toBe(0);
});

test('commands on a full disk say so in one sentence', async (context) => {
  const disk = smallDisk();
  if (disk === undefined) return context.skip('Only root can mount the small file system that this needs.');
  const data = join(disk, 'data');
  await keyOf(data, 'owner');
  fill(join(disk, 'ballast'));
  const line = `{"event_id":"1","type":"user_message","timestamp":"${TODAY}T00:00:00Z","user_id":"ada","session_id":"s"}\n`;
  const file = join(disk, '..', 'events.ndjson');
  writeFileSync(file, line.replace('"s"', JSON.stringify('s'.repeat(2_000_000))));
  const other = join(disk, 'other');
  const tried: [string, string[]][] = [
    [data, ['ingest', '--org', 'acme', '-']],
    [data, ['ingest', '--org', 'acme', file]],
    [data, ['keys', 'create', '--org', 'acme', '--role', 'owner']],
    [other, ['ingest', '--org', 'acme', file]],
    [other, ['serve', '--port', '0']],
    [other, ['restore', join(disk, 'none')]],
  ];
  for (const [folder, args] of tried) {
    const { code, stderr } = await daybook(['--data', folder, ...args], { input: line });
    expect(stderr, args.join(' ')).toMatch(/^(The|There) [^\n]*(full|room|no backup)[^\n]*\.\n$/);
    // Whoever watches over a service tries again.
    expect(code, args.join(' ')).toBe(args[0] === 'serve' ? 75 : 2);
  }
});

test('a data folder on a read-only disk can be read, and says so to who would change it', async (context) => {
  const disk = smallDisk();
  if (disk === undefined) return context.skip('Only root can mount the small file system that this needs.');
  const data = join(disk, 'data');
  const file = join(disk, '..', 'events.ndjson');
  const more = {
    user_id: 'ada',
    session_id: 's',
    type: 'user_message',
    timestamp: `${addDays(TODAY, -2)}T10:00:00Z`,
  };
  writeFileSync(file, JSON.stringify({ event_id: '1', ...more }));
  const run = (...args: string[]) => runHere(['--data', data, ...args]);
  const remount = (how: string) => expect(spawnSync('mount', ['-o', `remount,${how}`, disk]).status).toBe(0);
  const ingest = ['ingest', '--org', 'acme', file];
  const reading = [
    ['status'],
    ['report', 'activity', '--format', 'json'],
    ['sql', 'SELECT count(*) AS events FROM events', '--format', 'csv'],
  ];
  const answers = async () => {
    const said: string[] = [];
    for (const args of reading) said.push((await run(...args)).stdout);
    return said;
  };
  expect(await run(...ingest)).toMatchObject({ code: 0 });
  expect(await run('build')).toMatchObject({ code: 0 });
  const before = await answers();

  remount('ro');
  expect(await answers()).toEqual(before);
  const backup = join(disk, '..', 'backup');
  expect(await run('backup', backup)).toMatchObject({ code: 2 });
  expect(await run('restore', join(disk, '..', 'none'), '--replace')).toMatchObject({ code: 2 });
  for (const args of [ingest, ['build'], ['lake', 'publish'], ['serve', '--port', '0']])
    expect(await run(...args)).toEqual({
      code: 2,
      stdout: '',
      stderr: `Daybook can't write to ${data}: change its permissions, or choose another folder with --data or DAYBOOK_DATA.\n`,
    });
  remount('rw');
  expect(await run(...ingest)).toMatchObject({ code: 0 });
  expect(await answers()).toEqual(before);
});

test('a collector on a full disk says so, and goes on when there is room again', async (context) => {
  const disk = smallDisk('1m');
  if (disk === undefined) return context.skip('Only root can mount the small file system that this needs.');
  const server = await falseServer(() => undefined);
  const laptop = new Laptop('ada').work();
  const ballast = join(disk, 'ballast');
  fill(ballast);
  const folder = join(disk, 'collect');
  const sentence = `There is no room in ${folder}: make room on its disk, or choose another folder with --folder.\n`;
  const args = ['--server', server.url, '--folder', folder];
  expect(await laptop.collect(args, { DAYBOOK_KEY: 'k' })).toEqual({ code: 1, stdout: sentence, stderr: '' });
  const watching = laptop.start([...args, '--watch', '--every', '1'], { DAYBOOK_KEY: 'k' });
  let said = '';
  watching.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  await until(() => said.includes(sentence));
  rmSync(ballast);
  await until(() => said.includes('4 files read.'));
});
