import { type Asked, ask, percentile } from './asking.js';
import { DAYS, dayAt } from './generate-organization.js';
import { startYear } from './year.js';

/** Pages that nobody has asked for before: each of another range of so many days. */
function pages(key: string, days: number, query: string, requests: number): Asked[] {
  return Array.from({ length: requests }, (_, request) => {
    // Every range is another: the first day moves, and where there is no room the limit does.
    const first = days === DAYS ? 0 : request % (DAYS - days);
    const limit = days === DAYS ? 50 + request : 50;
    const range = `startDate=${dayAt(first)}&endDate=${dayAt(first + days - 1)}`;
    return { path: `/api/v1/analytics/summary?${range}&${query}&limit=${limit}`, key };
  });
}

/** Totals of a range in an organization of 10,000 users who work each day of a year, uncached. */
export async function summary(root: string): Promise<void> {
  const ours = await startYear(root);
  try {
    for (const [days, query, requests, bar] of [
      [30, 'group_by=user', 200, ' (bar: at most 400)'],
      [DAYS, 'group_by=user', 100, ' (bar: at most 1500)'],
      [DAYS, 'interval=month', 20, ''],
      [30, 'group_by=repo', 20, ''],
      [30, 'group_by=model&compare=previous', 20, ''],
    ] as const) {
      const found = (await ask(ours.url, pages(ours.key, days, query, requests))).map(({ ms }) => ms);
      const [median, slow] = [0.5, 0.99].map((share) => percentile(found, share).toFixed(0));
      console.log(`${days} days, ${query}: median ${median} ms, p99 of ${requests} ${slow} ms${bar}`);
    }
  } finally {
    await ours.stop();
  }
}
