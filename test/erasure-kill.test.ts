import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { addDays } from '../src/day.js';
import { daybook, start, TODAY } from './program.js';
import { event, lines, temporaryFolder } from './world.js';

const NAME = 'zqx-wilhelmina';

/** At what an erasure that is under way can be seen, given the data folder and its database before. */
const POINTS: Record<string, (data: string, inode: number) => boolean> = {
  'without the lake': (data) => !existsSync(join(data, 'lake', 'acme', '_snapshot.json')),
  'while the database is written anew': (data) =>
    readdirSync(data).some((name) => /^new-\d+\.duckdb$/.test(name)),
  'after the files were exchanged': (data, inode) => statSync(join(data, 'daybook.duckdb')).ino !== inode,
};

/** The files of a folder that have a text. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => statSync(join(folder, name)).isFile() && readFileSync(join(folder, name)).includes(text),
  );
}

test('an erasure that is killed is finished by the next build, and all totals stay', async () => {
  const folder = temporaryFolder();
  const before = join(folder, 'before');
  const days = [addDays(TODAY, -3), addDays(TODAY, -2)];
  const file = join(folder, 'events.ndjson');
  writeFileSync(
    file,
    lines(
      days.flatMap((day) =>
        [NAME, 'grace'].map((user_id) =>
          event(`${user_id}-${day}`, { user_id, timestamp: `${day}T10:00:00Z`, cwd: `/home/${user_id}` }),
        ),
      ),
    ),
  );
  await daybook(['--data', before, 'ingest', file, '--org', 'acme']);
  await daybook(['--data', before, 'build']);
  const [from = '', to = ''] = days;
  const report = (data: string, answer: string) =>
    daybook([
      ...['--data', data, 'report', answer, '--org', 'acme'],
      ...['--from', from, '--to', to, '--format', 'json'],
    ]);
  const activity = (data: string) => report(data, 'activity');
  const { stdout: totals } = await activity(before);
  expect(totals).toContain('"daily_active_users":2');
  for (const [point, isThere] of Object.entries(POINTS)) {
    const data = join(folder, point.replaceAll(' ', '-'));
    cpSync(before, data, { recursive: true });
    const { ino } = statSync(join(data, 'daybook.duckdb'));
    const child = start(['--data', data, 'people', 'erase', NAME, '--org', 'acme', '--apply']);
    const ended = once(child, 'exit');
    while (!isThere(data, ino) && child.exitCode === null) await wait(1);
    child.kill('SIGKILL');
    await ended;
    const { code } = await daybook(['--data', data, 'build']);
    expect([point, code]).toEqual([point, 0]);
    expect((await activity(data)).stdout).toBe(totals);
    expect([point, filesWith(data, NAME)]).toEqual([point, []]);
    const { stdout: users } = await report(data, 'users');
    expect(users).toMatch(/erased-[0-9a-f]{8}/);
  }
});
