import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../src/exit.js';
import { ingest } from '../../src/ingest/ingest-files.js';
import { inputFiles } from '../../src/ingest/input-files.js';
import { CLAUDE_CODE } from '../../src/ingest/source.js';
import type { Row } from '../../src/store/store.js';
import { World } from '../world.js';
import { idsOf, line, lineWith, rejectsOf, sharedWorld } from './event.js';

interface FileCase {
  what: string;
  content: string | Uint8Array;
  /** Ids of the events that it brings. */
  ids: string[];
  /** Line numbers of its rejects, and their reasons. */
  rejects?: [line_no: number, reason: string][];
}

const bytes = (...parts: (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
/** A line whose user_id holds bytes that are no UTF-8. */
const notUtf8 = (id: string, ...wrong: number[]): Buffer => {
  const [before = '', after = ''] = line(id, { user_id: '<here>' }).split('<here>');
  return bytes(before, wrong, after);
};

const FILES: FileCase[] = [
  { what: 'a missing last line end', content: `${line('m1')}\n${line('m2')}`, ids: ['m1', 'm2'] },
  { what: 'carriage returns', content: `${line('c1')}\r\n\r\n${line('c2')}\r\n`, ids: ['c1', 'c2'] },
  { what: 'nothing', content: '', ids: [] },
  { what: 'one line end', content: '\n', ids: [] },
  { what: 'nothing but blank lines', content: '\n\r\n  \n\t\n \t \r\n   ', ids: [] },
  {
    what: 'empty lines, which count in line numbers',
    content: `\n\nbad\n${line('e1')}\r\n\r\n \t\nworse\n\n`,
    ids: ['e1'],
    rejects: [
      [3, 'not_json'],
      [7, 'not_json'],
    ],
  },
  { what: 'white space around objects', content: ` \t${line('w1')} \t \n`, ids: ['w1'] },
  {
    what: 'bytes that are no UTF-8',
    content: bytes(
      `${line('u1')}\n`,
      ...[[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]].flatMap((wrong) => [
        [...notUtf8('wrong', ...wrong)],
        '\n',
      ]),
      line('u2'),
    ),
    ids: ['u1', 'u2'],
    rejects: [2, 3, 4, 5, 6].map((line_no) => [line_no, 'not_json']),
  },
  {
    what: 'NUL bytes',
    content: `${line('n1')}\n${line('nul', { user_id: 'a<>b' }).replace('<>', '\0')}\n${'\0'.repeat(4096)}\n${line('n2')}`,
    ids: ['n1', 'n2'],
    rejects: [
      [2, 'not_json'],
      [3, 'not_json'],
    ],
  },
  {
    what: 'bytes of a picture',
    content: bytes([0x89], 'PNG\r\n', [0x1a], '\n', [0, 0, 0, 13], 'IHDR'),
    ids: [],
    rejects: [1, 2, 3].map((line_no) => [line_no, 'not_json']),
  },
  {
    what: 'one JSON array',
    content: `[${line('a1')},${line('a2')}]\n`,
    ids: [],
    rejects: [[1, 'not_an_object']],
  },
  {
    what: 'one object over several lines',
    content: `${JSON.stringify(JSON.parse(line('o1')), null, 2)}\n${line('o2')}\n`,
    ids: ['o2'],
    rejects: [1, 2, 3, 4, 5, 6, 7].map((line_no) => [line_no, 'not_json']),
  },
  {
    what: 'two objects with a carriage return between',
    content: `${line('r1')}\r${line('r2')}\n${line('r3')}\n`,
    ids: ['r3'],
    rejects: [[1, 'not_json']],
  },
  {
    what: 'deeply nested values',
    content: [
      lineWith('d1', 'tree', '['.repeat(100_000) + ']'.repeat(100_000)),
      lineWith('deep', 'user_id', '['.repeat(100_000) + ']'.repeat(100_000)),
      '{"a":'.repeat(50_000),
      `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
      '['.repeat(100_000) + ']'.repeat(100_000),
      line('d2'),
    ].join('\n'),
    ids: ['d1', 'd2'],
    rejects: [
      [2, 'wrong_type'],
      [3, 'not_json'],
      [4, 'missing_member'],
      [5, 'not_an_object'],
    ],
  },
];
const MARKED: FileCase = {
  what: 'a byte order mark',
  content: bytes([0xef, 0xbb, 0xbf], `${line('b1')}\n${line('b2')}\n`),
  ids: ['b1', 'b2'],
};

const given = sharedWorld();

describe.each(['among others', 'among others and one with a byte order mark'])('a file %s', (way) => {
  const orgId = way.replaceAll(' ', '-');
  const cases = way === 'among others' ? FILES : [...FILES, MARKED];
  let ids: string[];
  let rejects: Row[];

  beforeAll(async () => {
    const paths = cases.map(({ what, content }) => given.world.file(`${what}.ndjson`, content));
    const settled = await given.world.ingest(paths, { orgId });
    expect(settled).toMatchObject({ files: cases.length, duplicates: 0 });
    ids = await idsOf(given.world, orgId);
    rejects = await rejectsOf(given.world, orgId);
  });

  it.each(cases)('with $what is taken line by line', (file) => {
    expect(ids.filter((id) => file.ids.some((own) => own[0] === id[0]))).toEqual(file.ids);
    const source = join(given.world.folder, `${file.what}.ndjson`);
    expect(
      rejects.filter((row) => row.source === source).map(({ line_no, reason }) => [line_no, reason]),
    ).toEqual(file.rejects ?? []);
  });

  it('brings no other events', () => {
    expect(ids).toEqual(cases.flatMap((file) => file.ids).sort());
  });
});

describe('a folder', () => {
  const into = (path: string, id: string): string => {
    mkdirSync(dirname(join(given.world.folder, path)), { recursive: true });
    return given.world.file(path, `${line(id)}\n`);
  };
  const at = (path: string) => join(given.world.folder, path);

  it('is all .ndjson, .jsonl and .json files below it', async () => {
    into('inbox/ada.ndjson', 'ada');
    into('inbox/deep/er/grace.jsonl', 'grace');
    into('inbox/deep/hedy.json', 'hedy');
    for (const name of ['notes.txt', 'ndjson', 'zuse.ndjson.bak', 'zuse.csv']) into(`inbox/${name}`, name);
    mkdirSync(at('inbox/empty.ndjson'));
    expect(await given.world.ingest([at('inbox')], { orgId: 'folder' })).toMatchObject({
      files: 3,
      accepted: 3,
    });
    expect(await idsOf(given.world, 'folder')).toEqual(['ada', 'grace', 'hedy']);
  });

  it('that holds no such file brings nothing', async () => {
    mkdirSync(at('nothing'));
    expect(await given.world.ingest([at('nothing')], { orgId: 'nothing' })).toMatchObject({
      files: 0,
      accepted: 0,
      duplicates: 0,
      rejected: 0,
    });
  });

  it('or a file that is not there is an error that names it', async () => {
    await expect(given.world.ingest([at('nowhere')])).rejects.toThrow(UsageError);
    await expect(given.world.ingest([at('nowhere')])).rejects.toThrow(/nowhere/);
  });

  it.each(['org=acme/day=2026-06-15', 'json=1', "O'Brien & söhne"])(
    'named %s is read like any other',
    async (name) => {
      into(`${name}/events.ndjson`, 'one');
      const settled = await given.world.ingest([at(name)], { orgId: name.replaceAll(/\W/g, '-') });
      expect(settled).toMatchObject({ files: 1, accepted: 1, rejected: 0 });
    },
  );
});

it.each([
  ['web-*.ndjson', 'web-1.ndjson'],
  ['db-[12].ndjson', 'db-1.ndjson'],
  ['mail-?.ndjson', 'mail-1.ndjson'],
])('the file %s is itself, whatever other files its name could stand for', async (name, other) => {
  const orgId = other.replace('.', '-');
  given.world.file(other, line('other'));
  expect(await given.world.ingest([given.world.file(name, line('named'))], { orgId })).toMatchObject({
    files: 1,
  });
  expect(await idsOf(given.world, orgId)).toEqual(['named']);
});

it('a named file is read whatever its extension', async () => {
  const path = given.world.file('events.log', `${line('one')}\nbad\n`);
  expect(await given.world.ingest([path], { orgId: 'log' })).toMatchObject({ accepted: 1, rejected: 1 });
});

it.each([
  ['a zero-width space', '\u200b'],
  ['a no-break space', '\u00a0'],
])('a line of %s is not empty, and is rejected', async (what, text) => {
  const orgId = what.replaceAll(' ', '-');
  expect(await given.world.send([line('first'), text, line('last')], { orgId })).toMatchObject({
    accepted: 2,
    rejected: 1,
    byReason: { not_json: 1 },
  });
});

it('a fault in a file does not take the memory of all its lines', async () => {
  const world = await World.create({ DAYBOOK_MEMORY_MB: '1024', DAYBOOK_THREADS: '2' });
  const folder = join(world.folder, 'projects');
  mkdirSync(folder);
  const content = 'x'.repeat(30_000);
  for (const session of ['s1', 's2', 's3', 's4']) {
    const lines = Array.from({ length: 600 }, (_, index) =>
      JSON.stringify({
        type: 'user',
        uuid: `${session}-${index}`,
        timestamp: '2026-06-10T10:00:00.000Z',
        sessionId: session,
        message: { role: 'user', content },
      }),
    );
    writeFileSync(join(folder, `${session}.jsonl`), `${lines.join('\n')}\nno JSON\n`);
  }
  const files = inputFiles([folder], CLAUDE_CODE);
  const request = { orgId: 'acme', source: CLAUDE_CODE, userId: 'ada', files };
  expect(await ingest(world.store, request, world.clock)).toMatchObject({
    accepted: 2400,
    byReason: { not_json: 4 },
  });
});
