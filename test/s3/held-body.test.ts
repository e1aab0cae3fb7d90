import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BodyMemory } from '../../src/ingest/held-body.js';
import { temporaryFolder } from '../world.js';

const KIB = 'ü'.repeat(512);

/** A text of some KiB, in two pieces. */
async function* texts(kib: number) {
  yield KIB.repeat(kib - 1);
  yield KIB;
}

test('small bodies are in memory as long as there is room, and others in files', async () => {
  const memory = new BodyMemory();
  const folder = temporaryFolder();
  /** Answers whether a body of some KiB is in memory, and what gives its room back. */
  const receive = async (name: string, kib: number) => {
    const path = join(folder, name);
    const body = memory.body();
    const { bytes, sha256, held } = await body.receive(path, texts(kib));
    expect(existsSync(path)).toBe(held === undefined);
    const content = held ?? readFileSync(path);
    expect(content.toString()).toBe(KIB.repeat(kib));
    expect([bytes, sha256]).toEqual([kib << 10, createHash('sha256').update(content).digest('hex')]);
    return { isHeld: held !== undefined, end: body.end };
  };
  expect((await receive('long', 257)).isHeld).toBe(false);
  const all = [];
  for (let one = 0; one < 128; one += 1) all.push(await receive(`${one}`, 256));
  expect(all.every(({ isHeld }) => isHeld)).toBe(true);
  expect((await receive('in a full memory', 1)).isHeld).toBe(false);
  all[0]?.end();
  all[0]?.end();
  expect((await receive('afterwards', 256)).isHeld).toBe(true);
  expect((await receive('in a memory that is full again', 1)).isHeld).toBe(false);
});

test('a body that ends in the middle gives its room back', async () => {
  const memory = new BodyMemory();
  async function* cut() {
    yield KIB.repeat(200);
    throw new Error('cut');
  }
  const path = join(temporaryFolder(), 'body');
  for (let one = 0; one < 200; one += 1) {
    const body = memory.body();
    await expect(body.receive(path, cut())).rejects.toThrow('cut');
    body.end();
  }
  expect((await memory.body().receive(path, texts(256))).held).toBeDefined();
});
