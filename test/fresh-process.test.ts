import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ANSWERS, GROUPS, hasRowPages, isPaged } from '../src/api/answer-names.js';
import { addDays } from '../src/day.js';
import { daybook, keyOf, served, TODAY } from './program.js';
import { lines, temporaryFolder } from './world.js';

const RANGE = `startDate=${addDays(TODAY, -10)}&endDate=${addDays(TODAY, -1)}`;
const ARROW = 'application/vnd.apache.arrow.stream';

/** Every analytics answer, in every grouping. */
const PATHS = ANSWERS.flatMap((answer) => {
  const path = `/api/v1/analytics/${answer}?${RANGE}${isPaged(answer) || hasRowPages(answer) ? '&limit=100' : ''}`;
  return [path, ...GROUPS[answer].map((group) => `${path}&group_by=${group}`)];
});

/** Events of an organization whose every name begins with `mark`. */
function eventsOf(mark: string): object[] {
  return Array.from({ length: 600 }, (_, index) => ({
    event_id: `${mark}-${index}`,
    type: ['tool_call', 'model_usage', 'file_change', 'session_start'][index % 4],
    timestamp: `${addDays(TODAY, -2 - (index % 5))}T10:00:00Z`,
    user_id: `${mark}-user-${index % 40}`,
    user_email: `${mark}-${index % 40}@example.com`,
    session_id: `${mark}-session-${index % 80}`,
    ...(index % 3 === 0
      ? {}
      : { repo: `${mark}-repository-${index % 90}`, git_branch: `${mark}-branch-${index}` }),
    agent: `${mark}-agent-${index % 7}`,
    cwd: `/home/${mark}/${index}`,
    ...[
      { tool_name: `${mark}-tool-${index}` },
      { model: `${mark}-model-${index % 9}`, input_tokens: index, output_tokens: 1 },
      { path: `${mark}-file-${index}.ts`, operation: 'edit', lines_added: 1 },
      {},
    ][index % 4],
  }));
}

async function arrow(url: string, path: string, key: string): Promise<Buffer> {
  const answer = await fetch(new URL(path, url), {
    headers: { authorization: `Bearer ${key}`, accept: ARROW },
  });
  expect([path, answer.status]).toEqual([path, 200]);
  return Buffer.from(await answer.arrayBuffer());
}

test('an answer has the same bytes after those of another organization as in a process that has read nothing', async () => {
  const data = join(temporaryFolder(), 'data');
  const keys = { acme: await keyOf(data, 'owner'), zeta: await keyOf(data, 'owner', '--org', 'zeta') };
  for (const org of ['acme', 'zeta']) {
    const file = join(temporaryFolder(), `${org}.ndjson`);
    writeFileSync(file, lines(eventsOf(org)));
    const { stderr } = await daybook(['--data', data, 'ingest', '--org', org, file]);
    expect(stderr).toBe('');
  }
  await daybook(['--data', data, 'build']);

  const used = await served(data);
  for (const limit of [10, 40, 100]) {
    for (const path of PATHS) await arrow(used.url, path.replace('limit=100', `limit=${limit}`), keys.zeta);
  }
  const answers = [];
  for (const path of PATHS) answers.push({ path, bytes: await arrow(used.url, path, keys.acme) });
  used.child.kill('SIGTERM');
  await once(used.child, 'exit');

  const fresh = await served(data);
  for (const { path, bytes } of answers) {
    const isSame = bytes.equals(await arrow(fresh.url, path, keys.acme));
    expect({ path, isSame, hasOthers: bytes.includes('zeta') }).toEqual({
      path,
      isSame: true,
      hasOthers: false,
    });
  }
});
