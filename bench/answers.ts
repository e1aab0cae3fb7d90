import { ANSWERS } from '../src/api/answer-names.js';
import { readSqlFolder } from '../src/store/sql-text.js';
import { type Asked, ask, percentile } from './asking.js';
import { dayAt } from './generate-organization.js';
import type { Size } from './nights.js';
import { serveFilled } from './service.js';
import { count, table } from './table.js';

const REQUESTS = 100;
/** Days of a range that is asked for. */
const RANGE = 30;
/** The same for SQL: an answer has rows of each user or session, and may take half a minute. */
const WEEK = 7;
/** How many of many organizations ask, in turns. */
const CALLERS = 100;

type Range = readonly [from: string, to: string];

/** Ranges that are all different, each within so many days: the longest ones first, which have `longest` days. */
function rangesOf(days: number, longest: number): Range[] {
  const ranges: Range[] = [];
  for (let length = Math.min(longest, days); length > 0; length -= 1)
    for (let first = 0; first + length <= days && ranges.length < REQUESTS; first += 1)
      ranges.push([dayAt(first), dayAt(first + length - 1)]);
  return ranges;
}

/** How long a service on a store that nights have filled takes for what nobody has asked for before. */
export async function answers(root: string, data: string, { days, organizations }: Size): Promise<void> {
  const orgIds =
    organizations === 1
      ? ['acme']
      : Array.from({ length: Math.min(organizations, CALLERS) }, (_, index) => `org-${index}`);
  const service = await serveFilled(root, data, orgIds);
  try {
    const row = table('answer'.padEnd(40), 'requests', 'p50 ms', 'p99 ms', 'p50 kB');
    const say = async (
      what: string,
      ranges: readonly Range[],
      askedOf: (range: Range, request: number) => Omit<Asked, 'key'>,
      least?: number,
    ) => {
      const asked = ranges.map((range, request) => ({
        ...askedOf(range, request),
        key: service.keys[request % orgIds.length] ?? '',
      }));
      const found = await ask(service.url, asked, least);
      const times = found.map(({ ms }) => ms);
      const sizes = found.map(({ bytes }) => bytes / 1000);
      const [p50 = '', p99 = ''] = [0.5, 0.99].map((share) => percentile(times, share).toFixed(0));
      row(what, String(times.length), p50, p99, count(percentile(sizes, 0.5)));
    };
    const get =
      (answer: string, rest = '') =>
      ([from, to]: Range) => ({ path: `/api/v1/analytics/${answer}?startDate=${from}&endDate=${to}${rest}` });
    const month = rangesOf(days, RANGE);
    for (const answer of ANSWERS) await say(`/${answer}`, month, get(answer));
    for (const group of ['user', 'model', 'repo'])
      await say(`/summary by ${group}`, month, get('summary', `&group_by=${group}`));
    // A page of another size is another answer, even if the range has been asked for.
    const all = get('summary', '&group_by=user&limit=50');
    await say(`/summary by user, ${days} days`, rangesOf(days, days), all);
    const questions = readSqlFolder('cookbook').map(({ text }) => text);
    await say(
      `SQL: ${questions.length} questions of the cookbook`,
      rangesOf(days, WEEK),
      ([from, to], request) => {
        const sql = questions[request % questions.length] ?? '';
        const params = Object.entries({ from, to }).filter(([name]) => sql.includes(`$${name}`));
        return { path: '/api/v1/sql', body: { sql, params: Object.fromEntries(params) } };
      },
      // Some find nothing.
      0,
    );
  } finally {
    await service.stop();
  }
}
