import { describe, expect, test } from 'vitest';
import { Turns } from '../src/store/turns.js';
import { World } from './world.js';

/** Work that ends when it is told. */
function held() {
  let end: (outcome?: Error) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    end = (fault) => (fault === undefined ? resolve() : reject(fault));
  });
  return { ended, end: (fault?: Error) => end(fault) };
}

describe('turns', () => {
  test('of one name come one after another, also after one that failed', async () => {
    const turns = new Turns();
    const steps: string[] = [];
    const first = held();
    const one = turns.run('people acme', async () => {
      steps.push('one begins');
      await first.ended.finally(() => steps.push('one ends'));
    });
    const two = turns.run('people acme', async () => steps.push('two'));
    await turns.run('people other', async () => steps.push('another name'));
    expect(steps).toEqual(['one begins', 'another name']);
    first.end(new Error('failed'));
    await expect(one).rejects.toThrow('failed');
    await two;
    expect(steps).toEqual(['one begins', 'another name', 'one ends', 'two']);
  });

  test('of a store give work the store itself, whose state nobody else changes', async () => {
    const { store } = await World.create();
    const order: number[] = [];
    const count = (next: number) =>
      store.inTurn('people acme', async (given) => {
        await given.select('SELECT 1 AS one');
        order.push(next);
        return given;
      });
    expect(await Promise.all([1, 2, 3].map(count))).toEqual([store, store, store]);
    expect(order).toEqual([1, 2, 3]);
    expect(await store.stateRevision('keys')).toBe('');
  });
});
