import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { answers } from './answers.js';
import { backfill } from './backfill.js';
import { nights } from './nights.js';
import { runParts } from './parts.js';
import { count } from './table.js';

/**
 * A year of 10,000 users: `--events` of it in all, over `--days`. `--part`, which can be given more than once, runs a part alone:
 *
 *     nights         one organization, a day after the other: ingest, build, publish
 *     organizations  the same, of as many organizations as `--organizations` says
 *     backfill       one organization, all days at once
 *     answers        what a service takes to answer, on the stores that the first two have left
 */
export async function scale(root: string, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: 'string', default: '100000000' },
      days: { type: 'string', default: '365' },
      organizations: { type: 'string', default: '1000' },
      part: { type: 'string', multiple: true, default: ['nights', 'organizations', 'backfill', 'answers'] },
    },
  });
  const days = Number(values.days);
  const size = { days, perDay: Math.round(Number(values.events) / days), organizations: 1 };
  const dataOf = (name: string) =>
    join(root, 'bench', 'out', 'data', 'scale', `${size.perDay}-events-${days}-days-${name}`);
  const one = { size, data: dataOf('nights') };
  const many = {
    size: { ...size, organizations: Number(values.organizations) },
    data: dataOf(`${values.organizations}-organizations`),
  };
  console.log(`${days} days of ${count(size.perDay)} events`);
  await runParts(values.part, {
    nights: () => nights(one.data, one.size),
    organizations: () => nights(many.data, many.size),
    backfill: () => backfill(dataOf('backfill'), size),
    answers: async () => {
      const filled = [one, many].filter(({ data }) => existsSync(data));
      if (filled.length === 0) throw new Error('Fill a store first: --part nights --part answers');
      for (const { size, data } of filled) {
        console.log(`organizations: ${size.organizations}`);
        await answers(root, data, size);
      }
    },
  });
}
