import { expect, test } from 'vitest';
import { readyOf } from '../../src/ingest/bucket-names.js';
import { BucketView } from '../../src/ingest/bucket-view.js';
import type { Bucket, Listed } from '../../src/objects/bucket.js';

test('an object that is written while two lists are under way is known after both', async () => {
  /** What lets each list end, which has what was there when it began. */
  const pages: (() => void)[] = [];
  const there: Listed[] = [];
  const bucket = {
    async *list(): AsyncGenerator<Listed, void, undefined> {
      const found = [...there];
      await new Promise<void>((resolve) => pages.push(resolve));
      yield* found;
    },
  };
  const view = new BucketView(bucket as unknown as Bucket, 1000, () => 0);
  const page = async (number: number) => {
    await expect.poll(() => pages.length).toBeGreaterThan(number);
    pages[number]?.();
  };
  const first = view.refresh();
  const second = view.refresh();
  await page(0);
  await first;
  const written = readyOf('01JZZZZZZZZZZZZZZZZZZZZZZZ', [{ orgId: 'acme', bytes: 10 }], 10);
  there.push(written);
  view.add(written);
  await page(1);
  await second;
  expect(view.depth).toEqual({ bytes: 10, files: 1 });
});
