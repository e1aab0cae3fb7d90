import { expect, onTestFinished, test, vi } from 'vitest';
import { SettleSchedule } from '../../src/ingest/settle-schedule.js';

test('a look that fails when the schedule is closed already is told to nobody', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const looks: ((error: Error) => void)[] = [];
  const schedule = new SettleSchedule({
    ...{ depth: { bytes: 0, files: 0 }, setAside: [], limitBytes: 1, hasCome: () => false },
    look: () => new Promise((_, reject) => looks.push(reject)),
    settleAll: async () => {},
  });
  const failed = vi.fn();
  schedule.start({} as never, failed);
  for (const error of ['while it is open', 'when it is closed']) {
    vi.advanceTimersByTime(1000);
    if (error === 'when it is closed') await schedule.close();
    looks.at(-1)?.(new Error(error));
    await new Promise(setImmediate);
  }
  expect(looks).toHaveLength(2);
  expect(failed.mock.calls).toEqual([[new Error('while it is open')]]);
});
