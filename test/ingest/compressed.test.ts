import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { idsOf, line, rejectsOf, sharedWorld } from './event.js';

const given = sharedWorld();
const hasZstd = spawnSync('zstd', ['--version']).status === 0;
const zstd = (text: string): Buffer => spawnSync('zstd', ['-q', '-c'], { input: text }).stdout;

const TWO = `${line('one')}\n${line('two')}\n`;
/** Many lines that do not compress to nothing. */
const MANY = Array.from(
  { length: 2000 },
  (_, index) => `${line(`event-${index}-${(index * 7919) % 10_007}`)}\n`,
);

const ingest = (name: string, content: Uint8Array, orgId: string) =>
  given.world.ingest([given.world.file(name, content), given.world.file(`${orgId}.ndjson`, line('plain'))], {
    orgId,
  });

const FORMATS: [extension: string, pack: (text: string) => Buffer][] = [
  ['gz', (text) => gzipSync(text)],
  ...(hasZstd ? [['zst', zstd] as [string, (text: string) => Buffer]] : []),
];

describe.each(FORMATS)('a .%s file', (extension, pack) => {
  const name = (what: string) => `${what}.ndjson.${extension}`;
  const org = (what: string) => `${extension}-${what}`;

  it('is found in a folder and read to its end, in one part or in several', async () => {
    const folder = join(given.world.folder, `folder-${extension}`);
    mkdirSync(folder);
    const files: Record<string, Buffer> = {
      'parts.json': Buffer.concat([pack(TWO), pack(`${line('three')}\nworse\n`), pack(`${line('four')}\n`)]),
      'whole.jsonl': pack(`${line('five')}\n\r\nbad\n${line('six')}`),
      'nothing.ndjson': pack(''),
      'notes.txt': pack(line('notes')),
    };
    for (const [file, content] of Object.entries(files))
      given.world.file(`folder-${extension}/${file}.${extension}`, content);
    const settled = await given.world.ingest([folder], { orgId: org('folder') });
    expect(settled).toMatchObject({ files: 3, accepted: 6, rejected: 2, byReason: { not_json: 2 } });
    expect(await idsOf(given.world, org('folder'))).toEqual(['five', 'four', 'one', 'six', 'three', 'two']);
    expect(await rejectsOf(given.world, org('folder'))).toMatchObject([
      { source: join(folder, `parts.json.${extension}`), line_no: 4, line: 'worse' },
      { source: join(folder, `whole.jsonl.${extension}`), line_no: 3, line: 'bad' },
    ]);
  });

  it('that was cut off gives the lines that are there, and is rejected at its end', async () => {
    const packed = pack(MANY.join(''));
    const settled = await ingest(name('cut'), packed.subarray(0, packed.length >> 1), org('cut'));
    expect(settled.byReason).toEqual({ not_json: settled.rejected });
    expect(settled.rejected).toBeGreaterThan(0);
    if (extension === 'gz') expect(settled.accepted).toBeGreaterThan(500);
    const reject = (await rejectsOf(given.world, org('cut'))).at(-1);
    expect(reject).toMatchObject({
      reason: 'not_json',
      detail: expect.stringContaining('damaged, or ends in the middle'),
    });
  });

  it('that was cut off anywhere is rejected, also before its first line and right after its last', async () => {
    const packed = pack(TWO);
    const paths = [3, 10, packed.length - 4, packed.length - 1].map((length) =>
      given.world.file(name(`cut-at-${length}`), packed.subarray(0, length)),
    );
    await given.world.ingest(paths, { orgId: org('anywhere') });
    const rejects = await rejectsOf(given.world, org('anywhere'));
    expect([...new Set(rejects.map(({ source }) => source))].sort()).toEqual(paths.toSorted());
  });

  it('that is not compressed is one line that is rejected, and the other files survive', async () => {
    expect(await ingest(name('plain'), Buffer.from(TWO), org('plain'))).toMatchObject({
      accepted: 1,
      rejected: 1,
      byReason: { not_json: 1 },
    });
    expect(await idsOf(given.world, org('plain'))).toEqual(['plain']);
  });
});

it('compressed bytes in a file that is not named so are lines that are no JSON', async () => {
  const settled = await ingest('bytes.ndjson', gzipSync(TWO), 'unnamed');
  expect(settled.accepted).toBe(1);
  expect(settled.rejected).toBeGreaterThan(0);
  expect(settled.byReason).toEqual({ not_json: settled.rejected });
});
