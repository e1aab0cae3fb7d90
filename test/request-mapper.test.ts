import { expect, onTestFinished, test } from 'vitest';
import { InboxFull } from '../src/ingest/inbox.js';
import { RequestMapper } from '../src/ingest/request-mapper.js';
import { HOOKS } from '../src/ingest/source.js';

const prompt = (payload_id: string) => ({
  hook_event_name: 'UserPromptSubmit',
  session_id: 's1',
  user_id: 'ada',
  timestamp: Date.UTC(2026, 5, 10),
  payload_id,
});

test('documents are mapped each to its events, one after the other and many together', async () => {
  const mapper = new RequestMapper(HOOKS);
  onTestFinished(() => mapper.close());
  const idsOf = (lines: string[]) => lines.map((line) => JSON.parse(line).event_id);
  // The next one comes in the moment in which the one before has been answered.
  for (const id of ['1', '2', '3']) expect(idsOf(await mapper.map(prompt(id)))).toEqual([`turn:hook:${id}`]);
  const many = Array.from({ length: 1001 }, (_, index) => `many-${index}`);
  const mapped = await Promise.all(many.map((id) => mapper.map(prompt(id))));
  expect(mapped.map(idsOf)).toEqual(many.map((id) => [`turn:hook:${id}`]));
});

test('an organization may have half of what waits, and leaves the rest to others', async () => {
  const mapper = new RequestMapper(HOOKS);
  onTestFinished(() => mapper.close());
  const long = (id: string) => mapper.map({ ...prompt(id), prompt: 'x'.repeat(3 << 20) }, 'acme');
  const own = Array.from({ length: 11 }, (_, index) => long(`own-${index}`));
  await expect(long('too-many')).rejects.toThrow(InboxFull);
  expect(await mapper.map(prompt('other'), 'globex')).toHaveLength(1);
  await Promise.all(own);
  expect(await long('later')).toHaveLength(1);
});
