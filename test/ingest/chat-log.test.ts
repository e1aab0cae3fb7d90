import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LeftOut } from '../../src/disk/foreign-file.js';
import { writeChat } from '../../src/ingest/chat-log.js';
import { temporaryFolder } from '../world.js';

const LIMIT = 2000;

/** The document that a log of changes becomes. */
async function replayed(changes: readonly object[]): Promise<unknown> {
  const [from, to] = ['chat.jsonl', 'chat.json'].map((name) => join(temporaryFolder(), name)) as [
    string,
    string,
  ];
  writeFileSync(from, changes.map((change) => `${JSON.stringify(change)}\n`).join(''));
  await writeChat(from, to, LIMIT);
  return JSON.parse(readFileSync(to, 'utf8'));
}

const LONG = 'x'.repeat(3 * LIMIT);
const START = { kind: 0, v: { sessionId: 's', requests: [{ requestId: 'a', message: { text: 'hello' } }] } };

test('a line over the limit is told of, but not what is attached to the input', async () => {
  const attached = { kind: 1, k: ['inputState', 'attachments'], v: [LONG] };
  expect(await replayed([START, attached])).toEqual({
    sessionId: 's',
    requests: [{ requestId: 'a' }],
    unread: 0,
  });
  const tooLong = { kind: 1, k: ['requests', 0, 'modelId'], v: LONG };
  expect(await replayed([START, tooLong, attached])).toMatchObject({ unread: 1 });
});

test('a chat that says more than may be kept is left out', async () => {
  const request = (id: number) => ({ kind: 2, k: ['requests'], v: [{ requestId: String(id).repeat(50) }] });
  await expect(replayed(Array.from({ length: 99 }, (_, id) => request(id + 10)))).rejects.toThrow(LeftOut);
});

test('a change goes to no other place than it names, and to none that a list does not have', async () => {
  const changes = [
    START,
    { kind: 1, k: ['__proto__', 'polluted'], v: true },
    { kind: 1, k: ['requests', 7, 'modelId'], v: 'm' },
    { kind: 1, k: ['requests', 0, 'constructor'], v: 'c' },
    { kind: 2, k: ['requests', 'length'], v: [1], i: 0 },
    { kind: 1, k: ['requests', 0, 'completionTokens'], v: { not: 'a number' } },
  ];
  expect(await replayed(changes)).toEqual({ sessionId: 's', requests: [{ requestId: 'a' }], unread: 0 });
  expect({}).not.toHaveProperty('polluted');
});
