import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { ANSWERS, GROUPS } from '../../src/api/answer-names.js';
import { report } from '../../src/api/answer-rows.js';
import type { Day } from '../../src/day.js';
import { Lake } from '../../src/lake/data-lake.js';
import { earlierReport } from '../../src/sql/earlier-report.js';
import { Shell } from '../../src/sql/sql-shell.js';
import { playsSlow } from '../slow.js';
import { event, World } from '../world.js';
import { lakeRows, writtenFiles } from './lake-world.js';

const REQUEST = { orgId: 'acme', from: '2026-05-01' as Day, to: '2026-07-09' as Day };

/** A world with two publications: every answer of both has other numbers. */
async function publishedTwice() {
  const world = await World.create();
  const at = (on: string, user_id: string, more: object) =>
    event(`${on} ${user_id} ${JSON.stringify(more)}`, {
      timestamp: `2026-07-${on}T10:00:00Z`,
      user_id,
      ...more,
    });
  const usage = { type: 'model_usage', model: 'claude-sonnet-4-5', input_tokens: 10, output_tokens: 20 };
  const of = (on: string, user_id: string) => [
    at(on, user_id, { client: 'cli', agent: 'codex', user_email: `${user_id}@acme.example` }),
    at(on, user_id, usage),
    at(on, user_id, { type: 'tool_call', tool_name: 'mcp__github__search' }),
    at(on, user_id, {
      type: 'file_change',
      path: 'a.ts',
      operation: 'edit',
      lines_added: 3,
      lines_removed: 1,
    }),
  ];
  await world.send([...of('07', 'ada'), ...of('08', 'ada')]);
  const publish = async () => {
    await world.build();
    await new Lake(world.config, world.clock).publish(world.store, []);
    const all = ANSWERS.filter((answer) => answer !== 'quality').flatMap((answer) =>
      [undefined, ...GROUPS[answer]]
        .filter((groupBy, place) => groupBy !== 'vendor' && (playsSlow() || place < 3))
        .map((groupBy) => ({ answer, groupBy })),
    );
    const answers: unknown[] = [];
    for (const { answer, groupBy } of all)
      answers.push([answer, groupBy, (await report(world.store, answer, { ...REQUEST, groupBy })).data]);
    return { at: world.now, answers, all };
  };
  const first = await publish();
  world.now += 3_600_000;
  await world.send([...of('07', 'grace'), ...of('09', 'ada')]);
  const second = await publish();
  return { world, first, second };
}

test('a report of an earlier instant is what was published then', async () => {
  const { world, first, second } = await publishedTwice();
  const reported = async (asOf: number) => {
    const answers: unknown[] = [];
    for (const { answer, groupBy } of first.all)
      answers.push([
        answer,
        groupBy,
        await earlierReport(world.store, world.config, answer, { ...REQUEST, groupBy }, asOf, world.now),
      ]);
    return answers;
  };
  expect(first.answers).not.toEqual(second.answers);
  expect(await reported(first.at)).toEqual(first.answers);
  expect(await reported(second.at - 1)).toEqual(first.answers);
  expect(await reported(second.at)).toEqual(second.answers);
  const ask = (answer: (typeof ANSWERS)[number], asOf: number) =>
    earlierReport(world.store, world.config, answer, REQUEST, asOf, world.now);
  await expect(ask('quality', first.at)).rejects.toThrow(/^quality can't be combined with --as-of/);
  const since = new Date(first.at).toISOString();
  await expect(ask('users', first.at - 1)).rejects.toThrow(
    `Nothing that was published before ${since} is in the lake: ask for that instant or a later one.`,
  );
  await expect(ask('users', first.at - 31 * 86_400_000)).rejects.toThrow(
    /^--as-of must be in the last 30 days/,
  );
});

test('SQL of an earlier instant reads what was published then', async () => {
  const { world, first, second } = await publishedTwice();
  const count = async (asOf: number) => {
    const out = new PassThrough();
    const said = text(out);
    const shell = await Shell.open(world.config, { format: 'csv', isWriting: false, asOf }, out);
    await shell.run(
      'SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM tool_calls) AS calls',
    );
    out.end();
    return (await said).split('\r\n')[1];
  };
  await expect(count(first.at - 1)).rejects.toThrow(/^Nothing that was published before /);
  expect([await count(first.at), await count(second.at)]).toEqual(['2,2', '4,4']);
});

test('what is removed for good can be read at no instant', async () => {
  const { world, first, second } = await publishedTwice();
  const lake = new Lake(world.config, world.clock);
  const users = (asOf?: number) =>
    lakeRows(lake, 'users', 'SELECT DISTINCT user_id FROM rows_of ORDER BY ALL', asOf);
  expect(await users(second.at)).toEqual([{ user_id: 'ada' }, { user_id: 'grace' }]);
  // Another store, with fewer days.
  const other = await World.create();
  other.now = world.now + 1000;
  await other.send([event('kept', { timestamp: '2026-07-09T10:00:00Z', user_id: 'linus' })]);
  await other.build();
  await new Lake(world.config, other.clock).repair(other.store);
  expect(await users()).toEqual([{ user_id: 'linus' }]);
  for (const at of [first.at, second.at])
    await expect(users(at)).rejects.toThrow(
      `What was published of users before ${new Date(other.now).toISOString()} is gone, because rows were removed for good then`,
    );
  const left = [...writtenFiles(lake, '').keys()].filter((path) =>
    /\bada\b|grace/.test(readFileSync(join(lake.folder, path), 'latin1')),
  );
  expect(left).toEqual([]);
});
