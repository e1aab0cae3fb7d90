import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { DAYS, dayAt } from './generate-organization.js';
import { percentile } from './serve.js';
import { startYear } from './year.js';

/** Asks for pages that nobody has asked for before, one after the other: each of another range of so many days. */
async function times(
  url: string,
  key: string,
  days: number,
  query: string,
  requests: number,
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const found: number[] = [];
  for (let request = 0; request < requests; request += 1) {
    // Every range is another: the first day moves, and where there is no room the limit does.
    const first = days === DAYS ? 0 : request % (DAYS - days);
    const path = `/api/v1/analytics/summary?startDate=${dayAt(first)}&endDate=${dayAt(first + days - 1)}&${query}${days === DAYS ? `&limit=${50 + request}` : '&limit=50'}`;
    const started = performance.now();
    const [answer] = (await once(
      get(url + path, { agent, headers: { authorization: `Bearer ${key}` } }),
      'response',
    )) as [IncomingMessage];
    const body = await buffer(answer);
    found.push(performance.now() - started);
    const { data } = JSON.parse(body.toString()) as { data: unknown[] };
    if (answer.statusCode !== 200 || data.length === 0)
      throw new Error(`no rows: ${body.toString().slice(0, 200)}`);
  }
  agent.destroy();
  return found;
}

/** Totals of a range in an organization of 10,000 users who work each day of a year, uncached. */
export async function summary(root: string): Promise<void> {
  const ours = await startYear(root);
  try {
    for (const [days, query, requests, bar] of [
      [30, 'group_by=user', 200, ' (bar: at most 60)'],
      [DAYS, 'group_by=user', 100, ' (bar: at most 250)'],
      [DAYS, 'interval=month', 20, ''],
      [30, 'group_by=repo', 20, ''],
      [30, 'group_by=model&compare=previous', 20, ''],
    ] as const) {
      const found = await times(ours.url, ours.key, days, query, requests);
      const [median, slow] = [0.5, 0.99].map((share) => percentile(found, share).toFixed(0));
      console.log(`${days} days, ${query}: median ${median} ms, p99 of ${requests} ${slow} ms${bar}`);
    }
  } finally {
    await ours.stop();
  }
}
