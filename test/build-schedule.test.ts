import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Schedule } from '../src/aggregate/build-schedule.js';
import { until } from './service.js';
import { World } from './world.js';

/** The builds of a service that starts at the first instant, when its clock shows one instant after the other. */
async function builds(first: string, ...instants: string[]): Promise<string[]> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const world = await World.create();
  const built: string[] = [];
  const log = {
    info: ({ cause }: { cause: string }) =>
      void built.push(`${cause} ${new Date(world.now).toISOString().slice(0, 16)}`),
    error: console.error,
  };
  const prepare = vi.fn(async () => {});
  const rest = vi.spyOn(world.store, 'rest');
  const schedule = new Schedule(world.store, world.clock, log, prepare, {});
  /** Waits for the builds that have begun. */
  const idle = async () => {
    await turn();
    const rested = () => rest.mock.settledResults.filter(({ type }) => type !== 'incomplete').length;
    await until(() => rested() === prepare.mock.calls.length);
    await turn();
  };
  world.now = Date.parse(`${first}Z`);
  schedule.start('00:15');
  await idle();
  for (const instant of instants) {
    world.now = Date.parse(`${instant}Z`);
    vi.advanceTimersByTime(60_000);
    await idle();
  }
  await schedule.stop();
  return built;
}

test('builds each day at its time, once', async () => {
  expect(
    await builds(
      '2026-07-10T12:00',
      ...['2026-07-11T00:14', '2026-07-11T00:15', '2026-07-11T00:16', '2026-07-11T23:59', '2026-07-12T00:15'],
    ),
  ).toEqual(['start 2026-07-10T12:00', 'nightly 2026-07-11T00:15', 'nightly 2026-07-12T00:15']);
});

test('builds as soon as the machine wakes up that slept at the time, or whose clock was set past it', async () => {
  expect(await builds('2026-07-10T22:00', '2026-07-11T07:30', '2026-07-11T08:00')).toEqual([
    'start 2026-07-10T22:00',
    'nightly 2026-07-11T07:30',
  ]);
});

test('builds each night again once a clock that was years ahead is right', async () => {
  expect(
    await builds('2026-07-10T12:00', '2099-01-01T12:00', '2026-07-10T12:01', '2026-07-11T00:15'),
  ).toEqual([
    'start 2026-07-10T12:00',
    'nightly 2099-01-01T12:00',
    'nightly 2026-07-10T12:01',
    'nightly 2026-07-11T00:15',
  ]);
});

test('begins nothing more once it is stopped, neither what waited nor another try', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const world = await World.create();
  let fail = () => {};
  const prepare = vi.fn(() => new Promise<void>((_, reject) => (fail = () => reject(new Error('no room')))));
  const error = vi.fn();
  const schedule = new Schedule(world.store, world.clock, { info: error, error }, prepare, {});
  world.now = Date.parse('2026-07-10T12:00Z');
  schedule.start('00:15');
  await turn();
  world.now = Date.parse('2026-07-11T12:00Z');
  vi.advanceTimersByTime(60_000);
  const stopped = schedule.stop();
  fail();
  await stopped;
  expect([prepare.mock.calls.length, error.mock.calls.length, vi.getTimerCount()]).toEqual([1, 1, 0]);
});
