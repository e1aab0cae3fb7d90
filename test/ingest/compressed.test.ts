import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Decompress } from 'fzstd';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isWhole, numberedLines } from '../../src/store/line-numbers.js';
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

describe.runIf(hasZstd)('a .zst file with a fault inside', () => {
  const packed = zstd(MANY.join(''));
  const changed = (at: number): Buffer => {
    const bytes = Buffer.from(packed);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
    return bytes;
  };
  const wrongChecksum = changed(packed.length - 1);
  const files: [what: string, bytes: Buffer, lines: number | undefined][] = [
    ['a changed byte', changed(packed.length >> 1), undefined],
    ['a wrong checksum', wrongChecksum, MANY.length],
    ['a wrong checksum of its second frame', Buffer.concat([zstd(TWO), wrongChecksum]), MANY.length + 2],
    ['a dictionary', Buffer.from('28b52ffd217700010000', 'hex'), 0],
  ];

  it.each(files)(
    '(%s) gives the lines that are there, and is rejected at its end',
    async (what, bytes, lines) => {
      const name = what.replaceAll(' ', '-');
      const settled = await ingest(`${name}.ndjson.zst`, bytes, name);
      expect(await idsOf(given.world, name)).toContain('plain');
      expect(settled.accepted).toBeGreaterThan(lines === 0 ? 0 : 1);
      if (lines !== undefined) expect(settled).toMatchObject({ accepted: lines + 1, rejected: 1 });
      expect((await rejectsOf(given.world, name)).at(-1)).toMatchObject({
        reason: 'not_json',
        detail: expect.stringContaining('damaged, or ends in the middle'),
      });
    },
  );

  it('is rejected beside a file that was cut off as well', async () => {
    const paths = [
      given.world.file('beside.ndjson.zst', wrongChecksum),
      given.world.file('cut-beside.ndjson.zst', zstd(TWO).subarray(0, 20)),
    ];
    await given.world.ingest(paths, { orgId: 'beside' });
    const rejects = await rejectsOf(given.world, 'beside');
    expect(rejects.map(({ source }) => source).sort()).toEqual(paths);
  });
});

describe('a hostile .zst file', () => {
  const MAGIC = '28b52ffd';
  const frames: Record<string, Buffer> = {
    'a window of 1 GiB': Buffer.from(`${MAGIC}00a00900000a`, 'hex'),
    'a content of 4 GiB in one segment': Buffer.from(`${MAGIC}a0ffffffff0900000a`, 'hex'),
    'a block of 256 KiB': Buffer.from(`${MAGIC}003803002078`, 'hex'),
    'no end of its last block': Buffer.from(`${MAGIC}003802001078`, 'hex'),
  };

  it.each(Object.entries(frames))('with %s is rejected before it is unpacked', async (what, bytes) => {
    const name = what.replaceAll(' ', '-');
    const path = given.world.file(`${name}.ndjson.zst`, bytes);
    expect(await isWhole(path)).toBe(false);
    const settled = await given.world.ingest([path], { orgId: name });
    expect(settled).toMatchObject({ accepted: 0, byReason: { not_json: settled.rejected } });
  });

  it('is read to its end when its frames are smaller than the header of most', async () => {
    const tiny = Buffer.from(`${MAGIC}0038110000780a`, 'hex');
    const path = given.world.file('tiny.ndjson.zst', Buffer.concat([tiny, tiny, tiny]));
    const lines = [];
    for await (const { text } of numberedLines({ path, source: 0 }, 1 << 20)) lines.push(text);
    expect(lines).toEqual(['x', 'x', 'x']);
  });

  it('with many blocks of a few bytes lets others have their turn after each', async () => {
    const blocks = Buffer.alloc(4 * 300, Buffer.from('02001078', 'hex'));
    const end = Buffer.from('0100000a', 'hex').subarray(0, 3);
    const path = given.world.file(
      'blocks.ndjson.zst',
      Buffer.concat([Buffer.from(`${MAGIC}0038`, 'hex'), blocks, end]),
    );
    const push = vi.spyOn(Decompress.prototype, 'push');
    onTestFinished(() => push.mockRestore());
    let [seen, most] = [0, 0];
    const look = () => {
      const pushed = push.mock.calls.length;
      most = Math.max(most, pushed - seen);
      seen = pushed;
      turn = setImmediate(look);
    };
    let turn = setImmediate(look);
    const lines = [];
    for await (const { read_fault } of numberedLines({ path, source: 0 }, 1 << 20)) lines.push(read_fault);
    clearImmediate(turn);
    expect(lines).toEqual(['line_too_long']);
    expect(seen).toBeGreaterThan(300);
    expect(most).toBeLessThan(5);
  });
});

it('compressed bytes in a file that is not named so are lines that are no JSON', async () => {
  const settled = await ingest('bytes.ndjson', gzipSync(TWO), 'unnamed');
  expect(settled.accepted).toBe(1);
  expect(settled.rejected).toBeGreaterThan(0);
  expect(settled.byReason).toEqual({ not_json: settled.rejected });
});
