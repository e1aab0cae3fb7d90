import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Schedule } from '../src/aggregate/build-schedule.js';
import { readConfig } from '../src/settings/config.js';
import { World } from './world.js';

/** What happens to a service: time passes until an instant, its machine sleeps until then, or its clock is set to it. */
type Happening = readonly ['passes' | 'sleeps' | 'set', string];

/** The builds of a service that starts at an instant. */
async function builds(at: string, first: string, ...happenings: Happening[]): Promise<string[]> {
  vi.useFakeTimers({
    now: Date.parse(`${first}Z`),
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  onTestFinished(() => void vi.useRealTimers());
  const world = await World.create();
  const built: string[] = [];
  const log = {
    info: ({ cause }: { cause?: string }) =>
      void (cause !== undefined && built.push(`${cause} ${new Date().toISOString().slice(0, 16)}`)),
    error: console.error,
  };
  const prepare = vi.fn(async (_: string) => {});
  const rest = vi.spyOn(world.store, 'rest');
  const schedule = new Schedule(world.store, Date.now, log, prepare, {});
  /** Waits for the builds that have begun. */
  const idle = async () => {
    const rested = () => rest.mock.settledResults.filter(({ type }) => type !== 'incomplete').length;
    do await turn();
    while (rested() < prepare.mock.calls.length);
    await turn();
  };
  const { buildAt = '' } = readConfig({ DAYBOOK_BUILD_AT: at });
  schedule.start(buildAt);
  await idle();
  for (const [happening, until] of happenings) {
    const instant = Date.parse(`${until}Z`);
    if (happening !== 'passes') vi.setSystemTime(instant);
    // Also after the clock was set, somebody looks at it a minute later.
    const end = happening === 'passes' ? instant : Date.now() + 60_000;
    while (Date.now() < end) {
      vi.advanceTimersByTime(Math.min(60_000, end - Date.now()));
      await idle();
    }
  }
  await schedule.stop();
  // Prices are fetched only before a nightly build.
  expect(prepare.mock.calls.map(([cause]) => cause)).toEqual(built.map((one) => one.split(' ')[0]));
  return built;
}

test('builds each day at its time, once', async () => {
  expect(await builds('00:15', '2026-07-10T23:00', ['passes', '2026-07-12T00:16'])).toEqual([
    'start 2026-07-10T23:00',
    'nightly 2026-07-11T00:15',
    'nightly 2026-07-12T00:15',
  ]);
});

test('builds at the times of a cron expression', async () => {
  expect(await builds('5 */8 * * *', '2026-07-10T12:00', ['passes', '2026-07-11T01:00'])).toEqual([
    'start 2026-07-10T12:00',
    'nightly 2026-07-10T16:05',
    'nightly 2026-07-11T00:05',
  ]);
});

test('builds as soon as the machine wakes up that slept at the time, or whose clock was set past it', async () => {
  expect(
    await builds('00:15', '2026-07-10T22:00', ['sleeps', '2026-07-11T07:30'], ['passes', '2026-07-11T08:00']),
  ).toEqual(['start 2026-07-10T22:00', 'nightly 2026-07-11T07:31']);
});

test('builds a night whose time a small step of the clock leaps over', async () => {
  expect(
    await builds(
      '00:15',
      '2026-07-10T22:00',
      ['passes', '2026-07-11T00:14:58'],
      ['set', '2026-07-11T00:15:02'],
      ['passes', '2026-07-11T23:00'],
    ),
  ).toEqual(['start 2026-07-10T22:00', 'nightly 2026-07-11T00:16']);
});

test('builds each night again once a clock that was years ahead is right', async () => {
  expect(
    await builds(
      '00:15',
      '2026-07-10T12:00',
      ['set', '2099-01-01T12:00'],
      ['set', '2026-07-10T12:05'],
      ['passes', '2026-07-11T00:16'],
    ),
  ).toEqual([
    'start 2026-07-10T12:00',
    'nightly 2099-01-01T12:01',
    'nightly 2026-07-10T12:06',
    'nightly 2026-07-11T00:15',
  ]);
});

test('begins nothing more once it is stopped, neither what waited nor another try', async () => {
  vi.useFakeTimers({
    toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'Date', 'performance'],
  });
  onTestFinished(() => void vi.useRealTimers());
  const world = await World.create();
  let fail = () => {};
  const prepare = vi.fn(() => new Promise<void>((_, reject) => (fail = () => reject(new Error('no room')))));
  const error = vi.fn();
  const schedule = new Schedule(world.store, Date.now, { info: vi.fn(), error }, prepare, {});
  vi.setSystemTime('2026-07-10T12:00Z');
  schedule.start('15 0 * * *');
  await turn();
  vi.setSystemTime('2026-07-11T12:00Z');
  vi.advanceTimersByTime(60_000);
  const stopped = schedule.stop();
  fail();
  await stopped;
  expect([prepare.mock.calls.length, error.mock.calls.length, vi.getTimerCount()]).toEqual([1, 1, 0]);
});
