import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dayOf, MS_PER_DAY } from '../src/day.js';
import { falseServer, Laptop } from './laptop.js';
import { daybook } from './program.js';
import { temporaryFolder } from './world.js';

/** Languages with other calendars, letters, orders and decimal signs. The engine reads the variable, so none has to be installed. */
const LANGUAGES = ['C', 'th_TH.UTF-8', 'fa_IR.UTF-8', 'tr_TR.UTF-8', 'de_DE.UTF-8'] as const;

const YESTERDAY = dayOf(Date.now() - MS_PER_DAY);

/** Instants with an offset and without, and names that languages sort and spell in their own ways. */
const EVENTS = ['IMAGE', 'ıssız', 'Zebra', 'ähre', 'zebra'].map((user_id, index) => ({
  event_id: `event-${index}`,
  type: 'user_message',
  timestamp: `${YESTERDAY}T00:00:0${index}.250${index % 2 === 0 ? 'Z' : '+00:00'}`,
  user_id,
  session_id: `session-${index}`,
}));

const QUERY = `SELECT user_id, session_id, occurred_at, occurred_at::VARCHAR AS text,
    year(occurred_at) AS year, lower(user_id) AS lower, epoch_ms(TIMESTAMPTZ '2026-06-10 12:00:00+02:00') AS instant
  FROM events ORDER BY user_id, session_id, occurred_at, event_id`;

/** All that a machine of a language says of the same events and sessions, taken in there in every way. */
async function saidIn(language: string): Promise<string> {
  const env = { LC_ALL: language, LANG: language, LANGUAGE: '', TZ: 'Asia/Bangkok' };
  const data = join(temporaryFolder(), 'data');
  const file = join(temporaryFolder(), 'events.ndjson');
  writeFileSync(file, EVENTS.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await daybook(['--data', data, ...args], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('reject') });
    return stdout;
  };
  const taken = await run('ingest', '--org', 'acme', file);
  const laptop = new Laptop('ada', env).work(1, 3);
  await laptop.ingestInto(data);
  const server = await falseServer(() => undefined);
  const sent = await laptop.send(server.url, 'k');
  const bodies = server.got.filter(({ path }) => path.endsWith('/events')).map(({ body }) => body);
  await run('build');
  const said = [
    taken.replace(/, in .*/, ''),
    sent.stdout,
    ...bodies,
    await run('sql', '--format', 'csv', QUERY),
  ];
  return said.join('\n').replaceAll(laptop.home, 'HOME');
}

test('the language of the machine changes no number', async () => {
  const [expected, ...others] = await Promise.all(LANGUAGES.map(saidIn));
  expect(expected).toMatch(/^5 accepted/m);
  expect(expected).toMatch(/^\d+ events sent, 2 files read\.$/m);
  for (const [index, said] of others.entries()) expect(said, LANGUAGES[index + 1]).toBe(expected);
});
